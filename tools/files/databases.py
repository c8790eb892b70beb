"""What is done to a store: its header and pages, its version and schema, the values in its tables, its side files."""

import json
import os
import random
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from tools.files.damage import Mutant, written
from tools.files.structures import MARK, RAW, VALUES, changed, json_text

HEADER = {
    "page size": (16, 2),
    "format of writing": (18, 1),
    "format of reading": (19, 1),
    "reserved bytes": (20, 1),
    "payload fractions": (21, 3),
    "pages": (28, 4),
    "first free page": (32, 4),
    "free pages": (36, 4),
    "schema cookie": (40, 4),
    "schema format": (44, 4),
    "text encoding": (56, 4),
    "user version": (60, 4),
    "application": (68, 4),
}
"""Fields of the first hundred bytes, by place and size."""
JSON_COLUMNS = {("runs", "spec"), ("runs", "environment"), ("groups", "members")}
SCHEMAS = (
    "DROP TABLE runs", "DROP TABLE points", "DROP TABLE snapshots", "DROP TABLE groups",
    "ALTER TABLE runs RENAME TO walks", "ALTER TABLE runs ADD COLUMN more TEXT", "ALTER TABLE points DROP COLUMN loss",
    "ALTER TABLE runs RENAME COLUMN spec TO specification",
    "ALTER TABLE runs RENAME TO walks; CREATE VIEW runs AS SELECT * FROM walks",
    "DROP TABLE points; CREATE TABLE points (run, step, loss, training_accuracy, accuracy)",
    "CREATE TRIGGER t BEFORE INSERT ON points BEGIN SELECT RAISE(ABORT, 'no'); END",
    "DROP TABLE runs; CREATE TABLE runs (name)", "DELETE FROM groups; DELETE FROM runs; DELETE FROM points",
    "DROP TABLE groups; CREATE TABLE groups (planned, members)",
)  # fmt: skip
SQL_VALUES: tuple[Any, ...] = (
    *(each for each in VALUES if isinstance(each, str) and "\ud800" not in each),
    -1, 0, 2**53 + 1, 2**63 - 1, -(2**63), 0.5, 1e308, float("inf"), -1.5, 2.0, b"", b"\xff\xfe", b"x" * 5000, None,
)  # fmt: skip


