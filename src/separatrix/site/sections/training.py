"""The training section: the papers' experiments from recorded runs, ours next to theirs; what is missing is named.

Nothing is trained here. Runs come from files of exported runs and from a store; where there are none, the paper's own
numbers are shown alone and the command that trains the missing ones is given.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from shlex import quote
from typing import TYPE_CHECKING, Any

from rich.table import Table

from separatrix.bounds import Model
from separatrix.shipped import short_path
from separatrix.site.html import render
from separatrix.site.origin import Origin
from separatrix.site.section import Advance, Figure, RecordedSection
from separatrix.site.state_limit import (
    LIMIT_COMMAND,
    LIMIT_TASK,
    StateLimitResults,
    state_limit_figure,
    state_limit_results,
)
from separatrix.table import Attacks, Sources, TrainedModel, attacked_in_words, attacks, opened_runs, trained_models
from separatrix.training import Ending

if TYPE_CHECKING:
    from separatrix.models import ModelSpec
    from separatrix.training import Experiment, FigureCell, FigureData, Record, RunSource

LEARNED = 0.99
"""Accuracy on fresh examples from which a task counts as learned at a length."""
ATTENTION = ("transformer", "hard-attention")
DEEP: Mapping[int, Model] = {1: "transformer-1layer", 2: "transformer-2layer"}
"""The columns of attention by its number of layers."""
SINGLE: Mapping[str, Model] = {"fnn": "fnn", "third-order": "third-order", "graph-transformer": "graph-transformer"}
"""The columns of other layers by themselves."""


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


@dataclass(frozen=True)
class Best:
    """The best run at one length; ``undertrained``: the reasons why a low accuracy says little."""

    accuracy: float
    model: str
    run: str
    undertrained: tuple[str, ...]


@dataclass(frozen=True)
class Mark:
    """What the runs of one task and class of models show: the longest length learned, the longest tried."""

    runs: int
    lengths: Mapping[int, Best]
    learned: int | None
    tried: int
    undertrained: bool


@dataclass(frozen=True)
class Climb:
    """How far one model learned one task, and the longest length that a bound leaves open to any weights."""

    task: str
    model: str
    lengths: Mapping[int, Best]
    learned: int | None
    not_learned: int | None
    bound: int | None
    bound_claim: str
    arithmetic: str
    bits: int


@dataclass(frozen=True)
class Learned:
    """The learned frontier of one architecture."""

    rows: tuple[Climb, ...]
    origin: Origin


@dataclass(frozen=True)
class Steps:
    """The fewest and the most steps behind the cells shown, and those that the paper allows."""

    least: int
    most: int
    paper: int


@dataclass(frozen=True)
class TrainingResults:
    """Everything that is recorded: experiments, marks of the table's cells, frontiers, certified and attacked runs."""

    files: tuple[str, ...]
    runs: int
    rows: tuple[ExperimentRow, ...]
    marks: Mapping[str, Mapping[Model, Mark]]
    learned: Mapping[str, Learned]
    state_limit: StateLimitResults | None
    state_limit_origin: Origin | None
    certified: tuple[TrainedModel, ...]
    attacks: Attacks
    attacked: str
    certified_origins: tuple[Origin, Origin]
    steps: Steps | None


