"""One interface over every arithmetic in which a network can be evaluated.

A network is a chain of sums, products, maxima, exponentials and quotients. BHBK24 (Appendix B.2) computes it
in fixed point, hardware computes it in floats, and a proof about real numbers computes it in balls. Each of
these is an :class:`Arithmetic`: an object that says how a number is represented in a numpy array (its *raw*
array) and how every operation acts on raw arrays. Code that takes an ``Arithmetic`` as an argument therefore
runs in all of them.

Raw arrays are plain numpy arrays: indexing, reshaping, transposing, stacking and ``numpy.where`` need no
method here. What must not be applied to them is numpy's own arithmetic (``raw * raw`` means nothing in fixed
point).

Every operation broadcasts like numpy, returns a new array and leaves its arguments as they were.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from separatrix.errors import SeparatrixError

RawArray: TypeAlias = npt.NDArray[Any]
"""Numbers in an arithmetic's own representation; its dtype is the arithmetic's affair."""

BooleanArray: TypeAlias = npt.NDArray[np.bool_]
"""Answers of comparisons, and masks."""
Axis: TypeAlias = int | tuple[int, ...] | None
"""One axis, several, or all of them."""
Shape: TypeAlias = int | tuple[int, ...]
"""A shape as numpy takes it."""

Values: TypeAlias = npt.ArrayLike | Sequence[Any] | Any
"""What ``encode`` reads: a number, nested lists of numbers, or an array of them; ints, Fractions, floats."""

Rounding: TypeAlias = Literal["down", "nearest"]
"""Towards -∞ as BHBK24 B.2 says, or to the nearest number with ties to even; matters in fixed point only."""

Products: TypeAlias = Literal["rounded", "exact"]
"""How a matrix product treats each scalar product: rounded to the grid before the sum, or kept exactly."""


class UndecidedError(SeparatrixError):
    """A comparison whose two sides overlap at the present precision, so that neither answer is proved."""


class Arithmetic(ABC):
    """How numbers are represented and how operations on them are rounded."""

    @property
    @abstractmethod
    def name(self) -> str:
        """A short name that :func:`separatrix.arithmetic.arithmetic_named` turns back into this object."""

    @property
    @abstractmethod
    def precision_bits(self) -> int:
        """The bits of one number: the paper's p, a format's width, a midpoint's precision."""

    @property
    @abstractmethod
    def exact(self) -> bool:
        """Whether every result is the one the definition asks for, the same bits on every machine."""

    @property
    @abstractmethod
    def rigorous(self) -> bool:
        """Whether a result can be in a proof: it is exact, or it encloses the real result."""

    @property
    @abstractmethod
    def description(self) -> str:
        """One sentence for tables and help texts."""

    def __str__(self) -> str:
        return self.name

    # Going in and out.

    @abstractmethod
    def encode(self, values: Values) -> RawArray:
        """Round exact values into this arithmetic; a float is taken as the rational number it is."""

    @abstractmethod
    def decode(self, array: RawArray) -> RawArray:
        """Give the exact values as an object array of :class:`fractions.Fraction`."""

    @abstractmethod
    def to_float64(self, array: RawArray) -> npt.NDArray[np.float64]:
        """Give the nearest float64 values, for plots and summaries only."""

    def constant(self, value: Values, shape: Shape = ()) -> RawArray:
        """Make an array that holds one encoded value everywhere."""
        scalar = self.encode(value)
        if scalar.ndim:
            raise SeparatrixError(f"a constant is one number, got an array of shape {scalar.shape}; use encode")
        return np.full(shape, scalar[()], dtype=scalar.dtype)

    def zeros(self, shape: Shape) -> RawArray:
        """Make an array of zeros."""
        return self.constant(0, shape)

    # Operations that every arithmetic rounds in its own way.

    @abstractmethod
    def add(self, left: RawArray, right: RawArray) -> RawArray:
        """Compute left + right, elementwise."""

    @abstractmethod
    def negate(self, array: RawArray) -> RawArray:
        """Compute −array; exact, since every representation here is symmetric around zero."""

    def subtract(self, left: RawArray, right: RawArray) -> RawArray:
        """Compute left − right, elementwise."""
        return self.add(left, self.negate(right))

    @abstractmethod
    def multiply(self, left: RawArray, right: RawArray) -> RawArray:
        """Compute left · right, elementwise."""

    @abstractmethod
    def divide(self, left: RawArray, right: RawArray) -> RawArray:
        """Compute left / right, elementwise."""

    @abstractmethod
    def matmul(self, left: RawArray, right: RawArray, *, products: Products = "rounded") -> RawArray:
        """Multiply matrices: (…, n, k) @ (…, k, m).

        ``products`` matters in fixed point only; the other arithmetics accept it so that callers need not ask
        which one they hold, and document what they do.
        """

    @abstractmethod
    def sum(self, array: RawArray, axis: Axis = None, *, keepdims: bool = False) -> RawArray:
        """Add up along ``axis`` (everything when None)."""

    @abstractmethod
    def maximum(self, left: RawArray, right: RawArray) -> RawArray:
        """Take the larger of two, elementwise."""

    @abstractmethod
    def max(self, array: RawArray, axis: Axis = None, *, keepdims: bool = False) -> RawArray:
        """Take the largest along ``axis`` (of everything when None)."""

    def relu(self, array: RawArray) -> RawArray:
        """Compute max(array, 0), elementwise."""
        return self.maximum(array, self.zeros(()))

    @abstractmethod
    def exp(self, array: RawArray) -> RawArray:
        """Compute the exponential, elementwise."""

    @abstractmethod
    def softmax(self, array: RawArray, axis: int = -1, *, where: BooleanArray | None = None) -> RawArray:
        """Compute BHBK24 Appendix D's softmax: exp(A − max A) over its sum Z, with Z kept in extra bits.

        ``where`` broadcasts against ``array`` and marks the entries that take part, as an attention mask
        does; the others get weight 0 and count neither in the maximum nor in Z. Each row needs one entry.
        """

    # Comparisons; balls answer only what is proved and raise UndecidedError otherwise.

    @abstractmethod
    def less(self, left: RawArray, right: RawArray) -> BooleanArray:
        """Tell where left < right."""

    @abstractmethod
    def less_equal(self, left: RawArray, right: RawArray) -> BooleanArray:
        """Tell where left ≤ right."""

    @abstractmethod
    def equal(self, left: RawArray, right: RawArray) -> BooleanArray:
        """Tell where left = right."""


