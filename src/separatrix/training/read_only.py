"""A store that is only looked at: it may lie in a read-only place, and not a byte of it changes."""

from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from separatrix.errors import SeparatrixError
from separatrix.training.events import Point
from separatrix.training.records import Record, kept_weights, record_from_row
from separatrix.training.row_checks import checked_point
from separatrix.training.store_format import explained, opened_to_look


@dataclass(frozen=True)
class StoreContents:
    """All that a store holds: runs, curves and files of kept weights (by step), the latter two by the run's name."""

    records: list[Record]
    curves: dict[str, list[Point]]
    snapshots: dict[str, dict[int, Path]]


def contents_of(path: Path) -> StoreContents:
    """Read a store without a single write, so that one may lie in a read-only place; raises a one-line error."""
    if not path.is_file():
        raise SeparatrixError(f"there is no store {path}; give a file that  separatrix sweep --store  made")
    with closing(opened_to_look(path)) as connection, explained(path):
        runs = connection.execute("SELECT * FROM runs ORDER BY finished_at, name").fetchall()
        points = connection.execute(
            "SELECT run, step, loss, training_accuracy, accuracy FROM points ORDER BY run, step"
        ).fetchall()
        kept = connection.execute("SELECT run, step, file FROM snapshots ORDER BY run, step").fetchall()
    files = path.with_name(f"{path.stem}.files")
    found = StoreContents([record_from_row(row, path) for row in runs], {}, {})
    for row in points:
        found.curves.setdefault(row[0], []).append(checked_point(path, *row))
    for run, *row in kept:
        step, file = kept_weights(path, files, run, *row)
        found.snapshots.setdefault(run, {})[step] = file
    return found
