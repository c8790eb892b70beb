"""Arithmetic in GF(2^m) and linear algebra over GF(2), on plain integers and whole arrays.

The codes of this package replace the random vectors of BHBK24 Lemma 2; the trace codes and orbit codes among
them are written in terms of a finite field, so that a code of N words is described by a few small integers
instead of N rows. An element of GF(2^m) is an integer whose bits are the coefficients of a polynomial in x,
reduced modulo the smallest primitive polynomial of degree m; x itself is written 2 and generates all non-zero
elements. The paper does not name a field: it asks only for vectors made on demand in small space.
"""

from dataclasses import dataclass
from functools import cache, cached_property
from typing import final

import numpy as np
from numpy.typing import NDArray

from separatrix.errors import SeparatrixError

UInt64Array = NDArray[np.uint64]

MAXIMAL_DEGREE = 28


def prime_factors(number: int) -> tuple[int, ...]:
    """Return the distinct prime factors of a positive integer, smallest first.

    >>> prime_factors(2**12 - 1)
    (3, 5, 7, 13)
    """
    found: list[int] = []
    candidate = 2
    while candidate * candidate <= number:
        if number % candidate == 0:
            found.append(candidate)
            while number % candidate == 0:
                number //= candidate
        candidate += 1
    if number > 1:
        found.append(number)
    return tuple(found)


def cyclotomic_coset(exponent: int, modulus: int) -> tuple[int, ...]:
    """Return the orbit of ``exponent`` under doubling modulo ``modulus``, smallest first.

    >>> cyclotomic_coset(5, 15)
    (5, 10)
    """
    members: set[int] = set()
    current = exponent % modulus
    while current not in members:
        members.add(current)
        current = 2 * current % modulus
    return tuple(sorted(members))


def _reduced_product(left: int, right: int, degree: int, modulus: int) -> int:
    product = 0
    while right:
        if right & 1:
            product ^= left
        left <<= 1
        if left >> degree & 1:
            left ^= modulus
        right >>= 1
    return product


def _reduced_power(base: int, exponent: int, degree: int, modulus: int) -> int:
    power = 1
    while exponent:
        if exponent & 1:
            power = _reduced_product(power, base, degree, modulus)
        base = _reduced_product(base, base, degree, modulus)
        exponent >>= 1
    return power


@cache
def primitive_polynomial(degree: int) -> int:
    """Return the smallest primitive polynomial of that degree over GF(2), as an integer.

    >>> [bin(primitive_polynomial(degree)) for degree in (2, 3, 4)]
    ['0b111', '0b1011', '0b10011']
    """
    if not 1 <= degree <= MAXIMAL_DEGREE:
        raise SeparatrixError(f"field degree {degree} is outside 1..{MAXIMAL_DEGREE}; give a smaller field")
    order = (1 << degree) - 1
    generator = 2 if degree > 1 else 1
    primes = prime_factors(order)

    def primitive(modulus: int) -> bool:
        # The order of x divides 2^degree − 1 and no proper quotient by a prime, so x has exactly that order,
        # which also shows that the polynomial is irreducible.
        return _reduced_power(generator, order, degree, modulus) == 1 and all(
            _reduced_power(generator, order // prime, degree, modulus) != 1 for prime in primes
        )

    # There is one for every degree.
    return next(modulus for modulus in range((1 << degree) + 1, 1 << (degree + 1), 2) if primitive(modulus))


@final
@dataclass(frozen=True)
class BinaryField:
    """GF(2^degree) with the smallest primitive polynomial."""

    degree: int

    @property
    def size(self) -> int:
        """The number of elements."""
        return 1 << self.degree

    @property
    def order(self) -> int:
        """The number of non-zero elements, which is the order of the generator 2."""
        return self.size - 1

    @property
    def modulus(self) -> int:
        """The primitive polynomial."""
        return primitive_polynomial(self.degree)

    def multiply(self, left: int, right: int) -> int:
        """Return the product of two elements."""
        return _reduced_product(left, right, self.degree, self.modulus)

    def power(self, base: int, exponent: int) -> int:
        """``base`` multiplied with itself ``exponent`` times; the zeroth power is 1, also of 0."""
        return _reduced_power(base, exponent, self.degree, self.modulus)

    def trace(self, element: int) -> int:
        """Return the sum of all conjugates of ``element``: 0 or 1."""
        total = 0
        for _ in range(self.degree):
            total ^= element
            element = self.multiply(element, element)
        return total

    @cached_property
    def trace_mask(self) -> int:
        """The integer whose bits say which powers 1, x, x², … have trace 1.

        The trace of an element is then the parity of its bits under this mask.
        """
        return sum(self.trace(1 << place) << place for place in range(self.degree))

    def traces(self, elements: UInt64Array) -> NDArray[np.uint8]:
        """Return the trace of every element of an array.

        >>> BinaryField(4).traces(np.array([1, 2, 8, 9], dtype=np.uint64)).tolist()
        [0, 0, 1, 1]
        """
        return (np.bitwise_count(elements & np.uint64(self.trace_mask)) & 1).astype(np.uint8)

    def scale(self, elements: UInt64Array, factor: int) -> UInt64Array:
        """Return every element of an array multiplied by one factor."""
        product = np.zeros_like(elements)
        for place in range(self.degree):
            if factor >> place & 1:
                product ^= elements << np.uint64(place)
        for place in range(2 * self.degree - 2, self.degree - 1, -1):
            overflow = (product >> np.uint64(place)) & np.uint64(1)
            product ^= overflow * np.uint64(self.modulus << (place - self.degree))
        return product

    def powers(self, count: int) -> UInt64Array:
        """Return the first ``count`` powers of the generator: 1, x, x², …, by doubling.

        >>> BinaryField(3).powers(8).tolist()
        [1, 2, 4, 3, 6, 7, 5, 1]
        """
        table = np.ones(count, dtype=np.uint64)
        done = 1
        while done < count:
            step = min(done, count - done)
            table[done : done + step] = self.scale(table[:step], self.power(self.generator, done))
            done += step
        return table

    @property
    def generator(self) -> int:
        """The element whose powers are all non-zero elements."""
        return 2 if self.degree > 1 else 1


def independent_rows(rows: list[int]) -> list[int]:
    """Return those rows (bit strings as integers) that are not sums of earlier ones, in their order.

    >>> independent_rows([0b011, 0b101, 0b110, 0b000, 0b111])
    [3, 5, 7]
    """
    pivots: dict[int, int] = {}
    kept: list[int] = []
    for row in rows:
        rest = row
        while rest:
            top = rest.bit_length()
            if top not in pivots:
                pivots[top] = rest
                kept.append(row)
                break
            rest ^= pivots[top]
    return kept
