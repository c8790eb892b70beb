"""From scores to attention weights: softmax and what may be in its place, the same for every kind of unit.

* ``softmax`` divides exponentials of the scores by their sum (BHBK24 Appendix D: maximum subtracted);
* ``hard`` shares the weight 1 among the keys of the largest score, ``leftmost`` gives it to the first of them;
* ``linear`` weighs by the scores themselves;
* ``relu`` divides the positive parts of the scores by their sum, and gives no weight where no score is positive.
"""

from collections.abc import Callable
from typing import Literal, Protocol, TypeAlias, get_args

import numpy
from numpy.typing import NDArray

from separatrix.arithmetic import Arithmetic, FixedPoint, RawArray
from separatrix.errors import SeparatrixError
from separatrix.networks.exact import ExactMatrix, Integers

Scoring: TypeAlias = Literal["softmax", "hard", "leftmost", "linear", "relu"]
SCORINGS: tuple[Scoring, ...] = get_args(Scoring)
LARGEST_SCORES = 1 << 22
"""Scores held at a time; queries are taken in chunks so that no more are needed."""
LARGEST_SUM = 1 << 62


class Scored(Protocol):
    """A head that says how it turns scores into weights."""

    @property
    def scoring(self) -> Scoring:
        """One of ``SCORINGS``."""
        ...


def averaged(
    weigh: Callable[[Integers], RawArray],
    values: RawArray,
    output: ExactMatrix,
    queries: Integers,
    chunk: int | None,
    arithmetic: Arithmetic,
    observe: Callable[[RawArray], None] | None,
) -> RawArray:
    """Return what a unit writes for some positions (batch, queries, d), a chunk of queries at a time.

    ``weigh`` gives the weights (batch, queries, entries) of a chunk, ``values`` are those of all entries (batch,
    entries, v); ``observe`` is called with the weights as they are made. Without a ``chunk`` so many queries are taken
    that their scores stay below ``LARGEST_SCORES``.
    """
    size = chunk or max(1, LARGEST_SCORES // max(1, values.shape[0] * values.shape[1]))
    pieces: list[RawArray] = []
    for start in range(0, len(queries), size):
        weights = weigh(queries[start : start + size])
        if observe is not None:
            observe(weights)
        pieces.append(arithmetic.matmul(arithmetic.matmul(weights, values), output.encoded(arithmetic).T))
    return numpy.concatenate(pieces, axis=1)


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


def group_weights(head: Scored, scores: Integers, counts: Integers, arithmetic: FixedPoint) -> Integers:
    """Return the weight of one key of each group: (…, groups), for groups of ``counts`` keys of one score each.

    The same as ``weights_of`` gives to rows in which every score appears ``counts`` times. A row without keys and a
    group without any get 0. Leftmost attention depends on the order of the keys unless there is only one best key.
    """
    there, one = counts > 0, arithmetic.largest
    scores = numpy.broadcast_to(scores, counts.shape)
    if head.scoring == "linear":
        return numpy.where(there, scores, 0)
    if head.scoring == "relu":
        shares = numpy.where(there, numpy.maximum(scores, 0), 0)
    else:
        behind = numpy.where(there, scores, -(one**2))
        behind = arithmetic.subtract(behind, behind.max(axis=-1, keepdims=True))
        powers = arithmetic.exp(behind) if head.scoring == "softmax" else (behind == 0) * one
        shares = numpy.where(there, powers, 0)
    if int(shares.max(initial=0)) * int(counts.sum(axis=-1).max(initial=0)) >= LARGEST_SUM:
        raise SeparatrixError(f"the sums of {head.scoring} attention exceed 62 bits; choose a smaller Kc")
    total = (shares * counts).sum(axis=-1, keepdims=True)
    if head.scoring == "leftmost" and int(total.max(initial=0)) > one:
        raise SeparatrixError("several keys share the best score; leftmost attention depends on their order")
    if head.scoring != "softmax":
        # The sum of powers keeps its further bits (Appendix D), any other sum is cut off at the end of the range.
        total = numpy.minimum(total, one**2)
    return arithmetic.divide(shares, numpy.where(total == 0, 1, total))


def group_average(
    head: Scored, scores: Integers, counts: Integers, values: Integers, arithmetic: FixedPoint
) -> Integers | None:
    """Return what rows average (…, v) whose keys fall into groups of ``counts`` (…, groups) keys of one score and one
    value.

    ``values`` are (groups, v). The same, bit for bit, as ``weights_of`` and a matrix product give; None where that
    needs more than 64 bits, where the order of the keys matters, or where softmax is rounded otherwise.
    """
    most = int(counts.sum(axis=-1).max(initial=0))
    largest = max(arithmetic.largest, int(numpy.abs(scores).max(initial=0)))
    narrow = arithmetic.dtype == numpy.int64 and largest * most < LARGEST_SUM
    if not narrow or head.scoring == "leftmost" or arithmetic.softmax_rule != "appendix-d":
        return None
    products = arithmetic.multiply(group_weights(head, scores, counts, arithmetic)[..., None], values)
    if int(numpy.abs(products).max(initial=0)) * most >= LARGEST_SUM:
        return None
    return (counts[..., None] * products).sum(axis=-2).clip(-(arithmetic.largest**2), arithmetic.largest**2)
