"""INDEX on n(n-1)/2 bits inside undirected 5-cycle, read at the last vertex; not in the papers.

An adjacency matrix is symmetric, so an edge between the parties is in both parties' rows and must be agreed on. N =
2n + 1 vertices: Alice's 1 … n are joined among themselves by her bits {t, u}, and each t to Bob's n + t, always. Bob
joins N to n + t and n + u for his place {t, u} and nothing else. A cycle through N uses both his edges and both
matching edges, so it is N, n + t, t, u, n + u and exists exactly when {t, u} is one of Alice's edges. No triangle
touches N or a neighbour of N (n + t has no other neighbours than t and N), so the literal text of SHT23 gives the same
answers (E16).
"""

import numpy

from separatrix.communication.problem import Integers
from separatrix.communication.reductions.reduction import Reduction, only_answer
from separatrix.tasks import tasks


def _alice(bits: Integers, size: int) -> Integers:
    rows = numpy.zeros((len(bits), size, 2 * size + 1), dtype=numpy.int64)
    first, second = numpy.triu_indices(size, 1)
    rows[:, first, second] = bits
    rows[:, second, first] = bits
    rows[:, numpy.arange(size), size + numpy.arange(size)] = 1
    return rows


def _bob(places: Integers, size: int) -> Integers:
    rows = numpy.zeros((len(places), size + 1, 2 * size + 1), dtype=numpy.int64)
    rows[:, numpy.arange(size), numpy.arange(size)] = 1
    each = numpy.arange(len(places))
    for ends in numpy.triu_indices(size, 1):
        rows[each, ends[places], 2 * size] = 1
        rows[each, size, size + ends[places]] = 1
    return rows


REDUCTION = Reduction(
    name="index-to-undirected-5-cycle",
    source="not in the papers",
    statement="{t,u} is Alice's bit, t is joined to n+t, Bob joins N to n+t and n+u: N is on a 5-cycle iff the bit is "
    "1",
    problem="INDEX",
    task=lambda size: tasks()["undirected-5-cycle"],
    length=lambda size: 2 * size + 1,
    alice=_alice,
    bob=_bob,
    decode=only_answer,
    bits=lambda size: size * (size - 1) // 2,
    split=lambda size: tuple(range(size)),
    smallest=2,
)
