"""A figure of the paper as data: our records cell by cell, the paper's number next to each, and what must be said.

A cell shows the best of what was tried for it, as in BHBK24 Appendix H: all recorded runs of its task, length and
model, whatever the learning rate, seed, heads, precision, recipe or number of steps. So a figure can be drawn from
runs of fewer or more steps than its scale has, and every cell says how many it had.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any

from separatrix.errors import SeparatrixError
from separatrix.models import code_named_in, parse_spec
from separatrix.training.events import Point
from separatrix.training.experiments.experiment import SCALES, Experiment
from separatrix.training.experiments.remarks import remarks
from separatrix.training.experiments.rounded_states import rounded_states
from separatrix.training.heatmap import table_axes
from separatrix.training.record import Record, best_of
from separatrix.training.run_source import RunSource
from separatrix.training.spec import START, RunSpec
from separatrix.training.sweep import Cell, Sweep, value_text
from separatrix.training.undertrained import still_rising, thousands, undertrained

SHORT, SHARE = 3.0, 0.1
"""A cell is short of a number by more points than this, or by more than this share of a small number."""


@dataclass(frozen=True)
class PaperTable:
    """Accuracies in percent by (row, column), as printed in the paper."""

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    accuracy: Mapping[tuple[str, str], float]


@dataclass(frozen=True)
class FigureCell:
    """One cell: its best record, how many runs were compared, and the paper's accuracy in percent.

    ``rising`` says that the best run still got better when its steps were used up (None: its curve is too short to
    say); ``most_steps`` are those that any of the runs was allowed, but for runs that were given up. ``undertrained``
    are the reasons why a low accuracy says little (:mod:`separatrix.training.undertrained`); none where it does.
    ``seeds`` are the accuracies in percent of the best run's setting, seed by seed.
    """

    row: str
    column: str
    record: Record | None
    of_this_scale: bool
    runs: int
    unfinished_step: int | None
    paper: float | None
    rising: bool | None = False
    most_steps: int = 0
    undertrained: tuple[str, ...] = ()
    seeds: tuple[float, ...] = ()

    @property
    def recipe(self) -> str | None:
        """How the best run was trained."""
        return None if self.record is None else self.record.spec.recipe

    @property
    def longer(self) -> bool:
        """Whether a run of more steps ended no better than the best one."""
        return self.record is not None and self.most_steps > self.record.spec.steps

    @property
    def accuracy(self) -> float | None:
        """Ours, in percent."""
        return None if self.record is None else 100 * self.record.result.accuracy

    @property
    def deviation(self) -> float | None:
        """Ours minus the paper's, in points."""
        return None if self.accuracy is None or self.paper is None else self.accuracy - self.paper

    @property
    def budget(self) -> str | None:
        """What was spent on it: the steps that the best run was allowed, and how many runs it is the best of."""
        if self.record is None:
            return None
        recipe = "" if self.recipe == "paper" else f", {self.recipe}"
        recipe += " at full length" if self.record.spec.full_length else ""
        recipe += ", lengths growing" if self.record.spec.growth else ""
        spread = f", {len(self.seeds)} seeds from {min(self.seeds):.1f}" if len(self.seeds) > 1 else ""
        return f"{thousands(self.record.spec.steps)} × {self.runs}{recipe}{spread}"

    def as_dict(self) -> dict[str, Any]:
        """Return plain data for machines."""
        return {
            "row": self.row,
            "column": self.column,
            "accuracy": self.accuracy,
            "paper": self.paper,
            "deviation": self.deviation,
            "runs_compared": self.runs,
            "most_steps": self.most_steps,
            "budget": self.budget,
            "of_this_scale": self.of_this_scale,
            "still_rising": self.rising,
            "undertrained": list(self.undertrained),
            "recipe": self.recipe,
            "seeds": list(self.seeds),
            "unfinished_step": self.unfinished_step,
            "record": None if self.record is None else self.record.as_dict(),
        }


