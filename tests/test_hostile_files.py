"""Files that are not what they should be: a short campaign over all that reads files, and what it is on."""

import json
import os
import random
import sqlite3
import subprocess
import sys
from contextlib import closing
from itertools import islice
from pathlib import Path

import pytest
from tools.calls.sandbox import Outcome
from tools.files.__main__ import ENDINGS, defects, page, snapshot
from tools.files.damage import byte_mutants, place_mutants
from tools.files.readers import Reader
from tools.files.structures import header_end, json_mutants, tensor_mutants

from separatrix.errors import LONGEST, SeparatrixError
from separatrix.reading import LARGEST_HEADER, check_plain, contained, parse_json, read_file, read_tensors

ROOT = Path(__file__).parents[1]
LOOKING = Reader("look", "store.json", "json", (("runs", "list", "--json"),), outputs=("new.csv",))
BEFORE = {"store.json": "1"}


def header_of(tensors: dict[str, object], body: bytes = b"", size: int | None = None) -> bytes:
    text = json.dumps(tensors).encode()
    return (len(text) if size is None else size).to_bytes(8, "little") + text + body


def test_a_short_campaign_keeps_the_contract():
    command = [sys.executable, "-m", "tools.files", "--count", "200", "--every", "110"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "0 broke the contract" in ended.stdout
    assert "train: newest checkpoint" in ended.stdout


# -- the judge -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("code", "out", "err", "after", "found"),
    [
        (0, "{}", "", BEFORE, []),
        (2, "", "separatrix: no", BEFORE, []),
        (0, "{}", "", {**BEFORE, "new.csv": "2"}, []),
        (1, "{}", "", BEFORE, ["exit code 1"]),
        (70, "", "Traceback (most recent call last):", BEFORE, ["exit code 70", "a traceback"]),
        (2, "", "separatrix: a\nb", BEFORE, ["refused in 2 lines"]),
        (2, "{}", "separatrix: a", BEFORE, ["refused and printed a result"]),
        (2, "", "separatrix: " + "a" * 3000, BEFORE, ["refused in a line of 3012 characters"]),
        (0, "{", "", BEFORE, ["no JSON: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)"]),
        (0, "{}", "", {"store.json": "2"}, ["changed store.json"]),
        (0, "{}", "", {**BEFORE, "store.json-wal": "2"}, ["changed store.json-wal"]),
        (2, "", "separatrix: no", {}, ["changed store.json"]),
    ],
)
def test_breaches_are_found(code, out, err, after, found):
    outcome = Outcome(("runs", "list", "--json"), "file", code, out, err, False, 1 << 20, 0.1)
    assert defects(LOOKING, outcome, BEFORE, after, 1 << 20) == found


def test_calls_that_take_too_much_are_found():
    outcome = Outcome((), "file", 0, "", "", True, 1 << 30, 11.0)
    assert defects(LOOKING, outcome, BEFORE, BEFORE, 1 << 20) == ["took longer than 10 s", "took 1023 MiB"]


def test_a_snapshot_sees_everything_and_follows_nothing(tmp_path):
    (tmp_path / "file").write_text("x")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("/dev/zero")
    first = snapshot(tmp_path)
    assert set(first) == {"file", "pipe", "link"}
    (tmp_path / "file").write_text("y")
    assert {name for name, kept in snapshot(tmp_path).items() if first[name] != kept} == {"file"}


def test_the_page_counts_what_the_record_holds():
    endings = {"check": {"refused": 3, "broken": 1}, "train": {"went on": 2}}
    record = {"count": 4, "seed": 0, "seconds": 9.0, "broken": 1, "slowest": 0.5, "largest": 1 << 21,
              "endings": endings}  # fmt: skip
    text = page(record)
    assert "Of 6 files in 2 places" in text
    assert "1 broke the contract" in text
    assert "2 MiB more" in text
    assert "| check | 4 | 3 | 0 | 0 | 0 | 1 |" in text
    assert len(ENDINGS) == 5


def test_mutants_are_drawn_from_a_seed_and_change_the_file(tmp_path):
    (tmp_path / "place").mkdir()
    path = tmp_path / "place" / "file.json"
    data = b'{"a": [1, 2], "b": {"c": "d", "e": null}}'

    def drawn():
        chance = random.Random(1)
        several = (*islice(json_mutants(data, chance), 30), *islice(byte_mutants(data, [5], chance), 30))
        for mutant in several:
            mutant.apply(path)
            yield mutant.kind, mutant.what, path.read_bytes()

    first = list(drawn())
    assert first == list(drawn())
    assert sum(content != data for _, _, content in first) > 50
    for mutant in place_mutants(data):
        path.unlink(missing_ok=True) if not path.is_dir() or path.is_symlink() else path.rmdir()
        path.write_bytes(data)
        mutant.apply(path)
        plain = path.is_file() and not path.is_symlink() and os.access(path, os.R_OK)
        assert not plain or path.stat().st_size != len(data) or path.read_bytes() != data, mutant.what


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


def test_mutants_of_tensors_keep_the_rest(tmp_path):
    data = header_of({"a": {"dtype": "U8", "shape": [4], "data_offsets": [0, 4]}}, b"1234")
    path = tmp_path / "x.safetensors"
    kinds = set()
    for mutant in islice(tensor_mutants(data, random.Random(0)), 16, 60):
        mutant.apply(path)
        kinds.add(mutant.kind)
        assert path.read_bytes().endswith(b"1234")
        assert header_end(path.read_bytes()) >= 8
    assert {"offsets", "shape", "dtype", "twice"} <= kinds


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
    from tools.files.databases import _killed

    from separatrix.training.records import Records

    _killed(store)
    assert store.with_name("runs.sqlite-journal").stat().st_size > 0
    refused(lambda: Records(store, create=False))
    with Records(store) as records:
        assert records.all() == []
    assert not store.with_name("runs.sqlite-journal").exists()


def test_side_files_that_are_no_files_are_refused(store):
    from separatrix.training.records import Records

    os.mkfifo(store.with_name("runs.sqlite-journal"))
    assert "no plain file" in refused(Records, store)
    assert "no plain file" in refused(lambda: Records(store, create=False))
