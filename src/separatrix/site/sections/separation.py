"""The separation table: tasks against classes of models, with the evidence from above and below in every cell.

The pages that show it are the front page and those of the tasks (``site``); here is the table of the terminal. Every
verdict has a word and a sign of its own, so that nothing depends on colour.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rich.table import Table

from separatrix.bounds import Model
from separatrix.constructions import constructions
from separatrix.site.pages.cells import BITS, Grid
from separatrix.site.pages.found import Found
from separatrix.site.section import Advance, Section
from separatrix.table import LENGTH, LONG, PRECISION, Cell, certify_all, table
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
COLUMNS: Mapping[Model, str] = {
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


@dataclass(frozen=True)
class TaskRow:
    """The cells of one task by class of models."""

    task: str
    title: str
    cells: Mapping[Model, Cell]


@dataclass(frozen=True)
class SeparationResults:
    """The table at one length; ``long`` is the second length of the bounds' widths, at ``precision`` bits."""

    length: int
    long: int
    precision: int
    legend: Mapping[str, str]
    rows: tuple[TaskRow, ...]


@dataclass(frozen=True, kw_only=True)
class SeparationSection(Section[SeparationResults]):
    """Who can, who cannot, and why."""

    name: str = "separation"
    title: str = "The separation table"
    order: int = 5
    results_type: type = SeparationResults

    @property
    def units(self) -> int:
        """One for each construction that is certified, and one for the bounds."""
        return len(constructions()) + 1

    def collect(self, advance: Advance) -> SeparationResults:
        """Certify every construction at one length and put it next to the bounds."""
        certified = certify_all(LENGTH, advance)
        cells = table(certified, LENGTH)
        advance("compared every cell with every bound")
        rows = tuple(
            TaskRow(name, task.title, {each.model: each for each in cells if each.task == name})
            for name, task in tasks().items()
        )
        return SeparationResults(LENGTH, LONG, PRECISION, LEGEND, rows)


def terminal_table(sections: Mapping[str, Any]) -> Table:
    """Return the verdicts with the numbers of the front page's cells at a small N, narrow enough for 80 columns."""
    results: SeparationResults = sections[SECTION.name]
    grid = Grid(Found.of(sections))
    shown = Table(title="How size must grow with N", title_justify="left", padding=(0, 0, 0, 1))
    shown.add_column("task", style="bold", no_wrap=True)
    for heading in COLUMNS.values():
        shown.add_column(heading, no_wrap=True)
    for row in results.rows:
        shown.add_row(row.task, *[_terminal(row.cells[model], grid) for model in COLUMNS])
    meanings = "; ".join(f"{SIGNS[name]} {name}: {text}" for name, text in results.legend.items())
    shown.caption = (
        f"1 layer, 2 layers: Transformers; 3rd: third-order attention. Numbers as on the front page at N = "
        f"{results.length}: ≤ width of a network (b: bits of state), at its own p; ≥ what every model needs at p = "
        f"{grid.precisions[grid.precision]}. {meanings}"
    )
    return shown


def _terminal(cell: Cell, grid: Grid) -> str:
    colour, word = TERMINAL[cell.verdict]
    numbers = grid.cell(cell.task, cell.model)
    upper, lower, _ = numbers.at(grid.lengths.index(LENGTH), grid.precision)
    unit = "b" if numbers.unit == BITS else ""
    both = (("≤", upper.text.replace(" × ", "×")), ("≥", lower))
    lines = [f"{mark}{text}{unit}" for mark, text in both if text]
    sign = SIGNS[cell.verdict]
    return "\n".join([f"[{colour}]{sign} {word}[/{colour}]", *(f"[dim]{line}[/dim]" for line in lines)])


SECTION = SeparationSection()
