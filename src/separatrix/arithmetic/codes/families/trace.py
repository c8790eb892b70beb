"""Extended primitive narrow-sense BCH codes, written as traces of sparse polynomials.

A word is x ↦ Tr(a₁ x^e₁ + a₂ x^e₂ + …) + c on all of GF(2^m) with fixed exponents e: the Mattson–Solomon form of
the extended BCH code whose zeros are the other cyclotomic cosets. If the code's narrow-sense zeros are α, …,
α^(δ−1), the BCH bound gives distance ≥ δ, and ≥ δ + 1 after extension when δ is odd. These codes replace the random
draw of BHBK24 Lemma 2: [32, 11, 12], [64, 16, 24], [128, 22, 48] and [256, 29, 96] all have inner products ≤ 1/4. A
code is described by m and its list of exponents.
"""

from collections.abc import Iterable, Sequence
from functools import cache
from typing import final

import numpy as np
from numpy.typing import NDArray

from separatrix.arithmetic.codes.binary_field import BinaryField, cyclotomic_coset, independent_rows
from separatrix.arithmetic.codes.family import (
    LinearFamily,
    Member,
    complementary_members,
    integer,
    integers,
    without_constant,
)
from separatrix.arithmetic.codes.sign_code import Parameters
from separatrix.arithmetic.codes.weights import LARGEST_DIMENSION

LARGEST_DEGREE = 12


@cache
def narrow_sense_exponents(degree: int) -> tuple[tuple[int, tuple[int, ...], int], ...]:
    """Return for each BCH code of length 2^degree − 1: distance after extension, exponents, dimension with the
    constant.

    >>> narrow_sense_exponents(4)[:2]
    ((8, (1,), 5), (6, (1, 5), 7))
    """
    order = (1 << degree) - 1
    leaders = sorted({cyclotomic_coset(each, order)[0] for each in range(1, order)}, reverse=True)
    found: list[tuple[int, tuple[int, ...], int]] = []
    exponents: list[int] = []
    dimension = 1
    for leader in leaders:
        # The zeros are the cosets of 1 .. leader − 1; a non-zero α^leader is evaluated as x^(−leader).
        coset = cyclotomic_coset(order - leader, order)
        exponents.append(coset[0])
        dimension += len(coset)
        if dimension > LARGEST_DIMENSION + 1:
            break
        found.append((leader + leader % 2, tuple(exponents), dimension))
    return tuple(found)


@final
class TraceCodes(LinearFamily):
    """Traces of sparse polynomials over GF(2^m)."""

    name = "trace"
    title = "extended BCH codes as traces of polynomials"

    def members(self, dimension: int, two_sided: bool) -> Iterable[Member]:
        """Return all narrow-sense codes up to length 2^12; for two sides without the constant."""
        for degree in range(2, LARGEST_DEGREE + 1):
            length = 1 << degree
            for distance, exponents, size in narrow_sense_exponents(degree):
                if size - two_sided >= dimension:
                    parameters = {"degree": degree, "exponents": exponents}
                    yield from complementary_members(length, size, distance, parameters, two_sided)

    def rows(self, parameters: Parameters) -> tuple[Sequence[int], int]:
        """Return one row per coefficient bit; places are 0, 1, x, x², …"""
        degree = integer(parameters, "degree", 2, LARGEST_DEGREE)
        field = BinaryField(degree)
        powers = field.powers(field.order)
        rows: list[int] = [(1 << field.size) - 1]
        for exponent in integers(parameters, "exponents", 1, field.order - 1):
            arguments = powers[np.arange(field.order) * exponent % field.order]
            coefficients = [_as_row(field.traces(field.scale(arguments, 1 << place))) << 1 for place in range(degree)]
            # An exponent in a short coset takes coefficients from a subfield: the other rows repeat those.
            rows.extend(independent_rows(coefficients))
        return without_constant(rows, field.size, parameters)


def _as_row(bits: NDArray[np.uint8]) -> int:
    """Return bits as one integer whose bit p is the p-th of them."""
    return int.from_bytes(np.packbits(bits, bitorder="little").tobytes(), "little")


FAMILY = TraceCodes()
