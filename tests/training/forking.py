"""A script for the tests of survival: it imports torch once and forks processes that train, to be killed or raced.

Forking needs a process without threads, which a test runner is not; so the tests start this one. It prints one JSON
object for each thing that happened.

    python -m tests.training.forking kill SWEEP.toml REFERENCE STORE KILLS SEED
    python -m tests.training.forking together STORE
    python -m tests.training.forking full-disk SWEEP.toml FOLDER ROOM …
"""

import importlib
import io
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import torch

from separatrix.cli.app import run
from separatrix.training.events import Finished
from separatrix.training.group import Group
from separatrix.training.records import Records
from tests.training.cases import drive, grid


def say(**facts: Any) -> None:
    sys.stdout.write(f"{json.dumps(facts)}\n")
    sys.stdout.flush()


def forked(work: Callable[[], int]) -> int:
    """Do something in a process of its own; returns its number."""
    child = os.fork()
    if child == 0:
        code = 70
        try:
            code = work()
        finally:
            os._exit(code)
    return child


def sweep(file: str, store: str) -> int:
    """The command of a person, in this process; what it prints goes nowhere."""
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)
    return run(["sweep", file, "--store", store, "--no-estimate", "--save-every", "0.05", "--threads", "1", "--json"])


def ended(child: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def recorded(store: str) -> int:
    if not Path(store).exists():
        return 0
    with Records(Path(store)) as records:
        return len(records.all())


def prepare(file: str) -> None:
    """Import everything that the command needs, so that a process that is forked begins to train at once."""
    importlib.import_module("separatrix.cli.training_run")
    with redirect_stdout(io.StringIO()):
        code = run(["sweep", file, "--store", f"{file}.none", "--dry-run", "--no-estimate", "--threads", "1"])
    assert code == 0


def kill(file: str, reference: str, store: str, kills: int, seed: int) -> None:
    """Train a sweep undisturbed; then another store's with kills at random moments, and at last to the end."""
    started = time.monotonic()
    code = ended(forked(lambda: sweep(file, reference)))
    seconds = time.monotonic() - started
    say(happened="undisturbed", code=code, seconds=round(seconds, 3))
    moments, total, reach, before = random.Random(seed), recorded(reference), seconds / 16, 0
    for number in range(kills):
        child = forked(lambda: sweep(file, store))
        delay = moments.uniform(0.0, reach)
        time.sleep(delay)
        os.kill(child, signal.SIGKILL)
        code, before = ended(child), recorded(store)
        say(happened="kill", number=number, after=round(delay, 3), code=code, recorded=before)
        # Later moments where the sweep is behind the kills, sooner ones where it is ahead: kills fall on all of it.
        reach = reach * 1.3 if before * kills < total * number else min(reach, seconds / 32)
    say(happened="last", code=ended(forked(lambda: sweep(file, store))), recorded=recorded(store))


def together(store: str) -> None:
    """Two sweeps that overlap in runs, at once on one store; each tells which runs ended in it."""
    lengths = (3, 4, 5, 6)
    grids: Sequence[list[Group]] = [
        [Group(grid(3, length=length)) for length in lengths],
        [Group(grid(4, length=length)[1:]) for length in reversed(lengths)],
    ]

    def train(number: int) -> int:
        heard = drive(Path(store), grids[number])
        say(happened="done", sweep=number, runs=[r.run for event in heard.of(Finished) for r in event.results])
        return 0

    children = [forked(lambda: train(0)), forked(lambda: train(1))]
    say(happened="ended", codes=[ended(child) for child in children])
    say(happened="wanted", runs=sorted({spec.name for groups in grids for group in groups for spec in group.specs}))


def full_disk(file: str, folder: str, rooms: list[int]) -> None:
    """Sweeps on a disk with some room in KiB, then with more; the folder becomes a small file system of its own."""
    for room in rooms:
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "none", folder], check=True)
        filler, store = Path(folder) / "filler", Path(folder) / "runs.sqlite"
        free = shutil.disk_usage(folder).free
        filler.write_bytes(bytes(free - 1024 * room))
        errors, outside = Path(f"{folder}.errors"), Path(f"{folder}-{room}")

        def attempt(errors: Path = errors, store: Path = store) -> int:
            os.dup2(os.open(errors, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 2)
            return sweep(file, str(store))

        code = ended(forked(attempt))
        told = errors.read_text()
        filler.unlink()
        # Reading makes files beside the store, so it is read elsewhere, as it was left.
        elsewhere = Path(f"{folder}-{room}-left")
        shutil.copytree(folder, elsewhere)
        say(happened="full", room=room, code=code, told=told, readable=recorded(str(elsewhere / "runs.sqlite")))
        say(happened="room", room=room, code=ended(forked(attempt)), told=errors.read_text())
        shutil.copytree(folder, outside)
        subprocess.run(["umount", folder], check=True)


def main(words: Sequence[str]) -> None:
    """What the first word says."""
    torch.set_num_threads(1)
    if words[0] == "kill":
        prepare(words[1])
        kill(words[1], words[2], words[3], int(words[4]), int(words[5]))
    elif words[0] == "together":
        together(words[1])
    else:
        prepare(words[1])
        full_disk(words[1], words[2], [int(each) for each in words[3:]])


if __name__ == "__main__":
    main(sys.argv[1:])
