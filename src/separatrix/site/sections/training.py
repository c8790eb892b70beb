"""The training section: the papers' experiments from recorded runs, ours next to theirs; what is missing is named.

Nothing is trained here. Runs come from files of exported runs and from a store; where there are none, the paper's own
numbers are shown alone and the command that trains the missing ones is given.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from shlex import quote
from typing import TYPE_CHECKING, Any

from rich.table import Table

from separatrix.shipped import short_path
from separatrix.site.origin import Origin
from separatrix.site.pages.training import curves_name, training_body
from separatrix.site.section import Advance, Figure, RecordedSection, Results
from separatrix.site.state_limit import LIMIT_COMMAND, LIMIT_TASK, state_limit_figure, state_limit_results
from separatrix.table import Sources, attacked_in_words, attacks, opened_runs, trained_models

if TYPE_CHECKING:
    from separatrix.models import ModelSpec
    from separatrix.training import Experiment, FigureData, Record, RunSource

LEARNED = 0.99
"""Accuracy on fresh examples from which a task counts as learned at a length."""
ATTENTION = ("transformer", "hard-attention")


@dataclass(frozen=True, kw_only=True)
class TrainingSection(RecordedSection):
    """Does it learn it?"""

    name: str = "training"
    title: str = "Training"
    order: int = 33
    page: str = "training"
    lead: str = (
        "What a model can represent it need not learn. The experiments of the papers, trained again: our accuracy, the "
        "paper's, and the difference, cell by cell. Cells without a record are empty and say how to fill them."
    )

    @property
    def units(self) -> int:
        """All experiments are one unit."""
        return 1

    def collect_from(self, sources: Sources, advance: Advance) -> Results:
        """Every experiment from the runs that are recorded."""
        from separatrix.training import experiments, paper_figures, run_files

        # What a reader adds to a command so that it reads the same records.
        read = "".join(f" --records {quote(short_path(path))}" for path in sources.recorded if run_files(path))
        with opened_runs(sources) as (runs, files):
            rows = [_entry(each, runs, read) for each in experiments().values()]
            records = runs.all()
            built_in = _built_in(records)
            limit = state_limit_results(runs)
            if limit is not None:
                asked = [record for record in built_in if record.spec.task == LIMIT_TASK]
                limit |= {"origin": _recorded(asked, f"{{count}} runs of {LIMIT_TASK}", LIMIT_COMMAND)}
            marked = marks(built_in, runs)
            held = learned(built_in, runs, f"separatrix runs list{read}")
        advance(f"{len(records)} recorded runs")
        return {
            "files": files, "runs": len(records), "rows": rows, "marks": marked, "learned": held, "state_limit": limit,
            "certified": [one.described() for one in trained_models()],
            "attacks": attacks(), "attacked": attacked_in_words(), "certified_origins": _certified_origins(),
            "steps": _steps(rows, int(paper_figures()["training_recipe"]["max_steps"])),
        }  # fmt: skip

    def figures(self, results: Results) -> list[Figure]:
        """Experiments of which something is recorded."""
        recorded = [row for row in results["rows"] if row["recorded"]]
        if not recorded:
            return []
        from separatrix.site.training_figures import curve_figure, experiment_figure

        drawn: list[Figure] = []
        if results["state_limit"] is not None:
            limit = results["state_limit"]
            drawn.append(state_limit_figure(limit, limit["recipes"][0]).with_origin(limit["origin"]))
        for row in recorded:
            data = figure_data(row)
            # The whole figure is for papers; a page shows its tables as text and its curves alone.
            drawn.append(experiment_figure(data))
            if data.curves:
                title = f"{data.experiment.title}, {data.experiment.at} {data.curve_column}"
                drawn.append(curve_figure(title, list(data.curves.items()), curves_name(row)))
        return drawn

    def body(self, results: Results) -> str:
        """What is certified, then one article for each experiment."""
        return training_body(results)

    def table(self, results: Results) -> Table | None:
        """How much is recorded of each experiment."""
        shown = Table(title=f"Experiments: {results['runs']} recorded runs", title_justify="left")
        shown.add_column("experiment", style="bold", no_wrap=True)
        shown.add_column("source")
        shown.add_column("scale")
        shown.add_column("cells recorded", justify="right")
        for row in results["rows"]:
            shown.add_row(row["figure"], row["source"], row["scale"], f"{row['recorded']} of {len(row['cells'])}")
        return shown


def _steps(rows: list[dict[str, Any]], allowed: int) -> dict[str, int] | None:
    """The fewest and the most steps behind the cells shown, and those that the paper allows."""
    known = [row["steps"] for row in rows if row["steps"]]
    if not known:
        return None
    return {"least": min(least for least, _ in known), "most": max(most for _, most in known), "paper": allowed}


def _certified_origins() -> list[dict[str, Any]]:
    """Where certificates of trained weights come from, and where attacks do."""
    found, attacked = trained_models(), attacks()
    arithmetic = "exact over the stored weights, and float32"
    reach = f"{len(found)} certificates, claims as the package has them"
    sampled = f"{len(attacked['rows'])} runs, trained on one thread of a CPU"
    return [
        Origin("proved", reach, found[0].command, arithmetic).plain(),
        Origin("recorded", sampled, "separatrix attack RUN", "float32").plain(),
    ]


def _built_in(records: "list[Record]") -> "list[Record]":
    """Runs of this package's architectures: code that only a record names is not run, and has no page here."""
    from separatrix.models import code_named_in

    return [record for record in records if not code_named_in(record.spec.architecture)]


