"""Communication bounds of a table for odd/even, halves and searched partitions, which Theorem 4 turns into sizes.

The bound of BHBK24 Theorem 4 holds for every partition, so the best one counts. Odd against even and the two halves are
always examined; if they leave room, other balanced partitions are scored by the rank modulo a prime of a part of their
matrix, short inputs also by exchanging positions, and the best is examined in full. Scores and exchanges are counted,
not timed, and drawn from a seed, so results repeat. A bound on a part of a matrix is a bound on the whole; matrices
with more than 4096 distinct rows or columns are cut to that many.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy
from numpy.typing import NDArray

from separatrix.bit_counts import bits_for
from separatrix.communication import (
    CommunicationMatrix,
    Partition,
    PartitionBound,
    cut,
    odd_even,
    of_positions,
    pack,
    partition_bound,
    primes,
    rank_modulo,
    whole_rows,
)
from separatrix.profiles.table import Ids, Table

LARGEST_SIDE = 4096
MOST_VALUES = 256
SCORED_SIDE = 512
LONGEST_EXCHANGE = 1 << 14
"""Tables up to this size are searched by exchanging positions."""
EXCHANGES = 40
PROOF_WORK = 2_000_000_000


@dataclass(frozen=True, eq=False)
class PartitionProfile:
    """The bound of one partition; ``rows`` and ``columns`` count distinct ones, ``whole``: none were left out.

    ``merged``: the function has more than 256 values, and the bound is for groups of them.
    """

    partition: Partition
    searched: bool
    rows: int
    columns: int
    whole: bool
    merged: bool
    bound: PartitionBound

    @property
    def bits(self) -> int:
        """Bits that every deterministic protocol for this partition exchanges."""
        return self.bound.bits

    @property
    def one_way_bits(self) -> int:
        """The exact cost when only Alice speaks."""
        return bits_for(self.rows)


def matrix_of(table: Table, partition: Partition) -> CommunicationMatrix:
    """Return the communication matrix of the decision or of the label at the last position."""
    values = _arranged(table, partition)
    # Values beyond 256 are merged: a protocol for the function also answers which group a value belongs to.
    return pack(values & 0xFF if table.classes > MOST_VALUES else values, min(MOST_VALUES, table.classes))


def _arranged(table: Table, partition: Partition) -> Ids:
    """Return the values as (Alice's parts, Bob's parts)."""
    moved = table.last.reshape((table.symbols,) * table.length).transpose(*partition.alice, *partition.bob)
    return moved.reshape(int(table.symbols ** len(partition.alice)), -1)


def examine(table: Table, partition: Partition, searched: bool = False, seed: int = 0) -> PartitionProfile:
    """Return the bound of one partition."""
    matrix = matrix_of(table, partition)
    kept = matrix.distinct
    rows, columns = kept.matrix.rows, kept.matrix.columns
    whole = max(rows, columns) <= LARGEST_SIDE
    part = matrix if whole else pack(_spread(kept.matrix, LARGEST_SIDE), matrix.classes)
    merged = table.classes > MOST_VALUES
    if merged:
        # Rows that differ may be equal by groups; their number is exact all the same.
        values = _arranged(table, partition)
        rows, columns = len(whole_rows(values)), len(whole_rows(numpy.ascontiguousarray(values.T)))
    bound = partition_bound(part, seed, PROOF_WORK)
    return PartitionProfile(partition, searched, rows, columns, whole, merged, bound)


def examine_all(table: Table, wanted: Sequence[Partition], seed: int = 0) -> list[PartitionProfile]:
    """Return the wanted partitions, or odd/even, halves and the best one found, the best last found first by its
    bits."""
    if table.length < 2:
        return []
    if wanted:
        return [examine(table, each, seed=seed) for each in wanted]
    found = [examine(table, odd_even(table.length), seed=seed)]
    if _saturated(table, found[0]):
        return found
    halves = cut(table.length, table.length // 2)
    if halves != found[0].partition:
        found.append(examine(table, halves, seed=seed))
        if _saturated(table, found[-1]):
            return found
    best = search(table, seed)
    if best not in [each.partition for each in found]:
        found.append(examine(table, best, searched=True, seed=seed))
    return found


def best_of(profiles: Sequence[PartitionProfile]) -> PartitionProfile | None:
    """Return the partition that needs the most rectangles, hence bits, the first of equals."""
    return max(profiles, key=lambda each: each.bound.rectangles, default=None)


def search(table: Table, seed: int = 0) -> Partition:
    """Return a balanced partition of high score: structured ones, random ones, and exchanges of positions where
    affordable."""
    length = table.length
    generator = numpy.random.default_rng([seed, length])
    half = -(-length // 2)
    candidates = [odd_even(length), cut(length, half), *_structured(length, half)]
    candidates += [of_positions(length, generator.choice(length, half, replace=False).tolist()) for _ in range(3)]
    scored = {partition: score(table, partition) for partition in candidates}
    best = max(scored, key=lambda partition: scored[partition])
    for _ in range(EXCHANGES if len(table.last) <= LONGEST_EXCHANGE else 0):
        leaves, comes = int(generator.choice(best.alice)), int(generator.choice(best.bob))
        changed = of_positions(length, [*(place for place in best.alice if place != leaves), comes])
        if changed not in scored:
            scored[changed] = score(table, changed)
        if scored[changed] >= scored[best]:
            best = changed
    # Of equals the one that was tried first: the plain ones are before the searched ones.
    return next(partition for partition, value in scored.items() if value == scored[best])


def score(table: Table, partition: Partition) -> int:
    """Return the rank modulo a prime of at most 512 distinct rows and columns: a bound on rectangles that is quick to
    find."""
    return rank_modulo(_spread(matrix_of(table, partition).distinct.matrix, SCORED_SIDE), primes(1)[0])


def _structured(length: int, half: int) -> list[Partition]:
    """Ends against the middle, and alternating blocks of two, three and four, each made balanced."""
    quarter = half // 2
    outside = [*range(quarter), *range(length - (half - quarter), length)]
    blocks = [sorted(range(length), key=lambda place, size=size: (place // size % 2, place)) for size in (2, 3, 4)]
    return [of_positions(length, outside), *(of_positions(length, order[:half]) for order in blocks)]


def _saturated(table: Table, profile: PartitionProfile) -> bool:
    """Return whether a search is not worth its time.

    One party's half and the answer sent back always suffice, so a balanced partition never needs more than the bits of
    a side and of the answer. Large tables are content with the bits of a side.
    """
    side = bits_for(int(table.symbols ** (table.length // 2)))
    small = len(table.last) <= LONGEST_EXCHANGE
    return profile.bits >= side + (bits_for(table.classes) if small else 0) > 0


def _spread(matrix: CommunicationMatrix, side: int) -> NDArray[numpy.uint8]:
    """At most ``side`` rows and columns, spread evenly."""
    values = matrix.dense()
    rows = numpy.unique(numpy.linspace(0, matrix.rows - 1, min(side, matrix.rows)).astype(numpy.int64))
    columns = numpy.unique(numpy.linspace(0, matrix.columns - 1, min(side, matrix.columns)).astype(numpy.int64))
    return values[numpy.ix_(rows, columns)]