@dataclass(frozen=True)
class FigureData:
    """A whole figure; ``curves`` are those of the best run of each row at ``curve_column``. A user's sweep has no
    ``scale``. ``bits`` of each number of a trained state suffice where states were rounded (None: more than tried)."""

    experiment: Experiment
    scale: str | None
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    cells: Mapping[tuple[str, str], FigureCell]
    paper: PaperTable | None
    curve_column: str | None
    curves: Mapping[str, Sequence[Point]]
    remarks: tuple[str, ...]
    bits: Mapping[tuple[str, str], int | None] = field(default_factory=dict)

    @property
    def stem(self) -> str:
        """The name of its files."""
        return self.experiment.name if self.scale is None else f"{self.experiment.name}-{self.scale}"

    @property
    def recorded(self) -> int:
        """How many cells have a record."""
        return sum(cell.record is not None for cell in self.cells.values())

    @property
    def as_planned(self) -> bool:
        """Whether every record is of a run that the scale itself asks for, with all its steps."""
        return all(cell.of_this_scale for cell in self.cells.values() if cell.record is not None)

    @property
    def steps(self) -> tuple[int, int] | None:
        """The fewest and the most steps that the best runs of the cells were allowed."""
        found = [cell.record.spec.steps for cell in self.cells.values() if cell.record is not None]
        return (min(found), max(found)) if found else None

    def as_dict(self) -> dict[str, Any]:
        """Return plain data for machines."""
        return {
            "figure": self.experiment.name,
            "scale": self.scale,
            "source": self.experiment.source,
            "steps": self.steps,
            "as_planned": self.as_planned,
            "remarks": list(self.remarks),
            "cells": [cell.as_dict() for cell in self.cells.values()],
            "curves": {row: [[point.step, point.accuracy] for point in points] for row, points in self.curves.items()},
            "curve_column": self.curve_column,
            "bits": [{"row": row, "column": column, "bits": bits} for (row, column), bits in self.bits.items()],
        }


@cache
def paper_figures() -> Mapping[str, Any]:
    """Return the numbers printed in BHBK24, as read from its figures."""
    return json.loads(files("separatrix.training.experiments").joinpath("paper_figures.json").read_text("utf-8"))


def paper_table(key: str) -> PaperTable:
    """Return one heat map of the paper."""
    found = paper_figures()[key]
    rows = tuple(str(parse_spec(name)) for name in found["accuracy"])
    columns = tuple(map(str, found["lengths"]))
    numbers = list(found["accuracy"].values())
    accuracy = {
        (row, column): float(number)
        for row, line in zip(rows, numbers, strict=True)
        for column, number in zip(columns, line, strict=True)
    }
    return PaperTable(rows, columns, accuracy)


@lru_cache(maxsize=4096)
def plain_model(architecture: str) -> str:
    """Return a model without its number of heads, which the paper tunes and its rows do not name.

    >>> plain_model("TF-(1,64,heads=4,positions=none)")
    'TF-(1,64,positions=none)'
    """
    spec = parse_spec(architecture)
    return str(replace(spec, options=tuple(each for each in spec.options if each[0] != "heads")))


def best_scale(experiment: Experiment, source: RunSource) -> str:
    """Return the scale that the recorded runs are of: the largest that is complete, else the one with the most cells.

    A cell that a smaller scale has as well counts for a scale only if one of its runs was allowed more steps than the
    smaller one has: short runs that happen to lie on the grid of a larger scale do not make a figure of that scale. Of
    several that are level the one with the most records, then the smallest; so quick where there are none.
    """
    counted: dict[str, tuple[int, int]] = {}
    complete: list[str] = []
    held: set[tuple[str, str]] = set()
    before = 0
    for scale in (each for each in SCALES if each in experiment.scales):
        cells = _cells(experiment, experiment.sweep(scale), source)
        recorded = {key: cell for key, cell in cells.items() if cell.record is not None}
        own = sum(key not in held or cell.most_steps > before for key, cell in recorded.items())
        counted[scale] = own, len(recorded)
        complete += [scale] if own == len(cells) else []
        held |= set(recorded)
        before = max(run.steps for cell in experiment.sweep(scale).cells() for run in cell.runs)
    return complete[-1] if complete else max(counted, key=lambda scale: counted[scale])


def experiment_of(sweep: Sweep, path: str) -> Experiment:
    """Return a user's sweep as a figure: a heat map and curves, without a paper next to it."""
    first = sweep.cells()[0]
    rows, columns = table_axes([name for name, _ in first.coordinates])
    return Experiment(
        name=sweep.name, title=sweep.title, source=path, task=first.runs[0].task, scales={}, rows=rows,
        columns=columns, curves=True,
    )  # fmt: skip


