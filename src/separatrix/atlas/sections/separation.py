"""The separation table: tasks against classes of models, with the evidence from above and below in every cell.

Colours are from the palette of Okabe and Ito, which colour-blind readers can tell apart; every verdict also has a word
and a sign of its own, so that nothing depends on colour.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape

from rich.table import Table

from separatrix.atlas.section import Advance, Results, Section
from separatrix.atlas.separation import CLASSES, LENGTH, LONG, PRECISION, certify_all, table
from separatrix.constructions import constructions
from separatrix.tasks import tasks

SIGNS: Mapping[str, tuple[str, str, str, str]] = {
    # verdict: sign, colour on the page, colour and word on the terminal
    "constant": ("●", "#009e73", "green", "const"),
    "logarithmic": ("◐", "#0072b2", "blue", "log"),
    "linear": ("■", "#d55e00", "red", "linear"),
    "quadratic": ("▲", "#882255", "magenta", "quadr"),
    "open": ("?", "#8c8c8c", "yellow", "open"),
    "not applicable": ("–", "transparent", "dim", ""),
}
COLUMNS = {
    "rnn": "RNN",
    "transformer-1layer": "1 layer",
    "transformer-2layer": "2 layers",
    "fnn": "FNN",
    "third-order": "3rd",
    "graph-transformer": "graph",
}
"""Headings that fit a terminal of 80 columns."""
LEGEND = {
    "constant": "a size that does not grow with N",
    "logarithmic": "at most a power of log N: width O(log N) at precision O(log N) in the papers",
    "linear": "at least N and at most N, up to powers of log N and the precision",
    "quadratic": "the same with N²: graphs have N² bits",
    "open": "neither the papers nor this package settle it: what is known from both sides stands in the cell",
    "not applicable": "the class does not take the task's inputs",
}


@dataclass(frozen=True, kw_only=True)
class SeparationSection(Section):
    """Who can, who cannot, and why."""

    name: str = "separation"
    title: str = "The separation table"
    order: int = 5

    @property
    def units(self) -> int:
        """One for each construction that is certified, and one for the bounds."""
        return len(constructions()) + 1

    def collect(self, advance: Advance) -> Results:
        """Certify every construction at one length and put it beside the bounds."""
        certified = certify_all(LENGTH, advance)
        cells = table(certified, LENGTH)
        advance("compared every cell with every bound")
        rows = [
            {
                "task": task,
                "title": tasks()[task].title,
                "cells": {each.model: each.described() for each in cells if each.task == task},
            }
            for task in tasks()
        ]
        return {"length": LENGTH, "long": LONG, "precision": PRECISION, "legend": LEGEND, "rows": rows}

    def body(self, results: Results) -> str:
        """Legend, table of verdicts, and a fold for each task with all evidence."""
        head = "".join(f'<th scope="col">{escape(title)}</th>' for title in ("task", *CLASSES.values()))
        lines = "".join(_row(row) for row in results["rows"])
        caption = (
            "How the size of a model must grow with N: state bits of recurrent models, m·p·H of attention layers, m·p "
            "of a "
            f"first layer. ≤ from above (sizes certified at N = {results['length']} for all inputs, or a simple "
            "reason), ≥ "
            f"from below (bits that a protocol needs at N = {results['length']}). All evidence is below the table."
        )
        folds = "".join(_fold(row) for row in results["rows"])
        return (
            f"{_legend(results['legend'])}"
            f'<div class="scroll"><table><caption>{escape(caption)}</caption><thead><tr>{head}</tr></thead>'
            f"<tbody>{lines}</tbody></table></div>{folds}"
        )

    def table(self, results: Results) -> Table:
        """The verdicts with certified widths and needed bits, narrow enough for 80 columns."""
        shown = Table(title="How size must grow with N", title_justify="left", padding=(0, 0, 0, 1))
        shown.add_column("task", style="bold", no_wrap=True)
        for heading in COLUMNS.values():
            shown.add_column(heading, no_wrap=True)
        for row in results["rows"]:
            shown.add_row(row["task"], *[_terminal(row["cells"][model]) for model in COLUMNS])
        meanings = "; ".join(f"{SIGNS[name][0]} {name}: {text}" for name, text in results["legend"].items())
        numbers = f"≤ a width certified and ≥ bits needed at N = {results['length']}"
        shown.caption = f"1 layer, 2 layers: Transformers; 3rd: third-order attention. {numbers}. {meanings}"
        return shown


def _row(row: Results) -> str:
    cells = "".join(_cell(row["cells"][model]) for model in CLASSES)
    return f'<tr><td><a href="#separation-{escape(row["task"])}">{escape(row["task"])}</a></td>{cells}</tr>'


def _cell(cell: Results) -> str:
    sign, colour, *_ = SIGNS[cell["verdict"]]
    parts = [f"<strong>{sign} {escape(cell['verdict'])}</strong>", *(escape(line) for line in _short(cell))]
    style = f"border-left:.35rem solid {colour};padding-left:.5rem"
    return f'<td style="{style}">{"<br>".join(parts)}</td>'


def _short(cell: Results) -> list[str]:
    """The best evidence from each side in few words."""
    above, below = cell["upper"][:1], cell["lower"][:1]
    return [*(f"≤ {side['short']}" for side in above), *(f"≥ {side['short']}" for side in below)]


def _fold(row: Results) -> str:
    listed = "".join(f"<dt>{escape(CLASSES[model])}</dt><dd>{_evidence(row['cells'][model])}</dd>" for model in CLASSES)
    name, title = escape(row["task"]), escape(row["title"])
    return (
        f'<details id="separation-{name}"><summary>{title} <span>{name}</span></summary>'
        f'<p><a href="#task-{name}">What the task asks</a></p><dl>{listed}</dl></details>'
    )


def _evidence(cell: Results) -> str:
    parts = [f"<strong>{escape(cell['verdict'])}</strong>"]
    parts += [_side("≤", side) for side in cell["upper"]]
    parts += [_side("≥", side) for side in cell["lower"]]
    parts += [f"<em>{escape(remark)}</em>" for remark in cell["remarks"]]
    return "<br>".join(parts)


def _side(mark: str, side: Results) -> str:
    return f"{mark} {escape(side['growth'])}: {escape(side['text'])} ({escape(side['source'])})"


def _legend(legend: Mapping[str, str]) -> str:
    entries = "".join(
        f'<dt style="border-left:.35rem solid {SIGNS[name][1]};padding-left:.5rem">{SIGNS[name][0]} {escape(name)}</dt>'
        f"<dd>{escape(text)}</dd>"
        for name, text in legend.items()
    )
    return f'<dl aria-label="Legend">{entries}</dl>'


def _terminal(cell: Results) -> str:
    sign, _, colour, word = SIGNS[cell["verdict"]]
    above = [
        f"≤{side['number'].replace(' heads', '').replace(' ', '')}" for side in cell["upper"][:1] if side["number"]
    ]
    below = [f"≥{side['number']}" for side in cell["lower"][:1]]
    return "\n".join([f"[{colour}]{sign} {word}[/{colour}]", *(f"[dim]{line}[/dim]" for line in (*above, *below))])


SECTION = SeparationSection()
