"""The paper's own vectors: independent random signs, here drawn on demand from a seed.

BHBK24 Lemma 2 draws N vectors of width k = (8/γ²) ln 2N and shows by Hoeffding's inequality and a union bound that one
draw in two works. Two remarks on that proof. The inequality for a sum of k independent terms ±1/k is
P[|⟨X, Y⟩| ≥ γ] ≤ 2 exp(−kγ²/2), where the paper writes 2 exp(−kγ²/4): true but loose, half the width is enough. And
2N² exp(−kγ²/4) at that k is exactly 1/2 rather than below it, which changes nothing.

A draw has no structure, so all pairs are compared. The family is here for comparison: the recorded widths are the
narrowest at which one of a few seeds works, and every other family beats them.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, log
from typing import final

import numpy as np

from separatrix.arithmetic.codes.families._random_bits import random_words
from separatrix.arithmetic.codes.family import CodeFamily, Proposal, integer
from separatrix.arithmetic.codes.sign_code import QUARTER, Indices, Parameters, SignCode, UInt8Array
from separatrix.arithmetic.codes.weights import pairwise_distances, unpack_words
from separatrix.errors import SeparatrixError

LARGEST_COUNT = 1 << 14
LARGEST_WIDTH = 1 << 16

# Count, width, seed at max_inner 1/4, one-sided: the narrowest of a few seeds.
FOUND: tuple[tuple[int, int, int], ...] = (
    (16, 34, 170),
    (64, 114, 114),
    (256, 197, 61),
    (1024, 285, 20),
    (4096, 384, 6),
    (16384, 485, 1),
)


@final
@dataclass(frozen=True)
class DrawRule:
    """Vector i is row i of the seeded generator, cut to the width."""

    seed: int
    width: int

    def words(self, indices: Indices) -> UInt8Array:
        """The words of these indices."""
        return unpack_words(random_words(self.seed, indices, -(-self.width // 64)), self.width)


def paper_width(count: int, max_inner: Fraction = QUARTER) -> int:
    """The width BHBK24 Lemma 2 gives, (8/γ²) ln 2N rounded up; a size to compare with, not a claim.

    >>> paper_width(16), paper_width(16384)
    (444, 1331)
    """
    return ceil(8 / max_inner**2 * log(2 * count))


@final
class RandomDraw(CodeFamily):
    """Seeded random signs."""

    name = "random-draw"
    title = "independent random signs, as in the paper's proof"

    def proposals(self, count: int, max_inner: Fraction, two_sided: bool) -> Iterable[Proposal]:
        """The recorded draws, and the width of Hoeffding's bound with a few seeds."""
        if count > LARGEST_COUNT:
            return
        for recorded, width, seed in FOUND:
            if recorded >= count and max_inner >= QUARTER:
                yield Proposal(self.name, width, {"seed": seed, "width": width})
        # N²/2 pairs at 2 exp(−kγ²/2) each add up to a chance of 1/4 to fail at this width.
        safe = ceil(4 / max_inner**2 * log(2 * count))
        if safe <= LARGEST_WIDTH:
            yield Proposal(self.name, safe, {"seed": 0, "width": safe})

    def build(self, count: int, parameters: Parameters) -> SignCode:
        """The first ``count`` vectors of the seed, all pairs compared."""
        if count > LARGEST_COUNT:
            raise SeparatrixError(f"{count} random vectors have too many pairs; stay at or below {LARGEST_COUNT}")
        width = integer(parameters, "width", 1, LARGEST_WIDTH)
        rule = DrawRule(integer(parameters, "seed", 0, (1 << 32) - 1), width)
        distances = pairwise_distances(rule.words(np.arange(count)))
        return SignCode(self.name, count, width, parameters, distances, rule)


FAMILY = RandomDraw()
