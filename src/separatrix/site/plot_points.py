"""The points of a drawn figure for the page: where each is in the SVG, and what it says when a reader points at it.

Lines and bars say their label with the values of both axes; a label that begins with an underscore is not in the
legend and is said all the same. An image says what the attribute ``said`` of its axes lists, in the same form.
"""

import json
from collections.abc import Iterator
from typing import Any

POINTS = 72
"""Units of an SVG in an inch."""


def plot_points(canvas: Any) -> str:
    """Return the JSON list of [sentence, points] of a matplotlib figure, a point as [x, y, values…]: a place in the
    units of its SVG, and what fills the places ``{}`` of the sentence."""
    height, scale = canvas.get_figheight() * POINTS, POINTS / canvas.dpi
    found: dict[str, list[tuple[float | str, ...]]] = {}
    for axes in canvas.axes:
        (left, low), (right, high) = axes.bbox.get_points()
        for sentence, x, y, values in _said(axes):
            across, up = axes.transData.transform((x, y))
            if left - 1 <= across <= right + 1 and low - 1 <= up <= high + 1:
                place = round(across * scale, 1), round(height - up * scale, 1)
                found.setdefault(sentence, []).append((*place, *values))
    return json.dumps(list(found.items()), ensure_ascii=False, separators=(",", ":"))


def _said(axes: Any) -> Iterator[tuple[str, float, float, tuple[str, ...]]]:
    across, up = (axis.get_label_text() for axis in (axes.xaxis, axes.yaxis))
    yield from getattr(axes, "said", ())
    for line in axes.get_lines():
        label = str(line.get_label())
        if not label.startswith("_child"):
            for x, y in zip(line.get_xdata(orig=True), line.get_ydata(orig=True), strict=True):
                yield f"{label.lstrip('_')} · {across} {{}}, {up} {{}}", x, y, (_number(x), _number(y))
    for bars in axes.containers:
        for bar in bars:
            x, y = bar.get_x() + bar.get_width() / 2, bar.get_height()
            yield f"{across} {{}}, {up} {{}}", x, y, (_number(x), _number(y))


def _number(value: Any) -> str:
    number = float(value)
    return f"{number:,.0f}" if number == round(number) else f"{number:,.4g}"
