"""The separation table: tasks against classes of models, with the evidence from above and below in every cell.

The pages that show it are the front page and those of the tasks (``site``); here is the table of the terminal. Every
verdict has a word and a sign of its own, so that nothing depends on colour.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from rich.table import Table

from separatrix.constructions import constructions
from separatrix.site.pages.cells import BITS, CellNumbers, Grid
from separatrix.site.section import Advance, Results, Section
from separatrix.table import LENGTH, LONG, PRECISION, certify_all, table
from separatrix.tasks import tasks

SIGNS: Mapping[str, str] = {
    "constant": "●", "logarithmic": "◐", "linear": "■", "quadratic": "▲", "open": "?", "not applicable": "–",
}  # fmt: skip
TERMINAL: Mapping[str, tuple[str, str]] = {
    "constant": ("green", "const"),
    "logarithmic": ("blue", "log"),
    "linear": ("red", "linear"),
    "quadratic": ("magenta", "quadr"),
    "open": ("yellow", "open"),
    "not applicable": ("dim", ""),
}
"""The colour and the word of each verdict on a terminal."""
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
    "open": "neither the papers nor this package settle it; the evidence says what is known",
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
        """Certify every construction at one length and put it next to the bounds."""
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

    def table(self, results: Results) -> Table:
        """The verdicts alone: their numbers need other sections."""
        return _table(results, None)

    def full_table(self, sections: Results) -> Table:
        """The verdicts with the numbers of the front page's cells at a small N, narrow enough for 80 columns."""
        return _table(sections[self.name], Grid(sections))


def _table(results: Results, grid: Grid | None) -> Table:
    shown = Table(title="How size must grow with N", title_justify="left", padding=(0, 0, 0, 1))
    shown.add_column("task", style="bold", no_wrap=True)
    for heading in COLUMNS.values():
        shown.add_column(heading, no_wrap=True)
    for row in results["rows"]:
        cells = [(row["cells"][model], None if grid is None else grid.cell(row["task"], model)) for model in COLUMNS]
        shown.add_row(row["task"], *[_terminal(cell, numbers, grid) for cell, numbers in cells])
    legend = "1 layer, 2 layers: Transformers; 3rd: third-order attention."
    if grid is not None:
        legend += (
            f" Numbers as on the front page at N = {results['length']}: ≤ width of a network (b: bits of state), at "
            f"its own p; ≥ what every model needs at p = {grid.precisions[grid.precision]}."
        )
    meanings = "; ".join(f"{SIGNS[name]} {name}: {text}" for name, text in results["legend"].items())
    shown.caption = f"{legend} {meanings}"
    return shown


def _terminal(cell: Results, numbers: CellNumbers | None, grid: Grid | None) -> str:
    sign = SIGNS[cell["verdict"]]
    colour, word = TERMINAL[cell["verdict"]]
    lines: list[str] = []
    if numbers is not None and grid is not None:
        upper, lower, _ = numbers.at(grid.lengths.index(LENGTH), grid.precision)
        unit = "b" if numbers.unit == BITS else ""
        both = (("≤", upper.text.replace(" × ", "×")), ("≥", lower))
        lines = [f"{mark}{text}{unit}" for mark, text in both if text]
    return "\n".join([f"[{colour}]{sign} {word}[/{colour}]", *(f"[dim]{line}[/dim]" for line in lines)])


SECTION = SeparationSection()