def _entry(experiment: "Experiment", runs: "RunSource", read: str) -> dict[str, Any]:
    from separatrix.training import best_scale, gather, missing_note, paper_table

    scale = best_scale(experiment, runs)
    data = gather(experiment, scale, runs)
    paper = None if experiment.paper is None else paper_table(experiment.paper)
    drawn = f"separatrix figure {experiment.name} --scale {scale}{read}"
    return {
        **data.as_dict(),
        "title": experiment.title,
        "task": experiment.task,
        "rows": list(data.rows),
        "columns": list(data.columns),
        "recorded": data.recorded,
        "missing": missing_note(experiment, scale, list(data.cells.values())),
        "paper": None
        if paper is None
        else {
            "rows": list(paper.rows),
            "columns": list(paper.columns),
            "accuracy": [[paper.accuracy[row, column] for column in paper.columns] for row in paper.rows],
            "origin": Origin("printed", experiment.source, drawn, "float32").plain(),
        },
        "train_command": f"separatrix sweep {experiment.name} --scale {scale}",
        "origin": _origin(data, drawn),
    }


def _origin(data: "FigureData", command: str) -> dict[str, Any]:
    """Where the runs of a figure were trained."""
    records = [cell.record for cell in data.cells.values() if cell.record is not None]
    return _recorded(records, f"{{count}} of {len(data.cells)} cells", command)


def _recorded(records: "list[Record]", what: str, command: str) -> dict[str, Any]:
    """The origin of runs: the devices, versions, numbers and seed of their records; ``what`` may name their count."""
    devices = dict.fromkeys(str(record.environment.get("device_name", "unknown device")) for record in records)
    versions = dict.fromkeys(str(record.environment.get("separatrix", "")) for record in records)
    precisions = dict.fromkeys(record.spec.precision for record in records)
    seeds = {record.spec.seed for record in records}
    reach = f"{what.format(count=len(records))}, on {', '.join(devices)}" if records else "no record yet"
    seed = seeds.pop() if len(seeds) == 1 else None
    return Origin("recorded", reach, command, ", ".join(precisions), seed, ", ".join(filter(None, versions))).plain()


def column_of(spec: "ModelSpec") -> str | None:
    """The column of the table that a trained model belongs to; None for mixtures and deeper Transformers."""
    names = set(spec.layers)
    if spec.recurrent:
        return "rnn"
    if names <= set(ATTENTION):
        return {1: "transformer-1layer", 2: "transformer-2layer"}.get(spec.depth)
    if len(names) == 1 and spec.depth == 1:
        return {"fnn": "fnn", "third-order": "third-order", "graph-transformer": "graph-transformer"}.get(names.pop())
    return None


def marks(records: "Iterable[Record]", runs: "RunSource") -> dict[str, dict[str, Any]]:
    """For each task and column: the best accuracy at every length, the longest length that was learned, and whether
    every length that was not is undertrained."""
    from separatrix.models import parse_spec

    held: dict[str, dict[str, list[Record]]] = {}
    for record in records:
        column = column_of(parse_spec(record.spec.architecture))
        if column is not None:
            held.setdefault(record.spec.task, {}).setdefault(column, []).append(record)
    return {
        task: {column: _mark(mine, columns, runs) for column, mine in columns.items()} for task, columns in held.items()
    }


