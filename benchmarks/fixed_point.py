"""How much quicker the vectorised fixed point is than the same definition on Fractions, one number at a time.

Both sides run in this process on the same numbers and their results are compared, so the reported ratios do not
depend on the machine's speed as much as times would. Run with ``python -m benchmarks fixed-point``.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb, ctx, fmpq

from benchmarks.report import Report
from benchmarks.timing import best_of
from separatrix.arithmetic import FixedPoint, RawArray

CASES = {
    "one word": FixedPoint(1024, 2),
    "two words": FixedPoint(1024, 3),
    "Python ints that fit a word": FixedPoint(1024, 4),
    "Python ints": FixedPoint(1024, 8),
}
"""By what the products of numbers around 1 need: 40 bits, 60 bits, 80 bits, 160 bits."""

Row = dict[str, str | float]


@dataclass(frozen=True)
class FractionLoops:
    """B.2, rounded down, as loops over Fractions."""

    end: int

    def snap(self, value: Fraction) -> Fraction:
        """Round down to the grid and saturate."""
        return max(Fraction(-self.end), min(Fraction(self.end), Fraction(math.floor(value * self.end), self.end)))

    def multiply(self, left: list[Fraction], right: list[Fraction]) -> list[Fraction]:
        """Multiply elementwise."""
        return [self.snap(a * b) for a, b in zip(left, right, strict=True)]

    def matmul(self, left: list[list[Fraction]], right: list[list[Fraction]]) -> list[list[Fraction]]:
        """Multiply matrices, each product rounded."""
        columns = list(zip(*right, strict=True))
        return [
            [
                self.snap(sum((self.snap(a * b) for a, b in zip(row, column, strict=True)), Fraction(0)))
                for column in columns
            ]
            for row in left
        ]

    def softmax(self, rows: list[list[Fraction]]) -> list[list[Fraction]]:
        """Take the softmax of each row, with the exponential from balls that are far finer than the grid."""
        results: list[list[Fraction]] = []
        for row in rows:
            largest = max(row)
            powers = [self.exp(self.snap(score - largest)) for score in row]
            total = sum(powers)
            results.append([self.snap(power / total) for power in powers])
        return results

    def exp(self, value: Fraction) -> Fraction:
        """Round the exponential down."""
        if value == 0:
            return Fraction(1)
        with ctx.workprec(4 * self.end.bit_length() + 64):
            steps = (arb(fmpq(value.numerator, value.denominator)).exp() * self.end).floor().unique_fmpz()
        assert steps is not None, "the balls are fine enough for the numbers of this benchmark"
        return min(Fraction(self.end), Fraction(int(steps), self.end))


def numbers(arithmetic: FixedPoint, shape: tuple[int, ...], seed: int) -> RawArray:
    """Draw numbers between −8 and 8 that use every bit after the point."""
    generator = np.random.default_rng(seed)
    digits = generator.integers(0, 1 << 30, size=(*shape, 4)).astype(object)
    fractions = digits @ np.array([1 << 30 * place for place in range(4)], dtype=object)
    raw = fractions * 16 * arithmetic.largest // (1 << 120) - 8 * arithmetic.largest
    return raw.astype(arithmetic.dtype)


def table(size: int = 32) -> list[Row]:
    """Measure every operation in every case; one row each."""
    rows: list[Row] = []
    for case, arithmetic in CASES.items():
        loops = FractionLoops(arithmetic.largest)
        left, right = numbers(arithmetic, (size, size), 1), numbers(arithmetic, (size, size), 2)
        long_left, long_right = numbers(arithmetic, (size**2 * 8,), 3), numbers(arithmetic, (size**2 * 8,), 4)
        operations: dict[str, tuple[Callable[..., Any], Callable[..., Any], tuple[RawArray, ...]]] = {
            f"multiply {size**2 * 8}": (arithmetic.multiply, loops.multiply, (long_left, long_right)),
            f"matmul {size}×{size}×{size}": (arithmetic.matmul, loops.matmul, (left, right)),
            f"softmax {size}×{size}": (arithmetic.softmax, loops.softmax, (left,)),
        }
        for operation, (vectorised, loop, arguments) in operations.items():
            fractions = [arithmetic.decode(argument).tolist() for argument in arguments]
            quick, result = best_of(lambda run=vectorised, given=arguments: run(*given), repeats=5)
            slow, expected = best_of(lambda run=loop, given=fractions: run(*given), repeats=1)
            assert arithmetic.decode(result).tolist() == expected, f"{operation} in {arithmetic} is wrong"
            rows.append(
                {
                    "case": case,
                    "arithmetic": str(arithmetic),
                    "operation": operation,
                    "milliseconds": quick * 1e3,
                    "fraction loop, milliseconds": slow * 1e3,
                    "ratio": slow / quick,
                }
            )
    return rows


def reports() -> Iterator[Report]:
    """The table for the documentation."""
    rows = table()
    report = Report(
        "Fixed point, vectorised against a loop over Fractions",
        "Same numbers, results compared for equality; cases by what a product of two numbers needs.",
        tuple(rows[0]),
    )
    for row in rows:
        report.add(*(cell if isinstance(cell, str) else f"{cell:.3g}" for cell in row.values()))
    yield report
