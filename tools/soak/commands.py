"""The real command in processes that are forked from one that has imported everything, so that they train at once.

Forking needs a process without threads, which ``python -m tools.soak`` is until it trains, and it never trains itself.
"""

import importlib
import io
import os
import signal
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout, suppress
from pathlib import Path

import torch

from separatrix.cli.app import run

SWEEP = """
title = "Small enough to be killed often"
[base]
task = "index-lookup"
steps = {steps}
batch = 16
evaluate_every = {every}
probe_examples = 64
evaluation_examples = 100
goal = 0.5
[axes]
architecture = [{models}]
length = [2, 6]
learning_rate = [2e-2, 1e-2, 5e-3, 1e-6]
"""
"""Two cells of four runs for each model; members leave for every reason: goal, beaten, pruned, steps."""
MODELS = ("TF-(1,8)", "LSTM-(1,8)")
ALIVE_SECONDS = 60.0
LATE = (
    "separatrix.cli.training_run", "separatrix.tasks.constant_answer", "separatrix.training.executors.local",
    "separatrix.training.executors.turns", "separatrix.training.executors.processes",
)  # fmt: skip
"""What the command imports only when it comes to it."""


def sweep_file(path: Path, steps: int, models: Sequence[str] = MODELS) -> Path:
    """Write the sweep of these models with so many steps."""
    listed = ", ".join(f'"{each}"' for each in models)
    path.write_text(SWEEP.format(steps=steps, every=max(1, steps // 8), models=listed), encoding="utf-8")
    return path


def prepare(file: Path) -> None:
    """Import everything that the command needs; one thread, so that sums are added in one order."""
    torch.set_num_threads(1)
    for name in LATE:
        importlib.import_module(name)
    with redirect_stdout(io.StringIO()):
        code = run(["sweep", str(file), "--store", f"{file}.none", "--dry-run", "--no-estimate", "--threads", "1"])
    if code:
        raise RuntimeError(f"the sweep {file} cannot be planned")


def sweep(file: Path, store: Path, *more: str) -> int:
    """The command of a person, in this process; what it prints goes nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    words = ["sweep", str(file), "--store", str(store), "--no-estimate", "--save-every", "0.05", "--threads", "1"]
    return run([*words, "--json", *more])


def forked(work: Callable[[], int]) -> int:
    """Do something in a process of its own, the first of a new process group; returns its number."""
    child = os.fork()
    if child == 0:
        code = 70
        try:
            os.setpgid(0, 0)
            code = work()
        except BaseException as error:  # told, and never more than this process's
            sys.stderr.write(f"{type(error).__name__}: {error}\n")
        finally:
            os._exit(code)
    with suppress(ProcessLookupError, PermissionError):
        os.setpgid(child, child)  # whoever of the two comes first
    return child


def ended(child: int) -> int:
    """Wait for a process; its exit code, or minus the signal that ended it."""
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def has_ended(child: int) -> bool:
    """Whether a process has come to its end; it can still be waited for."""
    return os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def members(group: int) -> list[int]:
    """The processes of a process group that are alive, from /proc; none where the system has no /proc."""
    found: list[int] = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            state, _, number = stat.read_text().rpartition(")")[2].split()[:3]
            if int(number) == group and state != "Z":
                found.append(int(stat.parent.name))
    return found


def kill(processes: Sequence[int]) -> None:
    """SIGKILL; who is gone already is gone."""
    for each in processes:
        with suppress(ProcessLookupError):
            os.kill(each, signal.SIGKILL)


def all_gone(group: int, patience: float = ALIVE_SECONDS) -> bool:
    """Whether all processes of a group end by themselves; those that do not are killed."""
    deadline = time.monotonic() + patience
    while left := members(group):
        if time.monotonic() > deadline:
            kill(left)
            return False
        time.sleep(0.02)
    return True
