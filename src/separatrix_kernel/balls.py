"""Enclosures of real numbers and of float32 in Python integers: what trained weights are checked with.

A number x is an integer centre c and a radius r, both in units of 2^-40, with |x · 2^40 - c| ≤ r. A ball holds the
exact real value over the stored weights, and also whatever a float32 evaluation may have there, with any order and
grouping of sums, with or without fused multiply-add. u = 2^-24 is float32's unit roundoff:

- a sum of n products that is computed in any order is wrong by at most γ_n · Σ|products|, γ_n = nu/(1 - nu)
  (Higham 2002, §3.1), for n products with further factors that were rounded before by γ of all roundings on a path;
- exp, tanh, square root and division are taken to be right within 8u, relatively; mean and variance of a layer norm
  within γ_{n+2} · mean|x| and 4γ_{n+4} · mean x². That is an assumption about the library, and the only one.

Weights are at most 256 in size and models at most 1024 wide, so that nothing overflows; what underflows is below a
unit of 2^-40, and every radius has one unit more than its terms.
"""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import isqrt
from operator import mul
from struct import unpack
from typing import NamedTuple

from separatrix_kernel.numbers import exponential
from separatrix_kernel.reading import require

BITS = 40
ONE = 1 << BITS
ROUNDOFF_BITS = 24
MOST_TERMS = 8000
LARGEST_WEIGHT = 256
WORK = 64
GELU_LINEAR, GELU_CUBIC = 1839796536686825613, 82266502137951407
"""2√(2/π) and 2√(2/π) · 0.044715 in units of 2^-60, rounded."""
GELU_FAR = 16 * ONE
SLOPE_ERROR = 1 << 14
LEAST_DEVIATION = 1 << 20


class Balls(NamedTuple):
    """A vector of balls."""

    centres: list[int]
    radii: list[int]


def slack(terms: int, size: int) -> int:
    """At least γ_terms · size, in units: γ_n ≤ (n + 4)u as long as n(n + 4)u ≤ 4."""
    require(terms <= MOST_TERMS, f"a sum of {terms} terms is longer than the float32 bound covers")
    return (size * (terms + 4) >> ROUNDOFF_BITS) + 1


def fixed(value: float) -> int:
    """A float32 number in units, within half of one: the product by a power of two is exact."""
    require(abs(value) <= LARGEST_WEIGHT, f"the weight {value} is not a number of at most {LARGEST_WEIGHT} in size")
    return round(value * ONE)


def dot(left: Iterable[int], right: Iterable[int]) -> int:
    """The sum of products of integers, exact."""
    return sum(map(mul, left, right))


class Packed:
    """A matrix as one large integer for each row, so that a vector times the matrix is one product for each row.

    The entries of a row are digits of base 2^128, with signs. In the sum over rows every digit is an exact sum of
    products; with 2^103 added to each it is the digit of a positive number, which after a shift by 24 bits has the sum
    divided by 2^40 and rounded down in its upper 64 bits. Where sums could be 2^103 or more, they are computed singly.
    """

    def __init__(self, columns: Sequence[Sequence[int]]) -> None:
        self.columns = columns
        self.count = len(columns)
        shifts = range(0, 128 * self.count, 128)
        self.rows = [_packed(row) for row in zip(*columns, strict=True)]
        self.largest = max((abs(entry) for column in columns for entry in column), default=0)
        self.offset = sum(1 << (103 + shift) for shift in shifts)

    def floors(self, vector: Sequence[int]) -> list[int]:
        """Of each column its product with the vector, divided by 2^40 and rounded down."""
        if self.largest * sum(map(abs, vector)) >= 1 << 103:
            return [dot(column, vector) >> BITS for column in self.columns]
        total = dot(vector, self.rows) + self.offset
        words = unpack(f"<{2 * self.count}Q", (total << (64 - BITS)).to_bytes(16 * self.count, "little"))
        return [word - (1 << 63) for word in words[1::2]]


def _packed(row: Sequence[int]) -> int:
    """Σ row_i 2^(128 i), put together in halves."""
    if len(row) == 1:
        return row[0]
    half = len(row) // 2
    return _packed(row[:half]) + (_packed(row[half:]) << (128 * half))


def _table(count: int, step: int) -> list[tuple[int, int]]:
    return [exponential(Fraction(-number, step), WORK) for number in range(count)]


_WHOLE, _PARTS = _table(61, 1), _table(256, 256)


