"""What the matching constructions share: attention that chooses between matches and a dummy.

A query gives a match the score a, the dummy the score a - ABOVE and everything else at most a - ABOVE - below. The
dummy has value 0 and every number (or pair of numbers) the value 1. So the average is at least 1/(1 + e^-ABOVE) > 7/8
where one entry matches, whatever the others do, and at most 1/4 where none does, because n non-matches together weigh
at most n · e^-below ≤ 1/3 of the dummy; step(a) of ``pieces`` makes 1 and 0 of that. Only the non-matches are many, so
the dummy is close to the matches and not halfway.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TypeAlias

import numpy
from flint import arb, ctx, fmpq

from separatrix.bit_counts import bits_for
from separatrix.constructions.pieces import feed_forward, step_units
from separatrix.errors import SeparatrixError
from separatrix.networks import (
    Attention,
    EmbeddingPart,
    ExactMatrix,
    FeedForward,
    Integers,
    Network,
    Readout,
    SignRows,
    Slots,
    TableRows,
    ThirdOrderAttention,
    identity,
    zeros,
)
from separatrix.tasks import Matching

AngleLayer: TypeAlias = Callable[[Slots], Attention | ThirdOrderAttention]
ABOVE = Fraction(2)
TABLE_BITS = 60
"""Cosines are stored as the nearest multiples of 2^-60; the arithmetic rounds them further."""


def below(entries: int) -> Fraction:
    """By how much the dummy must exceed each of so many non-matches: ln(3 · entries), and 1/2 for rounding.

    ln x < 0.7 · (bits of x) makes the logarithm an integer question.
    """
    return Fraction(7 * (3 * entries).bit_length(), 10) + Fraction(1, 2)


@dataclass(frozen=True)
class Scale:
    """The score of a match and of the dummy."""

    match: Fraction
    dummy: Fraction


def scale_of(entries: int, fall: Fraction, gain: Fraction | None) -> Scale:
    """Return scores for non-matches that have at most (1 - ``fall``) of a match's score.

    ``gain`` replaces the match's score; the dummy keeps its place between match and non-match.
    """
    gap = ABOVE + below(entries)
    match = gap / fall if gain is None else gain
    return Scale(match, match * (1 - fall * ABOVE / gap))


def circle_scale(entries: int, modulus: int, gain: Fraction | None) -> Scale:
    """Return scores α cos(2πs/M), as whole numbers: α of order M² log N, as SHT23 says.

    1 - cos(2π/M) = 2 sin²(π/M) is at least 18/M² for M ≥ 6 and 8/M² for M ≥ 2, since sin x / x falls on [0, π/2].
    """
    fall = Fraction(18 if modulus >= 6 else 8, modulus**2)
    found = scale_of(entries, fall, gain)
    match = Fraction(-(-found.match.numerator // found.match.denominator))
    return Scale(match, match - round(found.match - found.dummy))


def partners(modulus: int) -> Integers:
    """Return for z = 1 … M the number in 1 … M that adds up with it to 0 modulo M, less 1: its row among all
    numbers."""
    numbers = numpy.arange(1, modulus + 1, dtype=numpy.int64)
    return (-numbers) % modulus - 1 + modulus * (numbers == modulus)


def ones(count: int) -> SignRows:
    """Return the number 1 for each of ``count`` rows, in log(count) bits: a sign code whose generator is zero."""
    return SignRows(numpy.zeros((max(1, bits_for(count)), 1), dtype=numpy.uint8))


@lru_cache(maxsize=8)
def cosines(modulus: int, turns: Fraction) -> ExactMatrix:
    """Return a column of cos(2π(z/M - turns)) for z = 1 … M, each the nearest multiple of 2^-60.

    Only a quarter of a turn is computed, the rest is that with signs; tables whose angles have one step share it.
    """
    # Half turns, as whole multiples of 1/parts; cosines are even, and change their sign half a turn on.
    parts = modulus * turns.denominator
    places = 2 * turns.denominator * numpy.arange(1, modulus + 1, dtype=numpy.int64) - 2 * turns.numerator * modulus
    places %= 2 * parts
    places = numpy.minimum(places, 2 * parts - places)
    behind = 2 * places > parts
    places = numpy.where(behind, parts - places, places)
    step = int(numpy.gcd.reduce(places, initial=parts))
    numerators = _quarter(parts // step)[places // step]
    return ExactMatrix(numpy.where(behind, -numerators, numerators)[:, None], 1 << TABLE_BITS)


@lru_cache(maxsize=32)
def _quarter(parts: int) -> Integers:
    """2^60 · cos(π k/parts) to the nearest integer for k from 0 to parts/2, from balls of growing precision."""
    found: dict[int, int] = {}
    count, precision = parts // 2 + 1, TABLE_BITS + 16
    while len(found) < count:
        with ctx.workprec(precision):
            scale, half = arb(1 << TABLE_BITS), arb(0.5)
            for place in [place for place in range(count) if place not in found]:
                nearest = (arb(fmpq(place, parts)).cos_pi() * scale + half).floor().unique_fmpz()
                if nearest is not None:
                    found[place] = int(nearest)
        precision *= 2
    return numpy.array([found[place] for place in range(count)], dtype=numpy.int64)


def join_columns(*columns: ExactMatrix) -> ExactMatrix:
    """Matrices of one denominator side by side."""
    if len({column.denominator for column in columns}) > 1:
        raise SeparatrixError("columns of different denominators cannot be joined")
    return ExactMatrix(numpy.concatenate([column.numerators for column in columns], axis=1), columns[0].denominator)


def reading_rows(slots: Slots, rows: int, blocks: Mapping[str, tuple[int, ExactMatrix]]) -> ExactMatrix:
    """Return a matrix (rows, d) that reads each slot into consecutive rows from a given one on."""
    placed: dict[str, ExactMatrix] = {}
    for slot, (first, block) in blocks.items():
        numerators = numpy.zeros((rows, block.shape[1]), dtype=numpy.int64)
        numerators[first : first + block.shape[0]] = block.numerators
        placed[slot] = ExactMatrix(numerators, block.denominator)
    return slots.reading(rows, placed)


def constant(value: Fraction) -> ExactMatrix:
    """Return one number as a matrix."""
    return identity(1, value)


def rounding(slots: Slots, slot: str) -> FeedForward:
    """step(average) in the place of the average, nothing else kept."""
    return feed_forward(slots, step_units([(slot, 0, 1)], 0, (slot, 0)), kept=False)


def every_position(slots: Slots, slot: str) -> Readout:
    """Return the slot's number at every position, as a bit."""
    return Readout(slots.reading(1, {slot: identity(1)}), zeros(1, 1), "bits", at="every")


def angle_network(task: Matching, length: int, turn: Fraction, layer: AngleLayer, about: str) -> Network:
    """Return a number as two cosines a turn apart, one attention layer, exact answers at every position.

    ``layer`` makes the attention from the slots ``number``, ``dummy`` and ``angle``.
    """
    modulus = task.modulus_at(length)
    slots = Slots((("number", 1), ("dummy", 1), ("angle", 2)))
    numbers, everywhere = (1, modulus + 1), (0, length + 1)
    table = join_columns(cosines(modulus, Fraction(0)), cosines(modulus, turn))
    embedding = (
        EmbeddingPart("number", ones(modulus), "token", numbers, everywhere),
        EmbeddingPart("dummy", TableRows(identity(1)), "token", (0, 1), everywhere),
        EmbeddingPart("angle", TableRows(table), "token", numbers, everywhere),
    )
    return Network(
        slots,
        task.vocabulary(length).size,
        length + 1,
        embedding,
        (layer(slots), rounding(slots, "number")),
        every_position(slots, "number"),
        about=about,
    )
