"""Drawing with matplotlib: one function that turns axes code into an SVG and a PNG.

The figure uses the object interface only (no pyplot, so no global state) and the colour-blind-safe palette of Okabe
and Ito. SVG text is drawn as paths and its ids are salted with the figure's name, so that the same results give the
same bytes. For pages there is a second SVG whose text stays text and whose colours are variables of the page's style
(``--ink``, ``--grid``, ``--series-1`` …), so that it follows light and dark.
"""

import importlib
import io
import math
import re
from collections.abc import Callable, Iterable, Sequence
from html import escape
from typing import Any

from separatrix.extras import require
from separatrix.site.plot_points import plot_points
from separatrix.site.section import Figure

PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MARKERS = "osD^vPX*<>"
DASHES = ("-", "--", ":", "-.")
THEME = {
    **{colour: f"--series-{number}" for number, colour in enumerate(PALETTE[:-1], start=1)},
    "#000000": "--ink", "#555555": "--soft", "#808080": "--soft", "#b0b0b0": "--grid", "#cccccc": "--grid",
}  # fmt: skip
"""The variables that represent colours on a page."""
NARROW, WIDEST, PANEL = 3.9, 4.2, 2.8
"""Inches: the width of a figure for a phone, and the widest figure that needs none;
the height of a panel on a phone."""


def look(number: int) -> dict[str, Any]:
    """Colour, mark and dashes of one series among many, as matplotlib names them.

    Ten in a row differ in their marks, four in their dashes: a reader who sees no colours can distinguish them.

    >>> look(0), look(1)["marker"]
    ({'color': '#0072B2', 'marker': 'o', 'linestyle': '-'}, 's')
    """
    return {
        "color": PALETTE[number % len(PALETTE)],
        "marker": MARKERS[number % len(MARKERS)],
        "linestyle": DASHES[number % len(DASHES)],
    }


def plot_named(axes: Any, series: Iterable[tuple[str, Sequence[tuple[float, float]]]], fontsize: float) -> None:
    """Draw lines through marks with a legend below the figure; those that coincide are one line with all their
    names."""
    named: dict[tuple[tuple[float, float], ...], list[str]] = {}
    for name, points in series:
        if points:
            named.setdefault(tuple(points), []).append(name)
    for number, (points, names) in enumerate(named.items()):
        axes.plot(*zip(*points, strict=True), **look(number), markersize=4, label=", ".join(names))
    legend_below(axes.figure, *axes.get_legend_handles_labels(), fontsize=fontsize)


def legend_below(figure: Any, handles: Sequence[Any], labels: Sequence[str], columns: int = 3, **more: Any) -> None:
    """Put a legend below a figure, in fewer columns where they would not fit."""
    fit = int(figure.get_figwidth() / (0.07 * max(map(len, labels), default=0) + 0.5))
    figure.legend(handles, labels, loc="outside lower center", frameon=False, ncols=max(1, min(columns, fit)),
                  **{"fontsize": 8, **more})  # fmt: skip


def panels(axes: Any, count: int, **shared: Any) -> list[Any]:
    """Replace axes by several, next to each other, or one below the other where a figure is narrow."""
    figure = axes.figure
    axes.remove()
    shape = (count, 1) if figure.get_figwidth() <= NARROW else (1, count)
    return list(figure.subplots(*shape, squeeze=False, **shared).flatten())


def draw(
    name: str,
    caption: str,
    paint: Callable[[Any], None],
    width: float = 7.5,
    height: float = 4.5,
    *,
    for_papers_alone: bool = False,
) -> Figure:
    """Paint on fresh axes and return the figure; raises when the ``atlas`` extra is not installed.

    A figure ``for_papers_alone`` has no SVG for a page, whose drawing takes as long as the others.
    """
    require("a figure", "matplotlib")
    # Loaded by name: matplotlib's types are partial and it is only an extra.
    matplotlib: Any = importlib.import_module("matplotlib")
    with matplotlib.rc_context(
        {"svg.hashsalt": name, "font.size": 10, "axes.spines.top": False, "axes.spines.right": False}
    ):
        canvas = _painted(paint, width, height)
        svg, png = io.StringIO(), io.BytesIO()
        canvas.savefig(svg, format="svg", metadata={"Date": None, "Title": caption})
        canvas.savefig(png, format="png", dpi=130, metadata={"Software": None})
        inline = narrow = ""
        if not for_papers_alone:
            with matplotlib.rc_context({"svg.fonttype": "none"}):
                inline = _inline(canvas, name)
                if width > WIDEST:
                    narrow = _inline(_painted(paint, NARROW, height), f"{name}-narrow")
    return Figure(name, caption, _for_pages(svg.getvalue(), name), png.getvalue(), inline, narrow)


