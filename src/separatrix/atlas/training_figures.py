"""Figures of training runs: curves over steps, and heat maps of accuracy beside the papers'."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from separatrix.atlas.figure import PALETTE, draw
from separatrix.atlas.section import Figure

if TYPE_CHECKING:
    from separatrix.training.events import Point

STYLES = ("-", "--", ":", "-.")


def curve_figure(title: str, curves: "Sequence[tuple[str, Sequence[Point]]]", name: str = "curves") -> Figure:
    """Accuracy on fresh examples over training steps, one line for each run."""

    def paint(axes: Any) -> None:
        for number, (label, points) in enumerate(curves):
            axes.plot(
                [point.step for point in points],
                [100 * point.accuracy for point in points],
                label=label,
                color=PALETTE[number % len(PALETTE)],
                linestyle=STYLES[number // len(PALETTE) % len(STYLES)],
                marker="o" if len(points) < 3 else None,
            )
        axes.set_xlabel("training steps")
        axes.set_ylabel("accuracy on fresh examples (%)")
        axes.set_ylim(-2, 102)
        axes.set_title(title)
        axes.legend(frameon=False, fontsize=8)

    return draw(name, f"{title}: accuracy over training steps.", paint)
