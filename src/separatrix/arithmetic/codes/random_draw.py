"""The paper's own vectors: independent random signs, to compare the codes with.

BHBK24 Lemma 2 draws N vectors of width k = (8/γ²) ln 2N and shows by Hoeffding's inequality and a union bound that one
draw in two works. Two remarks on that proof. The inequality for a sum of k independent terms ±1/k is
P[|⟨X, Y⟩| ≥ γ] ≤ 2 exp(−kγ²/2), where the paper writes 2 exp(−kγ²/4): true but loose, half the width is enough. And
2N² exp(−kγ²/4) at that k is exactly 1/2 rather than below it, which changes nothing.

A draw has no structure and no short generator, so no construction uses one; all pairs are compared.
"""

from collections.abc import Mapping
from fractions import Fraction
from math import ceil, log
from types import MappingProxyType

import numpy as np

from separatrix.arithmetic.codes.random_bits import random_words
from separatrix.arithmetic.codes.sign_code import QUARTER, UInt8Array
from separatrix.arithmetic.codes.weights import pairwise_distances, unpack_words

FOUND: Mapping[int, tuple[int, int]] = MappingProxyType(
    {16: (34, 170), 64: (114, 114), 256: (197, 61), 1024: (285, 20), 4096: (384, 6), 16384: (485, 1)}
)
"""For a count of vectors the width and the seed at inner products up to 1/4: the narrowest of a few seeds."""


def paper_width(count: int, max_inner: Fraction = QUARTER) -> int:
    """Return the width BHBK24 Lemma 2 gives, (8/γ²) ln 2N rounded up; a size to compare with, not a claim.

    >>> paper_width(16), paper_width(16384)
    (444, 1331)
    """
    return ceil(8 / max_inner**2 * log(2 * count))


def draw(seed: int, count: int, width: int) -> UInt8Array:
    """Make ``count`` words of random bits."""
    return unpack_words(random_words(seed, np.arange(count), -(-width // 64)), width)


def drawn_width(count: int) -> int | None:
    """Return the narrowest width at which a recorded draw has no inner product above 1/4, every pair compared again.

    >>> drawn_width(64), drawn_width(65)
    (114, None)
    """
    if count not in FOUND:
        return None
    width, seed = FOUND[count]
    smallest = pairwise_distances(draw(seed, count, width)).smallest
    return width if Fraction(width - 2 * smallest, width) <= QUARTER else None
