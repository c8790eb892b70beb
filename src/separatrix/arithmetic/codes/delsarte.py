"""How narrow a sign code can be: Delsarte's linear-programming bound, with exact certificates.

BHBK24 Lemma 2 gives an upper bound on the width for N vectors; this module gives a lower bound that holds for every
choice of N sign vectors, random, linear or not. If all distances between N words of length n lie in a set D, and
f(x) = 1 + Σ f_j K_j(x) with Krawtchouk polynomials K_j and f_j ≥ 0 is at most 0 on D, then N ≤ f(0) (Delsarte, 1973). A
floating-point solver proposes f; its coefficients are rounded to integers over a power of two, and everything that
counts is then evaluated in integers: if the rounded f exceeds 0 somewhere on D by at most v < 1, then f − v, divided
by 1 − v, is a valid choice and bounds N by (f(0) − v)/(1 − v). No float decides a width.

Whether a width works is not monotone: 16 vectors within 1/4 exist at width 5 (even weights) and at width 7 (Hamming),
but not at 6. The bound is therefore the smallest width that is not excluded, and every smaller one carries its own
certificate.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import comb
from typing import Any, cast, final

import numpy as np

from separatrix.arithmetic.codes.choose import check_request
from separatrix.arithmetic.codes.sign_code import QUARTER

SCALE_BITS = 48
LARGEST_WIDTH = 160


@final
@dataclass(frozen=True)
class Exclusion:
    """Why no sign code of this width exists: multipliers f_j·C(length, j) as integers over 2^48.

    ``length`` is ``width``, or ``width`` + 1 when every word was first given a parity bit (all distances become even).
    An exclusion without multipliers says that there are fewer than ``count`` words of that width at all.
    """

    width: int
    length: int
    multipliers: tuple[int, ...]
    most_words: Fraction


@final
@dataclass(frozen=True)
class DelsarteBound:
    """The smallest width that is not excluded, and a certificate for each smaller one.

    ``complete`` is False when more may be true: the solver's numbers exclude ``width`` as well but could not be
    confirmed exactly, or the search for exclusions ended before a width withstood it.
    """

    count: int
    max_inner: Fraction
    two_sided: bool
    width: int
    exclusions: tuple[Exclusion, ...]
    complete: bool


def delsarte_width(
    count: int, max_inner: Fraction = QUARTER, two_sided: bool = False, largest: int = LARGEST_WIDTH
) -> DelsarteBound:
    """Return a width below which no ``count`` sign vectors have inner products within the bound.

    Widths beyond ``largest`` are not looked at: when all up to it are excluded, the result is ``largest`` + 1 and not
    ``complete``.

    >>> [delsarte_width(count).width for count in (16, 64, 256)]
    [5, 13, 16]
    """
    check_request(count, max_inner)
    exclusions: list[Exclusion] = []
    for width in range(1, largest + 1):
        if 1 << width < count:
            exclusions.append(Exclusion(width, width, (), Fraction(1 << width)))
            continue
        excluded, doubtful = _exclusion(count, width, max_inner, two_sided)
        if excluded is None:
            return DelsarteBound(count, max_inner, two_sided, width, tuple(exclusions), not doubtful)
        exclusions.append(excluded)
    return DelsarteBound(count, max_inner, two_sided, largest + 1, tuple(exclusions), complete=False)


def allowed_distances(width: int, max_inner: Fraction, two_sided: bool) -> list[int]:
    """Return the distances two different words of this width may have.

    >>> allowed_distances(8, Fraction(1, 4), two_sided=True)
    [3, 4, 5]
    """
    return [
        distance
        for distance in range(1, width + 1)
        if width - 2 * distance <= max_inner * width and (not two_sided or 2 * distance - width <= max_inner * width)
    ]


def krawtchouk_table(length: int) -> list[list[int]]:
    """K_i(j) for i, j = 0..length as exact integers, by the three-term recurrence.

    >>> krawtchouk_table(3)
    [[1, 1, 1, 1], [3, 1, -1, -3], [3, -1, -1, 3], [1, -1, 1, -1]]
    """
    table = [[1] * (length + 1), [length - 2 * j for j in range(length + 1)]]
    for i in range(1, length):
        table.append(
            [
                ((length - 2 * j) * table[i][j] - (length - i + 1) * table[i - 1][j]) // (i + 1)
                for j in range(length + 1)
            ]
        )
    return table[: length + 1]


def most_words(length: int, distances: Sequence[int], multipliers: Sequence[int]) -> Fraction | None:
    """Return the bound these multipliers prove in exact arithmetic, or None when they prove nothing.

    The multipliers are g_j = f_j·C(length, j) for j = 1..length, scaled by 2^48. Because K_j(i)/C(n, j) equals
    K_i(j)/C(n, i), the value f(i)·C(n, i)·2^48 is an integer.
    """
    if len(multipliers) != length or any(each < 0 for each in multipliers):
        return None
    table = krawtchouk_table(length)
    unit = 1 << SCALE_BITS
    excess = Fraction(0)
    for distance in distances:
        binomial = comb(length, distance)
        row = table[distance]
        value = unit * binomial + sum(
            multiplier * row[place] for place, multiplier in enumerate(multipliers, start=1) if multiplier
        )
        excess = max(excess, Fraction(value, unit * binomial))
    if excess >= 1:
        return None
    return (1 + Fraction(sum(multipliers), unit) - excess) / (1 - excess)


def _exclusion(count: int, width: int, max_inner: Fraction, two_sided: bool) -> tuple[Exclusion | None, bool]:
    """Return a certificate that ``width`` is too small, or None and whether the solver thought there should be one."""
    distances = allowed_distances(width, max_inner, two_sided)
    doubtful = False
    for length, reached in _variants(width, distances):
        solution = _solve(length, tuple(reached))
        if solution is None or 1 + sum(solution) >= count:
            continue
        multipliers = tuple(max(0, round(Fraction(value) * (1 << SCALE_BITS))) for value in solution)
        proved = _proved(length, tuple(reached), multipliers)
        if proved is not None and proved < count:
            return Exclusion(width, length, multipliers, proved), False
        # A solver that stops a hair below an optimum of exactly ``count`` does not cast doubt on the width.
        doubtful = doubtful or 1 + sum(solution) < count * (1 - 1e-6)
    return None, doubtful


def _variants(width: int, distances: list[int]) -> Iterator[tuple[int, list[int]]]:
    """Yield the words as they are, and with a parity bit, which rounds every distance up to an even one."""
    yield width, distances
    yield width + 1, sorted({distance + distance % 2 for distance in distances})


@cache  # most_words itself is for any multipliers; these are asked for again with every larger count
def _proved(length: int, distances: tuple[int, ...], multipliers: tuple[int, ...]) -> Fraction | None:
    return most_words(length, distances, multipliers)


@cache  # the program does not depend on the number of words, so that all counts share it
def _solve(length: int, distances: tuple[int, ...]) -> tuple[float, ...] | None:
    """Multipliers that minimise f(0), from the floating-point solver; only a proposal."""
    if not distances:
        return (0.0,) * length
    # scipy takes a good part of a second to import, which users of codes alone should not pay.
    from scipy.optimize import linprog  # pyright: ignore[reportMissingTypeStubs, reportUnknownVariableType]

    table = krawtchouk_table(length)
    # Dividing by the binomial keeps every entry in [−1, 1] whatever the length.
    matrix = np.array(
        [[table[i][j] / comb(length, i) for j in range(1, length + 1)] for i in distances], dtype=np.float64
    )
    outcome = cast(
        "Any",
        linprog(np.ones(length), A_ub=matrix, b_ub=-np.ones(len(distances)), bounds=(0, None), method="highs"),
    )
    return tuple(float(value) for value in outcome.x) if outcome.success else None