def _mark(mine: "list[Record]", columns: "dict[str, list[Record]]", runs: "RunSource") -> dict[str, Any]:
    best = _best(mine, [record for each in columns.values() for record in each], runs)
    good = [int(length) for length, one in best.items() if one["accuracy"] >= LEARNED]
    return {
        "runs": len(mine), "lengths": best, "learned": max(good, default=None), "tried": max(map(int, best)),
        "undertrained": not good and all(one["undertrained"] for one in best.values()),
    }  # fmt: skip


def learned(records: "Iterable[Record]", runs: "RunSource", command: str) -> dict[str, dict[str, Any]]:
    """The learned frontier of each architecture: for every task and model the best accuracy at each length, the longest
    length that was learned, the shortest that was not, and the longest that a lower bound leaves open to any weights.
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
        name: {
            "rows": [_climbed(task, model, mine, of_task[task], runs) for (task, model), mine in sorted(rows.items())],
            "origin": _recorded([record for mine in rows.values() for record in mine], "{count} runs", command),
        }
        for name, rows in sorted(held.items())
    }


def _climbed(
    task: str, model: str, records: "list[Record]", others: "list[Record]", runs: "RunSource"
) -> dict[str, Any]:
    from separatrix.models import parse_spec
    from separatrix.training import PRECISION_BITS, longest_possible

    lengths = _best(records, others, runs)
    reached = {int(length): best["accuracy"] >= LEARNED for length, best in lengths.items()}
    run = records[0].spec
    bits = PRECISION_BITS[run.precision]
    bound, claim, arithmetic = longest_possible(parse_spec(model), run, bits)
    return {
        "task": task, "model": model, "lengths": lengths,
        "learned": max((length for length, good in reached.items() if good), default=None),
        "not_learned": min((length for length, good in reached.items() if not good), default=None),
        "bound": bound, "bound_claim": claim, "arithmetic": arithmetic, "bits": bits,
    }  # fmt: skip


def _best(mine: "list[Record]", compared: "list[Record]", runs: "RunSource") -> dict[str, Any]:
    """The best run at each length; undertrained is said by comparison with all runs of the task."""
    from separatrix.training import best_by_length

    names = {record.spec.name: record.spec.architecture for record in mine}
    most = max(record.spec.steps for record in compared)
    return {
        str(each.length): {
            "accuracy": each.accuracy, "model": names[each.run], "run": each.run,
            "undertrained": list(each.undertrained),
        }
        for each in best_by_length(mine, runs, LEARNED, most)
    }  # fmt: skip


def figure_data(row: Results) -> "FigureData":
    """A figure's data from the results, as the drawing of figures takes it."""
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

    def record(plain: Results | None) -> "Record | None":
        if plain is None:
            return None
        loss = float("nan") if plain["loss"] is None else plain["loss"]
        result = Result(
            plain["name"],
            plain["ending"],
            plain["step"],
            plain["accuracy"],
            loss,
            plain["seconds"],
            plain["parameters"],
        )
        spec = recorded_spec(plain["spec"])
        return Record(spec, result, plain["environment"], plain["finished_at"], plain["weights"])

    experiment = experiments()[row["figure"]]
    cells = {
        (cell["row"], cell["column"]): FigureCell(
            cell["row"], cell["column"], record(cell["record"]), cell["of_this_scale"], cell["runs_compared"],
            cell["unfinished_step"], cell["paper"], cell["still_rising"], cell["most_steps"],
            tuple(cell["undertrained"]), tuple(cell["seeds"]),
        )
        for cell in row["cells"]
    }  # fmt: skip
    nothing = float("nan")
    curves = {
        name: [Point(name, step, nothing, nothing, accuracy) for step, accuracy in points]
        for name, points in row["curves"].items()
    }
    paper = None if experiment.paper is None else paper_table(experiment.paper)
    return FigureData(
        experiment, row["scale"], tuple(row["rows"]), tuple(row["columns"]), cells, paper, row["curve_column"], curves,
        tuple(row["remarks"]), {(each["row"], each["column"]): each["bits"] for each in row["bits"]},
    )  # fmt: skip


SECTION = TrainingSection()
