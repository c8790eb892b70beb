"""Sweeps survive: kills, two at once, a full disk, Ctrl-C; with real processes, signals and file systems."""

import io
import json
import os
import resource
import shlex
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import Any

import pytest

from separatrix.cli.app import run
from separatrix.errors import SeparatrixError
from separatrix.training.executors.local import LocalExecutor
from separatrix.training.group import Group
from separatrix.training.records import Records
from tests.training.cases import CPU, contents, drive, grid, leftovers

ROOT = Path(__file__).resolve().parents[2]
SWEEP = """
title = "Small enough to be killed often"
[base]
task = "index-lookup"
steps = {steps}
batch = 16
evaluate_every = 50
probe_examples = 64
evaluation_examples = 100
goal = 0.5
[axes]
architecture = ["TF-(1,8)", "LSTM-(1,8)"]
length = [2, 6]
learning_rate = [2e-2, 1e-2, 5e-3, 1e-6]
"""
SEPARATRIX = [sys.executable, "-c", "import sys; from separatrix.cli import main; sys.exit(main())"]
TRAIN = [
    "train", "index-lookup", "TF-(1,8)", "--length", "6", "--lr", "0.02,0.005", "--batch", "8", "--steps", "500",
    "--evaluate-every", "25", "--examples", "100", "--goal", "0", "--threads", "1",
]  # fmt: skip


def environment() -> dict[str, str]:
    return {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}


def forking(*words: str, before: tuple[str, ...] = ()) -> list[dict[str, Any]]:
    """What ``tests.training.forking`` tells."""
    command = [*before, sys.executable, "-m", "tests.training.forking", *words]
    done = subprocess.run(command, cwd=ROOT, env=environment(), capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def command_line(*words: str, **more: Any) -> "subprocess.Popen[str]":
    """The real command in a process of its own, with its output kept."""
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "env": environment()}
    return subprocess.Popen([*SEPARATRIX, *words], **pipes, **more)


def watched(store: Path) -> None:
    """Let the store itself count how often a result is written."""
    with Records(store):
        pass
    connection = sqlite3.connect(store)
    connection.execute("CREATE TABLE written (name TEXT)")
    connection.execute("CREATE TRIGGER watch AFTER INSERT ON runs BEGIN INSERT INTO written VALUES (new.name); END")
    connection.commit()
    connection.close()


def times_written(store: Path) -> dict[str, int]:
    connection = sqlite3.connect(store)
    rows = connection.execute("SELECT name, count(*) FROM written GROUP BY name").fetchall()
    connection.close()
    return dict(rows)


# -- kill -9 ---------------------------------------------------------------------------------------------


def test_kills_at_random_moments_change_no_bit(tmp_path: Path) -> None:
    file, reference, store = tmp_path / "sweep.toml", tmp_path / "reference.sqlite", tmp_path / "runs.sqlite"
    file.write_text(SWEEP.format(steps=400))
    watched(store)
    log = forking("kill", str(file), str(reference), str(store), "23", "1")
    sys.stdout.write("\n".join(map(str, log)))  # shown where the test fails, or with -s
    kills = [each for each in log if each["happened"] == "kill"]
    killed = [each for each in kills if each["code"] == -signal.SIGKILL]
    assert len(killed) >= 20, "the rest had ended before it could be killed"
    assert log[0]["code"] == 0
    assert log[-1] == {"happened": "last", "code": 0, "recorded": 16}
    assert len({each["recorded"] for each in kills}) > 1, "kills fell on different parts of the sweep"
    expected = contents(reference)
    assert {each["ending"] for each in expected.values()} >= {"goal", "beaten", "pruned", "steps"}
    assert contents(store) == expected
    assert times_written(store) == dict.fromkeys(expected, 1)
    assert leftovers(store) == leftovers(reference) == []


# -- two at once -----------------------------------------------------------------------------------------


def test_two_sweeps_at_once_train_every_run_exactly_once(tmp_path: Path) -> None:
    store = tmp_path / "runs.sqlite"
    watched(store)
    log = forking("together", str(store))
    done = {each["sweep"]: each["runs"] for each in log if each["happened"] == "done"}
    assert [each["codes"] for each in log if each["happened"] == "ended"] == [[0, 0]]
    wanted = next(each["runs"] for each in log if each["happened"] == "wanted")
    assert len(wanted) == 16
    assert sorted(done[0] + done[1]) == wanted, "no run ended in both, none in neither"
    assert set(contents(store)) == set(wanted)
    assert times_written(store) == dict.fromkeys(wanted, 1)
    assert leftovers(store) == []


def test_the_same_command_twice_at_once_ends_well_twice(tmp_path: Path) -> None:
    file, store = tmp_path / "sweep.toml", tmp_path / "runs.sqlite"
    file.write_text(SWEEP.format(steps=100))
    words = ["sweep", str(file), "--store", str(store), "--no-estimate", "--threads", "1", "--json"]
    both = [command_line(*words), command_line(*words)]
    told = [process.communicate(timeout=200) for process in both]
    assert [process.returncode for process in both] == [0, 0], told
    cells = [
        [(cell["architecture"], cell["length"], cell["accuracy"]) for cell in json.loads(out)["cells"]]
        for out, _ in told
    ]
    assert cells[0] == cells[1]
    assert len(contents(store)) == 16


# -- a full disk -----------------------------------------------------------------------------------------


def private_mounts() -> bool:
    """Whether this system lets us mount a file system that only our own process sees."""
    if shutil.which("unshare") is None:
        return False
    tried = subprocess.run(["unshare", "-rm", "mount", "-t", "tmpfs", "none", "/tmp"], capture_output=True)
    return tried.returncode == 0


