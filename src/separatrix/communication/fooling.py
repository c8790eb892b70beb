"""Fooling sets (BHBK24 Definition 1, Fact 4): searched for, and verified exactly.

A fooling set for a value b is a set of pairs (x, y) with f(x, y) = b such that of any two different pairs at least one
crossing, (x, y′) or (x′, y), has another value. No rectangle of value b holds two of them, so log2 of their number
bounds communication from below.

Two verifications. *Pair by pair*: every crossing is evaluated, in chunks. *By uniqueness*: when the set is all of
f⁻¹(b) and both directions are unique (no x and no y occurs twice), a crossing of two pairs with value b would be a
second pair with the same x; both directions are needed, because two pairs that share y cross in each other (E14). This
takes one sort instead of |S|² evaluations.
"""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy
from numpy.typing import NDArray

from separatrix.bit_counts import bits_for
from separatrix.communication.matrix import CommunicationMatrix, evaluated_rows
from separatrix.communication.problem import CommunicationProblem, Integers
from separatrix.errors import SeparatrixError

BLOCK = 1 << 22
"""Crossings evaluated at once."""
LARGEST_LITERAL = 1 << 15
"""Sets up to this size can be verified pair by pair: 2^30 crossings."""


@dataclass(frozen=True, eq=False)
class FoolingSet:
    """Pairs of value ``value``: int64 (size,) numbers of Alice's and of Bob's parts."""

    value: int
    alice: Integers
    bob: Integers

    def __post_init__(self) -> None:
        if self.alice.shape != self.bob.shape or self.alice.ndim != 1:
            raise SeparatrixError(f"a fooling set needs as many x as y, not {self.alice.shape} and {self.bob.shape}")

    @property
    def size(self) -> int:
        """How many pairs there are."""
        return len(self.alice)

    @property
    def bits(self) -> int:
        """⌈log2 of the size⌉: the bits that any protocol must exchange (Fact 4)."""
        return bits_for(self.size)


@dataclass(frozen=True)
class FoolingVerdict:
    """Whether a set is a fooling set; if not, two pairs (or one) that show it."""

    valid: bool
    method: str
    checked: int
    reason: str
    witnesses: tuple[tuple[int, int], ...] = ()

    def __bool__(self) -> bool:
        return self.valid


class Evaluates(Protocol):
    """Something with values at pairs of numbers."""

    def __call__(self, rows: Integers, columns: Integers) -> NDArray[Any]:
        """Return the values; the shapes broadcast."""
        ...


def verify_fooling_set(on: CommunicationProblem | CommunicationMatrix, candidate: FoolingSet) -> FoolingVerdict:
    """Check Definition 1 literally: every pair, and every crossing of two pairs.

    Takes |S|² evaluations, |S| ≤ 2^15; memory is one chunk.
    """
    if candidate.size > LARGEST_LITERAL:
        raise SeparatrixError(
            f"{candidate.size} pairs are too many to cross one by one; use verify_by_uniqueness, or at most "
            f"{LARGEST_LITERAL} pairs"
        )
    at: Evaluates = on.evaluate if isinstance(on, CommunicationProblem) else on.entries
    width = on.width if isinstance(on, CommunicationProblem) else 1
    own = numpy.asarray(at(candidate.alice, candidate.bob))
    wrong = numpy.flatnonzero(own != candidate.value)
    if len(wrong):
        place = int(wrong[0])
        return FoolingVerdict(
            False,
            "pair by pair",
            candidate.size,
            f"a pair has value {int(own[place])}, not {candidate.value}",
            (_pair(candidate, place),),
        )
    step = max(1, min(candidate.size, int((BLOCK / width) ** 0.5)))
    for top in range(0, candidate.size, step):
        for left in range(0, top + 1, step):
            mine, theirs = slice(top, top + step), slice(left, left + step)
            first = at(candidate.alice[mine, None], candidate.bob[None, theirs]) == candidate.value
            second = at(candidate.alice[None, theirs], candidate.bob[mine, None]) == candidate.value
            both = numpy.asarray(first & second)
            if top == left:
                numpy.fill_diagonal(both, False)
            if both.any():
                row, column = (int(number) for number in numpy.argwhere(both)[0])
                return FoolingVerdict(
                    False,
                    "pair by pair",
                    candidate.size,
                    f"both crossings of two pairs have value {candidate.value}",
                    (_pair(candidate, top + row), _pair(candidate, left + column)),
                )
    checked = candidate.size * (candidate.size - 1)
    return FoolingVerdict(True, "pair by pair", checked, f"all {checked} crossings were evaluated")


def _pair(candidate: FoolingSet, place: int) -> tuple[int, int]:
    return int(candidate.alice[place]), int(candidate.bob[place])


def verify_by_uniqueness(alice: NDArray[Any], bob: NDArray[Any]) -> FoolingVerdict:
    """Verify both directions of the uniqueness argument for *all* pairs of one value.

    ``alice``, ``bob``: (size,) numbers or (size, cells) parts, one line for each pair of f⁻¹(b). That the set is
    complete is the caller's statement (:func:`preimage` makes it complete). Valid when no x and no y occurs twice.
    """
    if len(alice) != len(bob):
        raise SeparatrixError(f"a fooling set needs as many x as y, not {len(alice)} and {len(bob)}")
    for side, parts in (("Alice's", alice), ("Bob's", bob)):
        _, inverse, counts = numpy.unique(parts, axis=0, return_inverse=True, return_counts=True)
        if (counts > 1).any():
            twice = numpy.flatnonzero(numpy.ravel(inverse) == int(numpy.argmax(counts > 1)))[:2].tolist()
            return FoolingVerdict(
                False,
                "uniqueness",
                len(alice),
                f"{side} part of pairs {twice[0]} and {twice[1]} is the same, so the other part is not determined",
                ((twice[0], twice[0]), (twice[1], twice[1])),
            )
    return FoolingVerdict(
        True, "uniqueness", len(alice), f"{len(alice)} pairs are all of the value; no x and no y occurs twice"
    )


def preimage(problem: CommunicationProblem, value: int) -> FoolingSet:
    """Return all pairs of a value, by evaluating every pair once; a fooling set if :func:`verify_by_uniqueness` says
    so."""
    rows: list[Integers] = []
    columns: list[Integers] = []
    start = 0
    for block in evaluated_rows(problem):
        mine, theirs = numpy.nonzero(block == value)
        rows.append(mine + start)
        columns.append(theirs)
        start += len(block)
    return FoolingSet(value, numpy.concatenate(rows), numpy.concatenate(columns))


def verify_strings(problem: CommunicationProblem, strings: Integers, value: int) -> FoolingVerdict:
    """Pair by pair for whole inputs (size, positions) of a problem that comes from sequences."""
    if problem.split is None:
        raise SeparatrixError(f"{problem.name} is not made of sequences; give pairs of numbers to verify_fooling_set")
    return verify_fooling_set(problem, FoolingSet(value, *problem.split.numbers(strings)))
