"""The exponential on a fixed-point grid, correctly rounded.

BHBK24 rounds "all intermediate values" and therefore needs the rounding of the real number exp(v / scale),
not of an approximation to it. Balls of growing precision enclose scale · exp(v / scale) until both ends of
the ball round to the same integer. By the Lindemann–Weierstrass theorem the exponential of a rational other
than zero is transcendental, so it is neither an integer (where rounding down jumps) nor half an odd one
(where rounding to nearest jumps), and the loop ends.
"""

import numpy as np
from flint import arb, ctx

from separatrix.arithmetic.integers import Grid
from separatrix.arithmetic.interface import RawArray
from separatrix.arithmetic.wide_integers import WORD

SPARE_BITS = 32
"""What the first balls carry beyond the bits of a result: few values are left for a second round."""
LARGEST_TABLE = 1 << 22
"""Entries of a table that holds a range of exponentials at most."""
PER_VALUE = 16
"""So many entries of such a table cost about as much as finding one value among the others by a search."""


def exp_rounded(array: RawArray, grid: Grid) -> RawArray:
    """Compute the saturated rounding of scale · exp(v / scale), elementwise, once per distinct v.

    >>> exp_rounded(np.array([-16, 0, 4]), Grid(16, 256, "down"))
    array([ 5, 16, 20])
    """
    first, last = _rounds_to_zero_below(grid.scale), _saturates_from(grid.scale)
    # Beyond these two nothing changes any more, and what lies between fits into a word unless the scale is huge.
    clipped = np.minimum(np.maximum(array.reshape(-1), first), last)
    if max(-first, last) < WORD:
        clipped = clipped.astype(np.int64)
    lowest = int(clipped.min(initial=last))
    span = int(clipped.max(initial=first)) - lowest + 1
    if clipped.dtype == np.int64 and 0 < span <= min(LARGEST_TABLE, PER_VALUE * clipped.size):
        # Many values in a short range: a table of the range is several times quicker than a search.
        seen = np.zeros(span, dtype=np.bool_)
        seen[clipped - lowest] = True
        distinct = np.flatnonzero(seen)
        table = np.zeros(span, dtype=array.dtype)
        table[distinct] = _results((distinct + lowest).tolist(), first, last, grid)
        return table[clipped - lowest].reshape(array.shape)
    distinct = np.unique(clipped)
    results = np.array(_results(distinct.tolist(), first, last, grid), dtype=array.dtype)
    # Looking places up is several times quicker than having them sorted along.
    return results[np.searchsorted(distinct, clipped)].reshape(array.shape)


def _results(values: list[int], first: int, last: int, grid: Grid) -> list[int]:
    """Return the saturated rounding for each value from ``first`` to ``last``, where nothing changes any more."""
    between = _exponentials([value for value in values if first < value < last and value], grid)
    between[0] = grid.scale
    return [between.get(value, 0 if value < 0 else grid.limit) for value in values]


def _rounds_to_zero_below(scale: int) -> int:
    """Give a v from which on downwards scale · exp(v / scale) < 1/2, which either rounding takes to 0.

    ln 2 < 7/10, so v / scale ≤ −(bits + 1) · 7/10 makes the exponential less than 2^−(bits + 1), and
    scale < 2^bits.
    """
    return -7 * (scale.bit_length() + 1) * scale // 10


def _saturates_from(scale: int) -> int:
    """Give a v from which on upwards exp(v / scale) > scale, the end of the range, by the same estimate."""
    return -(-7 * scale.bit_length() * scale // 10)  # rounded up


def _exponentials(values: list[int], grid: Grid) -> dict[int, int]:
    """Round scale · exp(v / scale) for each v ≠ 0, with more bits for those that the bits so far leave open."""
    rounded: dict[int, int] = {}
    half = arb(0.5) if grid.rounding == "nearest" else arb(0)
    # Results have at most about twice the scale's bits.
    precision = 2 * grid.scale.bit_length() + SPARE_BITS
    while values:
        with ctx.workprec(precision):
            scale = arb(grid.scale)
            for value in values:
                # All numbers of the ball have the same floor, or there is no unique integer.
                integer = ((arb(value) / scale).exp() * scale + half).floor().unique_fmpz()
                if integer is not None:
                    rounded[value] = min(int(integer), grid.limit)
        values = [value for value in values if value not in rounded]
        precision *= 2
    return rounded
