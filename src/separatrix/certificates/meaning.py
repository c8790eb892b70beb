"""What tasks mean, in the terms in which the checker reasons; written apart from the tasks' own code.

A task is a *lookup* when its answer is the token at a position named by the last token, a *count* when its answer
depends on how many of some features hold, each a Boolean function of the tokens at a few positions, and a *recall* when
queries ask for the label that follows the earlier point most like them. The checker derives the same kind of
description from a weight file and compares. The tests compare these descriptions with ``Task.solve`` on every input at
small lengths, so that a certificate speaks about the task and not about this file.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import ceil, isqrt

from separatrix.certificates.verdict import UnsupportedError
from separatrix.tasks import Task
from separatrix.tasks.problems.sparse_threshold import SparseThreshold

Feature = tuple[tuple[int, ...], tuple[int, ...]]
"""Positions, ascending, and the values (0 or 1) for all combinations of their tokens, first position slowest."""


@dataclass(frozen=True)
class Lookup:
    """The answer is the token at position ``token - first_token`` for each token of the last position."""

    first_token: int


@dataclass(frozen=True)
class Count:
    """The answer is ``answer(number of features that hold)``."""

    features: tuple[Feature, ...]
    answer: Callable[[int], int]


def meaning_of(task: Task, length: int) -> Lookup | Count:
    """The task's description; raises for tasks that have none yet."""
    parameters = task.parameters()
    if task.name in ("index-lookup", "index"):
        return Lookup(parameters["alphabet"])
    if task.name in ("equality", "inequality"):
        symbols = range(parameters["alphabet"])
        table = tuple(int(a != b) for a, b in product(symbols, symbols))
        equal_is_one = parameters["answer_one"] == "equal"
        chosen = parameters["alice"]
        alice = list(range(length // 2)) if chosen is None else [int(place) - 1 for place in chosen.split(",")]
        bob = [place for place in range(length) if place not in set(alice)]
        # The table is symmetric, so each pair may stand in ascending order.
        features = tuple(((min(i, j), max(i, j)), table) for i, j in zip(alice, bob, strict=True))
        return Count(features, lambda count: int((count == 0) == equal_is_one))
    if isinstance(task, SparseThreshold):
        function = task.function(length)
        # Positions are counted with [BOS] first, so bit x_i stands at position i.
        listed = zip(function.indices.tolist(), function.tables.tolist(), strict=True)
        features = tuple((tuple(index + 1 for index in indices), tuple(table)) for indices, table in listed)
        return Count(features, lambda count: int(count > function.threshold))
    raise UnsupportedError(f"the checker has no description of {task.name} yet; use enumeration at a small length")


@dataclass(frozen=True)
class SymbolContents:
    """Points are distinct symbols 0 … ``keys`` - 1; a query repeats one of them, and no two queries the same."""

    keys: int


@dataclass(frozen=True)
class VectorContents:
    """Points are whole-number vectors of norm at most ``norm``; a query's best product leads by ``ahead``."""

    dimension: int
    norm: Fraction
    ahead: Fraction


@dataclass(frozen=True)
class Recall:
    """Point i stands at position 2i and its label right after it, for ``pairs`` pairs; all else are points.

    A query at position q asks for the label of one of the pairs before it, the one whose point is most like it. Labels
    are free; label y is token ``keys`` + y, or the cell (1, y, 0 … 0) where points are cells (0, 0, coordinates).
    """

    pairs: int
    queries: tuple[int, ...]
    labels: int
    contents: SymbolContents | VectorContents
    covered: str

    def pairs_before(self, query: int) -> int:
        """How many pairs a query can mean."""
        return min(self.pairs, query // 2)


def recall_of(task: Task, length: int) -> Recall:
    """The description of a recall task; raises for other tasks."""
    parameters = task.parameters()
    if task.name in ("mqar", "associative-recall"):
        several = task.name == "mqar"
        pairs = length // 2 if several else length
        keys = parameters["keys"] or (length if several else 2 * length)
        queries = tuple(range(2 * pairs, 3 * pairs)) if several else (2 * pairs,)
        asked = f"{pairs}!" if several else str(pairs)
        covered = f"{keys}!/{keys - pairs}!*{parameters['labels']}^{pairs}*{asked}"
        return Recall(pairs, queries, parameters["labels"], SymbolContents(keys), covered)
    if task.name == "nearest-neighbour":
        d, labels, margin = parameters["dimension"], parameters["labels"], Fraction(parameters["margin"])
        # The smallest multiple of 2^-20 that is at least √d, or slightly more.
        root = Fraction(isqrt(d << 40) + 1, 1 << 20)
        hypercube = parameters["points"] == "hypercube"
        radius = Fraction(0) if hypercube else Fraction(1 << 20)
        squared = Fraction(d) if hypercube else radius**2
        kind = f"2^{length * d}*{labels}^{length - 1}" if hypercube else f"unit vectors on the grid 2^-20 in R^{d}"
        covered = f"all of {kind} with margin {margin}"
        # Products of corners differ by multiples of 2.
        ahead = Fraction(2 * ceil(margin * d / 2)) if hypercube else margin * squared
        contents = VectorContents(d, radius + root, ahead)
        return Recall(length - 1, tuple(range(length, 2 * length, 2)), labels, contents, covered)
    raise UnsupportedError(f"{task.name} does not ask for the label of an earlier point")


def essential(feature: Feature, symbols: dict[int, int]) -> Feature:
    """The feature over the positions it really depends on; ``symbols`` gives the number of tokens of each position."""
    positions, values = feature
    for place, position in enumerate(positions):
        sizes = [symbols[each] for each in positions]
        inner = 1
        for size in sizes[place + 1 :]:
            inner *= size
        size = sizes[place]
        groups = [
            [values[(outer * size + token) * inner + rest] for token in range(size)]
            for outer in range(len(values) // (size * inner))
            for rest in range(inner)
        ]
        if all(len(set(group)) == 1 for group in groups):
            kept = tuple(each for each in positions if each != position)
            return essential((kept, tuple(group[0] for group in groups)), symbols)
    return feature
