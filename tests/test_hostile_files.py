"""Files that are not what they should be: everything that reads files refuses them in one line or reads them whole."""

import io
import json
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import chdir, closing, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from separatrix.cli.app import run
from separatrix.errors import LONGEST, SeparatrixError
from separatrix.reading import LARGEST_HEADER, check_plain, contained, parse_json, read_file, read_tensors

DIES_IN_A_TRANSACTION = """
import os, sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("PRAGMA journal_mode=DELETE")
connection.execute("PRAGMA cache_size=1")
connection.execute("BEGIN IMMEDIATE")
connection.execute("UPDATE runs SET seconds = 123456")
connection.execute("CREATE TABLE much (x)")
connection.executemany("INSERT INTO much VALUES (?)", [("x" * 3000,)] * 40)
os._exit(0)
"""
"""Leaves a real hot journal, its changes half in the file."""
SWEEP = """
title = "Small"
[base]
task = "index-lookup"
architecture = "LSTM-(1,4)"
steps = 2
batch = 2
evaluation_examples = 8
probe_examples = 8
snapshots = [0, 2]
[axes]
length = [4]
learning_rate = [1e-2, 1e-3]
"""
CONFIG = {"model_type": "gpt2", "n_embd": 768, "n_layer": 12, "n_head": 12, "n_positions": 1024}
LOOK = ("--store", "runs.sqlite", "--json")
READERS: dict[str, tuple[str, tuple[str, ...]]] = {
    "certificate": ("good/certificate.json", ("check", "good", "--json")),
    "weights of a certificate": ("good/network.safetensors", ("check", "good", "--json")),
    "network": ("good/network.safetensors", ("protocol", "good/network.safetensors", "--json")),
    "sweep file": ("sweep.toml", ("sweep", "sweep.toml", *LOOK, "--dry-run", "--no-estimate")),
    "config of a model": ("config.json", ("capacity", "config.json", "--json")),
    "store": ("runs.sqlite", ("runs", "list", *LOOK)),
    "weights of a run": ("runs.files/weights/*.safetensors", ("runs", "bits", "RUN", "--bits", "4", *LOOK)),
    "snapshot of a run": ("runs.files/snapshots/*.safetensors", ("runs", "export", "new/runs.json", *LOOK)),
    "exported records": ("exported/runs.json", ("runs", "list", "--records", "exported", "--json")),
    "frontier": ("frontier.json", ("frontier", "index-lookup", "--to", "4", "--store", "frontier.json", "--json")),
    "exported model": ("model/config.json", ()),
    "weights of an exported model": ("model/model.safetensors", ()),
    "function": ("function.py", ("profile", "function.py:majority", "--length", "4", "--json")),
}
"""What is read, where it lies, and the command that reads it; without a command ``load_exported`` does."""
CHECKSUMMED = ("weights of a certificate", "weights of an exported model")
WRITES = ("new/", "frontier.json", "__pycache__")
"""What the commands may write; they only look at everything else."""
VALUES = (
    None, True, 0, -1, 1.5, 2**63, 10**400, "", "x", "../../etc/passwd", "a" * 5000, "\0", [], {}, [[[]]], {"a": None},
)  # fmt: skip


def header_of(tensors: dict[str, object], body: bytes = b"", size: int | None = None) -> bytes:
    text = json.dumps(tensors).encode()
    return (len(text) if size is None else size).to_bytes(8, "little") + text + body


def snapshot(folder: Path) -> dict[str, Any]:
    """Every file below a folder with its content; links are not followed."""
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() and not path.is_symlink() else None
        for path in folder.rglob("*")
        if not path.is_dir()
    }


# -- damage --------------------------------------------------------------------------------------------------

PLACES: dict[str, Callable[[Path], object]] = {
    "missing": lambda path: None,
    "empty": Path.touch,
    "folder": Path.mkdir,
    "pipe": os.mkfifo,
    "endless": lambda path: path.symlink_to("/dev/zero"),
    "loop": lambda path: path.symlink_to(path.name),
    "picture": lambda path: path.write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(500)),
    "huge": lambda path: (path.touch(), os.truncate(path, 1 << 40)),
}


@st.composite
def damages(draw: st.DrawFn, data: bytes) -> bytes:
    """The content of a file with one change: bytes cut, flipped, overwritten or added, or a value of its JSON."""
    at, kind = (
        draw(st.integers(0, len(data) - 1)),
        draw(st.sampled_from(("value", "value", "flip", "cut", "over", "add"))),
    )
    if kind == "cut":
        return data[:at]
    if kind == "flip":
        return data[:at] + bytes([data[at] ^ 1 << draw(st.integers(0, 7))]) + data[at + 1 :]
    if kind == "over":
        new = draw(st.binary(min_size=1, max_size=20) | st.just(bytes(4096)))
        return data[:at] + new + data[at + len(new) :]
    size = int.from_bytes(data[:8], "little")
    if kind == "value" and data[:1] in b"{[":
        return json.dumps(changed(draw, json.loads(data))).encode()
    if kind == "value" and data[8:9] == b"{" and size < len(data):  # the header of a safetensors file
        text = json.dumps(changed(draw, json.loads(data[8 : 8 + size]))).encode()
        return len(text).to_bytes(8, "little") + text + data[8 + size :]
    return data[:at] + draw(st.binary(min_size=1, max_size=20)) + data[at:]


