"""INDEX inside pair matching; not in the papers, which only say that attention solves it.

N = n + 1 numbers modulo M > 2n behind the dummy element: z_i is i if Alice's bit is 1 and 0 (written M) if not; Bob's
z_N is -(b + 1) for his place b counted from 0. It adds up to 0 with i = b + 1 alone: with 0 the sum is -(b + 1), with
itself -2(b + 1), neither a multiple of M.
"""

import numpy

from separatrix.communication.problem import Integers
from separatrix.communication.reductions.reduction import Reduction, only_answer
from separatrix.tasks import tasks


def _modulus(size: int) -> int:
    # The numbers of the vocabulary are 1 … M, after the dummy.
    return tasks()["match2"].vocabulary(size + 1).size - 1


def _alice(bits: Integers, size: int) -> Integers:
    numbers = numpy.where(bits == 1, numpy.arange(1, size + 1), _modulus(size))
    return numpy.concatenate([numpy.zeros((len(bits), 1), dtype=numpy.int64), numbers], axis=1)


def _bob(places: Integers, size: int) -> Integers:
    return (_modulus(size) - (places + 1))[:, None]


REDUCTION = Reduction(
    name="index-to-match2",
    source="not in the papers",
    statement="z_i is i or 0 by Alice's bit, z_N is minus Bob's place: it matches iff the bit there is 1",
    problem="INDEX",
    task=lambda size: tasks()["match2"],
    length=lambda size: size + 1,
    alice=_alice,
    bob=_bob,
    decode=only_answer,
    split=lambda size: tuple(range(size + 1)),
)
