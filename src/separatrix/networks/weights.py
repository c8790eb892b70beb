"""From scores to attention weights: softmax and what may stand in its place, the same for every kind of unit.

* ``softmax`` divides exponentials of the scores by their sum (BHBK24 Appendix D: maximum subtracted);
* ``hard`` shares the weight 1 among the keys of the largest score, ``leftmost`` gives it to the first of them;
* ``linear`` weighs by the scores themselves;
* ``relu`` divides the positive parts of the scores by their sum, and gives no weight where no score is positive.
"""

from typing import Literal, Protocol, TypeAlias, get_args

import numpy
from numpy.typing import NDArray

from separatrix.arithmetic import Arithmetic, RawArray

Scoring: TypeAlias = Literal["softmax", "hard", "leftmost", "linear", "relu"]
SCORINGS: tuple[Scoring, ...] = get_args(Scoring)
LARGEST_SCORES = 1 << 22
"""Scores held at a time; queries are taken in chunks so that no more are needed."""


class Scored(Protocol):
    """A head that says how it turns scores into weights."""

    @property
    def scoring(self) -> Scoring:
        """One of ``SCORINGS``."""
        ...


def weights_of(head: Scored, scores: RawArray, allowed: NDArray[numpy.bool_], arithmetic: Arithmetic) -> RawArray:
    """Attention weights (batch, queries, keys); a query that may see no key gives all keys weight 0."""
    allowed = numpy.broadcast_to(allowed, scores.shape)
    seeing = allowed.any(axis=-1, keepdims=True)
    if head.scoring == "linear":
        return numpy.where(allowed, scores, arithmetic.zeros(scores.shape))
    if head.scoring == "relu":
        positive = numpy.where(allowed, arithmetic.relu(scores), arithmetic.zeros(scores.shape))
        total = arithmetic.sum(positive, axis=-1, keepdims=True)
        nothing = arithmetic.equal(total, arithmetic.zeros(total.shape))
        # Where no score is positive 0 is divided by 1.
        return arithmetic.divide(positive, numpy.where(nothing, arithmetic.constant(1, total.shape), total))
    # Rows without a visible key would have no maximum: let them see everything and blank them afterwards.
    visible = allowed | ~seeing
    if head.scoring == "softmax":
        weights = arithmetic.softmax(scores, where=visible)
    else:
        lowest = arithmetic.negate(arithmetic.max(arithmetic.maximum(scores, arithmetic.negate(scores)), keepdims=True))
        shown = numpy.where(visible, scores, numpy.broadcast_to(lowest, scores.shape))
        best = arithmetic.equal(shown, arithmetic.max(shown, axis=-1, keepdims=True)) & visible
        if head.scoring == "leftmost":
            best &= best.cumsum(axis=-1) == 1
        ones = numpy.where(best, arithmetic.constant(1, scores.shape), arithmetic.zeros(scores.shape))
        weights = arithmetic.divide(ones, arithmetic.sum(ones, axis=-1, keepdims=True))
    return numpy.where(seeing, weights, arithmetic.zeros(scores.shape))