def exponentials(value: int) -> tuple[int, int]:
    """Units a, b with a ≤ 2^40 · exp(-value / 2^40) ≤ b, for value ≥ 0.

    value = i + k/256 + r with 0 ≤ r < 1/256. exp(-r) is its alternating series up to r^5, wrong by at most r^6/720,
    which is below 100 units of 2^-64; five terms that are each rounded down add less than 20.
    """
    whole, rest = value >> BITS, value & (ONE - 1)
    if whole > 60:
        return 0, 1
    r = (rest & ((1 << (BITS - 8)) - 1)) << (WORK - BITS)
    second = r * r >> WORK
    third = second * r >> WORK
    fourth = third * r >> WORK
    fifth = fourth * r >> WORK
    near = (1 << WORK) - r + second // 2 - third // 6 + fourth // 24 - fifth // 120
    (low, high), (low_part, high_part) = _WHOLE[whole], _PARTS[rest >> (BITS - 8)]
    low = (low * low_part >> WORK) * (near - 128) >> WORK
    high = ((high * high_part >> WORK) + 1) * (near + 128) >> WORK
    return low >> (WORK - BITS), (high + 1 >> (WORK - BITS)) + 1


def power_range(value: int, error: int) -> tuple[int, int]:
    """Units a, b around exp of every number within ``error`` of ``value``, which is at most 0, less a unit for what
    float32 loses below its smallest numbers."""
    low = exponentials(max(0, error - value))[0]
    high = exponentials(max(0, -value - error))[1]
    if value + error > 0:
        # exp(x) ≤ 1/(1 - x) for 0 ≤ x < 1; larger errors are of no use.
        require(2 * (value + error) < ONE, "scores are not known well enough")
        high = ONE * ONE // (ONE - value - error) + 1
    return max(0, low - 1), high + 1


class Bend(NamedTuple):
    """GELU near a point c: g(x) is value + slope · (x - c) plus something from low to high, for |x - c| ≤ r."""

    value: int
    slope: int
    low: int
    high: int


def gelu(centre: int, radius: int) -> Bend:
    """The tanh form of GELU, x/(1 + exp(-2√(2/π)(x + 0.044715x³))), and float32's of it, on a ball.

    Its second derivative is between -7/64 and 103/128 (the tests enclose it on the whole line), so that the tangent is
    wrong by -7/128 r² to 103/256 r². Beyond ±16 it is x or 0 to far below a unit. In between the exponent is known
    within 2^13 units of 2^-60 before it is rounded down, so within two units of 2^-40; the share s = 1/(1 + E) and
    s(1 - s) within 8, the value within 8|x| + 2 and the slope, whose factor x(1.6 + 3 · 0.0714x²) is below 1024, within
    2^14.
    In float32 the exponent is wrong by 8u relatively, tanh by 12u, its sum with 1 by 14u, the product by 16u|x|.
    The value's 2 units, and less than 4.4 that the five terms of the ends lose as they are rounded down, are below 7.
    """
    square = radius * radius >> BITS
    size = abs(centre) + radius
    error = (size * 16 >> ROUNDOFF_BITS) + (8 * abs(centre) >> BITS) + 5
    if abs(centre) >= GELU_FAR:
        value, slope = (centre, ONE) if centre > 0 else (0, 0)
    else:
        squared = centre * centre >> (2 * BITS - 60)
        exponent = abs(centre) * (GELU_LINEAR + (GELU_CUBIC * squared >> 60)) >> 60
        low, high = exponentials(exponent)
        rest = (low + high) // 2
        share = (ONE if centre >= 0 else rest) * ONE // (ONE + rest)
        value = centre * share >> BITS
        bend = (GELU_LINEAR >> 20) + (3 * GELU_CUBIC * squared >> 80)
        slope = share + ((share * (ONE - share) >> BITS) * (centre * bend >> BITS) >> BITS)
    wrong = error + (SLOPE_ERROR * radius >> BITS) + 1
    return Bend(value, slope, -(7 * square >> 7) - 1 - wrong, (103 * square >> 8) + 1 + wrong)


class Linear:
    """x ↦ x W + b, perhaps behind a norm's gain and shift, as balls; columns are those of W."""

    def __init__(
        self,
        weight: Sequence[Sequence[int]],
        bias: Sequence[int],
        affine: tuple[Sequence[int], Sequence[int]] | None = None,
    ) -> None:
        inputs = len(weight)
        columns = [list(column) for column in zip(*weight, strict=True)]
        self.bias, size, self.bias_error, self.error = list(bias), [abs(b) + 1 for b in bias], 1, 1
        self.columns = columns
        if affine is not None:
            gain, shift = affine
            self.columns = [[g * w >> BITS for g, w in zip(gain, column, strict=True)] for column in columns]
            # Factors of at most 256 are known within half a unit, and their product is rounded down.
            self.error, self.bias_error = LARGEST_WEIGHT + 2, LARGEST_WEIGHT * inputs + 4
            self.bias = [b + (dot(shift, column) >> BITS) for b, column in zip(bias, columns, strict=True)]
            far = [dot(map(abs, shift), map(abs, column)) >> BITS for column in columns]
            size = [abs(b) + f + self.bias_error + 1 for b, f in zip(bias, far, strict=True)]
        self.sizes = [[abs(w) + self.error for w in column] for column in self.columns]
        self.packed, self.packed_sizes = Packed(self.columns), Packed(self.sizes)
        # Roundings on a path: gain, product and sum; for the bias those of shift · W, and the sum into which it goes.
        self.terms = inputs + 6
        self.bias_sizes = size
        self.bias_noise = [self.bias_error + 2 + slack(2 * inputs + 8, b) for b in size]

    def apply(self, x: Balls) -> tuple[Balls, list[int]]:
        """The balls of x W + b, and how much of each radius is not caused by x: roundings, of float32 and here."""
        magnitude = [abs(c) + r for c, r in zip(x.centres, x.radii, strict=True)]
        spread = sum(magnitude) * self.error >> BITS
        centres = [value + b for value, b in zip(self.packed.floors(x.centres), self.bias, strict=True)]
        noise = [
            spread + own + slack(self.terms, size + 1)
            for size, own in zip(self.packed_sizes.floors(magnitude), self.bias_noise, strict=True)
        ]
        radii = [caused + n + 1 for caused, n in zip(self.packed_sizes.floors(x.radii), noise, strict=True)]
        return Balls(centres, radii), noise


