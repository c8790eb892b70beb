"""Recorded experiments as rows of ``atlas.json``: ours next to the paper's, with the run behind each cell.

``experiment_row`` gathers one from records; ``figure_data`` makes of it what draws figures.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from separatrix.site.origin import Origin
from separatrix.training import Ending

if TYPE_CHECKING:
    from separatrix.training import Experiment, FigureCell, FigureData, Record, RunSource


@dataclass(frozen=True)
class RunRow:
    """The run behind a cell, as records have it."""

    name: str
    spec: Mapping[str, Any]
    recipe: str
    ending: Ending
    step: int
    accuracy: float
    loss: float | None
    seconds: float
    parameters: int
    environment: Mapping[str, Any]
    finished_at: str
    weights: str | None


@dataclass(frozen=True)
class CellRow:
    """One cell of an experiment (``training.FigureCell``), accuracies in percent."""

    row: str
    column: str
    accuracy: float | None
    paper: float | None
    deviation: float | None
    runs_compared: int
    most_steps: int
    budget: str | None
    of_this_scale: bool
    still_rising: bool | None
    undertrained: tuple[str, ...]
    recipe: str | None
    seeds: tuple[float, ...]
    unfinished_step: int | None
    record: RunRow | None

    @property
    def key(self) -> tuple[str, str]:
        """Its place."""
        return self.row, self.column


@dataclass(frozen=True)
class CellBits:
    """How many bits of each number of a trained state suffice; None: more than were tried."""

    row: str
    column: str
    bits: int | None


@dataclass(frozen=True)
class PaperRow:
    """The paper's own table."""

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    accuracy: tuple[tuple[float, ...], ...]
    origin: Origin


@dataclass(frozen=True)
class ExperimentRow:
    """One experiment: what is recorded of it next to the paper's numbers."""

    figure: str
    scale: str
    source: str
    steps: tuple[int, int] | None
    as_planned: bool
    remarks: tuple[str, ...]
    cells: tuple[CellRow, ...]
    curves: Mapping[str, tuple[tuple[int, float], ...]]
    curve_column: str | None
    bits: tuple[CellBits, ...]
    title: str
    task: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    recorded: int
    missing: str
    paper: PaperRow | None
    train_command: str
    origin: Origin

    @property
    def curves_name(self) -> str:
        """The name of the figure of its curves."""
        return f"curves-{self.figure}-{self.scale}"

    @property
    def ours(self) -> dict[tuple[str, str], float | None]:
        """Our accuracies where there is a table of them."""
        return {cell.key: cell.accuracy for cell in self.cells} if self.recorded and len(self.columns) > 1 else {}

    @property
    def compared(self) -> dict[tuple[str, str], float | None]:
        """Ours minus the paper's; where few cells are the paper's own, the remarks say it better than a table."""
        found = {cell.key: cell.deviation for cell in self.cells}
        known = sum(value is not None for value in found.values())
        return found if len(self.columns) > 1 and 3 * known >= len(found) else {}

    @property
    def theirs(self) -> dict[tuple[str, str], float]:
        """The paper's accuracies."""
        if self.paper is None:
            return {}
        lines = zip(self.paper.rows, self.paper.accuracy, strict=True)
        return {
            (row, column): value for row, line in lines for column, value in zip(self.paper.columns, line, strict=True)
        }

    @property
    def spent(self) -> dict[tuple[str, str], str | None]:
        """What each cell cost."""
        return {cell.key: cell.budget for cell in self.cells}

    @property
    def undertrained(self) -> dict[tuple[str, str], tuple[str, ...]]:
        """The reasons of the cells that say little."""
        return {cell.key: cell.undertrained for cell in self.cells if cell.undertrained}


def shown_first(rows: Iterable[ExperimentRow]) -> list[ExperimentRow]:
    """Sort experiments, those with something to see first."""
    return sorted(rows, key=lambda row: (not row.recorded, row.paper is None))


