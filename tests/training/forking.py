"""Scripts for the tests of survival: sweeps in forked processes, two at once on one store, or killed again and again.

Forking needs a process without threads, which a test runner is not; so the tests start this one. It prints one JSON
object for each thing that happened.

    python -m tests.training.forking together STORE
    python -m tests.training.forking killed STORE SWEEP.toml KILLS
"""

import io
import json
import os
import random
import signal
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout, suppress
from pathlib import Path
from typing import Any

import torch

from separatrix.cli.app import run
from separatrix.training.events import Finished
from separatrix.training.grouping import Group
from separatrix.training.records import Records
from tests.training.cases import drive, grid


def say(**facts: Any) -> None:
    sys.stdout.write(f"{json.dumps(facts)}\n")
    sys.stdout.flush()


def forked(work: Callable[[], int]) -> int:
    """Do something in a process of its own; returns its number."""
    child = os.fork()
    if child:
        return child
    code = 70
    try:
        code = work()
    finally:
        os._exit(code)


def ended(child: int) -> int:
    """Wait for a process; its exit code, or minus the signal that ended it."""
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def together(store: Path) -> None:
    """Each of the two tells which runs ended in it."""
    lengths = (3, 4, 5, 6)
    grids: Sequence[list[Group]] = [
        [Group(grid(3, length=length)) for length in lengths],
        [Group(grid(4, length=length)[1:]) for length in reversed(lengths)],
    ]

    def train(number: int) -> int:
        heard = drive(store, grids[number])
        say(happened="done", sweep=number, runs=[r.run for event in heard.of(Finished) for r in event.results])
        return 0

    children = [forked(lambda: train(0)), forked(lambda: train(1))]
    say(happened="ended", codes=[ended(child) for child in children])
    say(happened="wanted", runs=sorted({spec.name for groups in grids for group in groups for spec in group.specs}))


def saved(store: Path) -> set[tuple[str, int]]:
    """The checkpoints and weights next to a store, with their times."""
    found: set[tuple[str, int]] = set()
    for path in store.with_name(f"{store.stem}.files").glob("*/*.safetensors"):
        with suppress(FileNotFoundError):  # replaced just now
            found.add((path.name, path.stat().st_mtime_ns))
    return found


def killed(store: Path, file: Path, kills: int) -> None:
    """The command, killed at random moments and started again with another executor; at last it comes to its end."""
    words = ["sweep", str(file), "--store", str(store), "--no-estimate", "--save-every", "0.02", "--threads", "1"]
    with redirect_stdout(io.StringIO()):  # imports what the command needs, so that a forked one trains at once
        run([*words, "--dry-run"])
        import separatrix.training.executors.local
        import separatrix.training.executors.turns  # noqa: F401

    def sweep(executor: str) -> int:
        with redirect_stdout(io.StringIO()):
            return run([*words, "--json", "--executor", executor])

    chance = random.Random(0)
    for _ in range(kills):
        executor = chance.choice(("local", "turns"))
        child, last = forked(lambda executor=executor: sweep(executor)), saved(store)
        for _ in range(chance.choice((0, 1, 4, 12))):  # however slow the machine is, it dies in the middle of training
            while saved(store) == last and os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
                time.sleep(0.002)
            last = saved(store)
        time.sleep(chance.uniform(0.0, 0.05))
        os.kill(child, signal.SIGKILL)
        code = ended(child)
        with Records(store) as records:
            results = {each.spec.name: [each.result.step, each.result.accuracy] for each in records.all()}
        say(happened="killed", executor=executor, code=code, results=results)
    say(happened="ended", code=ended(forked(lambda: sweep("local"))))


if __name__ == "__main__":
    torch.set_num_threads(1)
    if sys.argv[1] == "together":
        together(Path(sys.argv[2]))
    else:
        killed(Path(sys.argv[2]), Path(sys.argv[3]), int(sys.argv[4]))