def database_mutants(data: bytes, chance: random.Random) -> Iterator[Mutant]:
    """Endlessly many, all kinds in turn, after one of each schema and each side file."""
    page = int.from_bytes(data[16:18], "big")
    for version in (0, 2, 3, 999, 2**31 - 1, -1, -(2**31)):
        yield Mutant("version", f"version {version}", _executed(f"PRAGMA user_version={version}"))
    for statement in SCHEMAS:
        yield Mutant("schema", statement[:40], _executed(statement))
    for name, make in _sides(chance).items():
        yield Mutant("side file", name, make)
    while True:
        field, (place, size) = chance.choice(list(HEADER.items()))
        value = chance.randbytes(size)
        yield written("header", f"{field} is {value.hex()}", data[:place] + value + data[place + size :])
        first, second = chance.randrange(len(data) // page), chance.randrange(len(data) // page)
        for what, content in (
            ("zeroed", bytes(page)),
            ("random", chance.randbytes(page)),
            (f"a copy of page {second}", data[second * page : (second + 1) * page]),
        ):
            other = data[: first * page] + content + data[(first + 1) * page :]
            yield written("page", f"page {first} is {what}", other)
        pages = chance.randrange(len(data) // page)
        yield written("cut", f"cut to {pages} pages", data[: pages * page])
        bit, place = 1 << chance.randrange(8), chance.randrange(len(data))
        yield written("bit", f"bit of byte {place}", data[:place] + bytes([data[place] ^ bit]) + data[place + 1 :])
        # The first bytes of a page say what kind it is and where its cells lie.
        place = chance.randrange(len(data) // page) * page + chance.randrange(16)
        yield written(
            "bit", f"bit of byte {place}, a page's head", data[:place] + bytes([data[place] ^ bit]) + data[place + 1 :]
        )
        for _ in range(4):
            yield _cell(data, chance)


def _executed(statements: str, *values: Any) -> Callable[[Path], None]:
    def apply(path: Path) -> None:
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            for each in statements.split("; ") if "TRIGGER" not in statements else [statements]:
                connection.execute(each, values)

    return apply


def _cell(data: bytes, chance: random.Random) -> Mutant:
    """Another value in one column of one row, or of all rows of a table."""
    with closing(sqlite3.connect(":memory:")) as connection:
        # A database in memory has no log.
        connection.deserialize(data[:18] + b"\1\1" + data[20:])
        tables = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type='table'")]
        full = [each for each in tables if connection.execute(f"SELECT 1 FROM {each}").fetchone()]
        table = chance.choice(full)
        keys = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
        column = chance.choice(keys)
        rows = connection.execute(f"SELECT {keys[0]}, {column} FROM {table}").fetchall()
    key, value = chance.choice(rows)
    if (table, column) in JSON_COLUMNS and chance.random() < 0.7:
        kind, what, other, raw = changed(json.loads(value), chance, RAW)
        text: Any = json_text(other, raw)
        what = f"{table}.{column}: {what}"
    else:
        kind, text = "value", chance.choice([*SQL_VALUES, *(row[1] for row in rows)])
        what = f"{table}.{column} is {str(text)[:30]!r}"
    condition = f"{keys[0]}=?"
    apply = _executed(f"UPDATE OR REPLACE {table} SET {column}=? WHERE {condition}", text, key)

    def tolerant(path: Path) -> None:
        try:
            apply(path)
        except sqlite3.Error:  # a value that the schema refuses
            Path(path).write_bytes(data[:60] + b"\0\0\0\x09" + data[64:])

    assert MARK not in str(text)
    return Mutant(kind, what, tolerant)


def _sides(chance: random.Random) -> dict[str, Callable[[Path], None]]:
    """Files next to the store that SQLite looks at."""

    def beside(suffix: str, make: Callable[[Path], object]) -> Callable[[Path], None]:
        def apply(path: Path) -> None:
            make(path.with_name(f"{path.name}{suffix}"))

        return apply

    noise = chance.randbytes(8192)
    journal = b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7" + (1).to_bytes(4, "big") + bytes(4) + (3).to_bytes(4, "big")
    journal += (512).to_bytes(4, "big") + (4096).to_bytes(4, "big")
    found: dict[str, Callable[[Path], None]] = {}
    for suffix in ("-wal", "-journal", "-shm"):
        found |= {
            f"{suffix} of noise": beside(suffix, lambda path: path.write_bytes(noise)),
            f"{suffix} is a folder": beside(suffix, Path.mkdir),
            f"{suffix} is a pipe": beside(suffix, os.mkfifo),
            f"{suffix} is empty": beside(suffix, Path.touch),
            f"{suffix} is /dev/zero": beside(suffix, lambda path: path.symlink_to("/dev/zero")),
        }
    found["a journal of one page that was never written"] = beside(
        "-journal", lambda path: path.write_bytes(journal.ljust(512, b"\0") + bytes(4 + 4096 + 4))
    )
    found["a journal of a transaction that was killed"] = _killed
    found["a log of transactions that nobody closed"] = _unclosed
    return found


def _killed(path: Path) -> None:
    """A real hot journal: a process that dies in the middle of a large transaction, its changes half in the file."""
    child = os.fork()
    if child == 0:
        connection = sqlite3.connect(path, isolation_level=None)
        connection.execute("PRAGMA journal_mode=DELETE")
        connection.execute("PRAGMA cache_size=1")
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("UPDATE runs SET seconds = 123456")
        connection.execute("CREATE TABLE much (x)")
        connection.executemany("INSERT INTO much VALUES (?)", [("x" * 3000,)] * 40)
        os._exit(0)
    os.waitpid(child, 0)


def _unclosed(path: Path) -> None:
    """A log with a transaction that is not in the store yet, as a killed driver leaves it."""
    child = os.fork()
    if child == 0:
        connection = sqlite3.connect(path, isolation_level=None)
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("UPDATE runs SET seconds = seconds + 1")
        os._exit(0)
    os.waitpid(child, 0)
