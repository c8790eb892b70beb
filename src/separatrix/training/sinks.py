"""Other places that may watch runs while they train: TensorBoard and Weights & Biases.

A sink is an observer of the driver (see ``observers``): it hears what was recorded and changes nothing. The store
stays the record; a sink shows what happens from now on. The packages are imported only when a sink is asked for by
``tensorboard:FOLDER`` or ``wandb:PROJECT``.
"""

import importlib
from abc import ABC, abstractmethod
from typing import Any

from separatrix.errors import SeparatrixError, UnknownNameError
from separatrix.training.events import Event, Finished, Point, Progress, Result
from separatrix.training.grouping import Group
from separatrix.training.spec import RunSpec

SINKS = ("tensorboard", "wandb")


class Sink(ABC):
    """What both sinks share: which runs are open, and what is reported about a point and about an end."""

    def __init__(self) -> None:
        self.open: dict[str, Any] = {}

    @abstractmethod
    def begin(self, spec: RunSpec) -> Any:
        """Start to show a run; whatever comes back is given to :meth:`write` and :meth:`end`."""

    @abstractmethod
    def write(self, shown: Any, step: int, values: dict[str, float]) -> None:
        """Write numbers of a run after ``step`` steps."""

    @abstractmethod
    def end(self, shown: Any, result: Result) -> None:
        """Note that the run has ended."""

    @abstractmethod
    def close(self) -> None:
        """Let go of the runs that have not ended."""

    def started(self, group: Group, step: int) -> None:
        """Show every member as a separate run."""
        del step
        for spec in group.specs:
            if spec.name not in self.open:
                self.open[spec.name] = self.begin(spec)

    def happened(self, group: Group, event: Event) -> None:
        """Pass points and ends on; the rest is of no interest."""
        del group
        if isinstance(event, Progress):
            for point in event.points:
                if point.run in self.open:
                    self.write(self.open[point.run], point.step, _numbers(point))
        elif isinstance(event, Finished):
            for result in event.results:
                if result.run in self.open:
                    self.end(self.open.pop(result.run), result)

    def said(self, message: str) -> None:
        """Ignore remarks, which are for the terminal."""
        del message


class TensorBoardSink(Sink):
    """Event files for TensorBoard, one folder for each run."""

    def __init__(self, folder: str) -> None:
        super().__init__()
        module = _module("torch.utils.tensorboard", "tensorboard", "TensorBoard")
        self.folder, self._writer = folder, module.SummaryWriter

    def begin(self, spec: RunSpec) -> Any:
        """Return a writer."""
        writer = self._writer(log_dir=f"{self.folder}/{label(spec)}")
        writer.add_text("run", "\n".join(f"    {name}: {value}" for name, value in spec.as_dict().items()), 0)
        return writer

    def write(self, shown: Any, step: int, values: dict[str, float]) -> None:
        """Write one scalar for each number."""
        for name, value in values.items():
            shown.add_scalar(name, value, step)

    def end(self, shown: Any, result: Result) -> None:
        """Write the accuracy of the full evaluation as the last point."""
        shown.add_scalar("final/accuracy", result.accuracy, result.step)
        shown.close()

    def close(self) -> None:
        """Flush what is open."""
        for writer in self.open.values():
            writer.close()
        self.open.clear()


class WandbSink(Sink):
    """Runs of a Weights & Biases project; the run's name here is its identity there, so a resumed run keeps it."""

    def __init__(self, project: str) -> None:
        super().__init__()
        self.project, self._wandb = project, _module("wandb", "wandb", "Weights & Biases")

    def begin(self, spec: RunSpec) -> Any:
        """Return a run of its own next to the others that are open."""
        settings = {"project": self.project, "id": spec.name, "name": label(spec), "config": spec.as_dict()}
        return self._wandb.init(**settings, resume="allow", reinit="create_new")

    def write(self, shown: Any, step: int, values: dict[str, float]) -> None:
        """Write all numbers of one step."""
        shown.log(values, step=step)

    def end(self, shown: Any, result: Result) -> None:
        """Write the result as the run's summary."""
        shown.summary.update({key: value for key, value in result.as_dict().items() if key != "run"})
        shown.finish()

    def close(self) -> None:
        """Close the sink; runs that were interrupted stay resumable."""
        for run in self.open.values():
            run.finish(exit_code=1)
        self.open.clear()


def sink_from(text: str) -> Sink:
    """Return the sink of a text such as ``tensorboard:logs`` or ``wandb:my-project``."""
    kind, colon, where = text.partition(":")
    if kind not in SINKS:
        raise UnknownNameError("sink", kind, SINKS)
    if not colon or not where:
        raise SeparatrixError(f"--sink {text} says not where; write tensorboard:FOLDER or wandb:PROJECT")
    return TensorBoardSink(where) if kind == "tensorboard" else WandbSink(where)


def label(spec: RunSpec) -> str:
    """Return a name that people can read and file systems can hold.

    >>> label(RunSpec(task="dyck", architecture="TF-(1,64)", length=20, learning_rate=0.001, steps=10))[:-16]
    'dyck-TF-(1,64)-N20-lr0.001-seed0-'
    """
    model = spec.architecture.replace("/", "_").replace(":", "_")
    return f"{spec.task}-{model}-N{spec.length}-lr{spec.learning_rate:g}-seed{spec.seed}-{spec.name}"


def _numbers(point: Point) -> dict[str, float]:
    return {"loss": point.loss, "accuracy": point.accuracy, "training_accuracy": point.training_accuracy}


def _module(name: str, package: str, title: str) -> Any:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError:
        raise SeparatrixError(f"{title} is not installed; run  pip install {package}  or leave --sink out") from None