def gather(experiment: Experiment, scale: str | None, source: RunSource, sweep: Sweep | None = None) -> FigureData:
    """Return the figure at a scale, or of a user's ``sweep``, from what a store or exported files hold."""
    found = _cells(experiment, sweep or experiment.sweep(scale or "quick"), source)
    paper = None if experiment.paper is None else paper_table(experiment.paper)
    rows, columns = (tuple(dict.fromkeys(key[side] for key in found)) for side in (0, 1))
    at = None
    curves: dict[str, list[Point]] = {}
    if experiment.curves:
        at = str(experiment.curves_at.get(scale or "", columns[-1]))
        if at not in columns:
            raise SeparatrixError(f"{experiment.name} has no column {at} at scale {scale}; mend curves_at")
        for row in rows:
            record = found[row, at].record
            if record is not None:
                curves[row] = source.curve(record.spec.name)
    most = int(paper_figures()["training_recipe"]["max_steps"])
    rounded = rounded_states(source.folders(), scale) if experiment.rounded and scale is not None else {}
    said = tuple(remarks(experiment, scale, list(found.values()), paper is not None, most, rounded))
    bits = {key: state.bits for key, state in rounded.items() if key in found}
    return FigureData(experiment, scale, rows, columns, found, paper, at, curves, said, bits)


def _cells(experiment: Experiment, sweep: Sweep, source: RunSource) -> dict[tuple[str, str], FigureCell]:
    """Return the cells of a figure by row and column, without what is said about them."""
    cells = sweep.cells()
    paper = None if experiment.paper is None else paper_table(experiment.paper)
    everything = source.all()
    others = [
        name
        for name, _ in cells[0].coordinates
        if name not in (experiment.rows, experiment.columns) and len({value_text(cell.at(name)) for cell in cells}) > 1
    ]
    found: dict[tuple[str, str], FigureCell] = {}
    for cell in cells:
        row = ", ".join(value_text(cell.at(axis)) for axis in (experiment.rows, *others))
        made = _cell(cell, row, value_text(cell.at(experiment.columns)), everything, source, paper)
        found[made.row, made.column] = made
    most = max((each.most_steps for each in found.values()), default=0)
    return {key: replace(each, undertrained=_undertrained(each, most, source)) for key, each in found.items()}


def _undertrained(cell: FigureCell, most: int, source: RunSource) -> tuple[str, ...]:
    """Return why a cell fell short of the paper's number, or of its goal, as far as that is for want of training."""
    if cell.record is None:
        return ()
    wanted = 100 * cell.record.spec.goal if cell.paper is None else cell.paper
    curve, steps = source.curve(cell.record.spec.name), max(cell.most_steps, cell.record.spec.steps)
    return undertrained(cell.record, curve, (wanted - min(SHORT, SHARE * wanted)) / 100, most, steps)


def _cell(
    cell: Cell, row: str, column: str, everything: Sequence[Record], source: RunSource, paper: PaperTable | None
) -> FigureCell:
    first = cell.runs[0]
    axes = {"task", "task_parameters", "length", *(name for name, _ in cell.coordinates)} - {"architecture"}
    matching = [record for record in everything if _same_cell(record.spec, first, axes)]
    if all(record.result.ending == "pruned" for record in matching):
        matching = []  # those for which they were given up are still in training: nothing can be said yet
    best = best_of(matching)
    unfinished = None
    if best is None:
        steps = [curve[-1].step for curve in (source.curve(run.name) for run in cell.runs) if curve]
        unfinished = max(steps, default=None)
    # A run with the earlier start counts as the same run of the scale.
    own = best is not None and best.spec.with_changes(start=START) in cell.runs
    printed = None if paper is None else paper.accuracy.get((plain_model(first.architecture), column))
    rising = False
    if best is not None and best.result.ending == "steps":
        rising = still_rising(source.curve(best.spec.name), best.spec.probe_examples)
    most = max((each.spec.steps for each in matching if each.result.ending != "pruned"), default=0)
    return FigureCell(
        row, column, best, own, len(matching), unfinished, printed, rising, most, seeds=_seeds(best, matching)
    )


def _seeds(best: Record | None, matching: Sequence[Record]) -> tuple[float, ...]:
    """Return accuracies in percent of the runs that differ from the best one in their seed alone, ascending."""
    if best is None:
        return ()
    shared = replace(best.spec, seed=0)
    return tuple(sorted(100 * each.result.accuracy for each in matching if replace(each.spec, seed=0) == shared))


def _same_cell(given: RunSpec, wanted: RunSpec, axes: Iterable[str]) -> bool:
    return (
        all(getattr(given, name) == getattr(wanted, name) for name in axes)
        # Code that only a record names is another model, and must not be imported to find that out.
        and set(code_named_in(given.architecture)) <= set(code_named_in(wanted.architecture))
        and plain_model(given.architecture) == plain_model(wanted.architecture)
    )
