"""The named communication problems of BHBK24 Appendix B.1: DISJ, EQ, INDEX, and GT for comparison.

DISJ has opposite polarity in the two papers: BHBK24 writes I[aᵀb > 0], 1 when the sets *intersect*; SHT23 writes 1 when
they are *disjoint*. ``answer_one`` names which is meant. The matrices differ by a complement: the rank is 2ⁿ for
"disjoint" and 2ⁿ − 1 for "intersecting" (the row of the empty set is zero).

Vectors of n bits are numbers, first bit most significant, and each problem is a function of two numbers, so that no
inputs are ever built.
"""

from typing import Literal

import numpy

from separatrix.communication.problem import CommunicationProblem, Integers
from separatrix.errors import SeparatrixError

Polarity = Literal["intersecting", "disjoint"]
LONGEST = 61


def disjointness(n: int, answer_one: Polarity = "intersecting") -> CommunicationProblem:
    """DISJ on n-bit vectors; 1 means that the sets meet ("intersecting", BHBK24) or do not ("disjoint", SHT23).

    >>> disjointness(3).evaluate(numpy.array([0b101]), numpy.array([0b011])).tolist()
    [1]
    """
    _check("DISJ", n)
    if answer_one not in ("intersecting", "disjoint"):
        raise SeparatrixError(f"answer_one={answer_one!r}; choose 'intersecting' (BHBK24) or 'disjoint' (SHT23)")

    def value(a: Integers, b: Integers) -> Integers:
        return (((a & b) != 0) == (answer_one == "intersecting")).astype(numpy.int64)

    return CommunicationProblem(f"DISJ_{n} (1 = {answer_one})", 2**n, 2**n, 2, value)


def equality(n: int) -> CommunicationProblem:
    """EQ on n-bit vectors: I[a = b].

    >>> equality(3).evaluate(numpy.array([5, 5]), numpy.array([5, 6])).tolist()
    [1, 0]
    """
    _check("EQ", n)
    return CommunicationProblem(f"EQ_{n}", 2**n, 2**n, 2, lambda a, b: (a == b).astype(numpy.int64))


def index(n: int) -> CommunicationProblem:
    """INDEX: Alice holds n bits, Bob a place 0 … n − 1; the answer is Alice's bit at that place.

    >>> index(3).evaluate(numpy.array([0b100, 0b100]), numpy.array([0, 1])).tolist()
    [1, 0]
    """
    _check("INDEX", n)
    return CommunicationProblem(f"INDEX_{n}", 2**n, n, 2, lambda a, b: (a >> (n - 1 - b)) & 1)


def greater_than(n: int) -> CommunicationProblem:
    """GT on n-bit numbers: I[a > b].

    >>> greater_than(3).evaluate(numpy.array([5, 5]), numpy.array([4, 5])).tolist()
    [1, 0]
    """
    _check("GT", n)
    return CommunicationProblem(f"GT_{n}", 2**n, 2**n, 2, lambda a, b: (a > b).astype(numpy.int64))


def _check(name: str, n: int) -> None:
    if not 1 <= n <= LONGEST:
        raise SeparatrixError(f"{name} on {n} bits is out of range; choose 1 to {LONGEST}")
