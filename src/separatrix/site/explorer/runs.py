"""Recorded runs of the one store that the server was started with; nothing here writes.

A page names runs by the digits of their names. Only the store names files of weights, and they are opened only inside
its folder: ``../elsewhere`` or a link that leads out is refused. A store may travel without its weights.
"""

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from separatrix.errors import SeparatrixError
from separatrix.site.explorer.limits import ExplorerError, Limits
from separatrix.site.explorer.replies import RunsReply, RunSummary
from separatrix.training import Record, Records, kept_file

MOST_RUNS = 500
LARGEST_MAP = 512
"""The longest input whose attention is compared: both matrices are made whole."""


@contextmanager
def opened(store: Path) -> Generator[Records]:
    """Open the store; a missing one is not created."""
    if not store.is_file():
        raise ExplorerError(f"{store.name} does not exist; train a run first, or choose another --store", "missing")
    with Records(store, create=False) as records:
        yield records


def list_runs(store: Path, task: str | None, limits: Limits) -> RunsReply:
    """List the runs of a task, or all: first those whose attention can be compared, the newest of them first."""
    if not store.is_file():
        return RunsReply(store=store.name, recorded=0, runs=[])
    with Records(store, create=False) as records:
        everything = records.all()
        wanted = [each for each in reversed(everything) if task is None or each.spec.task == task]
        listed = sorted((_summary(records, each, limits) for each in wanted), key=lambda each: bool(each.why_not))
    return RunsReply(store=store.name, recorded=len(everything), runs=listed[:MOST_RUNS])


def _summary(records: Records, record: Record, limits: Limits) -> RunSummary:
    spec, result = record.spec, record.result
    steps = snapshot_steps(records, record)
    longest = min(limits.max_length, LARGEST_MAP)
    why_not = ""
    if not steps:
        why_not = "no weights in the folder of the store"
    elif ":" in spec.architecture:
        why_not = "the model is a Python module, which a page may not load"
    elif spec.length > longest:
        why_not = f"longer than N = {longest}"
    return RunSummary(
        name=spec.name, task=spec.task, architecture=spec.architecture, length=spec.length, seed=spec.seed,
        learning_rate=spec.learning_rate, accuracy=result.accuracy, ending=result.ending, step=result.step,
        parameters={key: str(value) for key, value in spec.task_parameters}, finished_at=record.finished_at,
        kept_steps=steps, why_not=why_not,
    )  # fmt: skip


def run_named(records: Records, name: str) -> Record:
    """Return the run with this name."""
    found = records.find([name])
    if name not in found:
        raise ExplorerError(f"no run of the store is named {name}; choose one of the list", "missing")
    return found[name]


def snapshot_steps(records: Records, record: Record) -> list[int]:
    """Return the steps of a run whose weights are in the folder of the store."""
    try:
        return sorted(step for step, file in _named_files(records, record).items() if file.is_file())
    except SeparatrixError:
        return []


def snapshot_file(records: Records, record: Record, step: int) -> Path:
    """Return the file with the weights after a step; one outside the folder of the store is refused."""
    try:
        return _named_files(records, record)[step]
    except SeparatrixError as error:
        message = "the store names a file outside its own folder, which is not opened"
        raise ExplorerError(message, "refused") from error


def _named_files(records: Records, record: Record) -> dict[int, Path]:
    """Return the files that the store names for a run, by step, whether they exist or not."""
    kept = records.snapshots(record.spec.name)
    if record.weights is not None and record.result.step not in kept:
        kept[record.result.step] = kept_file(records.files, record.weights)
    return kept
