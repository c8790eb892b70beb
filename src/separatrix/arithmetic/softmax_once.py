"""The softmax that BHBK24 Appendix F.2 reasons about: computed over the reals and rounded once at the end.

Appendix D instead rounds every exponential and every quotient (``FixedPoint.softmax``). F.2 argues that a weight within
1/(2·N^Kc) of 1 "will be rounded to 1" and of 0 "to 0"; under B.2's rounding down that is false (erratum E2), and only
this softmax shows it, because Appendix D's rounds small exponentials to 0 first.

A weight is 1 / Σ_d count_d · exp(d) over the differences d of the other scores to its own. If some difference is not 0
the sum is transcendental (Lindemann–Weierstrass), so balls of growing precision decide the rounding; if all are 0 the
weight is the rational 1 / count.
"""

import numpy as np
from flint import arb, ctx

from separatrix.arithmetic.exponential import SPARE_BITS
from separatrix.arithmetic.integers import Grid, divide_rounding
from separatrix.arithmetic.interface import BooleanArray, RawArray


def softmax_rounded_once(array: RawArray, mask: BooleanArray, grid: Grid) -> RawArray:
    """Return weights along the last axis; masked entries take no part and get 0. Each different row is computed
    once."""
    flat = array.reshape(-1, array.shape[-1])
    taking = np.broadcast_to(mask, array.shape).reshape(flat.shape)
    result = np.zeros_like(flat)
    known: dict[tuple[tuple[int, int], ...], dict[int, int]] = {}
    for row in range(len(flat)):
        scores, counts = np.unique(flat[row][taking[row]], return_counts=True)
        key = tuple(zip(scores.tolist(), counts.tolist(), strict=True))
        if key not in known:
            known[key] = _weights(key, grid)
        table = known[key]
        result[row] = [table[int(s)] if t else 0 for s, t in zip(flat[row].tolist(), taking[row].tolist(), strict=True)]
    return result.reshape(array.shape)


def _weights(scores: tuple[tuple[int, int], ...], grid: Grid) -> dict[int, int]:
    """Return the rounded weight of each different score."""
    if len(scores) == 1:
        ((score, count),) = scores
        one, number = np.array([grid.scale], dtype=object), np.array([count], dtype=object)
        return {score: int(divide_rounding(one, number, grid.rounding)[0])}
    half = arb(0.5) if grid.rounding == "nearest" else arb(0)
    rounded: dict[int, int] = {}
    precision = 2 * grid.scale.bit_length() + 2 * SPARE_BITS
    while len(rounded) < len(scores):
        with ctx.workprec(precision):
            scale = arb(grid.scale)
            for own, _ in scores:
                if own not in rounded:
                    total = sum((arb(count) * (arb(other - own) / scale).exp() for other, count in scores), arb(0))
                    integer = (scale / total + half).floor().unique_fmpz()
                    if integer is not None:
                        rounded[own] = int(integer)
        precision *= 2
    return rounded
