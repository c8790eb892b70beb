"""DISJ inside multi-query associative recall (BHBK24 Theorem 8, Appendix G.1).

n keys are agreed on. Alice's pairs carry her bits as labels; Bob asks for all keys in order, so that he learns all her
bits and decides DISJ with his own. N = 2n.
"""

import numpy

from separatrix.communication.problem import Integers
from separatrix.communication.reductions.encodings.index_to_associative_recall import labelled_keys
from separatrix.communication.reductions.reduction import Reduction, same_rows
from separatrix.tasks import tasks


def _alice(bits: Integers, size: int) -> Integers:
    _, first_label, *_ = tasks()["mqar"].vocabulary(2 * size).starts
    return labelled_keys(bits, first_label)


def _bob(bits: Integers, size: int) -> Integers:
    return same_rows(numpy.arange(size), len(bits))


def _decode(answers: Integers, own: Integers, size: int) -> Integers:
    del size
    return ((answers & own) != 0).any(axis=1).astype(numpy.int64)


REDUCTION = Reduction(
    name="disjointness-to-mqar",
    source="BHBK24 Theorem 8, Appendix G.1",
    statement="pairs (k_i, a_i) are Alice's bits, the queries are all keys; Bob learns a and decides DISJ(a, b)",
    problem="DISJ",
    task=lambda size: tasks()["mqar"],
    length=lambda size: 2 * size,
    alice=_alice,
    bob=_bob,
    decode=_decode,
)
