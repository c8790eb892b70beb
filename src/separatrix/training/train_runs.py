"""Training from Python: runs are given, their records come back, as ``separatrix train`` does it.

Runs of one shape train together as one ensemble; no run is pruned for the sake of another. What is recorded already is
not trained again, and what was interrupted resumes: the same call after Ctrl-C or a crash ends with the same numbers.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from separatrix.models import parse_spec
from separatrix.tasks import try_user_task
from separatrix.training.driver import Driver, interruptible
from separatrix.training.executors.opening import open_executor
from separatrix.training.grouping import groups_of
from separatrix.training.observers import Observer, Observers
from separatrix.training.record import Record
from separatrix.training.records import Records, store_path
from separatrix.training.spec import RunSpec


def train_runs(
    specs: Sequence[RunSpec],
    store: Path | None = None,
    *,
    device: str = "auto",
    executor: str = "local",
    workers: int = 0,
    observers: Sequence[Observer] = (),
    fresh: bool = False,
) -> list[Record]:
    """Train what the store does not hold yet; the records of all ``specs``, in their order, with their curves.

    ``store`` None is that of the command line: SEPARATRIX_STORE or ``runs.sqlite``. Each of ``observers`` hears what
    happens. ``fresh`` trains recorded runs again.
    A model's name is recorded in its canonical form, as everywhere. Worker processes (``executor``
    "processes") import the calling script, which then needs the usual ``if __name__ == "__main__":``. Ctrl-C finishes
    the step, saves the state and raises KeyboardInterrupt; a second one ends at once.
    """
    named = [spec.with_changes(architecture=str(parse_spec(spec.architecture))) for spec in specs]
    try_user_tasks(named)
    groups = groups_of(named)
    with Records(store_path(store)) as records:
        with interruptible() as stopped:
            opened, environment = open_executor(executor, device=device, workers=workers, stopped=stopped)
            driver = Driver(records, opened, environment, Observers(observers), full_grid=True, stopped=stopped)
            if fresh:
                driver.forget(groups)
            if not driver.run(groups):
                raise KeyboardInterrupt("the state is saved; the same call resumes it")
        found = records.find(spec.name for spec in named)
        return [replace(found[spec.name], curve=tuple(records.curve(spec.name))) for spec in named]


def try_user_tasks(specs: Iterable[RunSpec]) -> None:
    """Try tasks from outside this package, each once at each length, before anything is trained on them."""
    for spec in {(spec.task, repr(spec.task_parameters), spec.length): spec for spec in specs}.values():
        try_user_task(spec.the_task(), spec.length)
