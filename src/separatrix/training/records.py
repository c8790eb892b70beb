"""The store: one SQLite file with every run, its curve and its result, and a folder next to it for weights.

Written only by the process that drives a sweep. Every write is one transaction, and writing the same result or point
again changes nothing, so a driver that is killed and started again never loses or doubles a run. Two drivers may share
a store (write-ahead log); who trains which group is settled by file locks, see ``driver``.

A store that is only looked at is opened without leave to write, and not a byte of it changes. One that is damaged, of a
newer version or of something else is refused before it is touched (see ``store_format``). All errors of SQLite (a full
disk, a file that is not a database, no permission) end in one line.
"""

import json
import os
import sqlite3
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from separatrix.errors import SeparatrixError
from separatrix.extras import require
from separatrix.reading import parse_json
from separatrix.training.events import Point, Result
from separatrix.training.record import (
    OPEN_ENDED,
    SPEC,
    Record,
    Row,
    kept_folder,
    known_number,
    record_from_row,
    snapshot_entry,
)
from separatrix.training.row_checks import (
    TaskNotHereError,
    checked_point,
    task_not_here,
)
from separatrix.training.spec import RunSpec
from separatrix.training.store_format import (
    BUSY_SECONDS,
    STATEMENTS,
    VERSION,
    check_before_writing,
    explained,
    opened_to_look,
)

if TYPE_CHECKING:
    import pandas

DEFAULT_STORE = "runs.sqlite"
ENVIRONMENT_VARIABLE = "SEPARATRIX_STORE"


def store_path(given: Path | None) -> Path:
    """Return the store that was named, or the one in the environment variable SEPARATRIX_STORE, or ``runs.sqlite``.

    >>> store_path(Path("mine.sqlite")).name
    'mine.sqlite'
    """
    return given or Path(os.environ.get(ENVIRONMENT_VARIABLE) or DEFAULT_STORE)


