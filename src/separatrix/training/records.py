"""The store: one SQLite file with every run, its curve and its result, and a folder beside it for weights.

Written only by the process that drives a sweep. Every write is one transaction, and writing the same result or point
again changes nothing, so a driver that is killed and started again never loses or doubles a run. Two drivers may share
a store (write-ahead log); who trains which group is settled by file locks, see ``driver``.

A store made by a newer version is refused without being touched. All errors of SQLite (a full disk, a file that is no
database, no permission) end in one line.
"""

import json
import os
import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from separatrix.errors import SeparatrixError
from separatrix.training.events import Ending, Point, Result
from separatrix.training.spec import RunSpec, spec_from

if TYPE_CHECKING:
    import pandas

VERSION = 1
BUSY_SECONDS = 60.0
"""How long another process's write is waited for."""
DEFAULT_STORE = "runs.sqlite"
ENVIRONMENT_VARIABLE = "SEPARATRIX_STORE"
OPEN_ENDED: tuple[Ending, ...] = ("pruned", "beaten")
"""Endings of runs that were stopped for the sake of others; a full grid trains them again."""

_TABLES = """
CREATE TABLE runs (
    name TEXT PRIMARY KEY, spec TEXT NOT NULL, ending TEXT NOT NULL, step INTEGER NOT NULL, accuracy REAL NOT NULL,
    loss REAL, seconds REAL NOT NULL, parameters INTEGER NOT NULL, environment TEXT NOT NULL, finished_at TEXT NOT NULL,
    weights TEXT
) WITHOUT ROWID;
CREATE TABLE points (
    run TEXT NOT NULL, step INTEGER NOT NULL, loss REAL, training_accuracy REAL NOT NULL, accuracy REAL NOT NULL,
    PRIMARY KEY (run, step)
) WITHOUT ROWID;
CREATE TABLE snapshots (
    run TEXT NOT NULL, step INTEGER NOT NULL, file TEXT NOT NULL, PRIMARY KEY (run, step)
) WITHOUT ROWID;
CREATE TABLE groups (planned TEXT PRIMARY KEY, members TEXT NOT NULL) WITHOUT ROWID;
"""


@dataclass(frozen=True)
class Record:
    """A finished run."""

    spec: RunSpec
    result: Result
    environment: dict[str, Any]
    finished_at: str
    weights: str | None

    def as_dict(self) -> dict[str, Any]:
        """Plain data for machines."""
        return {
            "name": self.spec.name,
            "spec": self.spec.as_dict(),
            **{key: value for key, value in self.result.as_dict().items() if key != "run"},
            "loss": _number(self.result.loss),
            "environment": self.environment,
            "finished_at": self.finished_at,
            "weights": self.weights,
        }


def store_path(given: Path | None) -> Path:
    """The store that was named, or the one in the environment variable SEPARATRIX_STORE, or ``runs.sqlite``."""
    return given or Path(os.environ.get(ENVIRONMENT_VARIABLE) or DEFAULT_STORE)


