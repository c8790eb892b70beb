"""DISJ on q bits inside sparse averaging with sets of q indices (SHT23: m is nearly Ω(q) for attention).

The slides state the bound without the reduction; this one serves. Alice holds cells 1 … 2q: v_{2i} is her bit a_i, all
other values are 0. Bob holds the last cell with value 0; his set has, for each i, the index 2i if b_i = 1 and 2i - 1 if
not. The sum is the number of places where both have 1, so it is positive exactly when the sets meet; the averages of
two different answers differ by at least 1/q. N = 2q + 1.
"""

import numpy

from separatrix.communication.problem import Integers
from separatrix.communication.reductions.reduction import Reduction
from separatrix.tasks import Task, tasks


def _task(size: int) -> Task:
    return tasks()["sparse-averaging"].with_parameters(sparsity=size, dimension=1, resolution=1)


def _alice(bits: Integers, size: int) -> Integers:
    cells = numpy.zeros((len(bits), 2 * size, size + 2), dtype=numpy.int64)
    cells[:, :, 0] = numpy.arange(1, 2 * size + 1)
    cells[:, :, 1 : 1 + size] = numpy.arange(1, size + 1)
    cells[:, 1::2, -1] = bits
    return cells


def _bob(bits: Integers, size: int) -> Integers:
    cells = numpy.zeros((len(bits), 1, size + 2), dtype=numpy.int64)
    cells[:, 0, 0] = 2 * size + 1
    cells[:, 0, 1 : 1 + size] = 2 * numpy.arange(1, size + 1) - 1 + bits
    return cells


def _decode(answers: Integers, own: Integers, size: int) -> Integers:
    del own, size
    return (answers[:, -1, 0] > 0).astype(numpy.int64)


REDUCTION = Reduction(
    name="disjointness-to-sparse-averaging",
    source="SHT23, sparse averaging, (almost) matching lower bound; the reduction is not on the slides",
    statement="v_2i is Alice's bit, Bob's set takes 2i or 2i - 1 by his bit: the sum is positive iff they meet",
    problem="DISJ",
    task=_task,
    length=lambda size: 2 * size + 1,
    alice=_alice,
    bob=_bob,
    decode=_decode,
)
