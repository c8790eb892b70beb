"""Reed–Muller codes RM(r, m); RM(1, m) is the Hadamard code of Sylvester's matrices.

A word is the table of a polynomial of degree at most r in m bits: length 2^m, distance 2^(m−r) (Muller and Reed,
1954; MacWilliams and Sloane, *The Theory of Error-Correcting Codes*, chapter 13). The first-order code has inner
products 0 and −1 only, so it serves every one-sided γ of BHBK24 Lemma 2 for N ≤ 2k; without the constant it is k
orthogonal vectors.
"""

from collections.abc import Iterable, Sequence
from itertools import combinations
from math import comb
from typing import final

from separatrix.arithmetic.codes.family import (
    LinearFamily,
    Member,
    complementary_members,
    integer,
    without_constant,
)
from separatrix.arithmetic.codes.sign_code import Parameters
from separatrix.arithmetic.codes.weights import LARGEST_DIMENSION

LARGEST_VARIABLES = 13


@final
class ReedMuller(LinearFamily):
    """Tables of Boolean polynomials of bounded degree."""

    name = "reed-muller"
    title = "Hadamard and Reed–Muller codes"

    def members(self, dimension: int, two_sided: bool) -> Iterable[Member]:
        """RM(r, m) with few enough words to weigh them all; for two sides without the constant polynomial."""
        for variables in range(1, LARGEST_VARIABLES + 1):
            for order in range(1, variables + 1):
                size = sum(comb(variables, degree) for degree in range(order + 1))
                length, lightest = 1 << variables, 1 << (variables - order)
                if dimension <= size - two_sided and size <= LARGEST_DIMENSION:
                    parameters = {"order": order, "variables": variables}
                    yield from complementary_members(length, size, lightest, parameters, two_sided)

    def rows(self, parameters: Parameters) -> tuple[Sequence[int], int]:
        """Return the monomials, constant first."""
        variables = integer(parameters, "variables", 1, LARGEST_VARIABLES)
        order = integer(parameters, "order", 1, variables)
        length = 1 << variables
        single = [sum(1 << place for place in range(length) if place >> each & 1) for each in range(variables)]
        rows: list[int] = []
        for degree in range(order + 1):
            for chosen in combinations(single, degree):
                row = (1 << length) - 1
                for factor in chosen:
                    row &= factor
                rows.append(row)
        return without_constant(rows, length, parameters)


FAMILY = ReedMuller()
