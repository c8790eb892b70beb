"""Exact weights: integers over one common denominator.

The papers' constructions have rational weights once the 1/√k of their sign vectors is moved into the query, where it
meets the other 1/√k. So a network's weights are stored exactly, and rounding happens only in the arithmetic in which
the network is evaluated.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import gcd, lcm
from typing import Any, TypeAlias

import numpy
from numpy.typing import NDArray

from separatrix.arithmetic import Arithmetic, FixedPoint, RawArray, magnitude
from separatrix.errors import SeparatrixError

Integers: TypeAlias = NDArray[numpy.int64]
"""Whole numbers: tokens, positions, numerators."""
Shapes: TypeAlias = dict[str, tuple[int | None, int | None]]
"""Rows and columns of matrices by name, None where any number will do."""
LARGEST_NUMERATOR = 2**62


@dataclass(frozen=True, eq=False)
class ExactMatrix:
    """``numerators / denominator``, a matrix (rows, columns) of rational numbers."""

    numerators: Integers
    denominator: int = 1

    def __post_init__(self) -> None:
        if self.numerators.ndim != 2 or self.numerators.dtype != numpy.int64:
            raise SeparatrixError(
                f"an exact matrix needs int64 numerators in two dimensions, not {self.numerators.dtype} in "
                f"{self.numerators.ndim}"
            )
        if not 0 < self.denominator < LARGEST_NUMERATOR:
            raise SeparatrixError(f"a denominator must be from 1 to 2^62 - 1, not {self.denominator}")
        # As Python's integers: numpy's absolute value of -2^63 is negative, and every bound made of it would be wrong.
        if self.numerators.size:
            least, most = int(self.numerators.min()), int(self.numerators.max())
            if max(-least, most) >= LARGEST_NUMERATOR:
                raise SeparatrixError(
                    f"a numerator must lie between -2^62 and 2^62, not be {least if -least > most else most}; "
                    "choose smaller weights"
                )

    @property
    def shape(self) -> tuple[int, int]:
        """(rows, columns)."""
        return self.numerators.shape[0], self.numerators.shape[1]

    @property
    def parameters(self) -> int:
        """How many weights are not zero: what a sparse description has to name."""
        return int(numpy.count_nonzero(self.numerators))

    def fractions(self) -> RawArray:
        """Return the entries as an object array of Fractions."""
        flat = [Fraction(value, self.denominator) for value in self.numerators.reshape(-1).tolist()]
        return numpy.array(flat, dtype=object).reshape(self.shape)

    def encoded(self, arithmetic: Arithmetic) -> RawArray:
        """Return the entries in an arithmetic; each different value is converted once."""
        if isinstance(arithmetic, FixedPoint):
            rounded = arithmetic.encode_ratios(self.numerators, self.denominator)
            if rounded is not None:
                return rounded
        encoded, there = arithmetic.zeros(self.shape), self.numerators != 0
        values, places = numpy.unique(self.numerators[there], return_inverse=True)
        exact = numpy.array([Fraction(int(value), self.denominator) for value in values], dtype=object)
        if len(exact):
            encoded[there] = arithmetic.encode(exact)[places]
        return encoded

    def whole(self) -> Integers:
        """Return the entries as integers; raises when one is not."""
        if (self.numerators % self.denominator).any():
            raise SeparatrixError(
                f"a matrix with denominator {self.denominator} has entries that are not whole numbers"
            )
        return self.numerators // self.denominator

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, ExactMatrix)
            and self.shape == other.shape
            and self._over(other.denominator) == other._over(self.denominator)
        )

    def __hash__(self) -> int:
        return hash(self.shape)

    def _over(self, factor: int) -> list[int]:
        """Return the numerators times a factor, in Python's integers: the product may have more than 64 bits."""
        return [value * factor for value in self.numerators.reshape(-1).tolist()]


def exact(rows: Sequence[Sequence[Any]] | NDArray[Any]) -> ExactMatrix:
    """Return a matrix from ints, Fractions or integer arrays.

    >>> exact([[1, Fraction(1, 2)]]).denominator
    2
    """
    if isinstance(rows, numpy.ndarray) and rows.dtype != object:
        if not numpy.issubdtype(rows.dtype, numpy.integer):
            raise SeparatrixError(f"exact weights are integers or Fractions, not {rows.dtype}")
        return ExactMatrix(rows.astype(numpy.int64))
    table = [[Fraction(value) for value in row] for row in rows]
    common = lcm(*[value.denominator for row in table for value in row]) if table else 1
    numerators = [[int(value * common) for value in row] for row in table]
    largest = max((abs(value) for row in numerators for value in row), default=0)
    if max(largest, common) >= LARGEST_NUMERATOR:
        raise SeparatrixError("weights need numerators beyond 2^62; choose simpler fractions")
    width = len(table[0]) if table else 0
    return ExactMatrix(numpy.array(numerators, dtype=numpy.int64).reshape(len(table), width), common)


