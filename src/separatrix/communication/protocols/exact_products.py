"""Fixed point with the other reading of BHBK24 B.2: matrix products add exact products and round once.

Appendix D says that U_A and U_B, sums of weights times values, are kept at 2p bits and that their sum is rounded to p
bits. That is the reading in which products inside a matrix product are not rounded one by one. ``evaluate`` leaves
rounding to its arithmetic, so that a network evaluated in :class:`ExactProducts` is what the protocol must agree with
when it sends exact sums. Everything but the matrix product is :class:`FixedPoint`'s.
"""

from dataclasses import dataclass
from typing import Any, final

import numpy
import numpy.typing

from separatrix.arithmetic import (
    Arithmetic,
    Axis,
    BooleanArray,
    FixedPoint,
    Products,
    RawArray,
    Values,
    divide_rounding,
    saturate,
)


@final
@dataclass(frozen=True)
class ExactProducts(Arithmetic):
    """A fixed point whose matrix products are rounded once per entry."""

    fixed: FixedPoint

    @property
    def name(self) -> str:
        """The fixed point's name with the reading of products; for records, not for ``arithmetic_named``."""
        return f"{self.fixed.name},exact products"

    @property
    def precision_bits(self) -> int:
        """See :class:`Arithmetic`."""
        return self.fixed.precision_bits

    @property
    def exact(self) -> bool:
        """See :class:`Arithmetic`."""
        return self.fixed.exact

    @property
    def rigorous(self) -> bool:
        """See :class:`Arithmetic`."""
        return self.fixed.rigorous

    @property
    def description(self) -> str:
        """See :class:`Arithmetic`."""
        return f"{self.fixed.description}, matrix products rounded once per entry"

    def matmul(self, left: RawArray, right: RawArray, *, products: Products = "exact") -> RawArray:
        """Multiply matrices with exact products, whatever ``products`` says."""
        del products
        return self.fixed.matmul(left, right, products="exact")

    def encode(self, values: Values) -> RawArray:
        """See :class:`Arithmetic`."""
        return self.fixed.encode(values)

    def decode(self, array: RawArray) -> RawArray:
        """See :class:`Arithmetic`."""
        return self.fixed.decode(array)

    def to_float64(self, array: RawArray) -> numpy.typing.NDArray[numpy.float64]:
        """See :class:`Arithmetic`."""
        return self.fixed.to_float64(array)

    def add(self, left: RawArray, right: RawArray) -> RawArray:
        """See :class:`Arithmetic`."""
        return self.fixed.add(left, right)

    def negate(self, array: RawArray) -> RawArray:
        """See :class:`Arithmetic`."""
        return self.fixed.negate(array)

    def multiply(self, left: RawArray, right: RawArray) -> RawArray:
        """See :class:`Arithmetic`."""
        return self.fixed.multiply(left, right)

    def divide(self, left: RawArray, right: RawArray) -> RawArray:
        """See :class:`Arithmetic`."""
        return self.fixed.divide(left, right)

    def sum(self, array: RawArray, axis: Axis = None, *, keepdims: bool = False) -> RawArray:
        """See :class:`Arithmetic`."""
        return self.fixed.sum(array, axis, keepdims=keepdims)

    def maximum(self, left: RawArray, right: RawArray) -> RawArray:
        """See :class:`Arithmetic`."""
        return self.fixed.maximum(left, right)

    def max(self, array: RawArray, axis: Axis = None, *, keepdims: bool = False) -> RawArray:
        """See :class:`Arithmetic`."""
        return self.fixed.max(array, axis, keepdims=keepdims)

    def exp(self, array: RawArray) -> RawArray:
        """See :class:`Arithmetic`."""
        return self.fixed.exp(array)

    def softmax(self, array: RawArray, axis: int = -1, *, where: BooleanArray | None = None) -> RawArray:
        """See :class:`Arithmetic`."""
        return self.fixed.softmax(array, axis, where=where)

    def less(self, left: RawArray, right: RawArray) -> BooleanArray:
        """See :class:`Arithmetic`."""
        return self.fixed.less(left, right)

    def less_equal(self, left: RawArray, right: RawArray) -> BooleanArray:
        """See :class:`Arithmetic`."""
        return self.fixed.less_equal(left, right)

    def equal(self, left: RawArray, right: RawArray) -> BooleanArray:
        """See :class:`Arithmetic`."""
        return self.fixed.equal(left, right)


def reading_of(arithmetic: FixedPoint, products: Products) -> FixedPoint | ExactProducts:
    """Return the arithmetic in which a network is evaluated under one of the two readings of products.

    >>> str(reading_of(FixedPoint(10, 1), "exact"))
    'fixed:N=10,Kc=1,down,exact products'
    """
    return arithmetic if products == "rounded" else ExactProducts(arithmetic)


def rounded_to_grid(exact: list[int], arithmetic: FixedPoint) -> RawArray:
    """Sums of exact products, in units of step², rounded and saturated once each: (count,) raw numbers."""
    numbers: numpy.typing.NDArray[Any] = numpy.array(exact, dtype=object)
    scale = arithmetic.largest
    rounded = saturate(divide_rounding(numbers, scale, arithmetic.rounding), scale * scale)
    return numpy.array(rounded.tolist(), dtype=arithmetic.dtype)
