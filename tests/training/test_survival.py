"""Sweeps survive: kills, two at once, a full disk, Ctrl-C; with real processes, signals and file systems."""

import io
import itertools
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
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import Any

import pytest

from separatrix.cli.app import run
from separatrix.errors import SeparatrixError
from separatrix.training.executors.local import LocalExecutor
from separatrix.training.grouping import Group
from separatrix.training.records import Records
from separatrix.training.sweep_file import read_sweep
from tests.training.cases import CPU, drive, grid
from tests.training.slow import SLOW, VARIABLE
from tests.training.stores import contents, leftovers, sweep_file, times_written, watched

ROOT = Path(__file__).resolve().parents[2]
SEPARATRIX = [sys.executable, "-c", "import sys; from separatrix.cli import main; sys.exit(main())"]
TRAIN = [
    "train", "index-lookup", SLOW, "--length", "6", "--lr", "0.02,0.005", "--batch", "8", "--steps", "200",
    "--evaluate-every", "10", "--examples", "100", "--goal", "0", "--threads", "1",
]  # fmt: skip
HANGING = 1200
"""Seconds after which a process is taken to hang; none takes as long, however busy the machine."""


def environment() -> dict[str, str]:
    found = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    return {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": found}


def told(*words: str) -> str:
    """What a module of this project prints in a process of its own."""
    command = [sys.executable, "-m", *words]
    done = subprocess.run(command, cwd=ROOT, env=environment(), capture_output=True, text=True, timeout=HANGING)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def command_line(*words: str, variables: Mapping[str, str] | None = None, **more: Any) -> "subprocess.Popen[str]":
    """The real command in a process of its own, with its output kept."""
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    pipes["env"] = {**environment(), **(variables or {})}
    return subprocess.Popen([*SEPARATRIX, *words], **pipes, **more)


# -- kills -----------------------------------------------------------------------------------------------


def test_a_sweep_that_is_killed_again_and_again_loses_and_changes_nothing(tmp_path: Path) -> None:
    file, store, reference = tmp_path / "sweep.toml", tmp_path / "runs.sqlite", tmp_path / "reference.sqlite"
    sweep_file(file, 120)
    watched(store)
    *kills, last = map(json.loads, told("tests.training.forking", "killed", str(store), str(file), "8").splitlines())
    assert last["code"] == 0
    assert {each["code"] for each in kills} <= {-signal.SIGKILL, 0}
    assert {each["executor"] for each in kills} == {"local", "turns"}
    for before, after in itertools.pairwise(each["results"] for each in kills):
        assert before.items() <= after.items(), "what was recorded stays recorded"
    sweep = read_sweep(file)
    drive(reference, sweep.groups(sweep.cells()))
    expected = contents(reference)
    assert {each["ending"] for each in expected.values()} >= {"goal", "beaten", "pruned", "steps"}
    assert len({len(each["results"]) for each in kills}) > 1, "kills fell on different parts of the sweep"
    assert contents(store) == expected
    assert times_written(store) == dict.fromkeys(expected, 1)
    assert leftovers(store) == []


# -- two at once -----------------------------------------------------------------------------------------


def test_two_sweeps_at_once_train_every_run_exactly_once(tmp_path: Path) -> None:
    store = tmp_path / "runs.sqlite"
    watched(store)
    log = [json.loads(line) for line in told("tests.training.forking", "together", str(store)).splitlines()]
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
    sweep_file(file, 96)
    words = ["sweep", str(file), "--store", str(store), "--no-estimate", "--threads", "1", "--json"]
    both = [command_line(*words), command_line(*words)]
    said = [process.communicate(timeout=HANGING) for process in both]
    assert [process.returncode for process in both] == [0, 0], said
    cells = [
        [(cell["architecture"], cell["length"], cell["accuracy"]) for cell in json.loads(out)["cells"]]
        for out, _ in said
    ]
    assert cells[0] == cells[1]
    assert len(contents(store)) == 16


# -- a full disk -----------------------------------------------------------------------------------------


@contextmanager
def longest_file(size: int) -> Iterator[None]:
    """No file may grow beyond a size: what a quota does to a store, for systems without such mounts."""
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
    """Until the first point of a curve is recorded, or the process ends."""
    while True:
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


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    store = tmp_path_factory.mktemp("uninterrupted") / "runs.sqlite"
    with redirect_stdout(io.StringIO()):
        assert run([*TRAIN, "--json", "--store", str(store)]) == 0
    return contents(store)


@pytest.mark.parametrize("executor", ["local", "processes"])
def test_ctrl_c_finishes_the_step_saves_and_exits_130(
    tmp_path: Path, uninterrupted: dict[str, Any], executor: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The signal goes to all processes of the group, as from a terminal; steps are slow until then."""
    store, slow = tmp_path / "runs.sqlite", {VARIABLE: str(ROOT)}
    place = ["--executor", executor, "--workers", "1", "--json"]
    words = [*TRAIN, *place, "--store", str(store)]
    process = command_line(*words, "--save-every", "1000", variables=slow, start_new_session=True)
    wait_for_points(store, process)
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=HANGING)
    assert (process.returncode, out) == (130, "")
    assert err == "separatrix: interrupted; the state is saved, the same command resumes here\n"
    assert contents(store) == {}
    saved = leftovers(store)
    assert [Path(each).suffix for each in saved] == [".safetensors"]
    assert run(words) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert contents(store) == uninterrupted
    assert leftovers(store) == []
    runs = json.loads(out)["runs"]
    assert [run["step"] for run in runs] == [200, 200]
    assert [run["environment"]["threads"] for run in runs] == [1, 1]


# -- places that cannot be written -----------------------------------------------------------------------


def private_mounts() -> bool:
    """Whether this system lets us mount a file system that only our own process sees."""
    if shutil.which("unshare") is None:
        return False
    tried = subprocess.run(["unshare", "-rm", "mount", "-t", "tmpfs", "none", "/tmp"], capture_output=True)
    return tried.returncode == 0


@pytest.mark.skipif(not private_mounts(), reason="the system allows no file systems of one's own (unshare, mount)")
def test_a_read_only_folder_is_told_in_one_line(tmp_path: Path) -> None:
    words = [*SEPARATRIX, *TRAIN, "--store", f"{tmp_path}/runs.sqlite"]
    script = f"mount -t tmpfs -o ro none {shlex.quote(str(tmp_path))} && {shlex.join(words)}"
    done = subprocess.run(["unshare", "-rm", "sh", "-c", script], env=environment(), capture_output=True, text=True)
    assert done.returncode == 2, done.stderr
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith(f"separatrix: store {tmp_path}/runs.sqlite: unable to open database file; check that")
