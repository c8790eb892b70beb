"""A real Ray cluster of two nodes: one is killed in mid-sweep, and the records are those of an undisturbed sweep."""

import importlib.util
import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from separatrix.training.sweep_file import read_sweep
from tests.training.cases import drive
from tests.training.slow import SLOW, VARIABLE
from tests.training.stores import contents, leftovers, sweep_file
from tests.training.test_survival import HANGING, ROOT, environment

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("ray") is None, reason="Ray is not installed; it is the extra separatrix[ray]"
)


def on_a_cluster(*words: str, **variables: str) -> list[dict[str, Any]]:
    """What ``tests.training.cluster`` tells; whatever it leaves running is ended."""
    command = [sys.executable, "-m", "tests.training.cluster", *words]
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    process = subprocess.Popen(command, cwd=ROOT, env={**environment(), **variables}, start_new_session=True, **pipes)
    try:
        out, err = process.communicate(timeout=HANGING)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    assert process.returncode == 0, err
    return [json.loads(line) for line in out.splitlines() if line.startswith("{")]


def test_a_node_that_is_killed_takes_nothing_with_it(tmp_path: Path) -> None:
    file, store, reference = tmp_path / "sweep.toml", tmp_path / "runs.sqlite", tmp_path / "reference.sqlite"
    sweep_file(file, 480, [SLOW, SLOW.replace("8", "4")])
    slow = tmp_path / "slow"
    slow.touch()
    log = {each["happened"]: each for each in on_a_cluster(str(file), str(store), **{VARIABLE: str(slow)})}
    assert not slow.exists()
    assert not log["stopped"]["done"]
    assert log["stopped"]["saved"] >= 4
    assert log["swept"]["done"]
    assert log["swept"]["killed"]
    assert any(message.startswith("a worker was lost") for message in log["swept"]["messages"])
    assert log["refused"]["reason"].startswith("unknown architecture 'Transfomer'; nearest: transformer")
    assert log["trained"]["code"] == 0
    assert (log["trained"]["run"]["step"], log["trained"]["run"]["environment"]["executor"]) == (20, "ray")
    sweep = read_sweep(file)
    drive(reference, sweep.groups(sweep.cells()))
    assert contents(store) == contents(reference)
    assert leftovers(store) == []
