"""DISJ inside nearest neighbour (BHBK24 Theorem 8, Appendix G.1).

n corners of a hypercube of dimension d = max(1, ⌈log2 n⌉) are agreed on, the i-th with the binary digits of i. Alice
labels them with her bits; Bob presents the same corners again. Corners differ in at least one coordinate, so the exact
match is ahead by 2/d of a squared norm and the promise holds for the margin 1/d. N = 2n.

Deviation: the paper lets Bob write the generated answers as the labels of his points. Any labels do, because no point
of the second half is another one's nearest neighbour; 0 is used, so that Bob's cells depend on his input alone.
"""

import numpy

from separatrix.bit_counts import bits_for
from separatrix.communication.problem import Integers
from separatrix.communication.reductions.reduction import Reduction, bits_of_numbers, same_rows
from separatrix.tasks import Task, tasks


def dimension(size: int) -> int:
    """Coordinates that tell n corners apart."""
    return max(1, bits_for(size))


def _task(size: int) -> Task:
    each = dimension(size)
    return tasks()["nearest-neighbour"].with_parameters(points="hypercube", dimension=each, margin=f"1/{each}")


def _corners(size: int) -> Integers:
    return 2 * bits_of_numbers(numpy.arange(size), dimension(size)) - 1


def _alice(bits: Integers, size: int) -> Integers:
    cells = numpy.zeros((len(bits), 2 * size, dimension(size) + 2), dtype=numpy.int64)
    cells[:, 0::2, 2:] = _corners(size)
    cells[:, 1::2, 0] = 1
    cells[:, 1::2, 1] = bits
    return cells


def _bob(bits: Integers, size: int) -> Integers:
    cells = numpy.zeros((2 * size - 1, dimension(size) + 2), dtype=numpy.int64)
    cells[0::2, 2:] = _corners(size)
    cells[1::2, 0] = 1
    return same_rows(cells, len(bits))


def _decode(answers: Integers, own: Integers, size: int) -> Integers:
    del size
    # Bob's points are at his even cells, his labels between them.
    return ((answers[:, 0::2] & own) != 0).any(axis=1).astype(numpy.int64)


REDUCTION = Reduction(
    name="disjointness-to-nearest-neighbour",
    source="BHBK24 Theorem 8, Appendix G.1",
    statement="corners v_i labelled a_i are Alice's bits, Bob presents all corners again; he learns a, decides "
    "DISJ(a, b)",
    problem="DISJ",
    task=_task,
    length=lambda size: 2 * size,
    alice=_alice,
    bob=_bob,
    decode=_decode,
    deviations=("labels of Bob's points are 0 instead of the generated answers; any labels do",),
)
