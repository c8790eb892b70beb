"""Drawing with matplotlib: one function that turns axes code into an SVG and a PNG.

The figure uses the object interface only (no pyplot, so no global state) and the colour-blind-safe palette of Okabe
and Ito. SVG text is drawn as paths and its ids are salted with the figure's name, so that the same results give the
same bytes.
"""

import importlib
import io
import re
from collections.abc import Callable
from typing import Any

from separatrix.atlas.section import Figure
from separatrix.errors import SeparatrixError

PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")


def draw(name: str, caption: str, paint: Callable[[Any], None], width: float = 7.5, height: float = 4.5) -> Figure:
    """Paint on fresh axes and return the figure; raises when the ``atlas`` extra is not installed."""
    try:
        # Loaded by name: matplotlib's types are partial and it is only an extra.
        matplotlib: Any = importlib.import_module("matplotlib")
        canvases: Any = importlib.import_module("matplotlib.backends.backend_agg")
        figures: Any = importlib.import_module("matplotlib.figure")
    except ImportError as error:
        raise SeparatrixError("figures need matplotlib; install it with  pip install 'separatrix[atlas]'") from error
    with matplotlib.rc_context(
        {"svg.hashsalt": name, "font.size": 10, "axes.spines.top": False, "axes.spines.right": False}
    ):
        canvas = figures.Figure(figsize=(width, height), layout="constrained")
        canvases.FigureCanvasAgg(canvas)
        paint(canvas.add_subplot())
        svg, png = io.StringIO(), io.BytesIO()
        canvas.savefig(svg, format="svg", metadata={"Date": None, "Title": caption})
        canvas.savefig(png, format="png", dpi=160, metadata={"Software": None})
    # The XML prologue is not allowed inside an HTML page, and ids must be unique among all figures of the page.
    markup = svg.getvalue()
    markup = re.sub(r'(\bid="|href="#|url\(#)', lambda found: f"{found[1]}{name}-", markup[markup.index("<svg") :])
    return Figure(name, caption, markup, png.getvalue())
