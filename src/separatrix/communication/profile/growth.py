"""How a quantity grows with N: constant, logarithmic or linear, whichever fits best, with the numbers.

What counts is the most that any length so far needs, as the logarithm of a count (classes, rectangles): a model for all
lengths up to N needs that much. A constant is named when this maximum does not change over the last third of the
lengths, at least three of them, is reached at two lengths or more (or in the first third of them), and has stood for
longer than any step of the rise to it: a count such as (N + 3)/2 rises by steps of two lengths. It is also named where
the caller knows an automaton that is right at all of these lengths (``most``) and was so at the last ones already: its
states are enough at every length, whatever the rise to them looks like. One that is right for the first time names
nothing, since a counter up to N is such an automaton as well.

Otherwise fits over the lengths from N/3 on compete: a + b·log2 N and log2(a + b·N), both logarithmic, and a + b·N. The
second is there because a count such as (N + 3)/2 looks linear in its logarithm at small N. They go by least squares
through the lengths at which a step begins, and through N itself where the last step is longer than those before; their
error is that at every length from N/3 on that needs no less than a shorter one.

Three points lie near many laws. So a growth other than a constant is named only where the quantity rises at four
lengths or more, and where the best fit misses the lengths by less than a fifth of the rise it describes.

A slope fitted over a few lengths is not the one that a quantity tends to: log2(2^(N/2 + 1) − 1) rises by more than a
half for each symbol. So a fit comes with the lengths that it went through, and with the formula that the counts follow
there exactly, if there is one (``exact_counts``).

This describes the lengths that were run; what it says about others is extrapolation.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, groupby
from typing import Literal, TypeAlias

import numpy
from numpy.typing import NDArray

from separatrix.communication.profile.exact_counts import exact_count
from separatrix.wording import counted

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
"""Lengths below which no constant is named."""
FEWEST_AT_LEVEL = 2
"""Lengths that reach the maximum below which it is no level, unless it was reached in the first third."""
FEWEST_RISES = 4
"""Lengths with a new maximum above 0 bits below which no other growth is named."""
WORST = 0.2
"""A fit whose error is a larger share of the rise from N/3 on names no growth."""
MOST_LISTED = 6
"""Lengths of a fit that are written out; of more the middle is left out."""
CLEARLY = 1.5
"""A law is clearly better when the error of every other law is larger by this factor."""


@dataclass(frozen=True)
class Fit:
    """One form with its numbers; root mean square errors over all lengths from N/3 on, and where steps begin."""

    form: Form
    a: float
    b: float
    error: float
    error_at_steps: float = 0.0

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
    """A series over lengths and its fits, best first; empty when the lengths do not tell a growth.

    ``fitted`` are the lengths that the fits went through, and ``exact`` the formula of the counts there, if any.
    ``unsettled``: an automaton is right at all lengths, but has not been for long enough to name a constant.
    """

    lengths: tuple[int, ...]
    values: tuple[float, ...]
    fits: tuple[Fit, ...]
    fitted: tuple[int, ...] = ()
    exact: str | None = None
    unsettled: bool = False

    @property
    def best(self) -> Fit | None:
        """The best fit, if there is one."""
        return self.fits[0] if self.fits else None

    @property
    def law(self) -> Law:
        """The name of the growth."""
        return self.fits[0].law if self.fits else "unknown"

    @property
    def rises(self) -> int:
        """At how many lengths the series is above all shorter ones and above 0 bits."""
        most = [0.0, *accumulate(self.values, max)]
        return sum(value > before for value, before in zip(self.values, most, strict=False))

    @property
    def untold(self) -> str:
        """Why no growth is named, in words; empty where one is.

        >>> fit_growth([2, 3, 4, 5, 6], [1, 1, 7, 10, 12]).untold
        'cannot be told: it rises at 3 lengths, and at least 4 are needed; run a larger N'
        """
        if self.fits:
            return ""
        if self.unsettled:
            return "cannot be told: an automaton is right at all these lengths, but only as of the last; run a larger N"
        if self.rises < FEWEST_RISES:
            where = counted(self.rises, "length")
            return f"cannot be told: it rises at {where}, and at least {FEWEST_RISES} are needed; run a larger N"
        return "cannot be told: neither a constant nor a logarithm nor a line fits; run a larger N"

    @property
    def rival(self) -> Fit | None:
        """A fit of another law that is nearly as good, if there is one."""
        if not self.fits or self.law == "constant":
            return None
        most = CLEARLY * self.fits[0].error_at_steps + 1e-9
        near = [fit for fit in self.fits if fit.law != self.law and fit.error_at_steps < most]
        return near[0] if near else None


def fitted_in_words(fitted: Sequence[int], exact: str | None, counts: str) -> str:
    """What a fit went through, and what the ``counts`` are there.

    >>> fitted_in_words((4, 6, 8, 10), "2^(N/2 + 1) − 1", "rectangles")
    'fitted at N = 4, 6, 8, 10, where the rectangles counted are exactly 2^(N/2 + 1) − 1'
    """
    shown = [str(length) for length in fitted]
    listed = ", ".join(shown if len(shown) <= MOST_LISTED else [*shown[:3], "…", shown[-1]])
    return f"fitted at N = {listed}" + ("" if exact is None else f", where the {counts} counted are exactly {exact}")


def law_in_words(law: Law) -> str:
    """The law as it may be told: that a quantity stays what it is was only seen, at the lengths that were run.

    >>> law_in_words("constant"), law_in_words("linear")
    ('constant as far as seen', 'linear')
    """
    return "constant as far as seen" if law == "constant" else law


def fit_growth(lengths: Sequence[int], counts: Sequence[int], most: int | None = None, settled: bool = True) -> Growth:
    """Fit the laws to the logarithms of counts (at least 1) at ascending lengths; no count there passes ``most``.

    ``settled``: what ``most`` comes from was right at the last lengths before as well.

    >>> fit_growth(range(2, 17, 2), [2 ** (n // 2) for n in range(2, 17, 2)]).best.formula()
    '0.00 + 0.500·N'
    >>> fit_growth(range(1, 10), [(n + 3) // 2 for n in range(1, 10)]).law
    'logarithmic'
    >>> fit_growth(range(1, 13), [2, 2, 2, 2, 3, 4, 5, 5, 5, 5, 5, 5]).law
    'constant'
    """
    values = tuple(math.log2(count) for count in counts)
    running = list(accumulate(counts, max))
    steps = [len(list(step)) for _, step in groupby(running)]
    # A length that needs less than a shorter one says nothing about the most.
    seen = [i for i in range(len(lengths)) if 3 * lengths[i] >= lengths[-1] and counts[i] == running[i]]
    x, y = numpy.array([float(lengths[i]) for i in seen]), numpy.log2([float(running[i]) for i in seen])
    # Lengths that need less, such as those at which a function is constant, show a level only where they are most.
    reached = sum(count == running[-1] for count in counts) >= FEWEST_AT_LEVEL
    if running and _levelled(lengths, steps) and (reached or 3 * steps[-1] >= 2 * len(lengths)):
        return Growth(tuple(lengths), values, (Fit("a", math.log2(running[-1]), 0.0, 0.0),))
    if most is not None and seen and len(lengths) >= FEWEST:
        level = (_constant(math.log2(most), y),) if settled else ()
        return Growth(tuple(lengths), values, level, unsettled=not settled)
    begins = [place for place in seen if place == 0 or running[place] > running[place - 1]]
    unknown = Growth(tuple(lengths), values, ())
    if len(begins) < FEWEST or unknown.rises < FEWEST_RISES:
        return unknown
    # Ties are the treads of a staircase and would bend the fit; a tread that is longer than the others is no such tie.
    if steps[-1] > max(steps[1:-1], default=1):
        begins.append(len(lengths) - 1)
    u, v = numpy.array([float(lengths[i]) for i in begins]), numpy.log2([float(running[i]) for i in begins])
    fits = [
        _constant(round(float(v.mean()), 9), v),
        _line("a + b·log2 N", numpy.log2(u), v),
        _line("a + b·N", u, v),
        _logarithm(u, v),
    ]
    ranked = sorted(fits, key=lambda fit: fit.error)
    whole = tuple(replace(fit, error=_error(fit, x, y), error_at_steps=fit.error) for fit in ranked)
    if whole[0].error > WORST * float(y.max() - y.min()):
        return unknown
    through = tuple(lengths[place] for place in begins)
    return replace(unknown, fits=whole, fitted=through, exact=exact_count(through, [running[i] for i in begins]))


def _levelled(lengths: Sequence[int], steps: Sequence[int]) -> bool:
    """Whether a maximum so far has come to rest: over the last third, and for longer than any step before."""
    third = sum(3 * length > 2 * lengths[-1] for length in lengths)
    # The first step is where the lengths are too short to show anything.
    return steps[-1] >= max(FEWEST, third, *(step + 1 for step in steps[1:-1]))


def _constant(level: float, y: Numbers) -> Fit:
    return Fit("a", level, 0.0, float(numpy.sqrt(((y - level) ** 2).mean())))


def _error(fit: Fit, x: Numbers, y: Numbers) -> float:
    fitted = numpy.array([fit.at(int(length)) for length in x.tolist()])
    return float(numpy.sqrt(((y - fitted) ** 2).mean()))


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
