"""A script for the tests of survival: two sweeps that overlap in runs, at once on one store.

Forking needs a process without threads, which a test runner is not; so the tests start this one. It prints one JSON
object for each thing that happened.

    python -m tests.training.forking STORE
"""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from tools.soak.commands import ended, forked

from separatrix.training.events import Finished
from separatrix.training.grouping import Group
from tests.training.cases import drive, grid


def say(**facts: Any) -> None:
    sys.stdout.write(f"{json.dumps(facts)}\n")
    sys.stdout.flush()


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


if __name__ == "__main__":
    torch.set_num_threads(1)
    together(Path(sys.argv[1]))
