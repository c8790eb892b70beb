"""Functions on an elliptic curve over GF(16), each value spread over eight signs.

The curve y² + y = x³ + c with Tr(c) = 1 has 24 affine points over GF(16), the most any elliptic curve has there. The
functions with poles of order at most K at infinity form a space of dimension K over GF(16), and one that is not zero
vanishes at no more than K points (Goppa, 1981). Each value v is written as the word (Tr(uv) : Tr(u) = 1) of the
first-order Reed–Muller code [8, 4, 4]. With P points this is a binary code [8P, 4K, ≥ 4(P − K)]; P = 24 and K = 6 give
[192, 24, 72], 2^24 vectors of width 192 with inner products ≤ 1/4, where BHBK24 Lemma 2 would draw
(8/γ²) ln 2N = 2219 random signs and the extended BCH code needs 248.
"""

from collections.abc import Iterable, Sequence
from typing import final

from separatrix.arithmetic.codes.binary_field import BinaryField
from separatrix.arithmetic.codes.family import (
    LinearFamily,
    Member,
    complementary_members,
    integer,
    without_constant,
)
from separatrix.arithmetic.codes.sign_code import Parameters

FIELD = BinaryField(4)
ALL_POINTS = 24
LARGEST_POLE = 7


def affine_points() -> list[tuple[int, int]]:
    """Return the points of the curve other than infinity, in order of their coordinates.

    >>> len(affine_points())
    24
    """
    constant = next(each for each in range(FIELD.size) if FIELD.trace(each))
    return [
        (x, y)
        for x in range(FIELD.size)
        for y in range(FIELD.size)
        if FIELD.multiply(y, y) ^ y == FIELD.power(x, 3) ^ constant
    ]


def functions(pole: int) -> list[tuple[int, int]]:
    """Exponents (i, j) of the basis x^i y^j, j ≤ 1, of the functions with a pole of order 2i + 3j ≤ ``pole``.

    >>> functions(6)
    [(0, 0), (1, 0), (0, 1), (2, 0), (1, 1), (3, 0)]
    """
    basis = [(i, j) for j in (0, 1) for i in range(pole // 2 + 1) if 2 * i + 3 * j <= pole]
    return sorted(basis, key=lambda each: 2 * each[0] + 3 * each[1])


@final
class EllipticCodes(LinearFamily):
    """Concatenated elliptic codes over GF(16)."""

    name = "elliptic"
    title = "functions on an elliptic curve over GF(16), concatenated with [8, 4, 4]"

    def members(self, dimension: int, two_sided: bool) -> Iterable[Member]:
        """Return all pole orders and numbers of points with a positive distance."""
        for pole in range(2, LARGEST_POLE + 1):
            for points in range(pole + 1, ALL_POINTS + 1):
                if 4 * pole - two_sided >= dimension:
                    parameters = {"points": points, "pole": pole}
                    yield from complementary_members(8 * points, 4 * pole, 4 * (points - pole), parameters, two_sided)

    def rows(self, parameters: Parameters) -> tuple[Sequence[int], int]:
        """Return one row per basis function and coefficient bit; the first is the constant 1, which is all ones."""
        points = integer(parameters, "points", 1, ALL_POINTS)
        pole = integer(parameters, "pole", 2, LARGEST_POLE)
        spread = [each for each in range(FIELD.size) if FIELD.trace(each)]
        used = affine_points()[:points]
        rows: list[int] = []
        for i, j in functions(pole):
            values = [FIELD.multiply(FIELD.power(x, i), FIELD.power(y, j)) for x, y in used]
            for place in range(FIELD.degree):
                bits = [
                    FIELD.trace(FIELD.multiply(FIELD.multiply(value, 1 << place), unit))
                    for value in values
                    for unit in spread
                ]
                rows.append(sum(bit << position for position, bit in enumerate(bits)))
        return without_constant(rows, len(spread) * points, parameters)


FAMILY = EllipticCodes()
