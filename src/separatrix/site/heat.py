"""The colours of heat maps, one palette for pictures and pages: what falls short of the paper is red in both.

The libraries that draw have palettes of the same names that run in opposite directions, so the colours are here. The
text in a cell is black or white, whichever has more contrast with its ground (contrast as WCAG 2 defines it).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Heat:
    """Colours at equal distances between two values, ``#rrggbb`` each."""

    low: float
    high: float
    colours: tuple[str, ...]

    def scale(self) -> list[list[Any]]:
        """Return the colours as Plotly takes them, from 0 to 1."""
        return [[number / (len(self.colours) - 1), colour] for number, colour in enumerate(self.colours)]

    def map(self) -> Any:
        """Return the colours as matplotlib takes them."""
        from matplotlib.colors import LinearSegmentedColormap

        return LinearSegmentedColormap.from_list("heat", list(self.colours))

    def ground(self, value: float) -> tuple[float, float, float]:
        """Return red, green and blue, from 0 to 255, behind a value; those beyond the ends have the colour of the end.

        >>> DIFFERENCE.ground(-50), DIFFERENCE.ground(1000)
        ((103.0, 0.0, 31.0), (5.0, 48.0, 97.0))
        """
        place = min(1.0, max(0.0, (value - self.low) / (self.high - self.low))) * (len(self.colours) - 1)
        first = min(int(place), len(self.colours) - 2)
        before, after = (_channels(self.colours[number]) for number in (first, first + 1))
        share = place - first
        red, green, blue = ((1 - share) * one + share * other for one, other in zip(before, after, strict=True))
        return red, green, blue

    def ink(self, value: float | None) -> str:
        """Return black or white, whichever is read better on the ground of a value; black where there is none.

        >>> DIFFERENCE.ink(-50), DIFFERENCE.ink(0), DIFFERENCE.ink(50), DIFFERENCE.ink(None)
        ('white', 'black', 'white', 'black')
        """
        if value is None:
            return "black"
        light = _luminance(self.ground(value))
        return "white" if contrast(1.0, light) > contrast(0.0, light) else "black"


def contrast(one: float, other: float) -> float:
    """Return the contrast of two luminances, 1 to 21.

    >>> contrast(0.0, 1.0)
    21.0
    """
    return round((max(one, other) + 0.05) / (min(one, other) + 0.05), 9)


def _luminance(colour: Sequence[float]) -> float:
    linear = [each / 255 / 12.92 if each / 255 <= 0.04045 else ((each / 255 + 0.055) / 1.055) ** 2.4 for each in colour]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _channels(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


LARGEST_DIFFERENCE = 50.0
"""Points at which the colours of a table of differences end."""
PERCENT = Heat(
    0.0, 100.0,
    ("#ffffd9", "#edf8b1", "#c7e9b4", "#7fcdbb", "#41b6c4", "#1d91c0", "#225ea8", "#253494", "#081d58"),
)  # fmt: skip
"""Accuracy, the darker the better (ColorBrewer YlGnBu)."""
DIFFERENCE = Heat(
    -LARGEST_DIFFERENCE, LARGEST_DIFFERENCE,
    ("#67001f", "#b2182b", "#d6604d", "#f4a582", "#fddbc7", "#f7f7f7", "#d1e5f0", "#92c5de", "#4393c3", "#2166ac",
     "#053061"),
)  # fmt: skip
"""Ours − paper: red below the paper, blue above it (ColorBrewer RdBu)."""
BITS = Heat(0.0, 16.0, ("#fff5eb", "#fee6ce", "#fdd0a2", "#fdae6b", "#fd8d3c", "#f16913", "#d94801", "#8c2d04"))
"""Bits of a number (ColorBrewer Oranges)."""
