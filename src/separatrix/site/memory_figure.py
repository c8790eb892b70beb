"""Memory against length, several models side by side, for the command line and the page."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from separatrix.capacities import ModelDescription, bytes_at
from separatrix.site.figure import draw, legend_below, look
from separatrix.site.html import page, table
from separatrix.site.interactive import Plot, drawn, line
from separatrix.site.pages.text import short
from separatrix.site.section import Figure

POWERS = range(4, 23)
"""From 16 to 4M tokens."""
TICKS = {
    power: f"{1 << power % 10} {unit}"
    for power in range(4, 60, 4)
    for place, unit in enumerate(("bytes", "KiB", "MiB", "GiB", "TiB", "PiB"))
    if place == power // 10
}


LENGTHS = [1 << power for power in POWERS]
Series: TypeAlias = Mapping[str, Sequence[int]]
"""By name of a model its bytes at ``LENGTHS``."""


def memory_series(models: Sequence[ModelDescription], given: int | None = None) -> dict[str, list[int]]:
    """Return the bytes that a text takes at each length; ``given`` is the bits of every number, where they are
    given. A model that keeps nothing says so in its name, because a logarithmic axis has no 0."""
    sizes = [[bytes_at(model, length, given) for length in LENGTHS] for model in models]
    return {
        model.name if any(held) else f"{model.name} (0 bytes)": held for model, held in zip(models, sizes, strict=True)
    }


def memory_figure(name: str, series: Series) -> Figure:
    """Return a line for each model."""

    def paint(axes: Any) -> None:
        for number, (model, sizes) in enumerate(series.items()):
            axes.plot(LENGTHS, sizes, **look(number), markersize=3.5, label=model)
        axes.set_xscale("log", base=2)
        axes.set_yscale("log", base=2)
        axes.set_xticks([1 << power for power in range(4, 23, 3)], ["16", "128", "1k", "8k", "64k", "512k", "4M"])
        bottom, top = axes.get_ylim()
        ticks = {1 << power: words for power, words in TICKS.items() if bottom < 1 << power < top}
        axes.set_yticks(list(ticks), list(ticks.values()))
        axes.minorticks_off()
        axes.set_xlabel("length of the text in tokens")
        axes.set_ylabel("bytes kept of the text")
        axes.grid(alpha=0.3)
        legend_below(axes.figure, *axes.get_legend_handles_labels())

    names = ", ".join(list(series)[:3]) + (", …" if len(series) > 3 else "")
    return draw(name, f"What a text takes in memory against its length: {names}.", paint)


def memory_plot(series: Series) -> Plot:
    """Return the same lines for a page: pointing at one reads off the bytes, its legend hides and shows models."""
    shown = [(length, short(length)) for length in LENGTHS[::3]]
    largest = max((size for sizes in series.values() for size in sizes), default=1)
    ticks = {1 << power: words for power, words in TICKS.items() if 1 << power <= 2 * largest}
    traces = [
        line(number, model, LENGTHS, sizes, customdata=[f"{short(length)} tokens: {size:,} bytes"
             for length, size in zip(LENGTHS, sizes, strict=True)],
             hovertemplate="%{fullData.name}, %{customdata}<extra></extra>")
        for number, (model, sizes) in enumerate(series.items())
    ]  # fmt: skip
    layout = {
        "title": {"text": "What a text takes in memory"}, "height": 560, "hovermode": "closest",
        "legend": {"orientation": "h", "y": -0.2}, "margin": {"l": 70, "r": 10, "t": 40},
        "xaxis": {"title": {"text": "length of the text in tokens"}, "type": "log",
                  "tickvals": [each for each, _ in shown], "ticktext": [words for _, words in shown]},
        "yaxis": {"title": {"text": "bytes kept of the text", "standoff": 12}, "type": "log", "tickvals": list(ticks),
                  "ticktext": list(ticks.values()), "automargin": True},
    }  # fmt: skip
    return "lines of memory against length, one for each model", {"data": traces, "layout": layout}


def memory_page(series: Series, footer: str) -> str:
    """Return the interactive figure as one page that needs nothing else, with its numbers as a table."""
    headings = ("tokens", *series)
    rows = [
        (f"{length:,}", *(f"{sizes[place]:,}" for sizes in series.values())) for place, length in enumerate(LENGTHS)
    ]
    numbers = table(headings, rows, "Bytes that one text takes.", numbers=tuple(range(len(headings))))
    lead = "Bytes of the arrays that the code of each model keeps of one text, against its length."
    sections = [("figure", "Memory against length", drawn([memory_plot(series)])), ("numbers", "The numbers", numbers)]
    return page("What a text takes in memory", lead, sections, footer)
