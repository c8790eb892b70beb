"""Floating point as hardware does it, each operation rounded to one format.

The papers prove their theorems in fixed point or over the reals; models run in these formats. The choices,
all of them those of common accelerators:

* Elementwise operations are computed in float64 and rounded once to the format, to nearest with ties to even.
  For +, −, ·, / this is the correctly rounded result (float64 has more than twice the bits of float32,
  Figueroa 1995); the exponential is as good as the platform's float64 one.
* ``matmul`` and ``sum`` accumulate in float32 (float64 for float64) and round the result once to the format.
  The order of additions is numpy's, so last bits may differ between machines. ``products`` makes no
  difference here.
* Softmax rounds the difference and each exponential to the format, keeps the sum Z in the accumulator and
  rounds each quotient.
* Overflow gives an infinity, except in float8_e4m3fn, which has none and gives NaN. Division by zero follows
  IEEE 754. No numpy warning is raised for either. In float8_e4m3fn this reaches softmax: scores more than 448
  apart give NaN, where the other formats give the smaller one weight 0.

``float32:in-order`` leaves nothing open, so that it has the same bits everywhere and a proof can be about it: sums
and matrix products add up term by term in their order, rounded after every addition, and the exponential is correctly
rounded. A sum over positions then is a small recurrent machine (E26). Programs that add in another order compute
something else; most libraries do.

ml_dtypes converts float64 through float32 and so rounds twice (1 + 2^−8 + 2^−50 becomes 1 in bfloat16 instead
of 1 + 2^−7); here the first of the two conversions rounds to odd, which makes the second one right.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, final

import ml_dtypes
import numpy as np
import numpy.typing as npt
from flint import arb, ctx

from separatrix.arithmetic.balls import exact_fraction
from separatrix.arithmetic.exact_values import exact_ratios, value_array
from separatrix.arithmetic.interface import (
    Arithmetic,
    Axis,
    BooleanArray,
    Products,
    RawArray,
    Values,
    check_matmul_shapes,
    check_products,
    taking_part,
)
from separatrix.errors import SeparatrixError, UnknownNameError

FLOATING_FORMATS = ("float64", "float32", "bfloat16", "float16", "float8_e4m3fn", "float8_e5m2")
"""The formats by name, as numpy and ml_dtypes call them."""
IN_ORDER = "float32:in-order"
HUGE = 200.0
"""Beyond it an exponential is infinite in float32, or rounds to 0."""


@final
@dataclass(frozen=True)
class Floating(Arithmetic):
    """One of the formats in ``FLOATING_FORMATS``."""

    format: str
    in_order: bool = False

    def __post_init__(self) -> None:
        if self.format not in FLOATING_FORMATS:
            raise UnknownNameError("floating-point format", str(self.format), FLOATING_FORMATS)
        if self.in_order and self.format != "float32":
            raise SeparatrixError(f"{self.format}:in-order is not there; choose {IN_ORDER}")

    @property
    def name(self) -> str:
        """See :class:`Arithmetic`."""
        return IN_ORDER if self.in_order else self.format

    @property
    def description(self) -> str:
        """See :class:`Arithmetic`."""
        if self.in_order:
            return f"{self.format}: every operation rounded to the format, sums term by term in their order"
        return f"{self.format}: every operation rounded to the format, sums accumulated in {self._accumulator}"

    @property
    def precision_bits(self) -> int:
        """The width of the format."""
        return 8 * self.dtype.itemsize

    @property
    def exact(self) -> bool:
        """False where sums depend on an order of additions that is left open."""
        return self.in_order

    @property
    def rigorous(self) -> bool:
        """False where the order of additions is left open: what holds on one machine may fail on the next."""
        return self.in_order

    @property
    def dtype(self) -> np.dtype[Any]:
        """The numpy dtype of raw arrays."""
        scalar: Any = getattr(np if self.format in ("float64", "float32", "float16") else ml_dtypes, self.format)
        return np.dtype(scalar)

    @property
    def _accumulator(self) -> np.dtype[Any]:
        return np.dtype(np.float64 if self.format == "float64" else np.float32)

    def encode(self, values: Values) -> RawArray:
        """Round values to the format, once.

        >>> Floating("float8_e4m3fn").encode([Fraction(1, 3), 448, 17]).tolist()
        [0.34375, 448.0, 16.0]
        """
        array = value_array(values)
        if array.dtype == self.dtype:
            return array.copy()
        if array.dtype.name in ("float64", "float32", "float16"):
            return self._rounded(array)
        numerators, denominators = exact_ratios(array)
        nearest = self.format == "float64"
        floats = [
            _ratio_to_float(numerator, denominator, nearest)
            for numerator, denominator in zip(numerators.ravel(), denominators.ravel(), strict=True)
        ]
        return self._rounded(np.array(floats, dtype=np.float64).reshape(array.shape))

    def decode(self, array: RawArray) -> RawArray:
        """See :class:`Arithmetic`; infinities and NaN have no exact value and raise."""
        values = np.empty(np.shape(array), dtype=object)
        for index, value in enumerate(self.to_float64(array).ravel().tolist()):
            if not np.isfinite(value):
                raise SeparatrixError(f"{value} in {self.name} has no exact value; look for an overflow")
            values.flat[index] = Fraction(value)
        return values

    def to_float64(self, array: RawArray) -> npt.NDArray[np.float64]:
        """See :class:`Arithmetic`; exact."""
        with np.errstate(all="ignore"):
            return np.asarray(array).astype(np.float64)

    def add(self, left: RawArray, right: RawArray) -> RawArray:
        """See :class:`Arithmetic`."""
        with np.errstate(all="ignore"):
            return self._rounded(np.add(self.to_float64(left), self.to_float64(right)))

    def negate(self, array: RawArray) -> RawArray:
        """See :class:`Arithmetic`."""
        return self._rounded(np.negative(self.to_float64(array)))

    def multiply(self, left: RawArray, right: RawArray) -> RawArray:
        """See :class:`Arithmetic`."""
        with np.errstate(all="ignore"):
            return self._rounded(np.multiply(self.to_float64(left), self.to_float64(right)))

    def divide(self, left: RawArray, right: RawArray) -> RawArray:
        """See :class:`Arithmetic`; x / 0 is an infinity or NaN as in IEEE 754."""
        with np.errstate(all="ignore"):
            return self._rounded(np.divide(self.to_float64(left), self.to_float64(right)))

    def matmul(self, left: RawArray, right: RawArray, *, products: Products = "rounded") -> RawArray:
        """Multiply matrices in the accumulator, round each entry once; ``products`` is not used."""
        check_products(products)
        shape = check_matmul_shapes(left, right)
        if self.in_order:
            total = self.zeros(shape)
            for term in range(left.shape[-1]):
                total = self.add(total, self.multiply(left[..., :, term, None], right[..., None, term, :]))
            return total
        with np.errstate(all="ignore"):
            return self._rounded(np.matmul(self._accumulated(left), self._accumulated(right)))

    def sum(self, array: RawArray, axis: Axis = None, *, keepdims: bool = False) -> RawArray:
        """See :class:`Arithmetic`; accumulated in float32 (float64 for float64), rounded once."""
        with np.errstate(all="ignore"):
            if self.in_order:
                return self._summed_in_order(array, axis, keepdims)
            return self._rounded(np.sum(self._accumulated(array), axis=axis, keepdims=keepdims))

    def maximum(self, left: RawArray, right: RawArray) -> RawArray:
        """See :class:`Arithmetic`."""
        return self._rounded(np.maximum(self.to_float64(left), self.to_float64(right)))

    def max(self, array: RawArray, axis: Axis = None, *, keepdims: bool = False) -> RawArray:
        """See :class:`Arithmetic`."""
        return self._rounded(np.max(self.to_float64(array), axis=axis, keepdims=keepdims))

    def exp(self, array: RawArray) -> RawArray:
        """See :class:`Arithmetic`."""
        if self.in_order:
            distinct, places = np.unique(array, return_inverse=True)
            found = np.array([_exp_rounded(each) for each in distinct.tolist()], dtype=self.dtype)
            return found[places].reshape(np.shape(array))
        with np.errstate(all="ignore"):
            return self._rounded(np.exp(self.to_float64(array)))

    def softmax(self, array: RawArray, axis: int = -1, *, where: BooleanArray | None = None) -> RawArray:
        """See :class:`Arithmetic`.

        >>> Floating("float16").softmax(np.zeros(3, dtype=np.float16)).tolist()
        [0.333251953125, 0.333251953125, 0.333251953125]
        """
        mask = taking_part(np.asarray(array), axis, where)
        values = self.to_float64(array)
        kept = values if mask is None else np.where(mask, values, -np.inf)
        with np.errstate(all="ignore"):
            powers = self.exp(self._rounded(values - np.max(kept, axis=axis, keepdims=True)))
            if mask is not None:
                powers = np.where(mask, powers, self.zeros(()))
            total = self.sum(powers, axis, keepdims=True) if self.in_order else self._accumulator_sum(powers, axis)
            return self._rounded(np.divide(self.to_float64(powers), total.astype(np.float64)))

    def less(self, left: RawArray, right: RawArray) -> BooleanArray:
        """See :class:`Arithmetic`; False next to NaN."""
        return np.asarray(np.less(self.to_float64(left), self.to_float64(right)))

    def less_equal(self, left: RawArray, right: RawArray) -> BooleanArray:
        """See :class:`Arithmetic`; False next to NaN."""
        return np.asarray(np.less_equal(self.to_float64(left), self.to_float64(right)))

    def equal(self, left: RawArray, right: RawArray) -> BooleanArray:
        """See :class:`Arithmetic`; False next to NaN."""
        return np.asarray(np.equal(self.to_float64(left), self.to_float64(right)))

    def _accumulator_sum(self, array: RawArray, axis: int) -> RawArray:
        return np.sum(self._accumulated(array), axis=axis, keepdims=True)

    def _summed_in_order(self, array: RawArray, axis: Axis, keepdims: bool) -> RawArray:
        """Return the last of the running sums; of several axes the last one runs fastest."""
        values = np.asarray(array)
        axes = range(values.ndim) if axis is None else [axis] if isinstance(axis, int) else axis
        summed = sorted({each % values.ndim for each in axes})
        kept = [each for each in range(values.ndim) if each not in summed]
        rows = values.transpose(*kept, *summed).reshape(*(values.shape[each] for each in kept), -1)
        last = np.add.accumulate(rows, axis=-1)[..., -1] if rows.shape[-1] else self.zeros(rows.shape[:-1])
        return np.expand_dims(last, tuple(summed)) if keepdims else last

    def _accumulated(self, array: RawArray) -> RawArray:
        return np.asarray(array).astype(self._accumulator)

    def _rounded(self, array: Any) -> RawArray:
        """Round float64 or float32 values to the format, to nearest with ties to even."""
        values = np.asarray(array)
        with np.errstate(all="ignore"):
            if values.dtype == np.float64 and self.format not in ("float64", "float32", "float16"):
                values = _to_float32_odd(values)
            return values.astype(self.dtype)


def _exp_rounded(value: float) -> float:
    """Return the exponential of a float32 rounded to float32, to nearest.

    Balls of growing precision enclose it until both ends round alike. They do: but for 0 the exponential is
    transcendental, so it is not halfway between two floats.
    """
    if np.isnan(value) or value > HUGE or value < -HUGE:
        return value if np.isnan(value) else np.inf if value > 0 else 0.0
    plain, bits = Floating("float32"), 64
    while True:
        with ctx.workprec(bits):
            ball = arb(value).exp()
            ends = [exact_fraction(ball.mid()) + side * exact_fraction(ball.rad()) for side in (-1, 1)]
        low, high = plain.encode(ends).tolist()
        if low == high:
            return low
        bits *= 2


def _to_float32_odd(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float32]:
    """Convert to float32, taking of two neighbours the one whose last bit is 1 unless the value is exact.

    Such a result is never a tie of a shorter format unless the value was, so rounding it again is right.
    """
    rounded = values.astype(np.float32)
    back = rounded.astype(np.float64)
    bits = rounded.view(np.uint32)
    step = (np.isfinite(values) & (back != values) & (bits % 2 == 0)).astype(np.uint32)
    # Floats are stored as sign and magnitude: one step in the bits is one step away from zero.
    np.add(bits, step, out=bits, where=np.abs(back) < np.abs(values))
    np.subtract(bits, step, out=bits, where=np.abs(back) > np.abs(values))
    return rounded


def _ratio_to_float(numerator: int, denominator: int, nearest: bool) -> float:
    """Convert a ratio to float64: to nearest, or to odd where a shorter format will round it again."""
    try:
        rounded = numerator / denominator
    except OverflowError:
        return np.inf if numerator > 0 else -np.inf
    back_numerator, back_denominator = rounded.as_integer_ratio()
    excess = back_numerator * denominator - numerator * back_denominator
    even = np.float64(rounded).view(np.uint64) % 2 == 0
    if nearest or excess == 0 or not even:
        return rounded
    return float(np.nextafter(rounded, -np.inf if excess > 0 else np.inf))