def changed(draw: st.DrawFn, value: Any) -> Any:
    """The value with another one somewhere in it, or with something missing."""
    places = list(value) if isinstance(value, dict) else [*range(len(value))] if isinstance(value, list) else []
    if not places:
        return draw(st.sampled_from(VALUES))
    key = draw(st.sampled_from(places))
    if isinstance(value[key], dict | list) and draw(st.booleans()):
        value[key] = changed(draw, value[key])
    elif draw(st.integers(0, 4)) == 0:
        value.pop(key)
    else:
        value[key] = draw(st.sampled_from(VALUES))
    return value


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """One good file of each kind, made by the product itself."""
    place = tmp_path_factory.mktemp("files") / "template"
    place.mkdir()
    (place / "sweep.toml").write_text(SWEEP)
    (place / "config.json").write_text(json.dumps(CONFIG))
    (place / "function.py").write_text("def majority(x):\n    return 2 * sum(x) > len(x)\n")
    with chdir(place), redirect_stdout(io.StringIO()):
        for command in (
            "certify index-lookup --length 4 --set alphabet=2 --out good",
            "export equality --length 6 --to torch --out model",
            "sweep sweep.toml --store runs.sqlite --no-estimate --threads 1 --json",
            "runs export exported/runs.json --store runs.sqlite",
            "frontier index-lookup --to 4 --store frontier.json --json",
        ):
            assert run(command.split()) == 0
    return place


def called(place: Path, words: tuple[str, ...]) -> tuple[int, str, str]:
    """Exit code, output and errors of a command in a folder, or of ``load_exported`` without one."""
    from separatrix.models import load_exported

    out, err = io.StringIO(), io.StringIO()
    with chdir(place), redirect_stdout(out), redirect_stderr(err):
        if words:
            return run(words), out.getvalue(), err.getvalue()
        try:
            load_exported("model")
        except SeparatrixError as error:
            return 2, "", f"separatrix: {error}\n"
    return 0, "", ""


@pytest.mark.parametrize("name", READERS)
def test_a_damaged_file_is_refused_in_one_line_or_read_and_nothing_is_changed(name: str, folder: Path) -> None:
    pattern, words = READERS[name]
    (file, *_) = sorted(folder.glob(pattern))
    if "RUN" in words:
        with redirect_stdout(io.StringIO()) as out, chdir(folder):
            run(["runs", "list", *LOOK])
        words = tuple(json.loads(out.getvalue())["runs"][0]["name"] if word == "RUN" else word for word in words)
    place = folder.with_name("place")
    damaged = place / file.relative_to(folder)
    seen: set[int] = set()

    @settings(max_examples=15 if settings().derandomize else 500, suppress_health_check=list(HealthCheck))
    @given(st.sampled_from(sorted(PLACES)) | damages(file.read_bytes()) | damages(file.read_bytes()))
    def attack(damage: str | bytes) -> None:
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(folder, place, ignore=shutil.ignore_patterns("__pycache__"))
        damaged.unlink()
        if isinstance(damage, bytes):
            damaged.write_bytes(damage)
        else:
            PLACES[damage](damaged)
        before = snapshot(place) if damage != "huge" else {}
        code, out, err = called(place, words)
        seen.add(code)
        assert code in ((0, 1, 2) if words[:1] == ("check",) else (0, 2))
        if code == 2:
            assert out == "" and err.startswith("separatrix: ") and err.count("\n") == 1
            assert len(err) <= LONGEST + 50
        elif name in CHECKSUMMED and damage != file.read_bytes():
            assert code == 1, "what was changed is not read"
        if before:
            after = snapshot(place)
            different = {each for each in {*before, *after} if before.get(each) != after.get(each)}
            assert not {each for each in different if not each.startswith(WRITES) and "__pycache__" not in each}

    attack()
    assert 2 in seen


# -- reading -------------------------------------------------------------------------------------------------


def refused(function, *arguments):
    with pytest.raises(SeparatrixError) as caught:
        function(*arguments)
    text = str(caught.value)
    assert "\n" not in text
    assert len(text) <= LONGEST + 10
    return text


def test_only_plain_files_of_their_size_are_read(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"abc")
    assert read_file(path, 3, "try again") == b"abc"
    assert "is larger than 0 MiB; try again" in refused(read_file, path, 2, "try again")
    assert "it is a folder, not a file; try again" in refused(read_file, tmp_path, 9, "try again")
    assert "No such file" in refused(read_file, tmp_path / "none", 9, "try again")
    assert "null" in refused(read_file, tmp_path / "a\0b", 9, "try again")
    os.mkfifo(tmp_path / "pipe")
    assert "it is a pipe" in refused(read_file, tmp_path / "pipe", 9, "try again")
    assert "it is a device" in refused(read_file, Path("/dev/zero"), 9, "try again")
    (tmp_path / "loop").symlink_to("loop")
    assert "cannot read" in refused(check_plain, tmp_path / "loop", "try again")
    assert read_file(Path("/proc/self/status"), 1 << 20, "").startswith(b"Name:")


