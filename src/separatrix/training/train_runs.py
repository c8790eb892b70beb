"""Training from Python and for the command line: runs are given, their records come back.

Runs of one shape train together as one ensemble. What is recorded already is not trained again, and what was
interrupted resumes: the same call after Ctrl-C or a crash ends with the same numbers.
"""

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

from separatrix.errors import StoppedError
from separatrix.models import parse_spec, remarks_on
from separatrix.tasks import try_user_task
from separatrix.training.batches import check_memory
from separatrix.training.devices import device_named
from separatrix.training.driver import Driver, interruptible, missing_runs
from separatrix.training.executors.executor import Executor
from separatrix.training.executors.opening import open_executor
from separatrix.training.grouping import Group, groups_of
from separatrix.training.observers import Observer, Observers
from separatrix.training.record import Record
from separatrix.training.records import Records, store_path
from separatrix.training.spec import RunSpec
from separatrix.training.user_code import check_trainable, drawing_remarks


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
    try:
        found = train_groups(
            groups_of(named), store, lambda stopped: open_executor(executor, device=device, workers=workers,
            stopped=stopped), lambda left: nullcontext(Observers(observers)), full_grid=True, fresh=fresh,
        )  # fmt: skip
    except StoppedError:
        raise KeyboardInterrupt("the state is saved; the same call resumes it") from None
    return [found[spec.name] for spec in named]


def train_groups(
    groups: Sequence[Group],
    store: Path | None,
    opened: Callable[[Callable[[], bool]], tuple[Executor, dict[str, Any]]],
    watching: Callable[[list[list[str]]], AbstractContextManager[Observer]],
    *,
    full_grid: bool,
    fresh: bool = False,
) -> dict[str, Record]:
    """Train what is not recorded; the records of all runs by name with their curves, StoppedError if interrupted.

    ``opened`` gives the executor and what records say about it; ``watching`` the observer, from the names of the runs
    that are left in each group.
    """
    names = [spec.name for group in groups for spec in group.specs]
    with Records(store_path(store)) as records:
        recorded = {} if fresh else records.find(names)
        left = [[spec.name for spec in missing_runs(group, recorded, full_grid)] for group in groups]
        with interruptible() as stopped, watching(left) as observer:
            executor, environment = opened(stopped)
            driver = Driver(records, executor, environment, observer, full_grid, stopped)
            if fresh:
                driver.forget(groups)
            done = driver.run(groups)
        if not done:
            raise StoppedError("interrupted; the state is saved, the same command resumes it")
        found = records.find(names)
        return {name: replace(record, curve=tuple(records.curve(name))) for name, record in found.items()}


def check_groups(groups: Sequence[Group], device: str | None) -> list[str]:
    """Refuse what cannot be trained on a device, before anything is; return what users should know of their models.

    ``device`` None: the machines of a cluster may have what this one has not.
    """
    try_user_tasks(group.specs[0] for group in groups)
    if device is None:
        return []
    together = dict.fromkeys((group.specs[0].architecture, len(group.specs) > 1) for group in groups)
    models = [parse_spec(name) for name in dict.fromkeys(name for name, _ in together)]
    for model in models:
        check_trainable(model)
    found = [remarks_on(parse_spec(name), members=1 + several) for name, several in together]
    found += [drawing_remarks(model) for model in models]
    chosen = device_named(device)
    for task, length, batch in dict.fromkeys(
        (spec.the_task(), spec.length, spec.batch) for spec in (group.specs[0] for group in groups)
    ):
        check_memory(task, length, batch, chosen)
    return list(dict.fromkeys(remark for remarks in found for remark in remarks))


def try_user_tasks(specs: Iterable[RunSpec]) -> None:
    """Try tasks from outside this package, each once at each length, before anything is trained on them."""
    for spec in {(spec.task, repr(spec.task_parameters), spec.length): spec for spec in specs}.values():
        try_user_task(spec.the_task(), spec.length)
