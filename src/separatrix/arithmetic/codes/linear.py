"""Linear codes as sign codes: words from message bits, and shortening and puncturing.

Message bit b of index i adds generator row b, so vector i needs log N rows and nothing else (the on-demand
generation BHBK24 asks of its Lemma 3). A code with more dimensions than needed is *shortened* (keep the words that
vanish at the first places and drop those places: the width falls, no distance does) and then *punctured* (drop
places outright: each costs at most one unit of distance). Both are known to keep a guaranteed distance; the exact
one is always measured afterwards.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import final

import numpy as np

from separatrix.arithmetic.codes.binary_field import independent_rows
from separatrix.arithmetic.codes.sign_code import Indices, UInt8Array
from separatrix.arithmetic.codes.weights import pack_rows, unpack_words
from separatrix.catalog import ExecutedClaim

CODE_ON_DEMAND = ExecutedClaim("BHBK24 Lemma 3", "sign code", "code-on-demand", "separatrix code --count 256", __file__)


@final
@dataclass(frozen=True)
class LinearRule:
    """Sums of generator rows, given as integers whose bit p is place p."""

    rows: tuple[int, ...]
    width: int

    def words(self, indices: Indices) -> UInt8Array:
        """Return the words of these messages.

        >>> LinearRule((0b011, 0b101), 3).words(np.array([0, 1, 3])).tolist()
        [[0, 0, 0], [1, 1, 0], [0, 1, 1]]
        """
        packed = pack_rows(self.rows, self.width)
        total = np.zeros((len(indices), packed.shape[1]), dtype=np.uint64)
        for place, row in enumerate(packed):
            chosen = (indices >> place & 1).astype(np.uint64)
            total ^= chosen[:, None] * row[None, :]
        return unpack_words(total, self.width)


def dropped_places(rows: Sequence[int], width: int, shortened: int, punctured: int) -> LinearRule:
    """Shorten at the first places, then puncture at the next ones."""
    kept = list(rows)
    for place in range(shortened):
        pivot = next((row for row in kept if row >> place & 1), None)
        if pivot is not None:
            kept.remove(pivot)
            kept = [row ^ pivot if row >> place & 1 else row for row in kept]
    kept = [row >> (shortened + punctured) for row in kept]
    return LinearRule(tuple(independent_rows(kept)), width - shortened - punctured)


@final
@dataclass(frozen=True)
class WeightRange:
    """A linear code known to exist: its length, dimension, and bounds on the weights of its non-zero words."""

    length: int
    dimension: int
    lightest: int
    heaviest: int

    def narrowest(self, dimension: int, max_inner: Fraction, two_sided: bool) -> tuple[int, int] | None:
        """Return how many places to shorten and puncture for the smallest width that surely keeps the bound.

        >>> WeightRange(64, 16, 24, 64).narrowest(12, Fraction(1, 4), two_sided=False)
        (4, 2)
        """
        part, over = max_inner.as_integer_ratio()
        best: tuple[int, int] | None = None
        for shortened in range(self.dimension - dimension + 1):
            length = self.length - shortened
            # Solve (w − 2(lightest − p))/w ≤ γ and (w − 2·heaviest)/w ≥ −γ, w = length − p, for the largest p, in
            # integers: fractions would take most of the time of a choice among thousands of codes.
            punctured = (2 * self.lightest * over - (over - part) * length) // (over + part)
            if two_sided:
                punctured = min(punctured, length - -(-2 * self.heaviest * over // (over + part)))
            # At least one unit of distance stays, or two words would become one.
            punctured = min(punctured, self.lightest - 1)
            if punctured >= 0 and (best is None or shortened + punctured > sum(best)):
                best = (shortened, punctured)
        return best
