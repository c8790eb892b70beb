"""Content-addressed attention: all inputs at once, for networks that find a point by what it holds.

It covers BHBK24 Theorem 7 and its corollaries (MQAR, associative recall). How the two layers are followed is told in
``_recalling``; the bounds of the first layer's weights are derived in ``_content_scores``, and the second layer's
weights are known exactly, for each pair and each query position.

Everything is integers: the raw numbers of the fixed point of BHBK24 B.2. For points given by coordinates the bound on
the first layer is an inequality in exact rational numbers over all points that keep the promise (unit norm and margin);
it speaks about every such input and walks through none.
"""

from collections.abc import Iterator

import numpy

from separatrix.certificates.methods._boxes import Box
from separatrix.certificates.methods._content_scores import matched
from separatrix.certificates.methods._numbers import Raw, fixed_point
from separatrix.certificates.methods._recalling import Matched, Recalling
from separatrix.certificates.verdict import Claim, Method
from separatrix.networks import Network
from separatrix.networks.evaluate import mask_of, weights_of
from separatrix.progress import tracked


class ContentAddressed(Method):
    """Two attention layers of one head each: by content, then by the address found."""

    name = "content-addressed"
    order = 20

    def prove(self, network: Network, claim: Claim) -> str:
        """Examine the network on all inputs at once."""
        return FixedRecalling(network, claim, fixed_point(claim)).run()


class FixedRecalling(Recalling):
    """The weights of the fixed point."""

    def matched(self) -> Matched:
        """Bounds from the table of scores, or from the promised margin."""
        return matched(self.cells, self.recall, self.seek)

    def fetched(self, stream: Raw, rows: Raw, reach: Box) -> Iterator[tuple[int, Raw, Box]]:
        """Exact weights: those of the evaluation, bit for bit."""
        cells, head, arithmetic = self.cells, self.fetch, self.arithmetic
        keys, queries = cells.projected(head.key, rows), cells.projected(head.query, stream)
        scores = cells.inside(arithmetic.matmul(queries, keys.T), "a score of the second layer")
        for query in tracked(self.recall.queries, "query positions of layer 2"):
            pairs = numpy.arange(self.recall.pairs_before(query))
            weights = weights_of(head, scores[None, pairs], mask_of(head, numpy.array([query]), len(rows)), arithmetic)[
                0
            ]
            there = weights[pairs, 2 * pairs + 1]
            weights[pairs, 2 * pairs + 1] = 0
            up, down = numpy.maximum(weights, 0), numpy.minimum(weights, 0)
            yield query, there, Box(up @ reach.low + down @ reach.high, up @ reach.high + down @ reach.low)


METHOD = ContentAddressed()
