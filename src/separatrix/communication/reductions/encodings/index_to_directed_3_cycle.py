"""INDEX on n² bits inside directed 3-cycle, read at the last vertex; not in the papers.

N = 2n + 1 vertices. Alice's rows t = 1 … n say t → n + u for her bit (t, u). Bob holds the other rows: for his place
(t, u) the only edges are n + u → N and N → t. The last vertex is on a cycle exactly when t → n + u is an edge. So a
model that reads the rows one by one must remember n² bits, though only its last answer is asked.
"""

import numpy

from separatrix.communication.problem import Integers
from separatrix.communication.reductions.reduction import Reduction, only_answer
from separatrix.tasks import tasks


def _alice(bits: Integers, size: int) -> Integers:
    rows = numpy.zeros((len(bits), size, 2 * size + 1), dtype=numpy.int64)
    rows[:, :, size : 2 * size] = bits.reshape(-1, size, size)
    return rows


def _bob(places: Integers, size: int) -> Integers:
    rows = numpy.zeros((len(places), size + 1, 2 * size + 1), dtype=numpy.int64)
    each = numpy.arange(len(places))
    rows[each, places % size, 2 * size] = 1
    rows[each, size, places // size] = 1
    return rows


REDUCTION = Reduction(
    name="index-to-directed-3-cycle",
    source="not in the papers",
    statement="t → n+u is Alice's bit (t,u), Bob closes N → t and n+u → N for his place: N is on a cycle iff the bit "
    "is 1",
    problem="INDEX",
    task=lambda size: tasks()["directed-3-cycle"],
    length=lambda size: 2 * size + 1,
    alice=_alice,
    bob=_bob,
    decode=only_answer,
    bits=lambda size: size * size,
    split=lambda size: tuple(range(size)),
)
