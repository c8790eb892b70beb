"""Pieces that constructions share: sign rows, gains, and feed-forwards with whole-number weights.

All feed-forward weights and biases are whole numbers, so that no rounding happens inside them in any fixed point: the
papers' thresholds at 1/2 are not representable when N is odd (BHBK24 B.2 has steps N^-Kc). The step used everywhere is
step(a) = ReLU(4a - 1) - ReLU(4a - 2), which is 0 for a ≤ 1/4 and exactly 1 for a ≥ 1/2 (erratum E6: BHBK24's σ does not
return labels exactly).
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy

from separatrix.arithmetic import sign_code
from separatrix.bit_counts import bits_for
from separatrix.errors import SeparatrixError
from separatrix.networks import ExactMatrix, FeedForward, Head, Integers, SignRows, Slots, TableRows, identity, zeros

CIRCLE_BITS = 30
MOST_CIRCLES = 16


@dataclass(frozen=True)
class Addresses:
    """Vectors that serve as addresses, and the largest inner product of two of them, both of norm 1.

    ``norm`` is what the inner product of a row with itself has to be divided by: the width for rows of ±1.
    """

    rule: SignRows | TableRows
    max_inner: Fraction
    norm: int

    @property
    def width(self) -> int:
        """The paper's k."""
        return self.rule.width

    @property
    def signs(self) -> SignRows:
        """The rule, where it must be a sign code."""
        if not isinstance(self.rule, SignRows):
            raise SeparatrixError("this construction needs a sign code; points on a circle do not serve it")
        return self.rule


@lru_cache(maxsize=16)  # searches over one length build many networks with the same few codes
def addresses(count: int, max_inner: Fraction, family: str | None, two_sided: bool = False) -> Addresses:
    """Return the narrowest sign code for ``count`` addresses: described by a generator of O(log² N) bits.

    Two kinds of addresses are not such codes and are asked for by name: ``digits``, the binary digits as signs, and
    ``circle`` or ``circles:J``, points of J unit circles: 2J dimensions, stored, and inner products so close to 1 that
    they need bits.
    With ``two_sided`` no inner product is below -``max_inner`` either.
    """
    if family == "digits":
        return digits(count)
    if family is not None and family.partition(":")[0] in ("circle", "circles"):
        return circles(count, family.partition(":")[2] or "1")
    best = sign_code(max(count, 2), max_inner, two_sided, family)
    rule = best.rule
    generator = numpy.array([[row >> place & 1 for place in range(rule.width)] for row in rule.rows], dtype=numpy.uint8)
    needed = max(1, bits_for(count))
    return Addresses(SignRows(generator[:needed]), best.max_inner, best.width)


def digits(count: int) -> Addresses:
    """Return the binary digits of a number as signs: ⌈log₂ N⌉ of them, as few as signs can be, two of them one digit
    apart.

    >>> digits(16).max_inner
    Fraction(1, 2)
    """
    size = max(1, bits_for(count))
    return Addresses(SignRows(numpy.eye(size, dtype=numpy.uint8)), 1 - Fraction(2, size), size)


def circles(count: int, number: str) -> Addresses:
    """``count`` points on ``number`` unit circles, as multiples of 2^-30: digit d of a number to the base
    m = ⌈count^(1/number)⌉ is the d-th of the circles' m points (one circle: SHT23's encoding, in two dimensions).

    The largest inner product is that of neighbours on one circle, measured exactly on the rounded points and lowered by
    what the shortest point falls short of norm 1, so that it bounds every comparison of a point with itself.

    >>> found = circles(16, "2")
    >>> found.width, found.norm
    (4, 2)
    """
    if not number.isdecimal() or not 1 <= int(number) <= MOST_CIRCLES:
        raise SeparatrixError(
            f"circles:{number} is not a number of circles; choose circles:1 to circles:{MOST_CIRCLES}"
        )
    dimensions, base = int(number), 2
    while base**dimensions < count:
        base += 1
    scale = 1 << CIRCLE_BITS
    angles = 2 * numpy.pi * numpy.arange(base) / base
    # Floats only propose the points; everything that is claimed about them is computed from the integers.
    points = numpy.rint(numpy.stack([numpy.cos(angles), numpy.sin(angles)], axis=1) * scale).astype(numpy.int64)
    own = min(int(x) ** 2 + int(y) ** 2 for x, y in points.tolist())
    following = numpy.roll(points, -1, axis=0).tolist()
    nearest = max(a * c + b * d for (a, b), (c, d) in zip(points.tolist(), following, strict=True))
    gap = Fraction(own - nearest, scale * scale * dimensions)
    if gap <= 0:
        raise SeparatrixError(
            f"{base} points on a circle are too close for steps of 2^-{CIRCLE_BITS}, in which points are kept at every "
            f"precision; choose more circles, such as circles:{dimensions + 1}, or a sign code"
        )
    places = numpy.arange(count)[:, None] // base ** numpy.arange(dimensions)[None, :] % base
    return Addresses(TableRows(ExactMatrix(points[places].reshape(count, 2 * dimensions), scale)), 1 - gap, dimensions)


