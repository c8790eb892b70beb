"""The picture of a construction's frontier."""

from typing import Any

from separatrix.site.figure import PALETTE, draw, look, panels
from separatrix.site.section import Figure
from separatrix.table import EXPONENTS, Survey, best, spread


def frontier_picture(found: Survey) -> Figure:
    """Draw left the smallest certified width against N, right the border of what is certified."""

    # At most seven planes that have points, the smallest and the largest among them.
    shown_planes = spread([length for length, points in found.planes.items() if best(points)], len(PALETTE))

    def paint(axes: Any) -> None:
        left, right = panels(axes, 2)
        for number, exponent in enumerate(EXPONENTS):
            shown = [(w.length, w.point.width) for w in found.widths if w.exponent == exponent and w.point is not None]
            if shown:
                left.plot(*zip(*shown, strict=True), **look(number), label=f"Kc = {exponent}")
        own = [(length, max(point.width for point in points)) for length, points in found.planes.items() if points]
        if own:
            left.plot(*zip(*own, strict=True), "-", marker="_", color="#777777", label="the theorem's codes")
        left.set_xscale("log", base=2)
        left.set_yscale("log", base=2)
        left.set_xlabel("length N")
        left.set_ylabel("smallest certified width")
        for number, length in enumerate(shown_planes):
            points = [(point.precision_bits, point.width) for point in best(found.planes[length])]
            right.plot(
                *zip(*sorted(points), strict=True), drawstyle="steps-post", markersize=4, **look(number),
                label=f"N = 2^{length.bit_length() - 1}",
            )  # fmt: skip
        right.set_xlabel("bits of a number, p")
        right.set_ylabel("width")
        right.set_yscale("log", base=2)
        for each in (left, right):
            each.grid(alpha=0.3)
            if each.get_legend_handles_labels()[1]:
                each.legend(frameon=False, fontsize=8)

    return draw(f"frontier-{found.construction}", picture_caption(found), paint, width=10, height=4.2)


def picture_caption(found: Survey) -> str:
    """Return what the picture shows, in words."""
    return (
        f"{found.construction}: left, the narrowest network that is certified for all inputs; right, the "
        "boundary of the certified region: circles of few dimensions and many bits at the lower right, sign codes at "
        "the upper left."
    )
