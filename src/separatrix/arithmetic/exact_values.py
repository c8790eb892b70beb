"""Reading numbers exactly: every value that enters an arithmetic is first a ratio of two integers.

Floats are taken as the rational numbers they are (0.1 is 3602879701896397 / 2^55), so that rounding happens
once, in the arithmetic that was asked for, and never on the way in.
"""

from decimal import Decimal
from fractions import Fraction
from typing import Any, Protocol, SupportsFloat, cast, runtime_checkable

import numpy as np
import numpy.typing as npt

from separatrix.arithmetic.interface import RawArray, Values
from separatrix.errors import SeparatrixError


@runtime_checkable
class Ratio(Protocol):
    """An exact rational: int, Fraction, numpy's integers, python-flint's fmpz and fmpq."""

    @property
    def numerator(self) -> Any:
        """The number above the line."""
        ...

    @property
    def denominator(self) -> Any:
        """The positive number below the line."""
        ...


def exact_ratio(value: Any) -> tuple[int, int]:
    """Give numerator and positive denominator of one value.

    >>> exact_ratio(0.375)
    (3, 8)
    """
    if isinstance(value, (int, Fraction)):
        # What nearly every value is; asking for the protocol below is slow.
        return int(value.numerator), value.denominator
    if isinstance(value, np.generic):
        # Python's own number where there is one of the same value; numpy's booleans have no numerator.
        value = cast(Any, value).item()
    if isinstance(value, Ratio):
        return int(value.numerator), int(value.denominator)
    if isinstance(value, str) or not isinstance(value, SupportsFloat):
        raise SeparatrixError(f"cannot read {value!r} as a number; give ints, Fractions or floats")
    try:
        # Decimal and numpy's long doubles hold more than a float does and know their own ratio; the small
        # formats of ml_dtypes do not, but each of their values is a float.
        knows_its_ratio = isinstance(value, (Decimal, np.floating))
        return cast(Any, value).as_integer_ratio() if knows_its_ratio else float(value).as_integer_ratio()
    except (ValueError, OverflowError):
        raise SeparatrixError(f"{value!r} is not a finite number; only finite values can be encoded") from None


def value_array(values: Values) -> npt.NDArray[Any]:
    """Make an array of the values without letting numpy round any of them.

    ``numpy.asarray([0.5, 2**60 + 1])`` would turn the integer into a float; an object array keeps it.
    """
    if isinstance(values, (np.ndarray, np.generic)):
        return np.asarray(cast(Any, values))
    return np.array(values, dtype=object)


def exact_ratios(array: npt.NDArray[Any]) -> tuple[RawArray, RawArray]:
    """Give numerators and denominators of an array's values as two object arrays of Python ints."""
    numerators = np.empty(array.shape, dtype=object)
    denominators = np.empty(array.shape, dtype=object)
    for index, value in enumerate(array.ravel().tolist()):
        numerators.flat[index], denominators.flat[index] = exact_ratio(value)
    return numerators, denominators
