"""A store that is only looked at: it may lie in a read-only place, and not a byte of it changes."""

import sqlite3
from dataclasses import dataclass
from pathlib import Path

from separatrix.errors import SeparatrixError
from separatrix.training.events import Point
from separatrix.training.records import VERSION, Record, record_from_row


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
    # Without a log beside it nobody is writing; then SQLite needs no side files to read it.
    quiet = "" if path.with_name(f"{path.name}-wal").exists() else "&immutable=1"
    try:
        connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro{quiet}", uri=True)
        try:
            version = int(connection.execute("PRAGMA user_version").fetchone()[0])
            if version != VERSION:
                raise SeparatrixError(f"{path} is no store of this version (format {version}, known {VERSION})")
            runs = connection.execute("SELECT * FROM runs ORDER BY finished_at, name").fetchall()
            points = connection.execute(
                "SELECT run, step, loss, training_accuracy, accuracy FROM points ORDER BY run, step"
            ).fetchall()
            kept = connection.execute("SELECT run, step, file FROM snapshots ORDER BY run, step").fetchall()
        finally:
            connection.close()
    except sqlite3.Error as error:
        raise SeparatrixError(f"{path} cannot be read as a store ({error}); give another file") from error
    files = path.with_name(f"{path.stem}.files")
    found = StoreContents([record_from_row(row) for row in runs], {}, {})
    for run, step, loss, training, accuracy in points:
        point = Point(run, step, float("nan") if loss is None else loss, training, accuracy)
        found.curves.setdefault(run, []).append(point)
    for run, step, file in kept:
        found.snapshots.setdefault(run, {})[step] = files / file
    return found
