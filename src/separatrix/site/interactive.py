"""Interactive figures: Plotly draws them, and its script travels along, so that a page opens without a network."""

import importlib
import json
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any, TypeAlias

from separatrix.extras import require
from separatrix.site.figure import PALETTE, THEME

Plot: TypeAlias = tuple[str, Mapping[str, Any]]
"""What a figure shows in words, and its ``data`` and ``layout`` as Plotly takes them."""

SCRIPT = "plotly.js"
"""The name of Plotly's script among the assets of the atlas."""
CONFIG = {"responsive": True, "displaylogo": False, "showSendToCloud": False, "showEditInChartStudio": False}
DASHES = ("solid", "dash", "dot", "dashdot")
SYMBOLS = ("circle", "square", "diamond", "triangle-up", "triangle-down", "cross", "x", "star")
"""Lines and marks that differ without colours, as Plotly names them."""
STYLE = ".plot { max-width: 60rem; margin: 1rem 0; } .plot.cells { min-width: 34rem; }"
"""A narrow screen scrolls a heat map: pressed together, the numbers in its cells would run into each other."""
COLOURS = (
    "const coloured = () => { const page = getComputedStyle(document.documentElement);"
    'const of = (name) => page.getPropertyValue(name).trim(), ink = of("--ink"), line = of("--line");'
    'for (const plot of document.querySelectorAll(".plot")) {'
    'const look = { paper_bgcolor: of("--paper"), "font.color": ink };'
    'if (plot.data[0].type === "scatter") { Object.assign(look, { plot_bgcolor: of("--paper") });'
    'for (const axis of ["xaxis", "yaxis"]) { look[axis + ".gridcolor"] = look[axis + ".zerolinecolor"] = line; }'
    'Plotly.restyle(plot, { "line.color": plot.data.map((each) => of(each.meta)),'
    '"marker.color": plot.data.map((each) => of(each.meta)) }); }'
    "Plotly.relayout(plot, look); } }; coloured();"
    'matchMedia("(prefers-color-scheme: dark)").addEventListener("change", coloured)'
)
"""Paper, text and lines in the colours of the page, light or dark; the cells of a heat map keep theirs."""


def line(number: int, name: str, across: Sequence[float], up: Sequence[float], **more: Any) -> dict[str, Any]:
    """Return one line through marks among many, with its own colour, dashes and marks."""
    colour = PALETTE[number % len(PALETTE)]
    return {
        "type": "scatter", "mode": "lines+markers", "name": name, "meta": THEME[colour],
        "line": {"color": colour, "dash": DASHES[number % len(DASHES)]},
        "marker": {"size": 5, "symbol": SYMBOLS[number % len(SYMBOLS)]}, "x": list(across), "y": list(up), **more,
    }  # fmt: skip


def drawn(plots: Sequence[Plot], source: str = "") -> str:
    """Return figures as HTML, with Plotly's script inside or, on pages of the atlas, from its assets (``source``)."""
    if not plots:
        return ""
    places = "".join(
        f'<div class="scroll" tabindex="0"><div class="plot{_cells(plot)}" id="plot{number}" role="group" '
        f'aria-label="{escape(label, quote=True)}"></div></div>'
        for number, (label, plot) in enumerate(plots)
    )
    body = ";".join(
        f'Plotly.newPlot("plot{number}",{_inline(plot["data"])},{_inline(plot["layout"])},{_inline(CONFIG)})'
        for number, (_, plot) in enumerate(plots)
    )
    script = f'<script src="{escape(source)}"></script>' if source else f"<script>{plotly_script()}</script>"
    # A figure that was drawn folds the picture that replaces it without scripts.
    fold = (
        'addEventListener("DOMContentLoaded", () => {'
        'for (const each of document.querySelectorAll("details.still")) each.open = false })'
    )
    return f"<style>{STYLE}</style>{places}{script}<script>{body};{COLOURS};{fold}</script>"


def _cells(plot: Mapping[str, Any]) -> str:
    return " cells" if any(each["type"] == "heatmap" for each in plot["data"]) else ""


def _inline(value: Any) -> str:
    """Return JSON that may be in a script: no text can end it early."""
    return json.dumps(value, ensure_ascii=True).replace("<", "\\u003c")


def plotly_script() -> str:
    """Return Plotly's own script."""
    require("an interactive figure", "plotly")
    # Loaded by name: it is only an extra.
    offline: Any = importlib.import_module("plotly.offline")
    return str(offline.get_plotlyjs())
