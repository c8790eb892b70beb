"""Lower bounds on deterministic communication by counting monochromatic rectangles.

A protocol of c bits cuts the matrix into at most 2^c rectangles on each of which the answer is constant (both parties
know the answer at the end, as in BHBK24's Theorem 4). So c ≥ ⌈log2 Σ_b R_b⌉ for any lower bounds R_b on the number of
rectangles of value b. Here R_b is the largest of

* the rank of the 0/1 matrix of value b (each rectangle has rank 1), with its certificate: the log-rank bound;
* a fooling set of value b (no rectangle holds two of its pairs), verified: BHBK24 Fact 4;
* |f⁻¹(b)| divided by a proved upper bound on the largest rectangle of value b: the rectangle-size bound.

Adding over values is what makes DISJ and EQ cost n + 1 rather than n bits. Fact 4 as the paper uses it takes one value
alone; :attr:`PartitionBound.fooling_bits` gives that number too. Only deterministic protocols are bounded (E14).
"""

from dataclasses import dataclass

import numpy
from numpy.typing import NDArray

from separatrix.bit_counts import bits_for
from separatrix.communication.fooling import FoolingSet, verify_fooling_set
from separatrix.communication.fooling_search import search
from separatrix.communication.matrix import CommunicationMatrix
from separatrix.communication.rank import DEFAULT_WORK, RationalRank, rational_rank
from separatrix.errors import SeparatrixError

LARGE_SIDE = 1024
"""Beyond this many distinct rows and columns only one of two values has its rank computed."""


@dataclass(frozen=True, eq=False)
class ValueBound:
    """How many rectangles of one value every partition needs, three ways.

    ``rank`` is None where the rank follows from the other value's: it differs by at most 1, because both matrices add
    up to the matrix of ones.
    """

    value: int
    entries: int
    rank_at_least: int
    rank: RationalRank | None
    fooling: FoolingSet
    largest_rectangle_at_most: int

    @property
    def by_size(self) -> int:
        """The rectangle-size bound."""
        return -(-self.entries // self.largest_rectangle_at_most) if self.entries else 0

    @property
    def rectangles(self) -> int:
        """The best of the three."""
        return max(self.rank_at_least, self.fooling.size, self.by_size)


@dataclass(frozen=True, eq=False)
class PartitionBound:
    """Bounds on the bits of any deterministic protocol for one matrix."""

    values: tuple[ValueBound, ...]

    @property
    def rectangles(self) -> int:
        """Monochromatic rectangles that any partition of the matrix needs."""
        return sum(each.rectangles for each in self.values)

    @property
    def bits(self) -> int:
        """⌈log2 of the rectangles⌉: what every deterministic protocol must exchange."""
        return bits_for(self.rectangles)

    @property
    def rank_bits(self) -> int:
        """The bound by ranks alone, added over values."""
        return bits_for(sum(each.rank_at_least for each in self.values))

    @property
    def fooling_bits(self) -> int:
        """Fact 4 as written: ⌈log2 of the largest fooling set of one value⌉."""
        return max((each.fooling.bits for each in self.values), default=0)

    @property
    def best_fooling(self) -> FoolingSet:
        """The largest fooling set of one value."""
        return max((each.fooling for each in self.values), key=lambda each: each.size)


def partition_bound(matrix: CommunicationMatrix, seed: int = 0, work: int = DEFAULT_WORK) -> PartitionBound:
    """Return all three bounds for every value; the fooling sets are verified pair by pair before they count."""
    kept = matrix.distinct
    row_weight = numpy.bincount(kept.row_of)
    column_weight = numpy.bincount(kept.column_of)
    ranks: dict[int, RationalRank] = {}
    found: list[ValueBound] = []
    large = matrix.classes == 2 and min(kept.matrix.rows, kept.matrix.columns) > LARGE_SIDE
    for value in reversed(range(matrix.classes)):
        chosen = kept.matrix.where(value)
        mask = chosen.dense().view(bool)
        entries = int(row_weight @ (mask @ column_weight))
        if not entries:
            continue
        if not (large and ranks):
            ranks[value] = rational_rank(chosen, work)
        rank = ranks.get(value)
        fooling = search(matrix, value, seed)
        verdict = verify_fooling_set(matrix, fooling)
        if not verdict:
            raise SeparatrixError(f"the search returned a set that is not a fooling set: {verdict.reason}")
        at_least = rank.lower if rank is not None else next(iter(ranks.values())).lower - 1
        rectangle = largest_rectangle_at_most(mask, row_weight, column_weight)
        found.append(ValueBound(value, entries, at_least, rank, fooling, rectangle))
    return PartitionBound(tuple(reversed(found)))


def largest_rectangle_at_most(
    mask: NDArray[numpy.bool_], row_weight: NDArray[numpy.int64], column_weight: NDArray[numpy.int64]
) -> int:
    """Return a number that no all-true rectangle of the matrix with repeated rows and columns exceeds.

    A rectangle of a rows and c columns needs a rows with at least c true entries and c columns with at least a, so a·c
    over the a, c that pass both counts is an upper bound. ``mask``: (rows, columns) without repetitions;
    ``row_weight``, ``column_weight``: how often each row and column occurs.
    """
    rows, row_level = _at_least(mask @ column_weight, row_weight)
    columns, column_level = _at_least(row_weight @ mask, column_weight)
    # With w the least degree of the chosen rows and h that of the columns: at most w columns and as many rows as have
    # degree ≥ w; at most h rows and as many columns as have degree ≥ h.
    wide = numpy.minimum(row_level[:, None], columns[None, :])
    tall = numpy.minimum(rows[:, None], column_level[None, :])
    return int((wide * tall).max(initial=0))


def _at_least(
    degree: NDArray[numpy.int64], weight: NDArray[numpy.int64]
) -> tuple[NDArray[numpy.int64], NDArray[numpy.int64]]:
    """Return for each degree that occurs, ascending, how many lines (with their weights) have at least that degree."""
    level = numpy.unique(degree[degree > 0])
    order = numpy.argsort(degree, kind="stable")
    before = numpy.concatenate([[0], numpy.cumsum(weight[order])])
    return before[-1] - before[numpy.searchsorted(degree[order], level)], level
