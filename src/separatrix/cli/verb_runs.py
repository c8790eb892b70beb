"""``separatrix runs``: look at recorded runs, compare them, take them elsewhere."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from separatrix.cli.output import JsonOption, command_line, console, print_json
from separatrix.cli.pictures import check_picture, write_picture
from separatrix.cli.training_options import SHOWN_DIGITS, StoreOption
from separatrix.cli.training_source import RecordsOption, opened_source
from separatrix.errors import SeparatrixError, UnknownNameError
from separatrix.wording import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from separatrix.training.export_records import RunSource
    from separatrix.training.records import Record

NAME = "runs"
ORDER = 84
EXAMPLE = "separatrix runs list --task index-lookup"

ACTIONS = ("list", "show", "compare", "bits", "export")
BARS = "▁▂▃▄▅▆▇█"
SPARKS = 60
"""Columns of the curve that ``show`` prints."""


def _complete(incomplete: str) -> list[str]:
    return [action for action in ACTIONS if action.startswith(incomplete)]


def command(
    context: typer.Context,
    action: Annotated[str, typer.Argument(help="list, show, compare, bits or export.", autocompletion=_complete)],
    names: Annotated[
        list[str] | None,
        typer.Argument(help="Runs by the first digits of their names; for export the file (.json, .csv, .parquet)."),
    ] = None,
    task: Annotated[str | None, typer.Option("--task", help="Only runs of this task.")] = None,
    architecture: Annotated[
        str | None, typer.Option("--architecture", help='Only such models: "TF-(1,64)", or a family such as TF.')
    ] = None,
    length: Annotated[int | None, typer.Option("--length", "-n", help="Only runs at this length.")] = None,
    experiment: Annotated[
        str | None, typer.Option("--experiment", help="Only runs of an experiment: NAME or NAME/SCALE.")
    ] = None,
    limit: Annotated[int, typer.Option("--limit", help="The newest so many; 0 for all.")] = 0,
    curves: Annotated[bool, typer.Option("--curves", help="Export the points of the curves, a row each.")] = False,
    bits: Annotated[
        str, typer.Option("--bits", help="bits: round each number of the state to so many bits, comma-separated.")
    ] = "1,2,3,4,6,8,12,16",
    plot: Annotated[Path | None, typer.Option("--plot", help="show, compare: draw curves to a .png or .svg.")] = None,
    store: StoreOption = None,
    records: RecordsOption = None,
    as_json: JsonOption = False,
) -> None:
    """List, show, compare or export recorded runs; bits: how many bits of its state a trained model uses."""
    from separatrix.provenance import provenance

    started = time.perf_counter()
    if action not in ACTIONS:
        raise UnknownNameError("action", action, ACTIONS)
    check_picture("--plot", plot)
    if limit < 0:
        raise SeparatrixError(f"--limit {limit} is negative; give 0 for all or a number of runs")
    given = names or []
    if action == "bits":
        from separatrix.cli.state_bits import show_state_bits

        if len(given) != 1 or records:
            raise SeparatrixError(f"bits takes one run of a --store, {len(given)} given; see  separatrix runs list")
        made = provenance(command_line(context), arithmetic="float32", seed=None, started=started)
        show_state_bits(store, given[0], bits, as_json, made)
        return
    with opened_source(store, records) as source:
        if action in ("list", "export"):
            chosen = _filtered(source, task, architecture, length, experiment)
            chosen = chosen[-limit:] if limit else chosen
        else:
            chosen = [source.get(name) for name in given]
        made = provenance(command_line(context), arithmetic="float32", seed=None, started=started)
        if action == "list":
            if given:
                raise SeparatrixError(
                    f"list takes no names, given {given[0]!r}; write  separatrix runs show {given[0]}"
                )
            if as_json:
                print_json({"runs": [record.as_dict() for record in chosen], "provenance": made})
            else:
                _print_list(chosen)
        elif action == "export":
            _export(source, chosen, given, curves, as_json, made)
        else:
            fewest = 1 if action == "show" else 2
            if len(chosen) < fewest or (action == "show" and len(chosen) > 1):
                wanted = "one run" if action == "show" else "at least two runs"
                raise SeparatrixError(f"{action} takes {wanted}, {len(chosen)} given; see  separatrix runs list")
            _show(source, chosen, plot, as_json, made)


def _filtered(
    source: "RunSource", task: str | None, architecture: str | None, length: int | None, experiment: str | None
) -> "list[Record]":
    found = source.all()
    if experiment is not None:
        wanted = _runs_of(experiment)
        found = [record for record in found if record.spec.name in wanted]
    if task is not None:
        from separatrix.tasks import tasks

        name = tasks()[task].name
        found = [record for record in found if record.spec.task == name]
    if architecture is not None:
        wanted_text = architecture.replace(" ", "").casefold()
        found = [
            record
            for record in found
            if record.spec.architecture.casefold() == wanted_text
            or record.spec.architecture.rpartition("-(")[0].casefold() == wanted_text
        ]
    if length is not None:
        found = [record for record in found if record.spec.length == length]
    return found


def _runs_of(text: str) -> set[str]:
    from separatrix.training.experiments.catalog import experiments

    name, _, scale = text.partition("/")
    experiment = experiments()[name]
    scales = [scale] if scale else list(experiment.scales)
    return {run.name for each in scales for cell in experiment.sweep(each).cells() for run in cell.runs}


def _print_list(records: "list[Record]") -> None:
    from rich.table import Table

    # A task that all runs share stands in the title; together with a long model name it would not fit a terminal.
    shared = {record.spec.task for record in records}
    of = f" of {min(shared)}" if len(shared) == 1 else ""
    table = Table(title=f"{counted(len(records), 'run')}{of}")
    for column in ("run", *(() if of else ("task",)), "model", "N", "lr", "seed", "%", "steps", "ended"):
        left = column in ("run", "task", "model", "ended")
        table.add_column(column, justify="left" if left else "right", no_wrap=column not in ("task", "model"))
    for record in records:
        spec, result = record.spec, record.result
        values: tuple[Any, ...] = (
            spec.name[:SHOWN_DIGITS], *(() if of else (spec.task,)), spec.architecture, spec.length,
            f"{spec.learning_rate:g}", spec.seed, f"{100 * result.accuracy:.1f}", result.step, result.ending,
        )  # fmt: skip
        table.add_row(*map(str, values))
    console().print(table)


def _export(
    source: "RunSource", records: "list[Record]", given: list[str], curves: bool, as_json: bool, made: Any
) -> None:
    from separatrix.training.export_records import export

    if len(given) != 1:
        raise SeparatrixError(f"export takes one file, {len(given)} given; write  separatrix runs export runs.csv")
    path = Path(given[0])
    rows = export(source, records, path, curves=curves)
    if as_json:
        print_json({"file": str(path), "rows": rows, "provenance": made})
    else:
        console().print(f"wrote {rows} rows to {path}", soft_wrap=True)


def _show(source: "RunSource", records: "Sequence[Record]", plot: Path | None, as_json: bool, made: Any) -> None:
    """One run in full, or several side by side: what differs between them, and how they ended."""
    from rich.table import Table

    curves = [source.curve(record.spec.name) for record in records]
    if plot is not None:
        from separatrix.atlas.training_figures import curve_figure

        labelled = [(_label(record), points) for record, points in zip(records, curves, strict=True)]
        write_picture(plot, curve_figure("Recorded runs" if len(records) > 1 else labelled[0][0], labelled))
    if as_json:
        listed = [
            {**record.as_dict(), "curve": [vars(point) for point in points]}
            for record, points in zip(records, curves, strict=True)
        ]
        print_json({"runs": listed, "provenance": made})
        return
    plain = [record.as_dict() for record in records]
    table = Table(title="what differs" if len(records) > 1 else None)
    table.add_column("field", style="bold")
    for record in records:
        table.add_column(record.spec.name)
    for field in plain[0]["spec"]:
        values = [str(each["spec"][field]) for each in plain]
        if len(records) == 1 or len(set(values)) > 1:
            table.add_row(field, *values)
    table.add_section()
    for field in ("accuracy", "loss", "step", "ending", "seconds", "parameters", "finished_at", "weights"):
        table.add_row(field, *[_text(each[field]) for each in plain])
    devices = [str(record.environment.get("device_name", "")) for record in records]
    table.add_row("device", *devices)
    table.add_row("trained with", *[_others(record) for record in records])
    width = SPARKS // len(records)
    table.add_row("accuracy over steps", *[sparks([point.accuracy for point in points], width) for points in curves])
    console().print(table)


def _others(record: "Record") -> str:
    count = int(record.environment.get("members", 1)) - 1
    return counted(count, "other run")


def _label(record: "Record") -> str:
    spec = record.spec
    return f"{spec.architecture} N={spec.length} lr {spec.learning_rate:g} seed {spec.seed}"


def _text(value: Any) -> str:
    return f"{value:.4f}" if isinstance(value, float) else str(value)


def sparks(values: "Sequence[float]", width: int) -> str:
    """Numbers from 0 to 1 as a row of bars, at most ``width`` of them.

    >>> sparks([0.0, 0.5, 1.0], 10)
    '▁▅█'
    """
    if len(values) > width:
        values = [values[number * (len(values) - 1) // (width - 1)] for number in range(width)]
    return "".join(BARS[min(len(BARS) - 1, int(value * len(BARS)))] for value in values)