def test_nothing_outside_a_folder_is_named(tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "file").write_text("")
    (folder / "out").symlink_to(tmp_path)
    (folder / "loop").symlink_to("loop")
    assert contained(folder, "file", "") == folder / "file"
    for name in ("..", "../other", "/etc/passwd", "out/other", "loop", "a\0b"):
        assert "leads out of" in refused(contained, folder, name, "try again")


@pytest.mark.parametrize(
    "text",
    ['{"a": 1, "a": 2}', "NaN", "[Infinity]", "[-Infinity]", "1e999", "[-1e400]", "[" * 100_000, '"\\ud800"', "{",
     b"\xff", "9" * 10_000, None, 3],
)  # fmt: skip
def test_json_that_others_would_read_otherwise_is_refused(text):
    with pytest.raises(ValueError):
        parse_json(text)


def test_json_that_is_whole_is_read():
    assert parse_json('{"a": [1, 2.5e3, "ü", null], "b": {"a": 1e-300}}') == {
        "a": [1, 2500.0, "ü", None],
        "b": {"a": 1e-300},
    }
    assert parse_json("[Infinity, 1e999]", infinite=True) == [float("inf")] * 2
    assert parse_json('"\\ud83d\\ude00"') == "😀"


def test_the_size_of_tensors_is_compared_before_they_are_read(tmp_path):
    path = tmp_path / "x.safetensors"
    tensor = {"a": {"dtype": "U8", "shape": [4], "data_offsets": [0, 4]}}
    path.write_bytes(header_of(tensor, b"1234"))
    assert read_tensors(path, 1 << 20, "").endswith(b"1234")
    for damaged in (
        b"", b"1234567", header_of(tensor, b"123"), header_of(tensor, b"12345"), header_of(tensor, b"1234", 10**8),
        header_of(tensor, b"1234", 2**63), header_of({"a": 3}), header_of({"a": {"data_offsets": [0]}}),
        header_of({"a": {"data_offsets": [0, 1e30]}}), b"\2" + bytes(7) + b"[]" + b"x",
    ):  # fmt: skip
        path.write_bytes(damaged)
        assert "safetensors" in refused(read_tensors, path, 1 << 40, "try again")
    path.write_bytes(header_of(tensor, b"1234"))
    os.truncate(path, 1 << 40)
    assert "its header says" in refused(read_tensors, path, 1 << 50, "try again")
    assert LARGEST_HEADER < 1 << 30


# -- stores --------------------------------------------------------------------------------------------------


@pytest.fixture
def store(tmp_path):
    from separatrix.training.records import Records

    path = tmp_path / "runs.sqlite"
    with Records(path):
        pass
    return path


def test_looking_at_a_store_changes_nothing(store):
    from separatrix.training.records import Records

    before = snapshot(store.parent)
    with Records(store, create=False) as records:
        assert records.all() == []
    assert snapshot(store.parent) == before
    (store.parent / "empty.sqlite").touch()
    with Records(store.parent / "empty.sqlite", create=False) as records:
        assert records.all() == []
    assert (store.parent / "empty.sqlite").stat().st_size == 0


@pytest.mark.parametrize(
    ("statement", "word"),
    [
        ("DROP TABLE points", "its table points is missing"),
        ("ALTER TABLE runs ADD COLUMN more TEXT", "its table runs is another"),
        ("PRAGMA user_version=0", "something else"),
        ("PRAGMA user_version=-3", "something else"),
        ("INSERT INTO points VALUES ('a', 1, 0.5, 'x', 0.5)", "a row of points"),
        ("INSERT INTO points VALUES ('a', 1, 0.5, 0.5, 2)", "a row of points"),
        ("INSERT INTO groups VALUES ('a', x'ff')", "a row of groups"),
    ],
)
def test_stores_that_are_not_whole_are_refused_before_they_are_touched(store, statement, word):
    from separatrix.training.records import Records

    with closing(sqlite3.connect(store)) as connection, connection:
        connection.execute(statement)
    before = snapshot(store.parent)
    assert word in refused(Records, store)
    assert snapshot(store.parent) == before


def test_a_transaction_that_was_killed_is_taken_back(store):
    from separatrix.training.records import Records

    subprocess.run([sys.executable, "-c", DIES_IN_A_TRANSACTION, store], check=True)
    assert store.with_name("runs.sqlite-journal").stat().st_size > 0
    refused(lambda: Records(store, create=False))
    with Records(store) as records:
        assert records.all() == []
    assert not store.with_name("runs.sqlite-journal").exists()


def test_side_files_that_are_no_files_are_refused(store):
    from separatrix.training.records import Records

    os.mkfifo(store.with_name("runs.sqlite-journal"))
    assert "not a plain file" in refused(Records, store)
    assert "not a plain file" in refused(lambda: Records(store, create=False))
