"""The picture of a design: what is kept of a text and how wide attention layers are, against the length."""

from typing import Any

from separatrix.site.figure import PALETTE, draw, look, panels
from separatrix.site.section import Figure
from separatrix.table import Design, Outcome, curves


def design_picture(found: Design) -> Figure:
    """Draw left bits that are kept of a text against its length, at least and enough, with those of presets at the
    length; right, the width of attention layers."""
    task, length = found.task, found.length
    lines = curves(found)

    def paint(axes: Any) -> None:
        left, right = panels(axes, 2)
        for place, drawn in ((left, lines.memory), (right, lines.widths)):
            for number, (name, points) in enumerate(drawn):
                if points:
                    place.plot(*zip(*points, strict=True), **look(number), markersize=4, label=name)
        marks = {Outcome.PASSES: ("_", "#555555"), Outcome.EXCLUDED: ("x", PALETTE[1])}
        for outcome, (mark, colour) in marks.items():
            bits = [each.available_bits for each in found.judged(outcome) if each.available_bits]
            if bits:
                left.plot([length] * len(bits), bits, linestyle="none", marker=mark, color=colour, markersize=9,
                          label=f"a preset's memory: {outcome.value}")  # fmt: skip
        left.set_ylabel("bits kept of a text")
        right.set_ylabel("width × heads")
        for place in (left, right):
            place.set_xscale("log", base=2)
            place.set_yscale("log", base=10)
            place.set_xlabel("length N")
            place.grid(alpha=0.3)
            if place.get_legend_handles_labels()[1]:
                place.legend(frameon=False, fontsize=8)

    caption = (
        f"{task.name}: left, the bits that must be kept of a text and those that are enough, with the memory of "
        f"published models at N = {length:,}; right, the width of attention layers."
    )
    return draw(f"design-{task.name}-{length}", caption, paint, width=11, height=4.6)
