"""What tasks mean, in the terms in which the checker reasons; written apart from the tasks' own code.

A task is a *lookup* when its answer is the token at a position named by the last token, and a *count* when its answer
depends on how many of some features hold, each a Boolean function of the tokens at a few positions. The checker
derives the same kind of description from a weight file and compares. The tests compare these descriptions with
``Task.solve`` on every input at small lengths, so that a certificate speaks about the task and not about this file.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

from separatrix.errors import SeparatrixError
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
        half, symbols = length // 2, range(parameters["alphabet"])
        table = tuple(int(a != b) for a, b in product(symbols, symbols))
        equal_is_one = parameters["answer_one"] == "equal"
        features = tuple(((i, half + i), table) for i in range(half))
        return Count(features, lambda count: int((count == 0) == equal_is_one))
    if isinstance(task, SparseThreshold):
        function = task.function(length)
        # Positions are counted with [BOS] first, so bit x_i stands at position i.
        listed = zip(function.indices.tolist(), function.tables.tolist(), strict=True)
        features = tuple((tuple(index + 1 for index in indices), tuple(table)) for indices, table in listed)
        return Count(features, lambda count: int(count > function.threshold))
    raise SeparatrixError(f"the checker has no description of {task.name} yet; use enumeration at a small length")


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
