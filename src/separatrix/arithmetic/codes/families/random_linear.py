"""Random linear codes: a seed for the generator matrix instead of a seed for every vector.

The vectors of a random linear code are pairwise independent, so the union bound of BHBK24 Lemma 2 applies to N words
instead of N² pairs and the width halves; verification falls from N² pairs to N weights. The recorded seeds are the
narrowest codes among a few thousand draws, each weighed again when built.
"""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import ceil, log
from typing import final

import numpy as np

from separatrix.arithmetic.codes.family import CodeFamily, Proposal, integer
from separatrix.arithmetic.codes.linear import LinearRule
from separatrix.arithmetic.codes.random_bits import random_words
from separatrix.arithmetic.codes.sign_code import QUARTER, Parameters, SignCode
from separatrix.arithmetic.codes.weights import LARGEST_DIMENSION, linear_distances
from separatrix.bit_counts import bits_for

LARGEST_WIDTH = 1 << 14

# Dimension, width, seed at max_inner 1/4, one-sided.
FOUND: tuple[tuple[int, int, int], ...] = (
    (2, 2, 0),
    (3, 4, 3),
    (4, 5, 3),
    (5, 10, 281),
    (6, 21, 64),
    (7, 34, 864),
    (8, 48, 586),
    (9, 66, 347),
    (10, 96, 229),
    (11, 112, 152),
    (12, 136, 37),
    (13, 152, 25),
    (14, 176, 76),
)


def generator_rows(seed: int, dimension: int, width: int) -> tuple[int, ...]:
    """Return rows of a systematic generator: the identity, then random bits."""
    pieces = -(-width // 64)
    words = random_words(seed, np.arange(dimension), pieces)
    rows: Sequence[int] = [sum(int(word) << (64 * place) for place, word in enumerate(row)) for row in words]
    random_part = max(0, width - dimension)
    return tuple((row & ((1 << random_part) - 1)) << dimension | 1 << place for place, row in enumerate(rows))


@final
class RandomLinear(CodeFamily):
    """Seeded random generator matrices."""

    name = "random-linear"
    title = "random linear codes, the best of many seeds"

    def proposals(self, count: int, max_inner: Fraction, two_sided: bool) -> Iterable[Proposal]:
        """Return the recorded seeds, and the width of Hoeffding's bound over N words."""
        needed = bits_for(count)
        if needed > LARGEST_DIMENSION:
            return
        for dimension, width, seed in FOUND:
            if dimension >= needed and max_inner >= QUARTER:
                yield Proposal(self.name, width, {"dimension": dimension, "width": width, "seed": seed})
        safe = max(needed, ceil(2 / max_inner**2 * log(2 << needed)))
        if safe <= LARGEST_WIDTH:
            for seed in range(4):
                yield Proposal(self.name, safe, {"dimension": needed, "width": safe, "seed": seed})

    def build(self, count: int, parameters: Parameters) -> SignCode:
        """Return the first ``count`` messages of the code, all words weighed."""
        needed = bits_for(count)
        dimension = integer(parameters, "dimension", max(1, needed), LARGEST_DIMENSION)
        width = integer(parameters, "width", dimension, LARGEST_WIDTH)
        seed = integer(parameters, "seed", 0, (1 << 32) - 1)
        rule = LinearRule(generator_rows(seed, dimension, width)[:needed], width)
        return SignCode(self.name, count, width, parameters, linear_distances(rule.rows, width), rule)


FAMILY = RandomLinear()
