"""From scores to attention weights: softmax, hard and linear attention, the same for every kind of unit."""

from typing import Literal, Protocol, TypeAlias

import numpy
from numpy.typing import NDArray

from separatrix.arithmetic import Arithmetic, RawArray

Scoring: TypeAlias = Literal["softmax", "hard", "linear"]
LARGEST_SCORES = 1 << 22
"""Scores held at a time; queries are taken in chunks so that no more are needed."""


class Scored(Protocol):
    """A head that says how it turns scores into weights."""

    @property
    def scoring(self) -> Scoring:
        """``softmax``, ``hard`` or ``linear``."""
        ...


def weights_of(head: Scored, scores: RawArray, allowed: NDArray[numpy.bool_], arithmetic: Arithmetic) -> RawArray:
    """Attention weights (batch, queries, keys); a query that may see no key gives all keys weight 0."""
    allowed = numpy.broadcast_to(allowed, scores.shape)
    seeing = allowed.any(axis=-1, keepdims=True)
    if head.scoring == "linear":
        return numpy.where(allowed, scores, arithmetic.zeros(scores.shape))
    # Rows without a visible key would have no maximum: let them see everything and blank them afterwards.
    visible = allowed | ~seeing
    if head.scoring == "softmax":
        weights = arithmetic.softmax(scores, where=visible)
    else:
        lowest = arithmetic.negate(arithmetic.max(arithmetic.maximum(scores, arithmetic.negate(scores)), keepdims=True))
        shown = numpy.where(visible, scores, numpy.broadcast_to(lowest, scores.shape))
        best = arithmetic.equal(shown, arithmetic.max(shown, axis=-1, keepdims=True)) & visible
        ones = numpy.where(best, arithmetic.constant(1, scores.shape), arithmetic.zeros(scores.shape))
        weights = arithmetic.divide(ones, arithmetic.sum(ones, axis=-1, keepdims=True))
    return numpy.where(seeing, weights, arithmetic.zeros(scores.shape))
