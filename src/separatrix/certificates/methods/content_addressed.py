"""Content-addressed attention: all inputs at once, for networks that find a point by what it holds.

It covers BHBK24 Theorem 7 and its corollaries (MQAR, associative recall). How the two layers are followed is stated in
``_recalling``; the bounds of the first layer's weights are derived in ``_content_scores``, and the second layer's
weights are known exactly, for each pair and each query position.

Everything is integers: the raw numbers of the fixed point of BHBK24 B.2. For points given by coordinates the bound on
the first layer is an inequality in exact rational numbers over all points that keep the promise (unit norm and margin);
it speaks about every such input and walks through none.
"""

from collections.abc import Iterator

import numpy

from separatrix.arithmetic import distinct
from separatrix.certificates.methods._boxes import Box, weighted
from separatrix.certificates.methods._content_scores import matched
from separatrix.certificates.methods._numbers import Raw, fixed_point
from separatrix.certificates.methods._recalling import Fetched, Matched, Recalling
from separatrix.certificates.verdict import Claim, Method
from separatrix.networks import Network, group_weights, key_groups


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

    def fetched(self, stream: Raw, rows: Raw, reach: Box) -> Iterator[Fetched]:
        """Exact weights: those of the evaluation, bit for bit. Keys of one score and one range of values are alike."""
        cells, head, arithmetic = self.cells, self.fetch, self.arithmetic
        asked, pairs = numpy.array(self.recall.queries), numpy.arange(len(stream))
        ranges, kinds = distinct(numpy.concatenate([reach.low, reach.high], axis=1))
        scores = arithmetic.matmul(cells.projected(head.query, stream), cells.projected(head.key, rows).T)
        groups = key_groups(cells.inside(scores, "a score of the second layer"), kinds)
        own, (low, high) = groups.group[pairs, 2 * pairs + 1], numpy.split(ranges[groups.kind], 2, axis=1)
        for some, counts in groups.prefixes(head, asked):
            query, pair = numpy.nonzero(pairs < self.recall.pairs_before(asked[some, None]))
            counts, here = counts[pair, query], (numpy.arange(len(pair)), own[pair])
            weights = group_weights(head, groups.score[pair], counts, arithmetic)
            weighted(weights, ranges, len(rows), arithmetic, "layer 2")
            counts[here] -= 1
            up, down = counts * numpy.maximum(weights, 0), counts * numpy.minimum(weights, 0)
            yield asked[some][query], pair, weights[here], Box(up @ low + down @ high, up @ high + down @ low)


METHOD = ContentAddressed()
