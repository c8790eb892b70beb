"""The figure of a profile: residual classes over the cuts of one length, and growth over all lengths."""

import math
from typing import Any

from separatrix.atlas.figure import PALETTE, draw
from separatrix.atlas.section import Figure
from separatrix.communication.profile import Profile
from separatrix.communication.profile.growth import Growth, law_in_words


def profile_figure(found: Profile) -> Figure:
    """Two panels: bits of state after t symbols at length N; what N asks of a state and of a protocol."""

    def paint(axes: Any) -> None:
        figure = axes.figure
        axes.remove()
        left, right = figure.subplots(1, 2)
        _paint_cuts(left, found)
        _paint_growth(right, found)

    caption = f"{found.name} at N = {found.length}: residual classes of every cut, and growth with N."
    return draw(f"profile-{found.name}", caption, paint, width=10.0, height=4.2)


def _paint_cuts(axes: Any, found: Profile) -> None:
    cuts = range(found.length + 1)
    bits = [math.log2(count) for count in found.residuals.classes]
    axes.bar(cuts, bits, color=PALETTE[5], width=0.8)
    axes.step([cut - 0.5 for cut in [*cuts, found.length + 1]], [*found.residuals.bits, found.residuals.bits[-1]],
              where="post", color=PALETTE[0], linewidth=1.5, label="state bits needed")  # fmt: skip
    axes.set_xlabel("symbols read, t")
    axes.set_ylabel("log2 of the residual classes")
    axes.set_title(f"{found.name}, N = {found.length}", fontsize=10)
    axes.set_ylim(0, max(1.0, 1.15 * max(found.residuals.bits)))
    axes.legend(frameon=False, fontsize=8, loc="upper left")


def _paint_growth(axes: Any, found: Profile) -> None:
    series = (
        ("recurrent state (log2 classes)", found.state_growth, PALETTE[0], "o"),
        ("communication, best partition", found.communication_growth, PALETTE[1], "s"),
    )
    for label, growth, colour, marker in series:
        if not growth.lengths:
            continue
        axes.plot(growth.lengths, growth.values, linestyle="none", marker=marker, markersize=5, color=colour,
                  label=_named(label, growth))  # fmt: skip
        if growth.best is not None:
            # A level that was only seen went through no points of its own: it is drawn where the series is long.
            first = growth.fitted[0] if growth.fitted else growth.lengths[-1] / 3
            fitted = [length for length in growth.lengths if length >= first]
            axes.plot(fitted, [growth.best.at(length) for length in fitted], color=colour, linewidth=1.2)
    axes.set_xlabel("input length N")
    axes.set_ylabel("bits")
    top = max([1.0, *found.state_growth.values, *found.communication_growth.values])
    # Room for the legend above, and for whole markers at 0.
    axes.set_ylim(-0.03 * top, 1.25 * top)
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.grid(alpha=0.3)
    axes.set_title("growth with N; lines are fits", fontsize=10)
    axes.legend(frameon=False, fontsize=8, loc="upper left")


def _named(label: str, growth: Growth) -> str:
    return label if growth.best is None else f"{label}: {law_in_words(growth.law)}, {growth.best.formula()}"
