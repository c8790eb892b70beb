"""Position-addressed attention whose addresses fall into blocks: circles, one for each digit of a position.

It is the method ``position-addressed`` with another look at the first layer, for networks that have too many pairs of
positions to score each. Blocks are pairs of neighbouring coordinates, in which queries and keys take few values. So a
score is the sum of one entry of a small table for each block, and the best key of a query is best in every block.

With E(x) = ⌊S e^x⌋ the rounded power, in units of 1/S, of a score that is x behind the best: a key that is x_c behind
in block c has E(Σ x_c) ≤ S Π e^(x_c), which is below one step, and so 0, as soon as E(x_c) = 0 in one block. So the
powers of all keys but the best add up to at most S (Π Z_c - 1), where Z_c sums e^(x_c) < (E(x_c) + 1)/S over the
entries of block c with E(x_c) > 0, and that whichever keys there are. The best key's weight is then at least
W = ⌊S/(Π Z_c)⌋, and since rounding down never adds, all weights together are at most S: the S - W that are not surely
the best key's are taken as noise on any value.
"""

from fractions import Fraction
from math import floor

import numpy

from separatrix.arithmetic import distinct
from separatrix.certificates.methods._boxes import Box, in_range
from separatrix.certificates.methods._focused import Attended, Focused
from separatrix.certificates.methods._numbers import Raw, fixed_point
from separatrix.certificates.methods._streams import projected
from separatrix.certificates.methods.position_addressed import examine
from separatrix.certificates.verdict import Claim, Method, UnsupportedError
from separatrix.networks import Network

LARGEST_TABLE, LARGEST_NAME = 1 << 22, 1 << 62


class BlockAddressed(Method):
    """Lookups and counts over addresses in blocks."""

    name = "block-addressed"
    order = 15

    def prove(self, network: Network, claim: Claim) -> str:
        """Examine the network on all inputs at once."""
        return examine(network, claim, fixed_point(claim), BlockFocused)


class BlockFocused(Focused):
    """One head of the first layer, block by block."""

    def attend(self, positions: Raw, tokens: Raw) -> Attended:
        """Bound what the queries at these positions with these tokens find."""
        place, one, count = numpy.arange(self.network.positions), self.arithmetic.largest, len(positions)
        if (self.head.mask, self.head.scoring, self.arithmetic.rounding) != ("none", "softmax", "down"):
            raise UnsupportedError("the method covers softmax attention without a mask, rounded down")
        queries = projected(self.head.query, self.network, tokens, positions, self.arithmetic)
        keys = projected(self.head.key, self.network, numpy.zeros_like(place), place, self.arithmetic)
        asked, known, names, reach, powers = numpy.zeros_like(positions), numpy.zeros_like(place), 1, 0, Fraction(1)
        for start in range(0, queries.shape[1], 2):
            (ours, which), (theirs, what) = (distinct(side[:, start : start + 2]) for side in (queries, keys))
            if len(ours) * len(theirs) > LARGEST_TABLE or names * len(theirs) > LARGEST_NAME:
                raise UnsupportedError(f"a block of {self.what} has too many values to compare each with each")
            scores = self.arithmetic.matmul(ours, theirs.T)
            powers, reach = powers * self.sum_of_powers(scores), reach + int(numpy.abs(scores).max())
            # Blocks are the digits of a number that names the key.
            asked, known = asked + scores.argmax(axis=1)[which] * names, known + what * names
            names *= len(theirs)
        order = numpy.argsort(known)
        focus = order[numpy.searchsorted(known[order], asked).clip(max=len(known) - 1)]
        if reach >= one**2 or (numpy.diff(known[order]) == 0).any() or (known[focus] != asked).any():
            raise UnsupportedError(f"{self.what} does not have one key for each value that is best in every block")
        weight, values = floor(one / powers), self.value_ranges()
        low, high = (side(axis=0, initial=0) * (one - weight) for side in (values.low.min, values.high.max))
        rest = in_range(Box(low[None], high[None]), self.arithmetic, self.what).plus(numpy.zeros((count, 1), dtype=int))
        return Attended(focus, numpy.full(count, weight), rest)

    def sum_of_powers(self, scores: Raw) -> Fraction:
        """The largest Z of a block, for the scores (queries, keys) of its values."""
        one, behind = self.arithmetic.largest, scores - scores.max(axis=1, keepdims=True)
        # e^-x is below one step from x = 7/10 · bits on, because 2 < e^(7/10); that spares most exponentials.
        powers = self.arithmetic.exp(numpy.maximum(behind, -1 - 7 * one * one.bit_length() // 10))
        # The best one's own power is exactly 1, every other one that is not 0 at most a step above its rounding.
        return Fraction(int(numpy.where(powers > 0, powers + 1, 0).sum(axis=1).max()) - 1, one)


METHOD = BlockAddressed()
