"""Recorded runs, read from the one store that the server was started with; nothing here writes.

A page names runs by the digits of their names. Files of weights are named by the store alone, and are opened only when
they lie inside the folder beside it: a name such as ``../elsewhere`` or a link that leads out is refused.
"""

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from separatrix.atlas.explorer.limits import ExplorerError
from separatrix.errors import SeparatrixError
from separatrix.training.records import Record, Records, kept_file

MOST_RUNS = 500
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
        "seed": spec.seed,
        "accuracy": result.accuracy,
        "loss": finite(result.loss),
        "ending": result.ending,
        "step": result.step,
        "finished_at": record.finished_at,
        "kept_steps": snapshot_steps(records, record),
    }


def snapshot_steps(records: Records, record: Record) -> list[int]:
    """The steps after which the weights of a run are there, its end among them."""
    kept = set(records.snapshots(record.spec.name))
    if record.weights is not None:
        kept.add(record.result.step)
    return sorted(kept)


def snapshot_file(records: Records, record: Record, step: int) -> Path:
    """The file with the weights after a step, inside the folder of the store."""
    try:
        kept = records.snapshots(record.spec.name)
        if step not in kept and record.weights is not None and step == record.result.step:
            kept[step] = kept_file(records.files, record.weights)
    except SeparatrixError as error:
        message = "the store names a file outside its own folder, which is not opened"
        raise ExplorerError(message, "refused") from error
    return kept[step]
