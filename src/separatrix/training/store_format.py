"""What a store is on the disk, and how one is opened only to be looked at.

Before anything is written to a store, and before anything is believed that is in it, it is opened without being
able to change a byte: it must be a plain file, a database of this version, with exactly our tables, and whole. SQLite's
side files are left alone: without a log or a journal next to it nobody is writing, and SQLite then needs none. Somebody
may begin to write at just that moment, so a store is refused only when it looks the same a little later.

An empty file is a store in which nothing is recorded yet.
"""

import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from separatrix.errors import SeparatrixError
from separatrix.reading import check_plain

VERSION = 1
BUSY_SECONDS = 60.0
"""How long another process's write is waited for."""
LOOKS, BETWEEN_LOOKS = 3, 0.05
"""How often a store is looked at before it is refused, and the seconds in between."""
MAGIC = b"SQLite format 3\0"
TABLES = """
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
_SHARE = "typeof({0}) = 'real' AND {0} BETWEEN 0 AND 1"
_LOSS = "(loss IS NULL OR typeof(loss) = 'real')"
ROWS = {
    "runs": f"typeof(name) = 'text' AND typeof(spec) = 'text' AND {_SHARE.format('accuracy')} AND {_LOSS}"
    " AND typeof(step) = 'integer' AND typeof(seconds) = 'real' AND typeof(environment) = 'text'",
    "points": f"typeof(run) = 'text' AND typeof(step) = 'integer' AND {_LOSS} AND {_SHARE.format('training_accuracy')}"
    f" AND {_SHARE.format('accuracy')}",
    "snapshots": "typeof(run) = 'text' AND typeof(step) = 'integer' AND typeof(file) = 'text'",
    "groups": "typeof(planned) = 'text' AND typeof(members) = 'text'",
}
"""What is true of every row: SQLite lets any value be in any column."""
STATEMENTS = tuple(each.strip() for each in TABLES.split(";") if each.strip())
_OUR_TABLES = {each.split()[2]: " ".join(each.split()) for each in STATEMENTS}


def opened_to_look(path: Path) -> sqlite3.Connection:
    """Return a connection that cannot write, to a store that has its tables; raises a one-line error for all else."""
    if _is_empty(path):
        return _nothing_recorded()
    _check_beginning(path)

    def look() -> sqlite3.Connection:
        connection = _connected(_address(path))
        try:
            has_tables = _check_tables(connection, path)
        except BaseException:
            connection.close()
            raise
        if has_tables:
            return connection
        connection.close()
        return _nothing_recorded()

    with explained(path):
        return _patiently(look)


def check_before_writing(path: Path) -> None:
    """Raise unless what lies there is nothing, empty, or a whole store of this version; nothing is changed."""
    if not path.exists() or _is_empty(path):
        return
    _check_beginning(path)

    def look() -> None:
        try:
            _check_whole(path, _address(path))
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_READONLY_ROLLBACK:
                raise
            # A process died in the middle of a transaction: SQLite takes it back when it may write.
            _check_whole(path, f"{path.resolve().as_uri()}?mode=rw")

    with explained(path):
        _patiently(look)


def _check_beginning(path: Path) -> None:
    """Refuse what is not a plain file or not a database, or of a newer version, by its first bytes alone."""
    check_plain(path, "name a store with --store")
    with explained(path), path.open("rb") as file:
        header = file.read(64)
    if not header.startswith(MAGIC) or len(header) < 64:
        raise SeparatrixError(f"{path} cannot be read as a store: it is not a database; name another with --store")
    _check_version(path, int.from_bytes(header[60:], "big", signed=True))


def _check_tables(connection: sqlite3.Connection, path: Path) -> bool:
    """Return whether the tables are there, exactly as :data:`TABLES` has them; False for a database without any."""
    connection.execute("BEGIN")  # all at one moment: somebody may be making the tables
    version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    query = "SELECT name, type, sql FROM sqlite_master WHERE sql IS NOT NULL"
    found = {name: (kind, " ".join(str(sql).split())) for name, kind, sql in connection.execute(query)}
    connection.execute("COMMIT")
    _check_version(path, version)
    if version == 0 and not found:
        return False
    if version != VERSION:
        raise SeparatrixError(
            f"{path} is a database of something else and no store of separatrix; name another store with --store"
        )
    wrong = [name for name, sql in _OUR_TABLES.items() if found.get(name) != ("table", sql)]
    if wrong:
        raise SeparatrixError(
            f"{path} is not a whole store: its table {wrong[0]} is {'another' if wrong[0] in found else 'missing'}; "
            "name another store with --store, or put a copy of it back"
        )
    return True


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Raise errors of SQLite and of the system as one line."""
    try:
        yield
    except (sqlite3.Error, OSError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise SeparatrixError(
            f"store {path}: {reason}; check that it is a store of separatrix, writable, on a disk with room"
        ) from error


def _is_empty(path: Path) -> bool:
    return path.is_file() and path.stat().st_size == 0


def _nothing_recorded() -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    for statement in STATEMENTS:
        connection.execute(statement)
    return connection


def _connected(address: str) -> sqlite3.Connection:
    return sqlite3.connect(address, uri=True, isolation_level=None, timeout=BUSY_SECONDS)


_Found = TypeVar("_Found")


def _patiently(look: Callable[[], _Found]) -> _Found:
    for _ in range(LOOKS - 1):
        try:
            return look()
        except (sqlite3.Error, SeparatrixError):
            time.sleep(BETWEEN_LOOKS)
    return look()


def _check_whole(path: Path, address: str) -> None:
    connection = _connected(address)
    try:
        has_tables = _check_tables(connection, path)
        damage = str(connection.execute("PRAGMA quick_check(1)").fetchone()[0])
        for table, condition in ROWS.items() if has_tables and damage == "ok" else ():
            if connection.execute(f"SELECT 1 FROM {table} WHERE NOT ({condition}) LIMIT 1").fetchone():
                damage = f"a row of {table} holds what none can hold"
    finally:
        connection.close()
    if damage != "ok":
        shown = " ".join(damage.split())[:200]
        raise SeparatrixError(f"store {path} is damaged ({shown}); put a copy of it back or name another with --store")


def _check_version(path: Path, found: int) -> None:
    if found > VERSION:
        raise SeparatrixError(
            f"{path} was written by a newer version (format {found}, this one knows {VERSION}); "
            "upgrade separatrix or name another store"
        )


def _address(path: Path) -> str:
    """Open the store read-only. The log and the journal lie next to the file itself, not next to a link to it."""
    real = path.resolve()
    log, journal, _ = sides = [real.with_name(f"{real.name}{suffix}") for suffix in ("-wal", "-journal", "-shm")]
    for side in sides:
        if side.is_symlink() or (side.exists() and not side.is_file()):
            raise SeparatrixError(f"{side} is not a plain file, and SQLite writes there; remove it")
    busy = log.exists() or (journal.exists() and journal.stat().st_size > 0)
    return f"{real.as_uri()}?mode=ro{'' if busy else '&immutable=1'}"