@dataclass(frozen=True)
class Slots:
    """The residual stream as named parts: a name and a width each, in order.

    >>> Slots((("token", 3), ("position", 2))).columns("position")
    slice(3, 5, None)
    """

    parts: tuple[tuple[str, int], ...]

    def __post_init__(self) -> None:
        for name, width in self.parts:
            # A negative width would lay one slot over another, which everything that goes by slots would overlook.
            if width < 0:
                raise SeparatrixError(f"slot {name!r} has the width {width}; give at least 0")
        names = [name for name, _ in self.parts]
        if len(set(names)) < len(names):
            raise SeparatrixError(f"slots {', '.join(names)} repeat a name; each slot needs its own")

    @property
    def width(self) -> int:
        """The width d of the residual stream."""
        return sum(width for _, width in self.parts)

    def columns(self, name: str) -> slice:
        """Return where a slot is."""
        start = 0
        for part, width in self.parts:
            if part == name:
                return slice(start, start + width)
            start += width
        raise SeparatrixError(f"no slot is named {name!r}; there are {', '.join(part for part, _ in self.parts)}")

    def size(self, name: str) -> int:
        """Return the width of a slot."""
        place = self.columns(name)
        return place.stop - place.start

    def reading(self, rows: int, blocks: Mapping[str, ExactMatrix]) -> ExactMatrix:
        """Return a matrix (rows, d) that reads some slots: a block (rows, slot width) for each, zero elsewhere."""
        return self._placed(rows, blocks, reading=True)

    def writing(self, columns: int, blocks: Mapping[str, ExactMatrix]) -> ExactMatrix:
        """Return a matrix (d, columns) that writes some slots: a block (slot width, columns) for each, zero
        elsewhere."""
        return self._placed(columns, blocks, reading=False)

    def _placed(self, other: int, blocks: Mapping[str, ExactMatrix], reading: bool) -> ExactMatrix:
        common = lcm(*[block.denominator for block in blocks.values()]) if blocks else 1
        numerators = numpy.zeros((other, self.width) if reading else (self.width, other), dtype=numpy.int64)
        for name, block in blocks.items():
            place = self.columns(name)
            expected = (other, self.size(name)) if reading else (self.size(name), other)
            if block.shape != expected:
                raise SeparatrixError(f"the block for slot {name!r} has shape {block.shape}, not {expected}")
            factor = common // block.denominator
            if factor > 1 and magnitude(block.numerators) * factor >= LARGEST_NUMERATOR:
                raise SeparatrixError(
                    f"the block for slot {name!r} needs numerators beyond 2^62; choose simpler fractions"
                )
            scaled = block.numerators * factor
            if reading:
                numerators[:, place] = scaled
            else:
                numerators[place, :] = scaled
        shared = gcd(common, *numpy.unique(numerators).tolist()) if common > 1 else 1
        return ExactMatrix(numerators // shared, common // shared)

    def read_by(self, matrix: ExactMatrix) -> set[str]:
        """Return the slots whose columns a matrix (rows, d) uses."""
        used = numpy.count_nonzero(matrix.numerators, axis=0)
        return {name for name, _ in self.parts if int(used[self.columns(name)].sum()) > 0}


def identity(size: int, scale: Fraction | int = 1) -> ExactMatrix:
    """``scale`` times the identity.

    >>> identity(2, Fraction(1, 2)).fractions()[0].tolist()
    [Fraction(1, 2), Fraction(0, 1)]
    """
    factor = Fraction(scale)
    return ExactMatrix(numpy.eye(size, dtype=numpy.int64) * factor.numerator, factor.denominator)


def zeros(rows: int, columns: int) -> ExactMatrix:
    """Return a matrix of zeros.

    >>> zeros(2, 1).numerators.tolist()
    [[0], [0]]
    """
    return ExactMatrix(numpy.zeros((rows, columns), dtype=numpy.int64))