def _painted(paint: Callable[[Any], None], width: float, height: float) -> Any:
    """Return a matplotlib figure with its layout; a narrow one is taller by its lower panels and its legend."""
    canvases: Any = importlib.import_module("matplotlib.backends.backend_agg")
    figures: Any = importlib.import_module("matplotlib.figure")
    canvas = figures.Figure(figsize=(width, height), layout="constrained")
    canvases.FigureCanvasAgg(canvas)
    paint(canvas.add_subplot())
    if width <= NARROW:
        lines = sum(math.ceil(len(each.get_texts()) / each._ncols) for each in canvas.legends)
        canvas.set_size_inches(width, (height if len(canvas.axes) == 1 else PANEL * len(canvas.axes)) + 0.17 * lines)
    # The layout is found once and kept for all formats: finding it takes longer than drawing. Without an engine
    # ("none" leaves one that does nothing) each format is drawn once and not twice.
    canvas.get_layout_engine().execute(canvas)
    canvas.set_layout_engine(None)
    return canvas


def _inline(canvas: Any, name: str) -> str:
    """Return a figure for a page, with the values of its points for the script, which shows them and zooms."""
    text = io.StringIO()
    canvas.savefig(text, format="svg", metadata=dict.fromkeys(("Date", "Creator", "Format", "Type")))
    points = escape(plot_points(canvas), quote=False).replace("'", "&#39;")
    return themed(_for_pages(text.getvalue(), name)).replace("<svg ", f"<svg data-points='{points}' ", 1)


def _for_pages(markup: str, name: str) -> str:
    """Return an SVG without the XML prologue, which HTML does not allow, with ids unique among all figures and short
    coordinates."""
    named = re.sub(r'(\bid="|href="#|url\(#)', lambda found: f"{found[1]}{name}-", markup[markup.index("<svg") :])
    # Coordinates alone, not the text of labels.
    return re.sub(r' (?:d|x|y|points|transform)="[^"]*"', lambda found: _shortened(found[0]), named)


def themed(markup: str) -> str:
    """Return an SVG in the page's fonts and colours; white backgrounds go.

    >>> themed('<path d="M 1 2" style="fill: #ffffff; stroke: #0072b2"/>')
    '<path d="M 1 2" style="fill: none; stroke: var(--series-1)"/>'
    """
    # A style element inside an SVG would hold for the whole page.
    markup = re.sub(
        r"<style.*?</style>|<metadata>.*?</metadata>| font-family: [^;\"]*;?|\n", "", markup, flags=re.DOTALL
    )
    markup = re.sub(r'(<path[^>]*style="[^"]*)fill: #ffffff', r"\1fill: none", markup)
    for colour, variable in THEME.items():
        markup = re.sub(f"{colour}(?![0-9a-f])", f"var({variable})", markup, flags=re.IGNORECASE)
    # Names that nothing refers to only make the page longer, and equal images have equal ones.
    used = set(re.findall(r'(?:href="#|url\(#)([^")]+)', markup))
    return re.sub(r' id="([^"]*)"', lambda found: found[0] if found[1] in used else "", markup)


def _shortened(attribute: str) -> str:
    # The scale of letters is a small number that must stay exact.
    places = r"(?<!scale\()(?<![\d.])-?\d+\.\d{3,}"
    return re.sub(places, lambda found: f"{float(found[0]):.2f}".rstrip("0").rstrip("."), attribute)