def check_integer(what: str, given: object, least: int) -> None:
    """Refuse a parameter that is not an integer of at least ``least``.

    >>> check_integer("length N", 1, 2)
    Traceback (most recent call last):
    separatrix.errors.SeparatrixError: length N is 1; give an integer of at least 2
    """
    if isinstance(given, bool) or not isinstance(given, int) or given < least:
        raise SeparatrixError(f"{what} is {given!r}; give an integer of at least {least}")


def check_matmul_shapes(left: RawArray, right: RawArray) -> tuple[int, ...]:
    """Give the shape of a matrix product, or say in one line why there is none.

    >>> check_matmul_shapes(np.zeros((5, 2, 3)), np.zeros((3, 4)))
    (5, 2, 4)
    """
    if left.ndim < 2 or right.ndim < 2 or left.shape[-1] != right.shape[-2]:
        raise SeparatrixError(
            f"matmul takes (…, n, k) and (…, k, m), got shapes {left.shape} and {right.shape}; "
            f"add or transpose axes so that both have a k"
        )
    try:
        batch = np.broadcast_shapes(left.shape[:-2], right.shape[:-2])
    except ValueError:
        raise SeparatrixError(
            f"matmul got leading axes {left.shape[:-2]} and {right.shape[:-2]}, which do not broadcast; "
            f"make each pair equal or 1"
        ) from None
    return (*batch, left.shape[-2], right.shape[-1])


def check_products(products: str) -> None:
    """Refuse a ``products`` argument that is neither of the two.

    >>> check_products("truncated")
    Traceback (most recent call last):
    separatrix.errors.SeparatrixError: products is 'truncated'; choose 'rounded' or 'exact'
    """
    if products not in ("rounded", "exact"):
        raise SeparatrixError(f"products is {products!r}; choose 'rounded' or 'exact'")


def taking_part(array: RawArray, axis: int, where: BooleanArray | None) -> BooleanArray | None:
    """Broadcast a softmax mask to its array and refuse rows in which nothing takes part.

    >>> taking_part(np.zeros((2, 3)), -1, np.array([True, False, True])).tolist()
    [[True, False, True], [True, False, True]]
    """
    if array.ndim == 0 or array.shape[axis] == 0:
        raise SeparatrixError(f"softmax needs an axis with at least one entry, got shape {array.shape}")
    if where is None:
        return None
    try:
        mask = np.broadcast_to(np.asarray(where, dtype=np.bool_), array.shape)
    except ValueError:
        raise SeparatrixError(
            f"softmax mask of shape {np.shape(where)} does not broadcast to {array.shape}; add or transpose axes"
        ) from None
    if not mask.any(axis=axis).all():
        raise SeparatrixError("softmax mask leaves a row without any entry; let each row keep at least one")
    return mask
