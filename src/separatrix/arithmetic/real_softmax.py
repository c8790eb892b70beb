"""Softmax over the real numbers, bounded: how much weight the best score keeps.

If the best score is ahead of score j by g_j ≥ 0, its weight is 1/(1 + R) with R = Σ e^(-g_j), and all other weights add
up to the rest. Only an upper bound of R is needed: every g_j is rounded down to a multiple of 1/256, and balls of
python-flint bound e^(-i/256) from above by multiples of 2^-40, which add up exactly in integers.
"""

from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
from flint import arb, ctx, fmpq

from separatrix.arithmetic.wide_integers import WORD

STEPS, DEEPEST = 256, 64
"""Exponents are multiples of 1/256; below e^-64 nothing is distinguished."""
UNIT = 1 << 40
BITS = 96


@cache
def exponentials() -> npt.NDArray[np.int64]:
    """Upper bounds of e^(-i/256) for i = 0 … 64 · 256 in units of 2^-40."""
    table = np.zeros(STEPS * DEEPEST + 1, dtype=np.int64)
    with ctx.workprec(BITS):
        for place in range(len(table)):
            below = (arb(fmpq(-place, STEPS)).exp() * UNIT).upper().floor().unique_fmpz()
            assert below is not None, "one number has one floor"
            table[place] = int(below) + 1
    table.setflags(write=False)
    return table


def sum_of_powers(gaps: npt.NDArray[Any], denominator: int) -> npt.NDArray[np.int64]:
    """Return an upper bound, in units of 2^-40, of Σ e^(-gap) over the last axis, for gaps ≥ 0 in units of
    1/denominator."""
    if gaps.dtype != object and int(gaps.max(initial=0)) * STEPS >= WORD:
        gaps = gaps.astype(object)
    places = np.minimum(gaps * STEPS // denominator, STEPS * DEEPEST).astype(np.int64)
    return exponentials()[places].sum(axis=-1)


def least_weight(rest: npt.NDArray[np.int64], one: int) -> npt.NDArray[np.int64]:
    """1/(1 + R), for R in units of 2^-40, rounded down to a multiple of 1/``one``, in those units.

    >>> least_weight(np.array([UNIT]), 10).tolist()
    [5]
    """
    return np.array([one * UNIT // (UNIT + int(each)) for each in rest.reshape(-1)], dtype=np.int64).reshape(rest.shape)
