"""Lookups and counts: the answer is a token named by the last one, or follows from how many features hold.

A feature is a Boolean function of the tokens at a few positions.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy
from numpy.typing import NDArray

from separatrix.certificates.meanings.known import known_name
from separatrix.certificates.verdict import OtherClaimError
from separatrix.tasks import SparseThreshold, Task


@dataclass(frozen=True)
class Lookup:
    """The answer is the token at position ``token - first_token`` for each token of the last position."""

    first_token: int


@dataclass(frozen=True)
class Count:
    """The answer is ``answer(number of features that hold)``.

    Feature i looks at the positions ``places[i]``, (features, k), and is 0 or 1 as ``tables[i]`` has it for the numbers
    of the tokens there, (features, tokens, tokens …).
    """

    places: NDArray[numpy.int64]
    tables: NDArray[numpy.int64]
    answer: Callable[[int], int]


def meaning_of(task: Task, length: int) -> Lookup | Count:
    """The task's description; raises for tasks that have none."""
    parameters, name = task.parameters(), known_name(task)
    if name in ("index-lookup", "index"):
        return Lookup(parameters["alphabet"])
    if name in ("equality", "inequality"):
        symbols, chosen = parameters["alphabet"], parameters["alice"]
        equal_is_one = parameters["answer_one"] == "equal"
        alice = list(range(length // 2)) if chosen is None else [int(place) - 1 for place in chosen.split(",")]
        places = numpy.stack([numpy.array(alice), numpy.setdiff1d(numpy.arange(length), alice)], axis=1)
        differ = 1 - numpy.eye(symbols, dtype=numpy.int64)
        tables = numpy.broadcast_to(differ, (len(places), symbols, symbols))
        return Count(places, tables, lambda count: int((count == 0) == equal_is_one))
    if isinstance(task, SparseThreshold):
        function = task.function(length)
        # Positions are counted with [BOS] first, so bit x_i stands at position i.
        tables = function.tables.reshape(-1, *[2] * function.indices.shape[1])
        return Count(function.indices + 1, tables, lambda count: int(count > function.threshold))
    raise OtherClaimError(f"the checker has no description of {name} yet; use enumeration at a small length")
