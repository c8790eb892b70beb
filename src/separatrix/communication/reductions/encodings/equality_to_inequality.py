"""EQ inside inequality and its relatives (BHBK24 Theorems 11 and 12, Appendix F.1).

Alice writes the first half, Bob the second; the task's answer, or its complement, is EQ. N = 2n. The same maps serve
``equality``, and with [SEP] at the end of Alice's part ``eq-random``, whose inputs are all pairs of halves. They do
not serve ``eq-one``, which promises halves that differ in at most one symbol: most pairs break that promise.
"""

import numpy

from separatrix.communication.problem import Integers
from separatrix.communication.reductions.reduction import Reduction, as_given, complement, only_answer
from separatrix.tasks import tasks


def _separated(task: str) -> Reduction:
    def first(bits: Integers, size: int) -> Integers:
        _, separator, *_ = tasks()[task].vocabulary(2 * size).starts
        return numpy.concatenate([bits, numpy.full((len(bits), 1), separator)], axis=1)

    return Reduction(
        name=f"equality-to-{task}",
        source="BHBK24 Appendix F.1, H.2",
        statement="the halves around [SEP] are Alice's and Bob's bits; the answer is EQ",
        problem="EQ",
        task=lambda size: tasks()[task],
        length=lambda size: 2 * size,
        alice=first,
        bob=as_given,
        decode=only_answer,
    )


REDUCTION = Reduction(
    name="equality-to-inequality",
    source="BHBK24 Theorems 11 and 12, Appendix F.1",
    statement="the halves of the string are Alice's and Bob's bits; the answer is the complement of EQ",
    problem="EQ",
    task=lambda size: tasks()["inequality"],
    length=lambda size: 2 * size,
    alice=as_given,
    bob=as_given,
    decode=complement,
    variants=(
        Reduction(
            name="equality-to-equality",
            source="BHBK24 §4.2",
            statement="the halves of the string are Alice's and Bob's bits; the answer is EQ",
            problem="EQ",
            task=lambda size: tasks()["equality"],
            length=lambda size: 2 * size,
            alice=as_given,
            bob=as_given,
            decode=only_answer,
        ),
        _separated("eq-random"),
    ),
)
