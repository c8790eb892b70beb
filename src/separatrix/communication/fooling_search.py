"""Searching large fooling sets: greedy, then local search, and an exact clique search where the matrix is small.

Repeated rows and columns never help (two pairs of one set in equal rows cross in each other), so the search runs on the
matrix without repetitions, where a fooling set is a partial matching of rows and columns. Choosing (x, y) forbids the
rectangle {x′: f(x′, y) = b} × {y′: f(x, y′) = b}, so greedy prefers pairs in sparse rows and columns; on DISJ this
finds the pairs (S, complement of S) and on EQ the diagonal. The size found is a lower bound of the largest; it is exact
where the clique search ran.
"""

import importlib
from typing import Any

import numpy
from numpy.typing import NDArray

from separatrix.communication.fooling import FoolingSet
from separatrix.communication.matrix import CommunicationMatrix
from separatrix.communication.problem import Integers

Mask = NDArray[numpy.bool_]
LARGEST_CLIQUE = 64
"""Pairs of one value up to which the largest set is found exactly."""
LARGEST_LOCAL = 3000
"""Pairs of one value up to which the graph of compatible pairs is held for local search."""
ROUNDS = 60


def search(matrix: CommunicationMatrix, value: int, seed: int = 0) -> FoolingSet:
    """Return a large fooling set of one value; the same for the same seed."""
    kept = matrix.distinct
    mask = kept.matrix.dense() == value
    rows, columns = best_matching(mask, seed)
    return FoolingSet(value, kept.first_row[rows], kept.first_column[columns])


def best_matching(mask: Mask, seed: int) -> tuple[Integers, Integers]:
    """Return rows and columns of a large fooling set of the true entries of ``mask`` (rows, columns).

    >>> [side.tolist() for side in best_matching(numpy.eye(3, dtype=bool), seed=0)]
    [[0, 1, 2], [0, 1, 2]]
    """
    rows, columns = numpy.nonzero(mask)
    if not len(rows):
        return rows, columns
    if len(rows) <= LARGEST_LOCAL:
        compatible = ~(mask[rows[:, None], columns[None, :]] & mask[rows[None, :], columns[:, None]])
        chosen = _largest_clique(compatible) if len(rows) <= LARGEST_CLIQUE else _local_search(compatible, seed)
        return rows[chosen], columns[chosen]
    found = greedy(mask)
    turned = greedy(numpy.ascontiguousarray(mask.T))
    if len(turned[0]) > len(found[0]):
        found = turned[1], turned[0]
    return found


def greedy(mask: Mask) -> tuple[Integers, Integers]:
    """Row by row, sparsest first, the allowed entry in the sparsest column.

    An entry (x, y) is forbidden by a chosen (x′, y′) when both crossings are true: y′ is in row x and y in row x′. Rows
    are packed, so that the forbidden columns are one union of words.

    >>> [side.tolist() for side in greedy(numpy.eye(3, dtype=bool))]
    [[0, 1, 2], [0, 1, 2]]
    """
    packed = numpy.packbits(mask, axis=1)
    column_degree = mask.sum(axis=0)
    rows = numpy.zeros(min(mask.shape), dtype=numpy.int64)
    columns = numpy.zeros(min(mask.shape), dtype=numpy.int64)
    size, never = 0, len(mask) + 1
    for row in numpy.argsort(mask.sum(axis=1), kind="stable").tolist():
        crossing = rows[:size][mask[row, columns[:size]]]
        left = packed[row] & ~numpy.bitwise_or.reduce(packed[crossing], axis=0)
        if not left.any():
            continue
        line = numpy.unpackbits(left, count=mask.shape[1]).view(bool)
        rows[size], columns[size] = row, int(numpy.argmin(numpy.where(line, column_degree, never)))
        size += 1
    return rows[:size], columns[:size]


def _largest_clique(compatible: Mask) -> Integers:
    """Return the largest set of pairwise compatible pairs, by networkx's branch and bound."""
    networkx: Any = importlib.import_module("networkx")
    graph: Any = networkx.from_numpy_array(numpy.triu(compatible, 1))
    clique, _ = networkx.max_weight_clique(graph, weight=None)
    return numpy.array(sorted(clique), dtype=numpy.int64)


def _local_search(compatible: Mask, seed: int) -> Integers:
    """Greedy starts in different orders, each improved by exchanging one pair for others until nothing helps.

    A pair outside the set with exactly one conflict inside can take its place for free; after such a step the set is
    filled up again. Rounds are counted, not timed, so that results repeat.
    """
    generator = numpy.random.default_rng(seed)
    conflicts = ~compatible
    numpy.fill_diagonal(conflicts, False)
    weight = conflicts.sum(axis=1)
    best = numpy.zeros(len(conflicts), dtype=bool)
    for start in range(4):
        noise = generator.random(len(conflicts)) * (start > 0)
        chosen = numpy.zeros(len(conflicts), dtype=bool)
        blocked = numpy.zeros(len(conflicts), dtype=numpy.int64)
        _fill(chosen, blocked, conflicts, weight * (1 + noise))
        for _ in range(ROUNDS):
            swaps = numpy.flatnonzero(~chosen & (blocked == 1))
            if not len(swaps):
                break
            comes = int(generator.choice(swaps))
            leaves = int(numpy.flatnonzero(chosen & conflicts[comes])[0])
            chosen[leaves], chosen[comes] = False, True
            blocked += conflicts[comes].astype(numpy.int64) - conflicts[leaves]
            _fill(chosen, blocked, conflicts, weight * (1 + generator.random(len(conflicts))))
            if chosen.sum() > best.sum():
                best = chosen.copy()
        if chosen.sum() > best.sum():
            best = chosen.copy()
    return numpy.flatnonzero(best)


def _fill(chosen: Mask, blocked: Integers, conflicts: Mask, order: NDArray[numpy.float64]) -> None:
    """Add free pairs, those with the smallest ``order`` first, until none is left; changes its first two arguments."""
    for pair in numpy.argsort(numpy.where(chosen, numpy.inf, order), kind="stable").tolist():
        if not chosen[pair] and blocked[pair] == 0:
            chosen[pair] = True
            blocked += conflicts[pair]