@dataclass(frozen=True, kw_only=True)
class TrainingSection(RecordedSection[TrainingResults]):
    """Does it learn it?"""

    name: str = "training"
    title: str = "Training"
    order: int = 33
    results_type: type = TrainingResults
    page: str = "training"
    lead: str = (
        "What a model can represent it need not learn. The experiments of the papers, trained again: our accuracy, the "
        "paper's, and the difference, cell by cell. Cells without a record are empty and say how to fill them."
    )

    @property
    def units(self) -> int:
        """All experiments are one unit."""
        return 1

    def collect_from(self, sources: Sources, advance: Advance) -> TrainingResults:
        """Gather every experiment from the runs that are recorded."""
        from separatrix.training import experiments, paper_figures, run_files

        # What a reader adds to a command so that it reads the same records.
        read = "".join(f" --records {quote(short_path(path))}" for path in sources.recorded if run_files(path))
        with opened_runs(sources) as (runs, files):
            rows = tuple(_entry(each, runs, read) for each in experiments().values())
            records = runs.all()
            built_in = _built_in(records)
            limit = state_limit_results(runs)
            asked = [record for record in built_in if record.spec.task == LIMIT_TASK]
            marked = marks(built_in, runs)
            held = learned(built_in, runs, f"separatrix runs list{read}")
        advance(f"{len(records)} recorded runs")
        return TrainingResults(
            files=tuple(files), runs=len(records), rows=rows, marks=marked, learned=held, state_limit=limit,
            state_limit_origin=limit and _recorded(asked, f"{{count}} runs of {LIMIT_TASK}", LIMIT_COMMAND),
            certified=trained_models(), attacks=attacks(), attacked=attacked_in_words(),
            certified_origins=_certified_origins(),
            steps=_steps(rows, int(paper_figures()["training_recipe"]["max_steps"])),
        )  # fmt: skip

    def figures(self, results: TrainingResults) -> list[Figure]:
        """Draw the experiments of which something is recorded."""
        recorded = [row for row in results.rows if row.recorded]
        if not recorded:
            return []
        from separatrix.site.training_figures import curve_figure, experiment_figure

        drawn: list[Figure] = []
        limit, origin = results.state_limit, results.state_limit_origin
        if limit is not None and origin is not None:
            drawn.append(state_limit_figure(limit, limit.recipes[0]).with_origin(origin))
        for row in recorded:
            data = figure_data(row)
            # The whole figure is for papers; a page shows its tables as text and its curves alone.
            drawn.append(experiment_figure(data))
            if data.curves:
                title = f"{data.experiment.title}, {data.experiment.at} {data.curve_column}"
                drawn.append(curve_figure(title, list(data.curves.items()), row.curves_name))
        return drawn

    def body(self, results: TrainingResults) -> str:
        """Show what is certified, then one article for each experiment."""
        runs = [
            (row.name, f"{100 * row.accuracy:g} %", row.failing, "every input" if row.certified else "", row.one)
            for row in results.attacks.rows
        ]
        certified = [(one.task, one.text, one.command) for one in results.certified]
        shown = shown_first(results.rows)
        return render("training.html", results=results, runs=runs, certified=certified, experiments=shown)

    def table(self, results: TrainingResults) -> Table | None:
        """Show how much is recorded of each experiment."""
        shown = Table(title=f"Experiments: {results.runs} recorded runs", title_justify="left")
        shown.add_column("experiment", style="bold", no_wrap=True)
        shown.add_column("source")
        shown.add_column("scale")
        shown.add_column("cells recorded", justify="right")
        for row in results.rows:
            shown.add_row(row.figure, row.source, row.scale, f"{row.recorded} of {len(row.cells)}")
        return shown


def shown_first(rows: Iterable[ExperimentRow]) -> list[ExperimentRow]:
    """Sort experiments, those with something to see first."""
    return sorted(rows, key=lambda row: (not row.recorded, row.paper is None))


def _steps(rows: Iterable[ExperimentRow], allowed: int) -> Steps | None:
    known = [row.steps for row in rows if row.steps]
    if not known:
        return None
    return Steps(min(least for least, _ in known), max(most for _, most in known), allowed)


def _certified_origins() -> tuple[Origin, Origin]:
    """Return where certificates of trained weights come from, and where attacks do."""
    found = trained_models()
    reach = f"{len(found)} certificates, claims as the package has them"
    sampled = f"{len(attacks().rows)} runs, trained on one thread of a CPU"
    return (
        Origin("proved", reach, found[0].command, "exact over the stored weights, and float32"),
        Origin("recorded", sampled, "separatrix attack RUN", "float32"),
    )


def _built_in(records: "list[Record]") -> "list[Record]":
    """Runs of this package's architectures: code that only a record names is not run, and has no page here."""
    from separatrix.models import code_named_in

    return [record for record in records if not code_named_in(record.spec.architecture)]


def _entry(experiment: "Experiment", runs: "RunSource", read: str) -> ExperimentRow:
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
        origin=_recorded(records, f"{{count}} of {len(data.cells)} cells", drawn),
    )  # fmt: skip


def _cell(cell: "FigureCell") -> CellRow:
    record = cell.record and RunRow(**cell.record.as_dict())
    changed: dict[str, Any] = {"undertrained": cell.undertrained, "seeds": cell.seeds, "record": record}
    return CellRow(**{**cell.as_dict(), **changed})


