"""Real numbers on a grid: how methods for fixed point prove claims about the reals.

After a softmax over the reals only bounds of its weights are known (``arithmetic.real_softmax``), and what follows are
feed-forwards with whole-number weights, on intervals. Bounds are rounded outwards to multiples of 1/(n · 2^k) for the
number n of positions, a grid on which the weights 1/n of uniform attention lie, and on which sums and whole multiples
are exact. The *carrier* is that grid as a fixed point that refuses, in every operation, whatever a fixed point would
round or cut off. So what the methods prove on the carrier holds over the reals.
"""

from dataclasses import dataclass
from typing import Any

import numpy

from separatrix.arithmetic import (
    Axis,
    Balls,
    BooleanArray,
    FixedPoint,
    Products,
    RawArray,
    Values,
    exact_ratios,
    magnitude,
    value_array,
)
from separatrix.certificates.methods._numbers import whole
from separatrix.certificates.verdict import Claim, OtherClaimError, UnsupportedError
from separatrix.networks import Network, TableRows

FINEST = 1 << 30
MOST_PRODUCTS = 1 << 22
"""Products of a matrix product that are bounded one by one where the largest of each side do not bound them."""


@dataclass(frozen=True)
class Carrier(FixedPoint):
    """A fixed point in which nothing is rounded and nothing is cut off: it refuses instead."""

    def _inside(self, numbers: Any) -> RawArray:
        """The numbers, if the range holds them."""
        if magnitude(numpy.asarray(numbers)) > self.largest**2:
            raise UnsupportedError(f"a number leaves the range ±{self.largest} in which the method follows the reals")
        return self._raw(numbers)

    def _exactly(self, numerators: Any, denominators: Any) -> RawArray:
        """The whole quotients, if they are whole."""
        if numpy.any(numerators % denominators):
            raise UnsupportedError(f"a number is not a multiple of 1/{self.largest}, the grid of the reals")
        return self._inside(numerators // denominators)

    def encode(self, values: Values) -> RawArray:
        """The values themselves."""
        numerators, denominators = exact_ratios(value_array(values))
        return self._exactly(numerators * self.largest, denominators)

    def encode_ratios(self, numerators: RawArray, denominator: int) -> RawArray | None:
        """The ratios themselves."""
        return self._exactly(numerators.astype(object) * self.largest, denominator)

    def add(self, left: RawArray, right: RawArray) -> RawArray:
        """The sum itself."""
        return self._inside(numpy.add(left, right))

    def multiply(self, left: RawArray, right: RawArray) -> RawArray:
        """The product itself."""
        return self._exactly(left.astype(object) * right.astype(object), self.largest)

    def divide(self, left: RawArray, right: RawArray) -> RawArray:
        """The quotient itself."""
        return self._exactly(left.astype(object) * self.largest, right.astype(object))

    def matmul(self, left: RawArray, right: RawArray, *, products: Products = "rounded") -> RawArray:
        """The product itself: one side is whole numbers, and no sum of some products leaves the range."""
        if not any(not (side % self.largest).any() for side in (left, right)):
            raise UnsupportedError("a product of numbers that are not whole is not exact on the method's grid")
        reach = magnitude(left) * magnitude(right) * left.shape[-1]
        if reach > self.largest**3:
            if left.size * right.shape[-1] > MOST_PRODUCTS:
                raise UnsupportedError(
                    f"products may leave the range ±{self.largest} in which the method follows the reals"
                )
            reach = magnitude(numpy.matmul(abs(left).astype(object), abs(right).astype(object)))
        if reach > self.largest**3:
            raise UnsupportedError(f"a product leaves the range ±{self.largest} in which the method follows the reals")
        return super().matmul(left, right, products=products)

    def sum(self, array: RawArray, axis: Axis = None, *, keepdims: bool = False) -> RawArray:
        """The sum itself."""
        return self._inside(numpy.sum(array.astype(object), axis=axis, keepdims=keepdims))

    def exp(self, array: RawArray) -> RawArray:
        """Only of 0: every other exponential is irrational."""
        if array.any():
            raise UnsupportedError("exponentials are not on the grid on which the method follows the reals")
        return self.constant(1, array.shape)

    def softmax(self, array: RawArray, axis: int = -1, *, where: BooleanArray | None = None) -> RawArray:
        """Equal weights of equal scores that all take part."""
        if where is not None and not numpy.all(where):
            raise UnsupportedError("a softmax that leaves out entries is not followed over the reals")
        powers = self.exp(self.subtract(array, self.max(array, axis=axis, keepdims=True)))
        return self.divide(powers, self.sum(powers, axis=axis, keepdims=True))


def carrier(network: Network, claim: Claim) -> Carrier:
    """The finest grid that 64 bits can carry; embedding and readout must lie on it."""
    if not isinstance(claim.arithmetic, Balls):
        raise OtherClaimError(f"{claim.arithmetic} is not ball arithmetic; the method speaks about the real numbers")
    arithmetic = Carrier(network.positions << max(1, (FINEST // network.positions).bit_length() - 1), 1)
    tables = [part.rule.table for part in network.embedding if isinstance(part.rule, TableRows)]
    for matrix in (*tables, network.readout.bias):
        whole(matrix, "an embedding or the bias of the readout", arithmetic.largest)
    whole(network.readout.matrix, "the readout")
    return arithmetic
