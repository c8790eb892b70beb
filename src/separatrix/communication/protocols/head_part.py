"""One head's sums over the keys of one party, rounded exactly where a direct evaluation rounds them.

``FixedPoint.softmax`` subtracts the maximum (saturating), rounds each exponential, adds them exactly, and rounds each
quotient; ``FixedPoint.matmul`` rounds and saturates each product (or none of them), adds exactly, and saturates (or
rounds and saturates) the sum once. Maxima and exact sums split over the two parties; everything rounded is rounded by
the party that holds the key, or after the two sums have been added. So nothing is lost by splitting.
"""

from functools import cached_property

import numpy
from numpy.typing import NDArray

from separatrix.arithmetic import WORD, FixedPoint, RawArray, divide_rounding, magnitude, matmul_of_python_ints
from separatrix.communication.protocols.exact_products import rounded_to_grid
from separatrix.communication.protocols.plan import Plan
from separatrix.errors import SeparatrixError
from separatrix.networks import Head, Integers, mask_of


class HeadPart:
    """One head, the query (1, m), and one party's rows of the stream (own, d) at its positions (own,)."""

    def __init__(self, plan: Plan, head: Head, query: RawArray, stream: RawArray, positions: Integers) -> None:
        numbers = plan.numbers
        self.head = head
        self._arithmetic: FixedPoint = plan.arithmetic
        self._exact = plan.products == "exact"
        keys = numbers.matmul(stream, head.key.encoded(numbers).T)
        self._rows = numbers.matmul(stream, head.value.encoded(numbers).T)
        self._scores = numbers.matmul(query, keys.T)[0]
        visible = mask_of(head, numpy.array([plan.position]), plan.network.positions)[0]
        self._visible: NDArray[numpy.bool_] = visible[positions]
        self._blank = not visible.any()
        self._largest = self._total = 0

    @property
    def largest(self) -> int:
        """The largest visible score; the smallest number if there is none."""
        scale = self._arithmetic.largest
        return max((int(score) for score in self._scores[self._visible].tolist()), default=-scale * scale)

    def learn_largest(self, other: int) -> None:
        """Take in the other side's largest score."""
        self._largest = max(self.largest, other)

    @cached_property
    def _powers(self) -> RawArray:
        """exp(A - M) of every key, rounded; for hard attention 1 where A = M. Hidden keys have 0."""
        arithmetic, scores = self._arithmetic, self._scores
        most = numpy.array([self._largest], dtype=arithmetic.dtype)
        if self.head.scoring == "hard":
            powers = numpy.where(arithmetic.equal(scores, most), arithmetic.constant(1), arithmetic.zeros(()))
        else:
            powers = arithmetic.exp(arithmetic.subtract(scores, most))
        return numpy.where(self._visible, powers, arithmetic.zeros(()))

    @property
    def total(self) -> int:
        """Z_A or Z_B, exactly."""
        return sum(self._powers.tolist())

    def learn_total(self, other: int) -> None:
        """Take in the other side's sum."""
        self._total = self.total + other

    @property
    def _weights(self) -> RawArray:
        arithmetic, scale = self._arithmetic, self._arithmetic.largest
        if self.head.scoring == "linear":
            return numpy.where(self._visible, self._scores, arithmetic.zeros(()))
        if self._blank:
            # No key is visible at all, which both sides know: a direct evaluation gives every key weight 0.
            return arithmetic.zeros(self._scores.shape)
        if self._total < 1:
            raise SeparatrixError("the sums of exponentials add up to 0, which cannot be; a message was damaged")
        if self.head.scoring == "hard":
            # The number of largest scores is a number of the arithmetic here and saturates like one.
            total = numpy.array([min(self._total, scale * scale)], dtype=arithmetic.dtype)
            return arithmetic.divide(self._powers, total)
        return numpy.asarray(
            divide_rounding(self._powers * scale, self._total, arithmetic.rounding), dtype=arithmetic.dtype
        )

    @cached_property
    def values(self) -> list[int]:
        """U_A or U_B, exactly: whole numbers of steps with rounded products, of steps² with exact ones."""
        weights = self._weights
        if self._exact:
            exact = matmul_of_python_ints(weights[None].astype(object), self._rows.astype(object))
            return [int(each) for each in exact[0].tolist()]
        products = self._arithmetic.multiply(weights[:, None], self._rows)
        if products.dtype != object and magnitude(products) * max(1, len(products)) >= WORD:
            products = products.astype(object)
        return [int(each) for each in products.sum(axis=0).tolist()]

    def averaged(self, other: list[int]) -> RawArray:
        """softmax(A) V of all keys, (v,), from both sides' sums."""
        sums = [mine + theirs for mine, theirs in zip(self.values, other, strict=True)]
        if self._exact:
            return rounded_to_grid(sums, self._arithmetic)
        limit = self._arithmetic.largest**2
        return numpy.array([max(-limit, min(limit, each)) for each in sums], dtype=self._arithmetic.dtype)
