"""Slow, obvious answers that the communication room is held against."""

from functools import cache
from itertools import combinations, product

import numpy


def exact_cost(values: numpy.ndarray) -> int:
    """The deterministic cost after which both know the answer, by trying every protocol tree; tiny matrices only."""

    @cache
    def cost(rows: tuple[int, ...], columns: tuple[int, ...]) -> int:
        if len(set(values[numpy.ix_(rows, columns)].ravel().tolist())) == 1:
            return 0
        best = 99
        for one, two in splits(rows):
            best = min(best, 1 + max(cost(one, columns), cost(two, columns)))
        for one, two in splits(columns):
            best = min(best, 1 + max(cost(rows, one), cost(rows, two)))
        return best

    return cost(tuple(range(values.shape[0])), tuple(range(values.shape[1])))


def splits(members: tuple[int, ...]):
    """All ways to cut a set into two parts."""
    rest = members[1:]
    for size in range(len(rest)):
        for chosen in combinations(rest, size):
            first = (members[0], *chosen)
            yield first, tuple(each for each in members if each not in first)


def largest_fooling_set(values: numpy.ndarray, value: int) -> int:
    """The size of the largest fooling set of a value, by trying all sets; tiny matrices only."""
    pairs = [tuple(pair) for pair in numpy.argwhere(values == value).tolist()]

    def grow(chosen: list, left: list) -> int:
        best = len(chosen)
        for place, (x, y) in enumerate(left):
            if all(values[x, y2] != value or values[x2, y] != value for x2, y2 in chosen):
                best = max(best, grow([*chosen, (x, y)], left[place + 1 :]))
        return best

    return grow([], pairs)


def residual_counts(function, symbols: int, length: int) -> tuple[int, ...]:
    """Residual classes of every cut, by comparing the answers of all suffixes."""
    counts = []
    for cut in range(length + 1):
        rows = {
            tuple(function(prefix + suffix) for suffix in product(range(symbols), repeat=length - cut))
            for prefix in product(range(symbols), repeat=cut)
        }
        counts.append(len(rows))
    return tuple(counts)