class Records:
    """An open store; use as a context manager. ``create`` False only looks at one that is there."""

    def __init__(self, path: Path, *, create: bool = True) -> None:
        if not path.name:
            raise SeparatrixError(f"{path} is a folder; name the file of a store, such as {path / DEFAULT_STORE}")
        self.path = path
        self.files = kept_folder(path)
        if not create:
            if not path.exists():
                raise SeparatrixError(f"there is no store {path}; train something first or name another with --store")
            self._connection = opened_to_look(path)
            return
        with self._explained():
            check_before_writing(path)
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
        """Add points of curves; one that is there already stays as it is."""
        rows = [(p.run, p.step, known_number(p.loss), p.training_accuracy, p.accuracy) for p in points]
        with self._explained(), self._transaction():
            self._connection.executemany("INSERT OR IGNORE INTO points VALUES (?, ?, ?, ?, ?)", rows)

    def add_results(
        self, specs: Sequence[RunSpec], results: Sequence[Result], environment: dict[str, Any], weights: str | None
    ) -> None:
        """Add finished runs; a result that is there already stays, unless that run had been stopped for others."""
        by_name = {spec.name: spec for spec in specs}
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        with self._explained(), self._transaction():
            for each in results:
                found = self._connection.execute("SELECT ending FROM runs WHERE name=?", (each.run,)).fetchone()
                if found is not None and (found[0] not in OPEN_ENDED or each.ending in OPEN_ENDED):
                    continue
                row = (
                    each.run, json.dumps(by_name[each.run].as_dict(), sort_keys=True), each.ending, each.step,
                    each.accuracy, known_number(each.loss), each.seconds, each.parameters,
                    json.dumps(environment, sort_keys=True), now, weights,
                )  # fmt: skip
                self._connection.execute("INSERT OR REPLACE INTO runs VALUES (?,?,?,?,?,?,?,?,?,?,?)", row)

    def add_attack(self, name: str, found: Mapping[str, Any]) -> None:
        """Record what a search for failing inputs of a run found, with the environment that made the run."""
        with self._explained(), self._transaction():
            statement = "UPDATE runs SET environment=json_set(environment, '$.attack', json(?)) WHERE name=?"
            self._connection.execute(statement, (json.dumps(dict(found), sort_keys=True), name))

    def add_snapshots(self, runs: Sequence[str], step: int, file: str) -> None:
        """Record where the weights of runs after ``step`` steps were kept, relative to ``files``."""
        with self._explained(), self._transaction():
            rows = [(run, step, file) for run in runs]
            self._connection.executemany("INSERT OR REPLACE INTO snapshots VALUES (?, ?, ?)", rows)

    def settle(self, planned: str, members: Sequence[str]) -> tuple[str, ...]:
        """Return who trains in a planned group: what was settled when it first started, else ``members`` from now
        on."""
        with self._explained(), self._transaction():
            text = json.dumps(list(members))
            self._connection.execute("INSERT OR IGNORE INTO groups VALUES (?, ?)", (planned, text))
        found = self.settled(planned)
        assert found is not None
        return found

    def settled(self, planned: str) -> tuple[str, ...] | None:
        """Return the members settled for a planned group that has started and is not done; None for others."""
        with self._explained():
            found = self._connection.execute("SELECT members FROM groups WHERE planned=?", (planned,)).fetchone()
        return None if found is None else _names(found[0], self.path)

    def forget_group(self, planned: str) -> None:
        """Forget a group that is done, or is to be settled anew."""
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
        """Return the run of a name or of the beginning of one."""
        with self._explained():
            # A bound parameter and an escape: a name typed by a person is data, never a pattern.
            pattern = name.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_") + "%"
            query = "SELECT * FROM runs WHERE name LIKE ? ESCAPE '\\' ORDER BY name LIMIT 3"
            # Names are hexadecimal digits; SQLite cannot take what is not UTF-8.
            rows = self._connection.execute(query, (pattern,)).fetchall() if name and name.isascii() else []
        if not rows:
            see = f"separatrix runs list --store {self.path}"
            raise SeparatrixError(f"no run in {self.path} is named {name!r}; see  {see}")
        if len(rows) > 1:
            raise SeparatrixError(f"{name!r} begins the names of several runs; give more of its digits")
        return record_from_row(rows[0], self.path)

    def find(self, names: Iterable[str]) -> dict[str, Record]:
        """Return those of the named runs that are finished."""
        found: dict[str, Record] = {}
        with self._explained():
            for name in names:
                row = self._connection.execute("SELECT * FROM runs WHERE name=?", (name,)).fetchone()
                if row is not None:
                    found[name] = record_from_row(row, self.path)
        return found

    def all(self) -> list[Record]:
        """Return every finished run of a task that is here, by the time it finished."""
        return self.newest(None)

    def newest(self, limit: int | None) -> list[Record]:
        """Return the last ``limit`` runs of :meth:`all`; no others are checked."""
        found: list[Record] = []
        for row in reversed(self.rows()):
            if len(found) == limit:
                break
            with suppress(TaskNotHereError):
                found.append(record_from_row(row, self.path))
        return found[::-1]

    def not_here(self) -> dict[str, int]:
        """Return how many runs there are of each task that is not here; :meth:`all` leaves them out."""
        return Counter(task for row in self.rows() if (task := task_not_here(row[SPEC])) is not None)

    def rows(self) -> list[Row]:
        """Return the finished runs as they are in the store, by the time they finished; nothing is checked."""
        with self._explained():
            return self._connection.execute("SELECT * FROM runs ORDER BY finished_at, name").fetchall()

    def rows_of_curves(self) -> dict[str, list[Row]]:
        """Return the points of all runs as they are in the store, in order of steps; nothing is checked."""
        query = "SELECT run, step, loss, training_accuracy, accuracy FROM points ORDER BY run, step"
        return self._by_run(query)

    def rows_of_snapshots(self) -> dict[str, list[Row]]:
        """Return the files with weights of all runs as they are in the store, in order of steps; nothing is checked."""
        return self._by_run("SELECT run, step, file FROM snapshots ORDER BY run, step")

    def curve(self, name: str) -> list[Point]:
        """Return the points of a run, in order of steps."""
        with self._explained():
            query = "SELECT run, step, loss, training_accuracy, accuracy FROM points WHERE run=? ORDER BY step"
            rows = self._connection.execute(query, (name,)).fetchall()
        return [checked_point(self.path, *row) for row in rows]

    def snapshots(self, name: str) -> dict[int, Path]:
        """Return the files with a run's weights after the steps that its description names, by step."""
        with self._explained():
            query = "SELECT step, file FROM snapshots WHERE run=? ORDER BY step"
            rows = self._connection.execute(query, (name,)).fetchall()
        return dict(snapshot_entry(self.path, self.files, name, *row) for row in rows)

    def folders(self) -> list[Path]:
        """Return where the store lies."""
        return [self.path.parent]

    def frame(self) -> "pandas.DataFrame":
        """Return all runs as a pandas table, one row each: the fields of the run next to those of its result."""
        require("a table of runs", "pandas")
        import pandas

        from separatrix.training.export_records import flat_row

        return pandas.DataFrame([flat_row(record) for record in self.all()])

    # -- inside ------------------------------------------------------------------------------------------

    def _by_run(self, query: str) -> dict[str, list[Row]]:
        with self._explained():
            rows = self._connection.execute(query).fetchall()
        return {run: list(own) for run, own in groupby(rows, key=itemgetter(0))}

    def _prepare(self) -> None:
        self._write_ahead()
        # A checkpoint leaves out the runs that are finished: their results must be on the disk before it is.
        self._connection.execute("PRAGMA synchronous=FULL")
        if self._version() == VERSION:
            return
        with self._transaction():
            if self._version() == 0:  # nobody else made the tables in the meantime
                for statement in STATEMENTS:
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

    def _explained(self) -> AbstractContextManager[None]:
        return explained(self.path)


def _names(text: Any, path: Path) -> tuple[str, ...]:
    try:
        found = parse_json(text)
    except (ValueError, TypeError):
        found = None
    if not isinstance(found, list) or not all(isinstance(each, str) for each in found):
        raise SeparatrixError(f"store {path} is damaged: a group has no members; train it again with --fresh")
    return tuple(found)
