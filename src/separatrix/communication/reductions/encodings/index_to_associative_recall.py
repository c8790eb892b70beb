"""INDEX inside associative recall (BHBK24 Proposition 9, Appendix C.1).

The keys k0 … k(n-1) are agreed on; Alice writes her bits as their labels, Bob asks for the key of his place. N = n.
"""

import numpy

from separatrix.communication.problem import Integers
from separatrix.communication.reductions.reduction import Reduction, only_answer
from separatrix.tasks import tasks


def labelled_keys(bits: Integers, first_label: int) -> Integers:
    """Return keys 0 … n-1, each followed by the label that is its bit: bits (count, n) give cells (count, 2n)."""
    count, keys = bits.shape
    cells = numpy.empty((count, 2 * keys), dtype=numpy.int64)
    cells[:, 0::2] = numpy.arange(keys)
    cells[:, 1::2] = first_label + bits
    return cells


def _alice(bits: Integers, size: int) -> Integers:
    _, first_label, *_ = tasks()["associative-recall"].vocabulary(size).starts
    return labelled_keys(bits, first_label)


def _bob(places: Integers, size: int) -> Integers:
    del size
    return places[:, None]


REDUCTION = Reduction(
    name="index-to-associative-recall",
    source="BHBK24 Proposition 9, Appendix C.1",
    statement="pairs (k_i, a_i) are Alice's bits under keys agreed on, the query is the key of Bob's place",
    problem="INDEX",
    task=lambda size: tasks()["associative-recall"],
    length=lambda size: size,
    alice=_alice,
    bob=_bob,
    decode=only_answer,
)