@pytest.mark.skipif(not private_mounts(), reason="the system allows no file systems of one's own (unshare, mount)")
def test_a_full_disk_ends_in_one_line_and_loses_nothing(tmp_path: Path) -> None:
    """A real file system of 4 MiB with room for none, some or nearly all of what is written."""
    file, disk = tmp_path / "sweep.toml", tmp_path / "disk"
    file.write_text(SWEEP.format(steps=50))
    disk.mkdir()
    rooms = ["0", "100", "350", "3000"]
    log = forking("full-disk", str(file), str(disk), *rooms, before=("unshare", "-rm"))
    full = [each for each in log if each["happened"] == "full"]
    assert [each["code"] for each in full if each["room"] != 350] == [2, 2, 0]
    for each in full:
        assert each["code"] in (0, 2)
        if each["code"]:
            assert each["told"].count("\n") == 1, each["told"]
            assert each["told"].startswith("separatrix: ")
            assert "room" in each["told"]
    assert [each["code"] for each in log if each["happened"] == "room"] == [0] * len(rooms)
    expected = contents(tmp_path / "disk-3000" / "runs.sqlite")
    assert len(expected) == 16
    for each in full:
        left = contents(tmp_path / f"disk-{each['room']}-left" / "runs.sqlite")
        assert len(left) == each["readable"]
        assert {name: expected[name] for name in left} == left, "what was recorded before is whole"
        store = tmp_path / f"disk-{each['room']}" / "runs.sqlite"
        assert contents(store) == expected
        assert leftovers(store) == []


@contextmanager
def longest_file(size: int) -> Iterator[None]:
    """No file may grow beyond a size: what a quota does to a store, for systems without mounts of one's own."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, before)


@pytest.mark.parametrize("size", [100, 20 << 10, 70 << 10])
def test_files_that_may_not_grow_end_in_one_line_and_lose_nothing(tmp_path: Path, size: int) -> None:
    groups = [Group(grid(4, steps=24, evaluate_every=4), rungs=(4, 8))]
    drive(tmp_path / "undisturbed.sqlite", groups)
    store = tmp_path / "runs.sqlite"
    with longest_file(size), pytest.raises(SeparatrixError, match="room") as caught:
        drive(store, groups, LocalExecutor(CPU, save_every_seconds=0.0))
    assert "\n" not in str(caught.value)
    with Records(store) as records:
        assert len(records.all()) < 4
    drive(store, groups)
    assert contents(store) == contents(tmp_path / "undisturbed.sqlite")
    assert leftovers(store) == []


# -- Ctrl-C ----------------------------------------------------------------------------------------------


def wait_for_points(store: Path, process: "subprocess.Popen[str]") -> None:
    """Until the first point of a curve is recorded."""
    for _ in range(3000):
        assert process.poll() is None, process.communicate()
        if store.exists() and store.stat().st_size:
            connection = sqlite3.connect(f"{store.as_uri()}?mode=ro", uri=True)
            try:
                if connection.execute("SELECT count(*) FROM points").fetchone()[0]:
                    return
            except sqlite3.OperationalError:
                pass  # the tables are being made
            finally:
                connection.close()
        time.sleep(0.02)
    raise AssertionError("no point was recorded within a minute")


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    store = tmp_path_factory.mktemp("uninterrupted") / "runs.sqlite"
    with redirect_stdout(io.StringIO()):
        assert run([*TRAIN, "--json", "--store", str(store)]) == 0
    return contents(store)


@pytest.mark.parametrize("executor", ["local", "processes"])
def test_ctrl_c_finishes_the_step_saves_and_exits_130(
    tmp_path: Path, uninterrupted: dict[str, Any], executor: str
) -> None:
    """The signal goes to all processes of the group, as from a terminal."""
    store = tmp_path / "runs.sqlite"
    place = ["--executor", executor, "--workers", "1", "--json"]
    process = command_line(*TRAIN, *place, "--store", str(store), "--save-every", "1000", start_new_session=True)
    wait_for_points(store, process)
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, "")
    assert err == "separatrix: interrupted; the state is saved, the same command goes on from here\n"
    assert contents(store) == {}
    saved = leftovers(store)
    assert [Path(each).suffix for each in saved] == [".safetensors"]
    again = command_line(*TRAIN, *place, "--store", str(store))
    out, err = again.communicate(timeout=120)
    assert (again.returncode, err) == (0, "")
    assert contents(store) == uninterrupted
    assert leftovers(store) == []
    runs = json.loads(out)["runs"]
    assert [run["step"] for run in runs] == [500, 500]
    assert [run["environment"]["threads"] for run in runs] == [1, 1]


# -- places that cannot be written -----------------------------------------------------------------------


@pytest.mark.skipif(not private_mounts(), reason="the system allows no file systems of one's own (unshare, mount)")
def test_a_read_only_folder_is_told_in_one_line(tmp_path: Path) -> None:
    words = [*SEPARATRIX, *TRAIN, "--store", f"{tmp_path}/runs.sqlite"]
    script = f"mount -t tmpfs -o ro none {shlex.quote(str(tmp_path))} && {shlex.join(words)}"
    done = subprocess.run(["unshare", "-rm", "sh", "-c", script], env=environment(), capture_output=True, text=True)
    assert done.returncode == 2, done.stderr
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith(f"separatrix: store {tmp_path}/runs.sqlite: unable to open database file; check that")
