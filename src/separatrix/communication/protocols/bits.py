"""Bits as they are sent: whole numbers and the numbers of an arithmetic, written by one side and read by the other.

BHBK24 counts p bits for a number and p + log N bits for a sum of N numbers (Appendix D). Here these are real
bitstrings: a whole number from a known range is written as its distance from the range's lower end, most significant
bit first, in exactly as many bits as were agreed on. Ranges and widths are public, so a message needs no separators,
and its length never depends on anybody's input.

Deviation: |Q_p| is 2·N^(2Kc) + 1, one more bit than the paper's 2·Kc·log N (part of E13).
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy

from separatrix.arithmetic import FixedPoint, Floating, RawArray
from separatrix.bit_counts import bits_for
from separatrix.errors import SeparatrixError

SendableArithmetic: TypeAlias = FixedPoint | Floating
"""The arithmetics whose numbers have a fixed number of bits."""


@dataclass(frozen=True)
class Code:
    """Whole numbers from ``low`` to ``high``, in ``width`` bits each.

    >>> Code(-3, 3, 3).encode(2), Code(-3, 3, 3).decode("101")
    ('101', 2)
    """

    low: int
    high: int
    width: int

    def __post_init__(self) -> None:
        if self.high < self.low or self.high - self.low >= 1 << max(0, self.width):
            raise SeparatrixError(
                f"{self.width} bits do not hold the numbers from {self.low} to {self.high}; give more bits"
            )

    @classmethod
    def tight(cls, low: int, high: int) -> "Code":
        """In as few bits as tell all numbers of the range apart.

        >>> Code.tight(0, 9).width
        4
        """
        return cls(low, high, bits_for(high - low + 1))

    def encode(self, value: int) -> str:
        """Return the number as zeros and ones."""
        if not self.low <= value <= self.high:
            raise SeparatrixError(f"{value} is not one of the agreed numbers from {self.low} to {self.high}")
        return format(value - self.low, f"0{self.width}b") if self.width else ""

    def decode(self, bits: str) -> int:
        """Return the number behind zeros and ones; a word that no number has raises."""
        value = self.low + (int(bits, 2) if bits else 0)
        if len(bits) != self.width or value > self.high:
            raise SeparatrixError(
                f"the word {bits!r} is the code of no number from {self.low} to {self.high}; the message was damaged"
            )
        return value


class BitWriter:
    """Collects what goes into one message."""

    def __init__(self) -> None:
        self._words: list[str] = []

    def write(self, value: int, code: Code) -> None:
        """Append one whole number."""
        self._words.append(code.encode(value))

    def write_all(self, values: Iterable[int], code: Code) -> None:
        """Append several whole numbers of one range."""
        self._words += [code.encode(value) for value in values]

    def write_numbers(self, numbers: RawArray, arithmetic: SendableArithmetic) -> None:
        """Append raw numbers (any shape, row by row) of an arithmetic, p bits each."""
        self.write_all(_words_of(numbers, arithmetic), number_code(arithmetic))

    @property
    def bits(self) -> str:
        """Everything written so far."""
        return "".join(self._words)


class BitReader:
    """Takes a message apart in the order in which it was written."""

    def __init__(self, bits: str) -> None:
        self._bits = bits
        self._place = 0

    def read(self, code: Code) -> int:
        """Return the next whole number."""
        end = self._place + code.width
        if end > len(self._bits):
            raise SeparatrixError(f"a message of {len(self._bits)} bits ends too early; {end} were agreed on")
        word = self._bits[self._place : end]
        self._place = end
        return code.decode(word)

    def read_all(self, count: int, code: Code) -> list[int]:
        """Return the next whole numbers of one range."""
        return [self.read(code) for _ in range(count)]

    def read_numbers(self, count: int, arithmetic: SendableArithmetic) -> RawArray:
        """Return the next raw numbers (count,) of an arithmetic."""
        return _numbers_of(self.read_all(count, number_code(arithmetic)), arithmetic)

    def finish(self) -> None:
        """Raise unless everything was read."""
        if self._place != len(self._bits):
            raise SeparatrixError(f"a message of {len(self._bits)} bits is too long; {self._place} were agreed on")


def number_code(arithmetic: SendableArithmetic) -> Code:
    """Return one number of an arithmetic in its p bits: all of Q_p, or every bit pattern of a format.

    >>> number_code(FixedPoint(16, 2))
    Code(low=-65536, high=65536, width=18)
    """
    bits = arithmetic.precision_bits
    if isinstance(arithmetic, FixedPoint):
        limit = arithmetic.largest**2
        return Code(-limit, limit, bits)
    return Code(0, (1 << bits) - 1, bits)


def sum_code(arithmetic: FixedPoint, count: int) -> Code:
    """Return the exact sum of at most ``count`` numbers in p + ⌈log2 count⌉ bits.

    It fits: 2·count·limit + 1 ≤ count·(2·limit + 1) ≤ 2^⌈log2 count⌉ · 2^p.
    """
    most = max(1, count) * arithmetic.largest**2
    return Code(-most, most, arithmetic.precision_bits + bits_for(count))


def _words_of(numbers: RawArray, arithmetic: SendableArithmetic) -> list[int]:
    flat = numpy.ravel(numbers)
    if isinstance(arithmetic, Floating):
        flat = numpy.ascontiguousarray(flat, dtype=arithmetic.dtype).view(_unsigned(arithmetic))
    return [int(word) for word in flat.tolist()]


def _numbers_of(words: list[int], arithmetic: SendableArithmetic) -> RawArray:
    if isinstance(arithmetic, FixedPoint):
        return numpy.array(words, dtype=arithmetic.dtype)
    return numpy.array(words, dtype=_unsigned(arithmetic)).view(arithmetic.dtype)


def _unsigned(arithmetic: Floating) -> numpy.dtype[Any]:
    return numpy.dtype(f"u{arithmetic.dtype.itemsize}")