def sufficient_gain(keys: int, max_inner: Fraction) -> Fraction:
    """Return a score scale η for which one address gets more than 3/4 of the attention over ``keys`` keys.

    e^η / (e^η + keys · e^(η·γ)) > 3/4 follows from η (1 - γ) > ln(3·keys), and 2^(x·3/2) > e^x makes the logarithm an
    integer question: η (1 - γ) ≥ the number of bits of 3·keys is enough, since ln x < 0.7 · (bits of x).

    >>> sufficient_gain(1024, Fraction(1, 4))
    Fraction(49, 4)
    """
    bits = (3 * keys).bit_length()
    return Fraction(math.ceil(16 * (Fraction(7 * bits, 10) / (1 - max_inner) + 1)), 16)


@dataclass(frozen=True)
class Unit:
    """One ReLU unit: ReLU(Σ weight · coordinate + bias), added to coordinates with whole-number weights.

    Coordinates are (slot, offset).
    """

    reads: tuple[tuple[str, int, int], ...]
    bias: int
    writes: tuple[tuple[str, int, int], ...]


def feed_forward(slots: Slots, units: Iterable[Unit], cleared: Sequence[str] = (), kept: bool = True) -> FeedForward:
    """Return a feed-forward from units. With ``kept`` the input is added back, and ``cleared`` slots, whose entries
    must be at least 0, are removed from it by units of their own.
    """
    listed = list(units)
    for slot in cleared:
        listed += [Unit(((slot, place, 1),), 0, ((slot, place, -1),)) for place in range(slots.size(slot))]
    inner = numpy.zeros((len(listed), slots.width), dtype=numpy.int64)
    outer = numpy.zeros((slots.width, len(listed)), dtype=numpy.int64)
    bias = numpy.zeros((len(listed), 1), dtype=numpy.int64)
    for number, unit in enumerate(listed):
        for slot, offset, weight in unit.reads:
            inner[number, slots.columns(slot).start + offset] += weight
        for slot, offset, weight in unit.writes:
            outer[slots.columns(slot).start + offset, number] += weight
        bias[number, 0] = unit.bias
    return FeedForward(ExactMatrix(inner), ExactMatrix(bias), ExactMatrix(outer), zeros(slots.width, 1), residual=kept)


def step_units(reads: Sequence[tuple[str, int, int]], bias: int, target: tuple[str, int]) -> list[Unit]:
    """Return units that add step(a) for a = Σ reads + bias to the target: 0 for a ≤ 1/4, 1 for a ≥ 1/2.

    >>> [unit.bias for unit in step_units([("a", 0, 1)], 0, ("a", 0))]
    [-1, -2]
    """
    scaled = tuple((slot, offset, 4 * factor) for slot, offset, factor in reads)
    slot, offset = target
    return [
        Unit(scaled, 4 * bias - 1, ((slot, offset, 1),)),
        Unit(scaled, 4 * bias - 2, ((slot, offset, -1),)),
    ]


def binary_rows(count: int) -> Integers:
    """Return the numbers 0 … count - 1 in binary, most significant bit first: (count, bits), one bit at least.

    >>> binary_rows(3).tolist()
    [[0, 0], [0, 1], [1, 0]]
    """
    bits = max(1, bits_for(count))
    return numpy.arange(count, dtype=numpy.int64)[:, None] >> numpy.arange(bits - 1, -1, -1) & 1


def uniform_head(slots: Slots, slot: str) -> Head:
    """Return a head that replaces the one number of a slot by its average over all positions: all scores are 0."""
    nothing, own = zeros(1, slots.width), {slot: identity(1)}
    return Head(nothing, nothing, value=slots.reading(1, own), output=slots.writing(1, own))


def more_than(slots: Slots, slot: str, positions: int, threshold: int) -> FeedForward:
    """1 where positions · average - threshold is at least 1/2, 0 where it is at most 0, in place of the average.

    The average of bits times their number counts the ones, up to what rounding loses: less than 1/2.

    >>> layer = more_than(Slots((("bit", 1),)), "bit", positions=4, threshold=1)
    >>> layer.inner.numerators.tolist(), layer.inner_bias.numerators.tolist()
    ([[8], [8]], [[-2], [-3]])
    """
    scaled = ((slot, 0, 2 * positions),)
    units = [Unit(scaled, -2 * threshold - step, ((slot, 0, 1 - 2 * step),)) for step in (0, 1)]
    return feed_forward(slots, units, kept=False)