class Normed(NamedTuple):
    """A layer norm's value before gain and shift, and what it came from."""

    balls: Balls
    noise: list[int]
    """Of each radius what is not caused by x."""
    centred: list[int]
    """x - mean x at the centre, within two units."""
    deviation: int
    """σ at the centre, within two units."""
    least: int
    """At most every σ, in exact arithmetic."""
    most: int
    """At least every σ, of exact arithmetic and of float32."""


def norm(x: Balls, epsilon: Fraction, reach: int | None = None, floor: int = 0) -> Normed:
    """(x - mean x)/σ with σ = √(mean (x - mean x)² + ε).

    With d = x - c: |u(x)|² = |u(c)|² + 2u(c)·d + |u(d)|² and |u(d)| ≤ |d|, which is at most ``reach``; and σ is
    known to be at least ``floor``. In float32 the mean is wrong by
    γ · mean|x|, the variance by 4γ · mean x², and x/σ - mean/σ rounds each part: 32u(|x| + |mean|)/σ covers the
    roundings of the difference, the root and the product.
    """
    width = len(x.centres)
    average = sum(x.centres) // width
    centred = [c - average for c in x.centres]
    spread = sum(x.radii)
    radii = [r + (spread - 2 * r) // width + 3 for r in x.radii]
    small = -(-ONE * ONE * epsilon.numerator // epsilon.denominator)
    squares = dot(centred, centred) // width + small
    # The rounded mean is less than a unit too small, which changes the mean square by at most one.
    apart = (2 * dot(map(abs, centred), x.radii) + dot(x.radii, x.radii)) // width + 1
    apart += 2 * spread // width + 4
    if reach is not None:
        apart = min(apart, (2 * (isqrt(squares * width) + width) * reach + reach * reach) // width + 4)
    magnitude = [abs(c) + r for c, r in zip(x.centres, x.radii, strict=True)]
    wrong = 4 * slack(width + 4, dot(magnitude, magnitude) // width) + (small >> (ROUNDOFF_BITS - 2)) + 1
    lower = max(0, squares - apart, max(0, floor) ** 2)
    least, centre = isqrt(lower), isqrt(squares)
    low, high = isqrt(max(0, lower - wrong)), isqrt(squares + apart + wrong) + 1
    require(low >= LEAST_DEVIATION, "a norm's deviation may vanish")
    # In exact arithmetic σ is at least √ε, whatever the box says; float32's too, less its error.
    least = max(least, isqrt(small) - 1)
    inverse, largest, smallest = ONE * ONE // centre, ONE * ONE // low + 1, ONE * ONE // high
    apart_inverse = max(largest - inverse, inverse - smallest) + 1
    mean_error = slack(width + 2, sum(magnitude) // width + 1)
    mean_size = abs(average) + spread // width + 2
    # How far float32's variance moves 1/σ: most where σ is least, because x^(-1/2) is convex.
    float_inverse = largest - ONE * ONE // (isqrt(lower) + 1) + 1
    inverse_error = 2 * ONE * ONE // (centre * centre) + 2
    centres, total, noise = list[int](), list[int](), list[int]()
    for c, r, m in zip(centred, radii, magnitude, strict=True):
        rounding = (mean_error + ((m + mean_size) * 32 >> ROUNDOFF_BITS) + 1) * largest >> BITS
        own = rounding + ((abs(c) + r) * float_inverse >> BITS) + 4 + (4 * largest >> BITS)
        own += (abs(c) * inverse_error >> BITS) + 2
        centres.append(c * inverse >> BITS)
        noise.append(own)
        total.append((abs(c) * apart_inverse + r * largest >> BITS) + own + 2)
    return Normed(Balls(centres, total), noise, centred, centre, least, high)
