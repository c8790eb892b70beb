"""The process of one training run: the driver, and an observer that tells the server what was recorded.

The driver is the only one who writes to the store, here as on the command line; a run that is stopped has saved its
state, and the same run started again goes on from there. The process ends by itself when the server is gone.
"""

import signal
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from separatrix.errors import SeparatrixError
from separatrix.site.explorer.runs import curve, finite

if TYPE_CHECKING:
    from separatrix.training import Event, Group

SAVE_EVERY_SECONDS = 10.0


@dataclass(frozen=True)
class Telling:
    """An observer of the driver that sends plain data through a pipe."""

    pipe: Any

    def send(self, what: str, content: Any) -> None:
        """One message; whether the server still listens makes no difference to the run."""
        with suppress(OSError):
            self.pipe.send((what, content))

    def started(self, group: "Group", step: int) -> None:
        """See :class:`separatrix.training.observers.Observer`."""
        del group
        self.send("started", {"step": step})

    def happened(self, group: "Group", event: "Event") -> None:
        """See :class:`separatrix.training.observers.Observer`."""
        from separatrix.training import Progress, Snapshot, Tick

        del group
        if isinstance(event, Tick):
            self.send("step", {"step": event.step})
        elif isinstance(event, Snapshot):
            self.send("kept", {"step": event.step})
        elif isinstance(event, Progress):
            for point in event.points:
                self.send(
                    "point",
                    {"step": point.step, "loss": finite(point.loss), "accuracy": point.accuracy,
                     "training_accuracy": point.training_accuracy},
                )  # fmt: skip

    def said(self, message: str) -> None:
        """See :class:`separatrix.training.observers.Observer`."""
        self.send("said", {"message": message})


def train(pipe: Any, store: Path, plain: dict[str, Any]) -> None:
    """Train one run, described by the fields of its ``RunSpec``, until its end or until a message comes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    telling = Telling(pipe)
    try:
        _train(telling, store, plain)
    except SeparatrixError as error:
        telling.send("failed", {"message": str(error)})
    except OSError as error:
        telling.send("failed", {"message": f"{error.filename or 'system'}: {error.strerror or error}"})


def _train(telling: Telling, store: Path, plain: dict[str, Any]) -> None:
    from separatrix.models import parse_spec
    from separatrix.training import Driver, Group, Records, open_executor, spec_from

    spec = spec_from({**plain, "architecture": str(parse_spec(plain["architecture"]))})
    telling.send("described", {"run": spec.name, "architecture": spec.architecture, "steps": spec.steps})
    with Records(store) as records:
        # A message, or the end of the server, which reads as one, stops the run after its present step.
        executor, environment = open_executor(
            "local", device="auto", threads=1, save_every_seconds=SAVE_EVERY_SECONDS, stopped=telling.pipe.poll
        )
        driver = Driver(records, executor, environment, telling, stopped=telling.pipe.poll)
        for point in curve(records, spec.name):
            telling.send("point", point)
        before = spec.name in records.find([spec.name])
        done = driver.run([Group((spec,))])
        found = records.find([spec.name]).get(spec.name)
    if done and found is not None:
        result = found.result
        telling.send(
            "ended",
            {"run": spec.name, "ending": result.ending, "accuracy": result.accuracy, "step": result.step,
             "seconds": round(result.seconds, 1), "recorded_before": before},
        )  # fmt: skip
    else:
        telling.send("stopped", {"run": spec.name})
