"""How a quantity grows with N: constant, logarithmic or linear, whichever fits best, with the numbers.

What is fitted is the logarithm of a count (classes, rectangles) at the lengths that need more than all shorter ones: a
model for all lengths up to N needs the most that any of them needs. A constant is named when this maximum does not
change over the upper half of the lengths. Otherwise least-squares fits over the lengths from N/3 on compete:
a + b·log2 N and log2(a + b·N), both logarithmic, and a + b·N. The second is there because a count such as (N + 3)/2
looks linear in its logarithm at small N.

This describes the lengths that were run; what it says about others is extrapolation.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Literal, TypeAlias

import numpy
from numpy.typing import NDArray

Law: TypeAlias = Literal["constant", "logarithmic", "linear", "unknown"]
Form: TypeAlias = Literal["a", "a + b·log2 N", "log2(a + b·N)", "a + b·N"]
Numbers: TypeAlias = NDArray[numpy.float64]
LAW_OF: dict[Form, Law] = {
    "a": "constant",
    "a + b·log2 N": "logarithmic",
    "log2(a + b·N)": "logarithmic",
    "a + b·N": "linear",
}
FEWEST = 3
"""Lengths below which no growth is named."""
CLEARLY = 1.5
"""A law is clearly better when the error of every other law is larger by this factor."""


@dataclass(frozen=True)
class Fit:
    """One form with its numbers; ``error``: root mean square over the fitted lengths."""

    form: Form
    a: float
    b: float
    error: float

    @property
    def law(self) -> Law:
        """The growth that the form means."""
        return LAW_OF[self.form]

    def at(self, length: int) -> float:
        """The fitted value at a length."""
        if self.form == "log2(a + b·N)":
            return math.log2(max(1.0, self.a + self.b * length))
        return self.a + self.b * {"a": 0.0, "a + b·log2 N": math.log2(length), "a + b·N": float(length)}[self.form]

    def formula(self) -> str:
        """The fit with its numbers."""
        sign = "+" if self.b >= 0 else "−"
        written = self.form.replace("a", f"{self.a:.2f}", 1).replace("b", f"{abs(self.b):.3f}", 1)
        return written.replace("+", sign, 1)


@dataclass(frozen=True)
class Growth:
    """A series over lengths and its fits, best first; empty when there are too few lengths to name a growth."""

    lengths: tuple[int, ...]
    values: tuple[float, ...]
    fits: tuple[Fit, ...]

    @property
    def best(self) -> Fit | None:
        """The best fit, if there is one."""
        return self.fits[0] if self.fits else None

    @property
    def law(self) -> Law:
        """The name of the growth."""
        return self.fits[0].law if self.fits else "unknown"

    @property
    def rival(self) -> Fit | None:
        """A fit of another law that is nearly as good, if there is one."""
        if not self.fits or self.law == "constant":
            return None
        near = [fit for fit in self.fits if fit.law != self.law and fit.error < CLEARLY * self.fits[0].error + 1e-9]
        return near[0] if near else None


def fit_growth(lengths: Sequence[int], counts: Sequence[int]) -> Growth:
    """Fit the laws to the logarithms of counts (at least 1) at ascending lengths.

    >>> fit_growth(range(2, 17, 2), [2 ** (n // 2) for n in range(2, 17, 2)]).best.formula()
    '0.00 + 0.500·N'
    >>> fit_growth(range(1, 10), [(n + 3) // 2 for n in range(1, 10)]).law
    'logarithmic'
    >>> fit_growth(range(1, 17), [2] * 16).law
    'constant'
    """
    values = tuple(math.log2(count) for count in counts)
    running = list(accumulate(counts, max))
    # Lengths that need more than all before them: ties are the steps of a staircase, and would look like noise.
    records = [place for place in range(len(lengths)) if place == 0 or counts[place] > running[place - 1]]
    upper = [running[place] for place in range(len(lengths)) if 2 * lengths[place] >= lengths[-1]]
    if len(upper) >= FEWEST and min(upper) == max(upper):
        return Growth(tuple(lengths), values, (Fit("a", math.log2(upper[0]), 0.0, 0.0),))
    used = [place for place in records if 3 * lengths[place] >= lengths[-1]]
    if len(used) < FEWEST:
        return Growth(tuple(lengths), values, ())
    x = numpy.array([lengths[place] for place in used], dtype=numpy.float64)
    y = numpy.array([values[place] for place in used])
    flat = Fit("a", round(float(y.mean()), 9), 0.0, float(numpy.sqrt(((y - y.mean()) ** 2).mean())))
    fits = [flat, _line("a + b·log2 N", numpy.log2(x), y), _line("a + b·N", x, y), _logarithm(x, y)]
    return Growth(tuple(lengths), values, tuple(sorted(fits, key=lambda fit: fit.error)))


def _line(form: Form, x: Numbers, y: Numbers) -> Fit:
    slope = float(((x - x.mean()) * (y - y.mean())).sum() / ((x - x.mean()) ** 2).sum())
    # Rounded so that −0.00 is never printed and results repeat on every machine.
    a, b = round(float(y.mean() - slope * x.mean()), 9) + 0.0, round(slope, 9) + 0.0
    return Fit(form, a, b, float(numpy.sqrt(((y - a - b * x) ** 2).mean())))


def _logarithm(x: Numbers, y: Numbers) -> Fit:
    """A line through the counts themselves, its error measured in bits."""
    line = _line("a + b·N", x, numpy.exp2(y))
    fitted = numpy.log2(numpy.maximum(1.0, line.a + line.b * x))
    return Fit("log2(a + b·N)", line.a, line.b, float(numpy.sqrt(((y - fitted) ** 2).mean())))
