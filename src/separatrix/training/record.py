"""A finished run as it is read from a store or an exported file, every field of it checked."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from separatrix.reading import contained
from separatrix.training.events import Ending, Point, Result
from separatrix.training.row_checks import checked_environment, checked_run, checked_text, damaged, is_count
from separatrix.training.spec import RunSpec

Row: TypeAlias = Sequence[Any]
"""What a table holds, before it is checked."""
NAME, SPEC, FINISHED_AT = 0, 1, 9
"""Where these are in a row of the table ``runs``."""
OPEN_ENDED: tuple[Ending, ...] = ("pruned", "beaten")
"""Endings of runs that were stopped for the sake of others; a full grid trains them again."""


@dataclass(frozen=True)
class Record:
    """A finished run."""

    spec: RunSpec
    result: Result
    environment: dict[str, Any]
    finished_at: str
    weights: str | None
    curve: tuple[Point, ...] = ()
    """Its points in order of steps, where it was asked for with them, as ``train_runs`` does."""

    @property
    def best(self) -> Point | None:
        """The point of the curve with the highest accuracy, the first of equal ones; the result is that of the end."""
        return max(self.curve, key=lambda point: (point.accuracy, -point.step), default=None)

    @property
    def attack(self) -> dict[str, Any] | None:
        """What a search for failing inputs found where the run was made; None where none was made."""
        return self.environment.get("attack")

    def as_dict(self) -> dict[str, Any]:
        """Return plain data for machines."""
        return {
            "name": self.spec.name,
            "spec": self.spec.as_dict(),
            "recipe": self.spec.recipe,
            **{key: value for key, value in self.result.as_dict().items() if key != "run"},
            "loss": known_number(self.result.loss),
            "environment": self.environment,
            "finished_at": self.finished_at,
            "weights": self.weights,
        }


def best_of(records: Iterable[Record]) -> Record | None:
    """Return the most accurate of some records. Of equal ones, the one that reached its goal in fewer steps, else the
    one of the lower loss: at accuracy 0 only the loss shows which run learned more. One that diverged is only the best
    of others that did.
    """

    def key(record: Record) -> tuple[bool, float, float, float, str]:
        result = record.result
        steps = result.step if result.ending == "goal" else math.inf
        return result.ending == "diverged", -result.accuracy, steps, result.loss, record.spec.name

    return min(records, key=key, default=None)


def known_number(value: float) -> float | None:
    """Return a loss from SQLite, which has no NaN: a missing one was not a number."""
    return value if value == value and abs(value) != float("inf") else None


def kept_folder(path: Path) -> Path:
    """Return where the weights of the runs of a store or an exported file are.

    >>> kept_folder(Path("runs.sqlite")).name
    'runs.files'
    """
    return path.with_name(f"{path.stem}.files")


def kept_file(files: Path, name: Any) -> Path:
    """Return a file of weights that a store names; it must lie in the folder next to the store.

    >>> kept_file(Path("runs.files"), "weights/0a1b.safetensors").name
    '0a1b.safetensors'
    >>> kept_file(Path("runs.files"), "../elsewhere.safetensors")
    Traceback (most recent call last):
    separatrix.errors.SeparatrixError: ...
    """
    return contained(files, name if isinstance(name, str) else "\0", "train the run again with --fresh")


def snapshot_entry(where: object, files: Path, run: Any, step: Any, file: Any) -> tuple[int, Path]:
    """Return a row of the table ``snapshots``: the step and the file.

    >>> step, file = snapshot_entry("runs.sqlite", Path("runs.files"), "0a1b", 500, "weights/0a1b.safetensors")
    >>> step, file.name
    (500, '0a1b.safetensors')
    """
    if not is_count(step):
        raise damaged(where, run, "the steps of its kept weights are not counts")
    return step, kept_file(files, file)


def record_from_row(row: Row, where: object) -> Record:
    """Return a run from its row in the table ``runs``; raises a one-line error, which names ``where``, unless it is
    one."""
    name, spec, ending, step, accuracy, loss, seconds, parameters, environment, finished_at, weights = row
    described, result = checked_run(where, name, spec, ending, step, accuracy, loss, seconds, parameters)
    kept = None if weights is None else checked_text(where, name, weights)
    about = checked_environment(where, name, environment)
    return Record(described, result, about, checked_text(where, name, finished_at), kept)