def _recorded(records: "list[Record]", what: str, command: str) -> Origin:
    """Return the origin of runs: devices, versions, numbers and seed of records; ``what`` may name their count."""
    devices = dict.fromkeys(str(record.environment.get("device_name", "unknown device")) for record in records)
    versions = dict.fromkeys(str(record.environment.get("separatrix", "")) for record in records)
    precisions = dict.fromkeys(record.spec.precision for record in records)
    seeds = {record.spec.seed for record in records}
    reach = f"{what.format(count=len(records))}, on {', '.join(devices)}" if records else "no record yet"
    seed = seeds.pop() if len(seeds) == 1 else None
    return Origin("recorded", reach, command, ", ".join(precisions), seed, ", ".join(filter(None, versions)))


def column_of(spec: "ModelSpec") -> Model | None:
    """Return the column of the table that a trained model belongs to; None for mixtures and deeper Transformers."""
    names = set(spec.layers)
    if spec.recurrent:
        return "rnn"
    if names <= set(ATTENTION):
        return DEEP.get(spec.depth)
    return SINGLE.get(names.pop()) if len(names) == 1 and spec.depth == 1 else None


def marks(records: "Iterable[Record]", runs: "RunSource") -> dict[str, dict[Model, Mark]]:
    """Return, for each task and column, the best accuracy at every length, the longest length that was learned, and
    whether every length that was not is undertrained."""
    from separatrix.models import parse_spec

    held: dict[str, dict[Model, list[Record]]] = {}
    for record in records:
        column = column_of(parse_spec(record.spec.architecture))
        if column is not None:
            held.setdefault(record.spec.task, {}).setdefault(column, []).append(record)
    return {
        task: {column: _mark(mine, columns, runs) for column, mine in columns.items()} for task, columns in held.items()
    }


def _mark(mine: "list[Record]", columns: "dict[Model, list[Record]]", runs: "RunSource") -> Mark:
    best = _best(mine, [record for each in columns.values() for record in each], runs)
    good = [length for length, one in best.items() if one.accuracy >= LEARNED]
    undertrained = not good and all(one.undertrained for one in best.values())
    return Mark(len(mine), best, max(good, default=None), max(best), undertrained)


def learned(records: "Iterable[Record]", runs: "RunSource", command: str) -> dict[str, Learned]:
    """Return the learned frontier of each architecture: for every task and model the best accuracy at each length, the
    longest length that was learned, the shortest that was not, and the longest that a lower bound leaves open.
    """
    from separatrix.models import parse_spec

    held: dict[str, dict[tuple[str, str], list[Record]]] = {}
    of_task: dict[str, list[Record]] = {}
    for record in records:
        key = (record.spec.task, record.spec.architecture)
        of_task.setdefault(record.spec.task, []).append(record)
        for name in dict.fromkeys(parse_spec(record.spec.architecture).layers):
            held.setdefault(name, {}).setdefault(key, []).append(record)
    return {
        name: Learned(
            tuple(_climb(task, model, mine, of_task[task], runs) for (task, model), mine in sorted(rows.items())),
            _recorded([record for mine in rows.values() for record in mine], "{count} runs", command),
        )
        for name, rows in sorted(held.items())
    }


def _climb(task: str, model: str, records: "list[Record]", others: "list[Record]", runs: "RunSource") -> Climb:
    from separatrix.models import parse_spec
    from separatrix.training import PRECISION_BITS, longest_possible

    lengths = _best(records, others, runs)
    good = {length: best.accuracy >= LEARNED for length, best in lengths.items()}
    run = records[0].spec
    bits = PRECISION_BITS[run.precision]
    return Climb(
        task, model, lengths, max((length for length, reached in good.items() if reached), default=None),
        min((length for length, reached in good.items() if not reached), default=None),
        *longest_possible(parse_spec(model), run, bits), bits,
    )  # fmt: skip


def _best(mine: "list[Record]", compared: "list[Record]", runs: "RunSource") -> dict[int, Best]:
    """Return the best run at each length; undertrained is said by comparison with all runs of the task."""
    from separatrix.training import best_by_length

    names = {record.spec.name: record.spec.architecture for record in mine}
    most = max(record.spec.steps for record in compared)
    return {
        each.length: Best(each.accuracy, names[each.run], each.run, each.undertrained)
        for each in best_by_length(mine, runs, LEARNED, most)
    }


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


SECTION = TrainingSection()
