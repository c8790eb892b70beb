"""Attempts to break the bounds: for every bound and arithmetic the narrowest network that was found for its task.

A bound is true of a model only if no network is below it. So each is attacked: the network of fewest numbers that is
known for its task, in each arithmetic, is compared with what the bound requires. Four kinds were found; each is run in
the tests.

* *Packing*, against every bound. Uniform attention, the first layer of a feed-forward network and a recurrent state can
  all collect the whole input, t bits in each number: as many as a number holds exactly, 24 in float32, 8 in a running
  sum of bfloat16, p less the fraction and the sign in fixed point. Recurrent models need not keep more than is known to
  be enough. The sums of packed digits never round, so they are right in every order (``tests/table/test_attempts.py``).
* *Differences*, against equality: packed digits of the second half are subtracted, so that half the numbers are enough.
* *Exact rationals*, against every bound: one number holds everything.
* *Guards*, against Dyck in one layer: rounding itself remembers (``constructions/theorems/dyck_float.py``).

What is below a bound must lie where the bound gives no verdict (``bounds/covered.py``); the tests hold the gate to
that. Not finding a network below a bound proves nothing; the bound's own evidence does.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from separatrix.bit_counts import bits_for
from separatrix.bounds import (
    GRID_BITS,
    ProtocolBound,
    covered,
    input_bits,
    numbers_named,
    protocol_bounds,
    special_facts,
)
from separatrix.constructions import SIGNIFICANT, DyckFloat
from separatrix.tasks import Task, tasks

TRIED = {
    "fixed:down": (4096, 32), "fixed:nearest": (4096, 32), "float32": (4096, 32), "bfloat16": (256, 16),
    "exact": (4096, 32),
}  # fmt: skip
"""The arithmetics that are tried, with the length and the bits p at which a bound is asked. The two fixed points round
products down and to nearest; packed digits are multiples of 1/N, which both have. Running sums of bfloat16 count to
256."""
COMPARED = ("equality", "inequality", "eq-random")
"""Tasks for which the difference of the halves is enough."""


class Outcome(Enum):
    """How the narrowest network found compares with what the bound requires."""

    ABOVE = "not below"
    BELOW = "below"


@dataclass(frozen=True)
class Attempt:
    """One attack: the width (or numbers of state) that the bound requires and that the network has.

    ``verdict``: whether the bound says anything in this arithmetic. ``asked`` is what its version there requires, and
    where it says nothing, what it would require if sums were exact.
    """

    bound: str
    task: str
    length: int
    arithmetic: str
    asked: int
    found: int
    how: str
    verdict: bool

    @property
    def outcome(self) -> Outcome:
        """Whether the network is below the bound."""
        return Outcome.BELOW if self.found < self.asked else Outcome.ABOVE


def attempts() -> Iterator[Attempt]:
    """Yield every bound of the catalog in every arithmetic, for the first of its tasks."""
    for bound in protocol_bounds():
        task = tasks()[bound.task_names[0]] if bound.name != "first-layer-fnn" else tasks()["index"]
        for arithmetic, (length, precision) in TRIED.items():
            yield attempt(bound, task, length - length % task.length_step, arithmetic, precision)


def attempt(bound: ProtocolBound, task: Task, length: int, arithmetic: str, precision: int) -> Attempt:
    """Return the narrowest network known for a task in an arithmetic, next to a bound on it.

    >>> from separatrix.bounds import bounds
    >>> found = attempt(bounds()["dyck-transformer-1layer"], tasks()["dyck"], 8192, "float32", 32)
    >>> found.found, found.asked, found.outcome.name, found.verdict
    (5, 126, 'BELOW', False)
    """
    gate = covered(bound, numbers_named(arithmetic), task)
    asked = gate.bound.smallest_width(length, precision, task=task)
    if arithmetic == "exact":
        how = "one rational holds the input"
        return Attempt(bound.name, task.name, length, arithmetic, asked, 1, how, gate.covered)
    state = "rnn" in bound.models
    needed = input_bits(task, length) if task.features(length) == 0 else _cells_bits(task, length)
    if state:
        known = [fact.size(task, length).memory_bits for fact in special_facts(task.name, "rnn")]
        needed = min([needed, *known])
    each = digit_bits(arithmetic, precision, 1 if state else length)
    how = f"packs {each} bits in a number"
    if task.name in COMPARED and not state:
        needed, how = length // 2, f"differences of {each} bits in a number"
    found = -(-needed // each)
    if arithmetic in SIGNIFICANT and bound.name == "dyck-transformer-1layer":
        guards = DyckFloat(format=arithmetic)
        guards.check_length(length)
        found, how = guards.width, "dyck-float"
    return Attempt(bound.name, task.name, length, arithmetic, asked, found, how, gate.covered)


def _cells_bits(task: Task, length: int) -> int:
    """Return the bits of all cells of an input whose cells have several numbers."""
    graph = task.classes(length) == 2 and task.features(length) == length
    return task.positions(length) * task.features(length) * (1 if graph else GRID_BITS)


def digit_bits(arithmetic: str, precision: int, length: int) -> int:
    """Return how many bits of packed digits a number holds exactly when N of them are averaged.

    >>> [digit_bits(name, bits, 4096) for name, bits in (("float32", 32), ("bfloat16", 16), ("fixed:nearest", 32))]
    [24, 8, 19]
    """
    if arithmetic in SIGNIFICANT:
        return SIGNIFICANT[arithmetic]
    # In fixed point the average has log N more bits behind the point, and a sign.
    return max(1, precision - bits_for(length) - 1)
