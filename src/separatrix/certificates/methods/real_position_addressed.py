"""Position-addressed attention over the real numbers: softmax as it is, not as a fixed point rounds it.

It is the method ``position-addressed`` on a carrier (``_carrier``), with another look at the first layer: scores are
exact fractions, and the weight of the best key is at least 1/(1 + R) with R bounded by balls. All weights together are
exactly 1, so what the best key does not surely have lies between the smallest and the largest value of any key.
"""

import numpy

from separatrix.certificates.methods._boxes import Box, feed_forwards, product_range
from separatrix.certificates.methods._carrier import carrier
from separatrix.certificates.methods._counting import counting_head
from separatrix.certificates.methods._focused import Attended, Focused
from separatrix.certificates.methods._numbers import Raw, whole
from separatrix.certificates.methods._streams import columns, live_slots
from separatrix.certificates.methods.position_addressed import examine
from separatrix.certificates.verdict import Claim, Method, UnsupportedError
from separatrix.networks import Attention, Network, best_weight, exact_scores


class RealPositionAddressed(Method):
    """Lookups and counts over the real numbers."""

    name = "position-addressed-reals"
    order = 12

    def prove(self, network: Network, claim: Claim) -> str:
        """Examine the network on all inputs at once."""
        arithmetic = carrier(network, claim)
        covered = examine(network, claim, arithmetic, RealFocused)
        for place in [place for place, layer in enumerate(network.layers) if isinstance(layer, Attention) and place]:
            # Nothing that follows the counting layer is cut off or rounded, whatever average of zeros and ones it has.
            output, one = counting_head(network, place).output, numpy.array([[arithmetic.largest]])
            live = columns(network, live_slots(network, place + 1))
            box = product_range(whole(output, "the second output")[live], Box(one * 0, one), arithmetic, "the average")
            feed_forwards(network, box, place + 1, len(network.layers), live, arithmetic)
        return covered


class RealFocused(Focused):
    """One head of the first layer, with weights over the reals."""

    def attend(self, positions: Raw, tokens: Raw) -> Attended:
        """Bound what the queries at these positions with these tokens find."""
        if self.head.mask != "none" or self.head.scoring not in ("softmax", "hard"):
            raise UnsupportedError("the method covers softmax and hard attention without a mask")
        whole(self.head.value, f"the value matrix of {self.what}")
        scores, code = exact_scores(self.head, self.network, positions, tokens)
        best, weight = best_weight(scores, self.head.scoring, self.arithmetic.largest)
        focus = best if code is None else numpy.where(best < code.count, code.asked ^ best, best)
        weight, reach = weight.repeat(len(focus) // len(weight)), self.value_ranges()
        noise = (self.arithmetic.largest - weight)[:, None]
        return Attended(focus, weight, Box(noise * reach.low.min(axis=0), noise * reach.high.max(axis=0)))


METHOD = RealPositionAddressed()
