"""Recorded runs, read from the one store that the server was started with; nothing here writes.

A page names runs by the digits of their names. Files of weights are named by the store alone, and are opened only when
they lie inside the folder beside it: a name such as ``../elsewhere`` or a link that leads out is refused. A store may
travel without its weights, so that a step counts as kept only where its file is there.
"""

from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from separatrix.errors import SeparatrixError
from separatrix.site.explorer.limits import ExplorerError, Limits
from separatrix.training import Record, Records, kept_file

MOST_RUNS = 500
LARGEST_MAP = 512
"""The longest input whose attention is compared: both matrices are made whole."""
WHOLE_NAME = 16
"""Digits of a run's name."""


@contextmanager
def opened(store: Path) -> Generator[Records]:
    """The store, which is not made when it is not there."""
    if not store.is_file():
        raise ExplorerError("nothing is recorded yet; start a run below, or start the server with another --store",
                            "missing")  # fmt: skip
    with Records(store, create=False) as records:
        yield records


def list_runs(store: Path) -> dict[str, Any]:
    """The newest runs of the store, and what the page needs to choose one."""
    if not store.is_file():
        return {"store": store.name, "exists": False, "runs": [], "more": 0}
    with Records(store, create=False) as records:
        everything = records.all()
        newest = everything[-MOST_RUNS:][::-1]
        listed = [_summary(records, record) for record in newest]
    return {"store": store.name, "exists": True, "runs": listed, "more": len(everything) - len(newest)}


def comparable_runs(store: Path, task: str, limits: Limits) -> dict[str, Any]:
    """The runs of a task whose attention can be shown, the newest first, and why the others are left out.

    ``elsewhere`` counts the runs of other tasks that could be shown there. Every run is looked at, because the few that
    kept their weights may be the oldest; files are looked for, not opened.
    """
    everything: list[Record] = []
    listed: list[dict[str, Any]] = []
    elsewhere: Counter[str] = Counter()
    left_out: Counter[str] = Counter()
    if store.is_file():
        with Records(store, create=False) as records:
            everything = records.all()
            for record in reversed(everything):
                why = _not_comparable(records, record, limits)
                elsewhere[record.spec.task] += why is None and record.spec.task != task
                if record.spec.task != task:
                    why = "of another task"
                elif why is None and len(listed) == MOST_RUNS:
                    why = f"older than the newest {MOST_RUNS}"
                if why is None:
                    listed.append(_summary(records, record))
                else:
                    left_out[why] += 1
    return {
        "store": store.name,
        "exists": store.is_file(),
        "recorded": len(everything),
        "runs": listed,
        "left_out": [{"why": why, "count": count} for why, count in left_out.most_common()],
        "elsewhere": {name: count for name, count in elsewhere.most_common() if count},
    }


def _not_comparable(records: Records, record: Record, limits: Limits) -> str | None:
    """Why the attention of a run cannot be shown, as it is said of several; None where it can."""
    length = min(limits.max_length, LARGEST_MAP)
    if not snapshot_steps(records, record):
        return "whose weights are not beside the store"
    if ":" in record.spec.architecture:
        return "of a module of one's own, which a page may not load"
    return f"longer than N = {length}, which this server shows" if record.spec.length > length else None


def one_run(store: Path, name: str) -> dict[str, Any]:
    """One run with its curve."""
    with opened(store) as records:
        record = run_named(records, name)
        return {**_summary(records, record), "spec": record.spec.as_dict(), "curve": curve(records, record.spec.name)}


def curve(records: Records, name: str) -> list[dict[str, Any]]:
    """The points of a run."""
    return [
        {"step": each.step, "loss": finite(each.loss), "accuracy": each.accuracy,
         "training_accuracy": each.training_accuracy}
        for each in records.curve(name)
    ]  # fmt: skip


def finite(value: float) -> float | None:
    """JSON has no NaN: a loss that was no number is null."""
    return value if value == value and abs(value) != float("inf") else None


def run_named(records: Records, name: str) -> Record:
    """The run of a name or of the beginning of one."""
    if len(name) < WHOLE_NAME:
        return records.get(name)
    found = records.find([name])
    if name not in found:
        raise ExplorerError(f"no run of the store is named {name}; the list of runs has those that are", "missing")
    return found[name]


def _summary(records: Records, record: Record) -> dict[str, Any]:
    spec, result = record.spec, record.result
    return {
        "name": spec.name,
        "task": spec.task,
        "architecture": spec.architecture,
        "length": spec.length,
        "learning_rate": spec.learning_rate,
        "parameters": {key: str(value) for key, value in spec.task_parameters},
        "steps": spec.steps,
        "seed": spec.seed,
        "accuracy": result.accuracy,
        "loss": finite(result.loss),
        "ending": result.ending,
        "step": result.step,
        "finished_at": record.finished_at,
        "kept_steps": snapshot_steps(records, record),
    }


def snapshot_steps(records: Records, record: Record) -> list[int]:
    """The steps after which the weights of a run are there, its end among them; none where the store names a file
    outside its own folder."""
    try:
        return sorted(step for step, file in _named_files(records, record).items() if file.is_file())
    except SeparatrixError:
        return []


def snapshot_file(records: Records, record: Record, step: int) -> Path:
    """The file with the weights after a step, inside the folder of the store."""
    try:
        return _named_files(records, record)[step]
    except SeparatrixError as error:
        message = "the store names a file outside its own folder, which is not opened"
        raise ExplorerError(message, "refused") from error


def _named_files(records: Records, record: Record) -> dict[int, Path]:
    """The files that the store names for a run, by step, whether they are there or not."""
    kept = records.snapshots(record.spec.name)
    if record.weights is not None and record.result.step not in kept:
        kept[record.result.step] = kept_file(records.files, record.weights)
    return kept