class Records:
    """An open store; use as a context manager."""

    def __init__(self, path: Path, *, create: bool = True) -> None:
        self.path = path
        self.files = path.with_name(f"{path.stem}.files")
        if not path.exists() and not create:
            raise SeparatrixError(f"there is no store {path}; train something first or name another with --store")
        self._refuse_newer()
        with self._explained():
            path.parent.mkdir(parents=True, exist_ok=True)
            self._connection = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None)
            try:
                self._prepare()
            except BaseException:
                self._connection.close()
                raise

    def __enter__(self) -> "Records":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()

    # -- writing -----------------------------------------------------------------------------------------

    def add_points(self, points: Iterable[Point]) -> None:
        """Points of curves; one that is there already stays as it is."""
        rows = [(p.run, p.step, _number(p.loss), p.training_accuracy, p.accuracy) for p in points]
        with self._explained(), self._transaction():
            self._connection.executemany("INSERT OR IGNORE INTO points VALUES (?, ?, ?, ?, ?)", rows)

    def add_results(
        self, specs: Sequence[RunSpec], results: Sequence[Result], environment: dict[str, Any], weights: str | None
    ) -> None:
        """Finished runs; a result that is there already stays, unless that run had been stopped for others."""
        by_name = {spec.name: spec for spec in specs}
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        with self._explained(), self._transaction():
            for each in results:
                found = self._connection.execute("SELECT ending FROM runs WHERE name=?", (each.run,)).fetchone()
                if found is not None and (found[0] not in OPEN_ENDED or each.ending in OPEN_ENDED):
                    continue
                row = (
                    each.run, json.dumps(by_name[each.run].as_dict(), sort_keys=True), each.ending, each.step,
                    each.accuracy, _number(each.loss), each.seconds, each.parameters,
                    json.dumps(environment, sort_keys=True), now, weights,
                )  # fmt: skip
                self._connection.execute("INSERT OR REPLACE INTO runs VALUES (?,?,?,?,?,?,?,?,?,?,?)", row)

    def add_snapshots(self, runs: Sequence[str], step: int, file: str) -> None:
        """Where the weights of runs after ``step`` steps were kept, relative to ``files``."""
        with self._explained(), self._transaction():
            rows = [(run, step, file) for run in runs]
            self._connection.executemany("INSERT OR REPLACE INTO snapshots VALUES (?, ?, ?)", rows)

    def settle(self, planned: str, members: Sequence[str]) -> tuple[str, ...]:
        """Who trains in a planned group: what was settled when it first started, else ``members`` from now on."""
        with self._explained(), self._transaction():
            text = json.dumps(list(members))
            self._connection.execute("INSERT OR IGNORE INTO groups VALUES (?, ?)", (planned, text))
        found = self.settled(planned)
        assert found is not None
        return found

    def settled(self, planned: str) -> tuple[str, ...] | None:
        """The members settled for a planned group that has started and is not done; None for others."""
        with self._explained():
            found = self._connection.execute("SELECT members FROM groups WHERE planned=?", (planned,)).fetchone()
        return None if found is None else tuple(json.loads(found[0]))

    def forget_group(self, planned: str) -> None:
        """The group is done, or is to be settled anew."""
        with self._explained(), self._transaction():
            self._connection.execute("DELETE FROM groups WHERE planned=?", (planned,))

    def forget(self, names: Sequence[str]) -> None:
        """Remove runs with their curves and settled groups, so that they train again."""
        with self._explained(), self._transaction():
            for name in names:
                self._connection.execute("DELETE FROM runs WHERE name=?", (name,))
                self._connection.execute("DELETE FROM points WHERE run=?", (name,))
                self._connection.execute("DELETE FROM snapshots WHERE run=?", (name,))
                self._connection.execute("DELETE FROM groups WHERE members LIKE ?", (f'%"{name}"%',))

    # -- reading -----------------------------------------------------------------------------------------

    def get(self, name: str) -> Record:
        """The run of a name or of the beginning of one."""
        with self._explained():
            # A bound parameter and an escape: a name typed by a person is data, never a pattern.
            pattern = name.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_") + "%"
            query = "SELECT * FROM runs WHERE name LIKE ? ESCAPE '\\' ORDER BY name LIMIT 3"
            rows = self._connection.execute(query, (pattern,)).fetchall()
        if not rows or not name:
            raise SeparatrixError(f"no run in {self.path} is named {name!r}; see  separatrix runs list")
        if len(rows) > 1:
            raise SeparatrixError(f"{name!r} begins the names of several runs; give more of its digits")
        return record_from_row(rows[0])

    def find(self, names: Iterable[str]) -> dict[str, Record]:
        """Those of the named runs that are finished."""
        found: dict[str, Record] = {}
        with self._explained():
            for name in names:
                row = self._connection.execute("SELECT * FROM runs WHERE name=?", (name,)).fetchone()
                if row is not None:
                    found[name] = record_from_row(row)
        return found

    def all(self) -> list[Record]:
        """Every finished run, by the time it finished."""
        with self._explained():
            rows = self._connection.execute("SELECT * FROM runs ORDER BY finished_at, name").fetchall()
        return [record_from_row(row) for row in rows]

    def curve(self, name: str) -> list[Point]:
        """The points of a run, in order of steps."""
        with self._explained():
            query = "SELECT run, step, loss, training_accuracy, accuracy FROM points WHERE run=? ORDER BY step"
            rows = self._connection.execute(query, (name,)).fetchall()
        return [Point(run, step, float("nan") if loss is None else loss, t, a) for run, step, loss, t, a in rows]

    def snapshots(self, name: str) -> dict[int, Path]:
        """The files with a run's weights after the steps that its description names, by step."""
        with self._explained():
            query = "SELECT step, file FROM snapshots WHERE run=? ORDER BY step"
            rows = self._connection.execute(query, (name,)).fetchall()
        return {step: self.files / file for step, file in rows}

    def frame(self) -> "pandas.DataFrame":
        """All runs as a pandas table, one row each: the fields of the run beside those of its result."""
        try:
            import pandas
        except ModuleNotFoundError:
            raise SeparatrixError(
                "a table of runs needs pandas; install it with  pip install 'separatrix[records]'"
            ) from None
        from separatrix.training.export_records import flat_row

        return pandas.DataFrame([flat_row(record) for record in self.all()])

    # -- inside ------------------------------------------------------------------------------------------

    def _prepare(self) -> None:
        self._write_ahead()
        # A checkpoint leaves out the runs that are finished: their results must be on the disk before it is.
        self._connection.execute("PRAGMA synchronous=FULL")
        if self._version() == VERSION:
            return
        with self._transaction():
            if self._version() == 0:  # nobody else made the tables in the meantime
                for statement in _TABLES.split(";"):
                    if statement.strip():
                        self._connection.execute(statement)
                self._connection.execute(f"PRAGMA user_version={VERSION}")

    def _write_ahead(self) -> None:
        """Switch to the write-ahead log; of several who make a store at once SQLite refuses some without waiting."""
        deadline = time.monotonic() + BUSY_SECONDS
        while True:
            try:
                self._connection.execute("PRAGMA journal_mode=WAL")
                return
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                    raise
                time.sleep(0.01)

    def _version(self) -> int:
        return int(self._connection.execute("PRAGMA user_version").fetchone()[0])

    def _refuse_newer(self) -> None:
        """Look at the version without being able to change anything."""
        if not self.path.exists() or (self.path.is_file() and self.path.stat().st_size == 0):
            return
        with self._explained():
            # From the header of the file, before SQLite puts its side files beside it.
            with self.path.open("rb") as file:
                header = file.read(64)
            if header.startswith(b"SQLite format 3"):
                self._check_version(int.from_bytes(header[60:], "big"))
            connection = sqlite3.connect(f"{self.path.absolute().as_uri()}?mode=ro", uri=True, isolation_level=None)
            try:
                connection.execute("BEGIN")  # both at one moment: somebody may be making the tables
                version = int(connection.execute("PRAGMA user_version").fetchone()[0])
                tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type='table'")}
            finally:
                connection.close()
        self._check_version(version)
        if version == 0 and tables:
            raise SeparatrixError(f"{self.path} is a database of something else; name another store with --store")

    def _check_version(self, found: int) -> None:
        if found > VERSION:
            raise SeparatrixError(
                f"{self.path} was written by a newer version (format {found}, this one knows {VERSION}); "
                "upgrade separatrix or name another store"
            )

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._connection.execute("COMMIT")
        except BaseException:
            # A full disk ends a transaction by itself; rolling back what is gone would hide the reason.
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            reason = error.strerror if isinstance(error, OSError) else error
            raise SeparatrixError(
                f"store {self.path}: {reason}; check that it is a store of separatrix, writable, on a disk with room"
            ) from error


def _number(value: float) -> float | None:
    """SQLite has no NaN; a missing loss is a loss that was not a number."""
    return value if value == value and abs(value) != float("inf") else None


def record_from_row(row: Sequence[Any]) -> Record:
    """A run from its row in the table ``runs``."""
    name, spec, ending, step, accuracy, loss, seconds, parameters, environment, finished_at, weights = row
    result = Result(name, ending, step, accuracy, float("nan") if loss is None else loss, seconds, parameters)
    return Record(spec_from(json.loads(spec)), result, json.loads(environment), finished_at, weights)
