"""Content-addressed attention over the real numbers: BHBK24 Theorem 7 for all real points that keep the promise.

The two layers are followed on a carrier (``_recalling``, ``_carrier``), with weights over the reals. In the first layer
the right point is ahead of every other point by at least g and of every label by at least g', so that its weight is at
least 1/(1 + R) with R = n e^-g + n' e^-g' over n points and n' labels. For symbols g and g' are the smallest
differences in an exact table of scores. For points of norm at most ρ whose best product leads by γ, with a score of
λ⟨x, x'⟩ between points and κ less at labels,

    g = λγ     and     g' = κ - λρ²     (Cauchy-Schwarz),

which is an inequality about every real input, not about those of some grid. In the second layer scores are exact
fractions, and all weights together are exactly 1.
"""

from collections.abc import Iterator
from fractions import Fraction
from math import floor

import numpy

from separatrix.arithmetic import STEPS, least_weight, sum_of_powers
from separatrix.certificates.meanings.recalls import SymbolContents
from separatrix.certificates.methods._boxes import Box
from separatrix.certificates.methods._carrier import carrier
from separatrix.certificates.methods._cells import compared
from separatrix.certificates.methods._numbers import Raw, whole
from separatrix.certificates.methods._recalling import Fetched, Matched, Recalling
from separatrix.certificates.methods._streams import reads
from separatrix.certificates.verdict import Claim, Method, SuspicionError, UnsupportedError
from separatrix.networks import Exact, ExactMatrix, Network, best_weight, mask_of, product
from separatrix.progress import tracked


class RealContentAddressed(Method):
    """Two attention layers of one head each, over the reals."""

    name = "content-addressed-reals"
    order = 22

    def prove(self, network: Network, claim: Claim) -> str:
        """Examine the network on all inputs at once."""
        run = RealRecalling(network, claim, carrier(network, claim))
        for head in (run.seek, run.fetch):
            whole(head.value, "a value matrix")
        for part in network.feature_parts:
            if part.slot not in run.cells.unknown:
                whole(part.matrix, f"the embedding of slot {part.slot!r}", run.arithmetic.largest)
        covered, parameters = run.run(), claim.task.parameters()
        if parameters.get("points") != "sphere":
            return covered
        norm = f"1 + 2^-20·√{parameters['dimension']}"
        return f"all real points of norm at most {norm}, unit vectors among them, with margin {parameters['margin']}"


class RealRecalling(Recalling):
    """The weights of the reals."""

    def scores(self, query: ExactMatrix, asking: Raw, key: ExactMatrix, asked: Raw) -> Exact:
        """The exact scores of rows of the stream at rows of it."""
        one = self.arithmetic.largest
        queries, keys = (
            product(Exact(rows, one), Exact(matrix.numerators.T, matrix.denominator)).reduced()
            for matrix, rows in ((query, asking), (key, asked))
        )
        return product(queries, Exact(keys.numerators.T, keys.denominator))

    def matched(self) -> Matched:
        """The two gaps, and the weight that they leave to the right point."""
        cells, head, last, contents = self.cells, self.seek, self.recall.queries[-1], self.recall.contents
        if reads(self.network, head.query, head.key) & cells.by_position or head.scoring not in ("softmax", "hard"):
            raise UnsupportedError("the method covers scores by content, and softmax or hard attention")
        if head.mask != "strict":
            raise SuspicionError("a query sees itself, and nothing is more like it", query=last)
        tables = [self.scores(head.query, cells.points, head.key, rows) for rows in (cells.points, cells.labels)]
        own = numpy.diagonal(tables[0].numerators)[:, None]
        behind = [own - table.numerators for table in tables]
        gap, to_labels = Fraction(0), Fraction(int(behind[1].min()), tables[1].denominator)
        if isinstance(contents, SymbolContents):
            others = behind[0][~numpy.eye(len(own), dtype=bool)]
            gap = Fraction(int(others.min(initial=tables[0].denominator << 10)), tables[0].denominator)
        else:
            unit, *factors = compared(cells, head, contents.dimension)
            scale = unit * unit * factors[0] * factors[1]
            gap, to_labels = scale * contents.ahead, to_labels - scale * contents.norm**2
        if min(gap, to_labels) <= 0:
            raise SuspicionError("the right point is not ahead of all others", query=last)
        seen = mask_of(head, numpy.array([last]), self.network.positions)[0]
        gaps = numpy.array([[floor(gap * STEPS)], [floor(to_labels * STEPS)]], dtype=object)
        powers = sum_of_powers(gaps, STEPS) if head.scoring == "softmax" else numpy.zeros(2, dtype=numpy.int64)
        counts = int(seen[~cells.is_label].sum()) - 1, int(seen[cells.is_label].sum())
        rest = counts[0] * int(powers[0]) + counts[1] * int(powers[1])
        weight = int(least_weight(numpy.array([rest]), self.arithmetic.largest)[0])
        return Matched(weight, self.arithmetic.largest - weight, last)

    def fetched(self, stream: Raw, rows: Raw, reach: Box) -> Iterator[Fetched]:
        """The least weights of the labels asked for; all else is noise on any value."""
        if self.fetch.scoring not in ("softmax", "hard"):
            raise UnsupportedError("the method covers softmax or hard attention")
        scores = self.scores(self.fetch.query, stream, self.fetch.key, rows)
        for query in tracked(self.recall.queries, "query positions of layer 2"):
            count = int(self.recall.pairs_before(numpy.array(query)))
            seen = numpy.nonzero(mask_of(self.fetch, numpy.array([query]), len(rows))[0])[0]
            asked = Exact(scores.numerators[:count, seen], scores.denominator)
            best, weight = best_weight(asked, self.fetch.scoring, self.arithmetic.largest)
            for wrong in numpy.nonzero(seen[best] != 2 * numpy.arange(count) + 1)[0].tolist():
                raise SuspicionError(f"the label of pair {wrong + 1} is not the best", query=query, pair=wrong)
            noise = (self.arithmetic.largest - weight)[:, None]
            rest = Box(noise * reach.low[seen].min(axis=0), noise * reach.high[seen].max(axis=0))
            yield numpy.full(count, query), numpy.arange(count), weight, rest


METHOD = RealContentAddressed()
