"""The training section: the papers' experiments from recorded runs, ours next to theirs; what is missing is named.

Nothing is trained here. Runs come from files of exported runs and from a store; where there are none, the paper's own
numbers are shown alone and the command that trains the missing ones is given.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from shlex import quote
from typing import TYPE_CHECKING

from separatrix.bounds import Model
from separatrix.shipped import short_path
from separatrix.site.experiment_rows import ExperimentRow, experiment_row, figure_data, recorded_origin, shown_first
from separatrix.site.html import render
from separatrix.site.origin import Origin
from separatrix.site.section import Advance, Figure, RecordedSection
from separatrix.site.state_limit import (
    LIMIT_COMMAND,
    LIMIT_TASK,
    state_limit_figure,
)
from separatrix.table import (
    Attacks,
    Climb,
    Mark,
    Sources,
    TrainedModel,
    attacked_in_words,
    attacks,
    learned_by_architecture,
    marks,
    read_runs,
    trained_models,
)
from separatrix.training import StateLimits

if TYPE_CHECKING:
    from separatrix.training import Record


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
    state_limit: StateLimits | None
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

    def collect_from(self, sources: Sources, advance: Advance) -> TrainingResults:
        """Gather every experiment from the runs that are recorded."""
        from separatrix.training import experiments, paper_figures, run_files, state_limits

        # What a reader adds to a command so that it reads the same records.
        read = "".join(f" --records {quote(short_path(path))}" for path in sources.recorded if run_files(path))
        runs, files = read_runs(sources)
        rows = tuple(experiment_row(each, runs, read) for each in experiments().values())
        records = runs.all()
        built_in = _built_in(records)
        limit = state_limits(runs)
        asked = [record for record in built_in if record.spec.task == LIMIT_TASK]
        marked = marks(built_in, runs)
        listed = f"separatrix runs list{read}"
        held = {
            name: Learned(climbs, recorded_origin(behind, "{count} runs", listed))
            for name, (climbs, behind) in learned_by_architecture(built_in, runs).items()
        }
        advance(f"{len(records)} recorded runs")
        return TrainingResults(
            files=tuple(files), runs=len(records), rows=rows, marks=marked, learned=held, state_limit=limit,
            state_limit_origin=limit and recorded_origin(asked, f"{{count}} runs of {LIMIT_TASK}", LIMIT_COMMAND),
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
            (
                row.name,
                f"{100 * row.accuracy:g} %",
                row.failing,
                "every input" if row.certified else "",
                row.text,
                row.cell,
            )
            for row in results.attacks.rows
        ]
        certified = [(one.task, one.text, one.command) for one in results.certified]
        shown = shown_first(results.rows)
        return render("training.html", results=results, runs=runs, certified=certified, experiments=shown)


def _steps(rows: Iterable[ExperimentRow], allowed: int) -> Steps | None:
    known = [row.steps for row in rows if row.steps]
    if not known:
        return None
    return Steps(min(least for least, _ in known), max(most for _, most in known), allowed)


def _certified_origins() -> tuple[Origin, Origin]:
    """Return where certificates of trained weights come from, and where attacks do."""
    found = trained_models()
    reach = f"{len(found)} certificates, claims as the package has them"
    devices = ", ".join(sorted({row.device for row in attacks().rows}))
    sampled = f"{len(attacks().rows)} runs, trained on {devices}"
    return (
        Origin("proved", reach, found[0].command, "exact over the stored weights, and float32"),
        Origin("recorded", sampled, "separatrix attack RUN", "float32"),
    )


def _built_in(records: "list[Record]") -> "list[Record]":
    """Return the runs of this package's architectures: code that only a record names is not run, and has no page
    here."""
    from separatrix.models import code_named_in

    return [record for record in records if not code_named_in(record.spec.architecture)]


SECTION = TrainingSection()
