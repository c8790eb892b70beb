"""Fixed point as BHBK24 Appendix B.2 defines it, in integers.

For an input length N and a constant Kc the paper computes with the multiples of Δ = N^−Kc between −N^Kc and
N^Kc. Such a number is kept here as the integer v = value · N^Kc, so |v| ≤ N^(2·Kc), and no float occurs on
the way to any result. Parameters and all intermediate values are rounded, as the paper says.

Where the printed text is wrong, silent or open to two readings:

* There are 2·N^(2·Kc) + 1 such numbers; the paper counts N^(2·Kc). ``precision_bits`` is ⌈log2⌉ of the right
  count.
* "Rounded down" is taken literally, towards −∞ ("z is rounded down to the nearest ẑ"). ``nearest``, ties to
  even, is offered next to it because some of the paper's claims need it: under ``down`` a softmax weight below
  1 becomes at most 1 − Δ and never 1.
* The paper states saturation at the upper end only; here it holds at both ends.
* "All intermediate values" includes each product inside a matrix product (``products="rounded"``). The other
  reading, one rounding per entry of the result, is ``products="exact"``.
* A sum is added up exactly and saturated once at the end. That is what left-to-right addition gives whenever
  no partial sum leaves the range, and it does not depend on the order (Appendix D, footnote 4).
* Softmax follows Appendix D: maximum subtracted, each exponential rounded, their sum Z kept with its log N
  further bits, each quotient rounded.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from separatrix.arithmetic import integers
from separatrix.arithmetic.exact_values import exact_ratios, value_array
from separatrix.arithmetic.exponential import exp_rounded
from separatrix.arithmetic.integers import Grid, divide_rounding, magnitude, saturate
from separatrix.arithmetic.interface import (
    Arithmetic,
    Axis,
    BooleanArray,
    Products,
    RawArray,
    Rounding,
    Values,
    check_integer,
    check_matmul_shapes,
    check_products,
    taking_part,
)
from separatrix.arithmetic.softmax_once import softmax_rounded_once
from separatrix.arithmetic.wide_integers import WORD
from separatrix.bit_counts import bits_for
from separatrix.errors import SeparatrixError

SoftmaxRule: TypeAlias = Literal["appendix-d", "once"]
"""``appendix-d`` rounds each exponential and each quotient; ``once`` rounds the real weight (see softmax_once)."""

MOST_BITS = 4096
"""The largest size of N^Kc in bits: far beyond any model, far below what would never end."""


@dataclass(frozen=True)
class FixedPoint(Arithmetic):
    """Multiples of N^−Kc between ±N^Kc: ``length`` is N, ``exponent`` is Kc."""

    length: int
    exponent: int
    rounding: Rounding = "down"
    softmax_rule: SoftmaxRule = "appendix-d"

    def __post_init__(self) -> None:
        check_integer("length N", self.length, 2)
        check_integer("exponent Kc", self.exponent, 1)
        if self.exponent * self.length.bit_length() > MOST_BITS:
            raise SeparatrixError(
                f"N={self.length} with exponent Kc={self.exponent} needs numbers of more than {MOST_BITS} bits; "
                "choose a smaller Kc"
            )
        if self.rounding not in ("down", "nearest"):
            raise SeparatrixError(f"rounding is {self.rounding!r}; choose 'down' or 'nearest'")
        if self.softmax_rule not in ("appendix-d", "once"):
            raise SeparatrixError(f"softmax_rule is {self.softmax_rule!r}; choose 'appendix-d' or 'once'")

    @property
    def name(self) -> str:
        """See :class:`Arithmetic`."""
        once = ",once" if self.softmax_rule == "once" else ""
        return f"fixed:N={self.length},Kc={self.exponent},{self.rounding}{once}"

    @property
    def description(self) -> str:
        """See :class:`Arithmetic`."""
        return (
            f"fixed point of BHBK24 B.2: multiples of {self.length}^-{self.exponent} "
            f"up to {self.length}^{self.exponent}, rounded {self.rounding}, {self.precision_bits} bits"
        )

    @property
    def exact(self) -> bool:
        """True: integers throughout."""
        return True

    @property
    def rigorous(self) -> bool:
        """True: the result is the one that B.2 defines."""
        return True

    @property
    def precision_bits(self) -> int:
        """The bits that tell the 2·N^(2·Kc) + 1 numbers apart.

        >>> FixedPoint(16, 2).precision_bits  # 131073 numbers
        18
        """
        return bits_for(self.number_count)

    @property
    def number_count(self) -> int:
        """How many numbers there are, 2·N^(2·Kc) + 1."""
        return 2 * self._grid.limit + 1

    @property
    def step(self) -> Fraction:
        """The paper's Δ = N^−Kc."""
        return Fraction(1, self._grid.scale)

    @property
    def largest(self) -> int:
        """The end of the range, N^Kc."""
        return self._grid.scale

    @property
    def dtype(self) -> np.dtype[Any]:
        """int64 while sums of two numbers stay inside it, Python ints beyond."""
        return self._dtype

    @cached_property
    def _dtype(self) -> np.dtype[Any]:
        return np.dtype(np.int64) if self._grid.limit < integers.OPERAND else np.dtype(object)

    @cached_property
    def _grid(self) -> Grid:
        scale = self.length**self.exponent
        return Grid(scale, scale * scale, self.rounding)

    def encode(self, values: Values) -> RawArray:
        """Round values onto the grid and saturate them.

        >>> FixedPoint(10, 1).encode([0.26, -0.26, 1000, Fraction(-1, 3)]).tolist()
        [2, -3, 100, -4]
        """
        array, grid = value_array(values), self._grid
        if array.dtype.kind in "biu" and magnitude(array) * grid.scale < WORD:
            return saturate(self._raw(array.astype(np.int64) * grid.scale), grid.limit)
        numerators, denominators = exact_ratios(array)
        rounded = divide_rounding(numerators * grid.scale, denominators, grid.rounding)
        return self._raw(saturate(rounded, grid.limit))

    def encode_ratios(self, numerators: npt.NDArray[np.int64], denominator: int) -> RawArray | None:
        """Round numerators / denominator onto the grid, all at once; None where 64 bits do not hold the products.

        >>> FixedPoint(10, 1).encode_ratios(np.array([26, -26, 100000]), 100).tolist()
        [2, -3, 100]
        """
        grid = self._grid
        if self.dtype == object or magnitude(numerators) * grid.scale >= WORD or not 0 < denominator < WORD:
            return None
        rounded = divide_rounding(numerators * grid.scale, denominator, grid.rounding)
        return self._raw(saturate(rounded, grid.limit))

    def decode(self, array: RawArray) -> RawArray:
        """See :class:`Arithmetic`."""
        values = np.empty(np.shape(array), dtype=object)
        for index, value in enumerate(np.ravel(array).tolist()):
            values.flat[index] = Fraction(value, self._grid.scale)
        return values

    def to_float64(self, array: RawArray) -> npt.NDArray[np.float64]:
        """See :class:`Arithmetic`; each value is correctly rounded."""
        # True division of Python ints rounds correctly, whatever their size.
        ratios = np.asarray(array, dtype=object) / self._grid.scale
        return np.asarray(ratios, dtype=np.float64)

    def add(self, left: RawArray, right: RawArray) -> RawArray:
        """See :class:`Arithmetic`; exact but for saturation."""
        return self._raw(saturate(np.add(left, right), self._grid.limit))

    def negate(self, array: RawArray) -> RawArray:
        """See :class:`Arithmetic`."""
        return self._raw(np.negative(array))

    def multiply(self, left: RawArray, right: RawArray) -> RawArray:
        """See :class:`Arithmetic`."""
        return self._raw(integers.multiply_rounded(self._raw(left), self._raw(right), self._grid))

    def divide(self, left: RawArray, right: RawArray) -> RawArray:
        """See :class:`Arithmetic`; a zero divisor raises."""
        if np.any(np.equal(right, 0)):
            raise SeparatrixError(
                f"division by zero in {self.name}; a divisor below N^-Kc = {self.step} rounds to 0, raise Kc"
            )
        return self._raw(integers.divide_rounded(self._raw(left), self._raw(right), self._grid))

    def matmul(self, left: RawArray, right: RawArray, *, products: Products = "rounded") -> RawArray:
        """Multiply matrices: (…, n, k) @ (…, k, m).

        With ``products="rounded"`` each scalar product is rounded and saturated before it is added, which is
        B.2's "all intermediate values"; with ``"exact"`` products and sums are exact and each entry of the
        result is rounded once. Either way the sum is accumulated exactly and saturated once at the end. That
        equals left-to-right addition with saturation whenever no partial sum leaves the range, and unlike it
        does not depend on the order (Appendix D, footnote 4).
        """
        check_products(products)
        check_matmul_shapes(left, right)
        product = integers.matmul_of_rounded_products if products == "rounded" else integers.matmul_rounded_once
        return self._raw(product(self._raw(left), self._raw(right), self._grid))

    def sum(self, array: RawArray, axis: Axis = None, *, keepdims: bool = False) -> RawArray:
        """See :class:`Arithmetic`; added up exactly, saturated once at the end."""
        return self._raw(integers.sum_saturated(self._raw(array), axis, keepdims, self._grid.limit))

    def maximum(self, left: RawArray, right: RawArray) -> RawArray:
        """See :class:`Arithmetic`."""
        return self._raw(np.maximum(left, right))

    def max(self, array: RawArray, axis: Axis = None, *, keepdims: bool = False) -> RawArray:
        """See :class:`Arithmetic`."""
        return self._raw(np.max(array, axis=axis, keepdims=keepdims))

    def exp(self, array: RawArray) -> RawArray:
        """See :class:`Arithmetic`; correctly rounded."""
        return self._raw(exp_rounded(self._raw(array), self._grid))

    def softmax(self, array: RawArray, axis: int = -1, *, where: BooleanArray | None = None) -> RawArray:
        """See :class:`Arithmetic`."""
        array, grid = self._raw(array), self._grid
        mask = taking_part(array, axis, where)
        if self.softmax_rule == "once":
            everything = np.ones(array.shape, dtype=np.bool_) if mask is None else np.broadcast_to(mask, array.shape)
            moved = np.moveaxis(array, axis, -1), np.moveaxis(everything, axis, -1)
            return self._raw(np.moveaxis(softmax_rounded_once(*moved, grid), -1, axis))
        kept = array if mask is None else np.where(mask, array, -grid.limit)
        powers = self.exp(self.subtract(kept, self.max(kept, axis=axis, keepdims=True)))
        if mask is not None:
            powers = np.where(mask, powers, 0)
        # Every power is at most `scale` and the largest equals it, so Z is positive; in int64 neither the sum
        # of up to 2^32 powers nor power · scale ≤ limit can overflow.
        total = np.sum(powers, axis=axis, keepdims=True)
        return self._raw(divide_rounding(powers * grid.scale, total, grid.rounding))

    def less(self, left: RawArray, right: RawArray) -> BooleanArray:
        """See :class:`Arithmetic`."""
        return np.asarray(np.less(left, right), dtype=np.bool_)

    def less_equal(self, left: RawArray, right: RawArray) -> BooleanArray:
        """See :class:`Arithmetic`."""
        return np.asarray(np.less_equal(left, right), dtype=np.bool_)

    def equal(self, left: RawArray, right: RawArray) -> BooleanArray:
        """See :class:`Arithmetic`."""
        return np.asarray(np.equal(left, right), dtype=np.bool_)

    def _raw(self, array: Any) -> RawArray:
        """Restore the array that numpy turns into a scalar when it has no axes."""
        return np.asarray(array, dtype=self.dtype)
