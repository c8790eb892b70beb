"""The figure of a profile: residual classes over the cuts of one length, and what every length up to N needs."""

import math
from typing import Any

from separatrix.profiles import ProfileRecord
from separatrix.site.figure import PALETTE, draw, panels
from separatrix.site.section import Figure


def profile_figure(found: ProfileRecord) -> Figure:
    """Return two panels: bits of state after t symbols at length N; what N asks of a state and of a protocol."""

    def paint(axes: Any) -> None:
        left, right = panels(axes, 2)
        _paint_cuts(left, found)
        _paint_lengths(right, found)

    caption = f"{found.function} at N = {found.length}: residual classes of every cut, and the lengths up to N."
    return draw(f"profile-{found.function}", caption, paint, width=10.0, height=4.2)


def _paint_cuts(axes: Any, found: ProfileRecord) -> None:
    cuts = range(found.length + 1)
    bits = [math.log2(count) for count in found.residual_classes]
    axes.bar(cuts, bits, color=PALETTE[5], width=0.8)
    axes.step([cut - 0.5 for cut in [*cuts, found.length + 1]], [*found.state_bits, found.state_bits[-1]],
              where="post", color=PALETTE[0], linewidth=1.5, label="state bits needed")  # fmt: skip
    axes.set_xlabel("symbols read, t")
    axes.set_ylabel("log2 of the residual classes")
    axes.set_title(f"{found.function}, N = {found.length}", fontsize=10)
    axes.set_ylim(0, max(1.0, 1.15 * max(found.state_bits)))
    axes.legend(frameon=False, fontsize=8, loc="upper left")


def _paint_lengths(axes: Any, found: ProfileRecord) -> None:
    series = (
        ("recurrent state (log2 classes)", [(each.length, each.classes) for each in found.lengths], PALETTE[0], "o"),
        (
            "communication, best partition",
            [(each.length, each.rectangles) for each in found.lengths if each.rectangles is not None],
            PALETTE[1],
            "s",
        ),
    )
    top = 1.0
    for label, counts, colour, marker in series:
        bits = [math.log2(count) for _, count in counts]
        top = max([top, *bits])
        if counts:
            axes.plot([length for length, _ in counts], bits, linestyle="none", marker=marker, markersize=5,
                      color=colour, label=label)  # fmt: skip
    axes.set_xlabel("input length N")
    axes.set_ylabel("bits")
    # Room for the legend above, and for whole markers at 0.
    axes.set_ylim(-0.03 * top, 1.25 * top)
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.grid(alpha=0.3)
    axes.set_title("every length up to N", fontsize=10)
    axes.legend(frameon=False, fontsize=8, loc="upper left")