def experiment_row(experiment: "Experiment", runs: "RunSource", read: str) -> ExperimentRow:
    """Gather an experiment from the runs; ``read`` is what a reader adds to a command to read the same records."""
    from separatrix.training import best_scale, gather, missing_note

    scale = best_scale(experiment, runs)
    data = gather(experiment, scale, runs)
    records = [cell.record for cell in data.cells.values() if cell.record is not None]
    drawn = f"separatrix figure {experiment.name} --scale {scale}{read}"
    paper = data.paper and PaperRow(
        data.paper.rows,
        data.paper.columns,
        tuple(tuple(data.paper.accuracy[row, column] for column in data.paper.columns) for row in data.paper.rows),
        Origin("printed", experiment.source, drawn, "float32"),
    )
    return ExperimentRow(
        figure=experiment.name, scale=scale, source=experiment.source, steps=data.steps, as_planned=data.as_planned,
        remarks=data.remarks, cells=tuple(_cell(each) for each in data.cells.values()),
        curves={
            row: tuple((point.step, point.accuracy) for point in points) for row, points in data.curves.items()
        },
        curve_column=data.curve_column, bits=tuple(CellBits(*key, bits) for key, bits in data.bits.items()),
        title=experiment.title, task=experiment.task, rows=data.rows, columns=data.columns, recorded=data.recorded,
        missing=missing_note(experiment, scale, list(data.cells.values())), paper=paper,
        train_command=f"separatrix sweep {experiment.name} --scale {scale}",
        origin=recorded_origin(records, f"{{count}} of {len(data.cells)} cells", drawn),
    )  # fmt: skip


def _cell(cell: "FigureCell") -> CellRow:
    record = cell.record and RunRow(**cell.record.as_dict())
    changed: dict[str, Any] = {"undertrained": cell.undertrained, "seeds": cell.seeds, "record": record}
    return CellRow(**{**cell.as_dict(), **changed})


def recorded_origin(records: "list[Record]", what: str, command: str) -> Origin:
    """Return the origin of runs: devices, versions, numbers and seed of records; ``what`` may name their count."""
    devices = dict.fromkeys(str(record.environment.get("device_name", "unknown device")) for record in records)
    versions = dict.fromkeys(str(record.environment.get("separatrix", "")) for record in records)
    precisions = dict.fromkeys(record.spec.precision for record in records)
    seeds = {record.spec.seed for record in records}
    reach = f"{what.format(count=len(records))}, on {', '.join(devices)}" if records else "no record yet"
    seed = seeds.pop() if len(seeds) == 1 else None
    return Origin("recorded", reach, command, ", ".join(precisions), seed, ", ".join(filter(None, versions)))


def figure_data(row: ExperimentRow) -> "FigureData":
    """Return a figure's data from the results, as the drawing of figures takes it."""
    from separatrix.training import (
        FigureCell,
        FigureData,
        Point,
        Record,
        Result,
        experiments,
        paper_table,
        recorded_spec,
    )

    nothing = float("nan")

    def record(run: RunRow | None) -> "Record | None":
        if run is None:
            return None
        loss = nothing if run.loss is None else run.loss
        result = Result(run.name, run.ending, run.step, run.accuracy, loss, run.seconds, run.parameters)
        return Record(recorded_spec(run.spec), result, dict(run.environment), run.finished_at, run.weights)

    experiment = experiments()[row.figure]
    cells = {
        cell.key: FigureCell(
            *cell.key, record(cell.record), cell.of_this_scale, cell.runs_compared, cell.unfinished_step, cell.paper,
            cell.still_rising, cell.most_steps, cell.undertrained, cell.seeds,
        )
        for cell in row.cells
    }  # fmt: skip
    curves = {
        name: [Point(name, step, nothing, nothing, accuracy) for step, accuracy in points]
        for name, points in row.curves.items()
    }
    paper = None if experiment.paper is None else paper_table(experiment.paper)
    return FigureData(
        experiment, row.scale, row.rows, row.columns, cells, paper, row.curve_column, curves, row.remarks,
        {(each.row, each.column): each.bits for each in row.bits},
    )  # fmt: skip
