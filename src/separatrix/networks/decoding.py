"""From readouts to answers: bits, the largest coordinate, the nearest whole numbers, and the triple in a sketch.

``bits`` and ``argmax`` read one number, ``round`` a vector of whole numbers. ``power-sums`` is the element-wise output
map of SHT23's one-layer solution of Match3, which is arbitrary in its model; here it is executed in integers. Its
coordinates are a residue z and the sums s_t = Σ_j y_j^t, t = 1 … n, of unknown y_1 … y_n in a prime field. Newton's
identities t·e_t = Σ_{i=1}^{t} (-1)^(i-1) e_{t-i} s_i, where t < prime can be divided by, give the elementary symmetric
functions and with them Π (X - y_j), whose roots are the values that occur; the answer is whether two of them add up
with z to 0 modulo M.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import floor

import numpy

from separatrix.arithmetic import Arithmetic, Balls, FixedPoint, RawArray, UndecidedError, distinct
from separatrix.errors import SeparatrixError
from separatrix.networks.exact import Integers

LARGEST_ANSWER = 1 << 62
LARGEST_PRIME = 1 << 31


@dataclass(frozen=True)
class PowerSums:
    """What ``power-sums`` needs to know: residues modulo ``modulus`` are taken as elements of a field of ``prime``."""

    modulus: int
    prime: int

    def __post_init__(self) -> None:
        if not 2 <= self.modulus <= self.prime < LARGEST_PRIME or not is_prime(self.prime):
            raise SeparatrixError(
                f"power sums need a modulus from 2 on and a prime from it up to 2^31, not {self.modulus} and "
                f"{self.prime}"
            )

    def values(self, sums: tuple[int, ...]) -> Integers:
        """Return which residues 0 … M-1 occur among y_1 … y_n, ascending."""
        return _roots(sums, self.modulus, self.prime)

    def matches(self, residue: int, sums: tuple[int, ...]) -> bool:
        """Return whether two values that occur add up with the residue to 0 modulo M."""
        values = self.values(sums)
        return bool(numpy.isin((-residue - values) % self.modulus, values).any())


def is_prime(number: int) -> bool:
    """Return whether a number is a prime, by trial division.

    >>> [each for each in range(20) if is_prime(each)]
    [2, 3, 5, 7, 11, 13, 17, 19]
    """
    if number < 4:
        return number > 1
    if number % 2 == 0:
        return False
    divisor = 3
    while divisor * divisor <= number:
        if number % divisor == 0:
            return False
        divisor += 2
    return True


@lru_cache(maxsize=1024)
def _roots(sums: tuple[int, ...], modulus: int, prime: int) -> Integers:
    """Return the roots below the modulus of the polynomial whose roots have these power sums."""
    symmetric = [1]
    for degree in range(1, len(sums) + 1):
        total = sum((-1) ** (place - 1) * symmetric[degree - place] * sums[place - 1] for place in range(1, degree + 1))
        symmetric.append(total * pow(degree, -1, prime) % prime)
    candidates = numpy.arange(modulus, dtype=numpy.int64)
    values = numpy.zeros(modulus, dtype=numpy.int64)
    for degree, each in enumerate(symmetric):
        # Numbers below 2^31, so that products stay below 2^62.
        values = (values * candidates + (-1) ** degree * each) % prime
    roots = numpy.nonzero(values == 0)[0]
    roots.setflags(write=False)
    return roots


def nearest_whole(raw: RawArray, arithmetic: Arithmetic) -> Integers:
    """Return every number rounded to the nearest whole one, ties upwards; exact, and undecided balls raise."""
    if isinstance(arithmetic, FixedPoint):
        whole = raw // arithmetic.largest
        above = 2 * (raw - whole * arithmetic.largest) >= arithmetic.largest
        return numpy.clip(whole + above, -LARGEST_ANSWER, LARGEST_ANSWER).astype(numpy.int64)
    if not isinstance(arithmetic, Balls):
        return _rounded(arithmetic.decode(raw))
    low, high = (_rounded(side) for side in arithmetic.bounds(raw))
    if not numpy.array_equal(low, high):
        raise UndecidedError("a readout lies too near to the middle of two whole numbers to be rounded; use more bits")
    return low


def _rounded(values: RawArray) -> Integers:
    whole = [floor(each + Fraction(1, 2)) for each in values.reshape(-1)]
    cut = [max(-LARGEST_ANSWER, min(each, LARGEST_ANSWER)) for each in whole]
    return numpy.array(cut, dtype=numpy.int64).reshape(values.shape)


def triple_in_sums(sums: PowerSums, numbers: Integers) -> Integers:
    """Return the answers 0 or 1 for rows (…, 1 + n) of a residue and the power sums.

    >>> triple_in_sums(PowerSums(7, 7), numpy.array([[3, 6, 3], [3, 2, 2]])).tolist()
    [0, 0]
    """
    flat = numbers.reshape(-1, numbers.shape[-1])
    # All positions of an input have the same sums.
    different, which = distinct(flat[:, 1:] % sums.prime)
    rows = [tuple(int(each) for each in row) for row in different]
    answers = [sums.matches(int(own), rows[int(place)]) for own, place in zip(flat[:, 0], which, strict=True)]
    return numpy.array(answers, dtype=numpy.int64).reshape(numbers.shape[:-1])
