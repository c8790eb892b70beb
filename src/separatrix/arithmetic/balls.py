"""Ball arithmetic: every number is a midpoint and a radius that provably enclose the real value.

A construction that is correct over the reals is checked here: each operation of python-flint's ``arb``
returns a ball that contains every possible result, so a comparison that comes out certain is a proof.
Comparisons that the radii leave open raise :class:`UndecidedError` instead of guessing; more bits make the
balls smaller.

Softmax is the real softmax. Subtracting any one number from all scores leaves it unchanged, so the midpoint
of the maximum is subtracted, which is exact and adds no radius.

The working precision is a global setting of python-flint; each operation sets it and puts it back.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, final

import numpy as np
import numpy.typing as npt
from flint import arb, arb_mat, ctx, fmpq
from flint.flint_base.flint_context import PrecisionManager

from separatrix.arithmetic.exact_values import exact_ratios, value_array
from separatrix.arithmetic.interface import (
    Arithmetic,
    Axis,
    BooleanArray,
    Products,
    RawArray,
    UndecidedError,
    Values,
    check_integer,
    check_matmul_shapes,
    check_products,
    taking_part,
)
from separatrix.errors import SeparatrixError


@final
@dataclass(frozen=True)
class Balls(Arithmetic):
    """Balls whose midpoints carry ``bits`` bits."""

    bits: int

    def __post_init__(self) -> None:
        check_integer("ball precision", self.bits, 2)

    @property
    def name(self) -> str:
        """See :class:`Arithmetic`."""
        return f"balls:{self.bits}"

    @property
    def description(self) -> str:
        """See :class:`Arithmetic`."""
        return f"balls with {self.bits}-bit midpoints: rigorous enclosures of real numbers"

    @property
    def precision_bits(self) -> int:
        """The bits of a midpoint."""
        return self.bits

    @property
    def exact(self) -> bool:
        """False: a ball has a radius."""
        return False

    @property
    def rigorous(self) -> bool:
        """True: every ball contains the real result."""
        return True

    def encode(self, values: Values) -> RawArray:
        """Enclose values; whatever ``bits`` bits can hold becomes a ball of radius 0."""
        array = value_array(values)
        numerators, denominators = exact_ratios(array)
        with self._precision():
            return _map(_enclosure, numerators, denominators)

    def decode(self, array: RawArray) -> RawArray:
        """See :class:`Arithmetic`; a ball with a radius has no single value and raises."""
        for ball in np.ravel(array):
            if not ball.is_exact():
                raise SeparatrixError(f"the ball {ball} is not one number; use bounds or to_float64")
        return _map(exact_fraction, array)

    def bounds(self, array: RawArray) -> tuple[RawArray, RawArray]:
        """Give Fractions below and above every number of each ball."""
        with self._precision():
            lower, upper = _map(arb.lower, array), _map(arb.upper, array)
        return _map(exact_fraction, lower), _map(exact_fraction, upper)

    def to_float64(self, array: RawArray) -> npt.NDArray[np.float64]:
        """See :class:`Arithmetic`; the midpoints."""
        return np.asarray(_map(float, array), dtype=np.float64)

    def add(self, left: RawArray, right: RawArray) -> RawArray:
        """See :class:`Arithmetic`."""
        with self._precision():
            return _balls(np.add(left, right))

    def negate(self, array: RawArray) -> RawArray:
        """See :class:`Arithmetic`."""
        # Without the working precision, negating would round a longer midpoint.
        with self._precision():
            return _balls(np.negative(array))

    def multiply(self, left: RawArray, right: RawArray) -> RawArray:
        """See :class:`Arithmetic`."""
        with self._precision():
            return _balls(np.multiply(left, right))

    def divide(self, left: RawArray, right: RawArray) -> RawArray:
        """See :class:`Arithmetic`; zero raises, and so does a divisor that might be zero."""
        if self.equal(right, self.zeros(())).any():
            raise SeparatrixError(f"division by zero in {self.name}; check the divisor")
        with self._precision():
            return _balls(np.divide(left, right))

    def matmul(self, left: RawArray, right: RawArray, *, products: Products = "rounded") -> RawArray:
        """Multiply matrices, enclosing each entry; ``products`` is not used, since there is no grid."""
        check_products(products)
        shape = check_matmul_shapes(left, right)
        batch, (rows, columns), inner = shape[:-2], shape[-2:], left.shape[-1]
        result = self.zeros(shape)
        lefts = np.broadcast_to(left, (*batch, rows, inner))
        rights = np.broadcast_to(right, (*batch, inner, columns))
        with self._precision():
            for index in np.ndindex(batch):
                first = arb_mat(rows, inner, lefts[index].ravel().tolist())
                second = arb_mat(inner, columns, rights[index].ravel().tolist())
                product: Any = first * second
                for place, ball in enumerate(product.entries()):
                    result[(*index, *divmod(place, columns))] = ball
        return result

    def sum(self, array: RawArray, axis: Axis = None, *, keepdims: bool = False) -> RawArray:
        """See :class:`Arithmetic`."""
        zero: Any = arb(0)
        with self._precision():
            return _balls(np.sum(array, axis=axis, keepdims=keepdims, initial=zero))

    def maximum(self, left: RawArray, right: RawArray) -> RawArray:
        """See :class:`Arithmetic`; a ball that contains the maximum, with nothing to decide."""
        with self._precision():
            return _map(arb.max, left, right)

    def max(self, array: RawArray, axis: Axis = None, *, keepdims: bool = False) -> RawArray:
        """See :class:`Arithmetic`; a ball that contains the maximum, with nothing to decide."""
        larger = np.frompyfunc(arb.max, 2, 1)
        axes = range(array.ndim) if axis is None else axis if isinstance(axis, tuple) else (axis,)
        with self._precision():
            # One axis after the other: numpy reduces several at once only for functions that it knows.
            for each in axes:
                array = larger.reduce(array, axis=each, keepdims=True)
            return _balls(array if keepdims else np.squeeze(array, axis=tuple(axes)))

    def exp(self, array: RawArray) -> RawArray:
        """See :class:`Arithmetic`."""
        with self._precision():
            return _map(arb.exp, array)

    def softmax(self, array: RawArray, axis: int = -1, *, where: BooleanArray | None = None) -> RawArray:
        """See :class:`Arithmetic`; the softmax of the reals, enclosed.

        >>> print(Balls(64).softmax(Balls(64).encode([0, 0, 0, 0]))[0])
        0.250000000000000
        """
        mask = taking_part(array, axis, where)
        kept = array if mask is None else np.where(mask, array, _balls(arb.neg_inf()))
        middle = _map(arb.mid, self.max(kept, axis=axis, keepdims=True))
        powers = self.exp(self.subtract(array, middle))
        if mask is not None:
            powers = np.where(mask, powers, self.zeros(()))
        return self.divide(powers, self.sum(powers, axis=axis, keepdims=True))

    def less(self, left: RawArray, right: RawArray) -> BooleanArray:
        """See :class:`Arithmetic`."""
        return self._decide("less", lambda a, b: a < b, lambda a, b: a >= b, left, right)

    def less_equal(self, left: RawArray, right: RawArray) -> BooleanArray:
        """See :class:`Arithmetic`."""
        return self._decide("less_equal", lambda a, b: a <= b, lambda a, b: a > b, left, right)

    def equal(self, left: RawArray, right: RawArray) -> BooleanArray:
        """See :class:`Arithmetic`."""
        return self._decide("equal", lambda a, b: a == b, lambda a, b: a != b, left, right)

    def _decide(
        self,
        question: str,
        certainly: Callable[[arb, arb], bool],
        certainly_not: Callable[[arb, arb], bool],
        left: RawArray,
        right: RawArray,
    ) -> BooleanArray:
        """Answer only where it is proved; arb's own comparisons are True exactly when they are certain."""

        def answer(first: arb, second: arb) -> bool:
            if certainly(first, second):
                return True
            if certainly_not(first, second):
                return False
            raise UndecidedError(
                f"cannot decide {question} at {self.bits} bits: {first} and {second} overlap; "
                f"raise the bits, e.g. balls:{2 * self.bits}"
            )

        return np.asarray(_map(answer, left, right), dtype=np.bool_)

    def _precision(self) -> PrecisionManager:
        return ctx.workprec(self.bits)


def _map(function: Callable[..., Any], *arrays: RawArray) -> RawArray:
    """Apply a Python function elementwise, keeping arrays without axes arrays."""
    return _balls(np.frompyfunc(function, len(arrays), 1)(*arrays))


def _balls(array: Any) -> RawArray:
    return np.asarray(array, dtype=object)


def _enclosure(numerator: int, denominator: int) -> arb:
    return arb(fmpq(numerator, denominator))


def exact_fraction(ball: arb) -> Fraction:
    """Return the value of a ball without a radius.

    >>> exact_fraction(arb(3) / 4)
    Fraction(3, 4)
    """
    mantissa, exponent = (int(part) for part in ball.man_exp())
    return Fraction(mantissa) * Fraction(2) ** exponent
