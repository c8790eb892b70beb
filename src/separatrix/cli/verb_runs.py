"""``separatrix runs``: look at recorded runs, compare them, take them elsewhere."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from separatrix.answer import Grid, Sheet, show
from separatrix.cli.given_options import refuse_given
from separatrix.cli.output import JsonOption, console, print_result, remark
from separatrix.cli.pictures import check_picture, write_picture
from separatrix.cli.training_options import SHOWN_DIGITS, StoreOption, run_label
from separatrix.cli.training_source import RecordsOption, opened_source, source_text, unfinished_groups
from separatrix.errors import SeparatrixError, UnknownNameError
from separatrix.extras import require
from separatrix.wording import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from separatrix.training import Record, RunSource

NAME = "runs"
ORDER = 84
EXAMPLE = "separatrix runs list --task index-lookup"

ACTIONS = ("list", "show", "compare", "bits", "export")
ACTIONS_OF = {
    **dict.fromkeys(("task", "architecture", "length", "experiment", "limit"), ("list", "export")),
    "curves": ("export",),
    "bits": ("bits",),
    "plot": ("show", "compare"),
}
"""Parameters that mean something only for some actions."""
BARS = "▁▂▃▄▅▆▇█"
SPARKS, CURVE = 60, "accuracy over steps"
"""Columns of the curves that ``show`` and ``compare`` print, and what is before them."""
BORDER, FRAME = 3, len(CURVE) + 4
"""Columns that a table adds to each of its columns, and those of the first one."""
MOST_VALUES = 12
"""Values of a filter that are listed where it leaves nothing."""
RESULT_FIELDS = ("accuracy", "loss", "step", "ending", "seconds", "parameters")


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

    if action not in ACTIONS:
        raise UnknownNameError("action", action, ACTIONS)
    for name, actions in ACTIONS_OF.items():
        if action not in actions:
            refuse_given(context, [name], f"is for {' and '.join(actions)}, not for {action}; leave it out")
    check_picture("--plot", plot)
    if limit < 0:
        raise SeparatrixError(f"--limit {limit} is negative; give 0 for all or a number of runs")
    given = names or []
    _check_names(action, given, curves)
    if action == "bits":
        require("rounding a trained state", "torch")
        from separatrix.cli.state_bits import show_state_bits

        if records:
            raise SeparatrixError(f"bits takes a run of a --store, not of --records {records[0]}; leave it out")
        show_state_bits(context, store, given[0], bits, as_json)
        return
    from separatrix.training import selected

    with opened_source(store, records) as source:
        if action in ("list", "export"):
            if limit and not any(each is not None for each in (task, architecture, length, experiment)):
                chosen = source.newest(limit)
            else:
                chosen = selected(source, task=task, architecture=architecture, length=length, experiment=experiment)
                chosen = chosen[-limit:] if limit else chosen
            _note_what_is_left_out(source)
        else:
            chosen = [source.get(name) for name in given]
        if action == "list":
            if as_json:
                print_result(context, {"runs": [record.as_dict() for record in chosen]}, arithmetic="float32")
            else:
                if chosen:
                    show(Sheet(grids=(_listed(chosen),)), console())
                else:
                    _print_what_there_is(source, source_text(store, records))
                if unfinished := unfinished_groups(source):
                    saved = f"also saved: {counted(unfinished, 'unfinished group')}"
                    console().print(f"{saved}; the command that was training resumes from it", soft_wrap=True)
        elif action == "export":
            _export(context, source, chosen, Path(given[0]), curves, as_json)
        else:
            _show(context, source, chosen, plot, as_json)


def _check_names(action: str, given: list[str], curves: bool) -> None:
    """Refuse names that the action cannot take, and a file that it cannot write, before any record is read."""
    see = f"{len(given)} given; see  separatrix runs list"
    if action == "list" and given:
        raise SeparatrixError(f"list takes no names, given {given[0]!r}; write  separatrix runs show {given[0]}")
    if action in ("show", "bits") and len(given) != 1:
        raise SeparatrixError(f"{action} takes one run, {see}")
    if action == "compare" and len(given) < 2:
        raise SeparatrixError(f"compare takes at least two runs, {see}")
    if action == "export":
        if len(given) != 1:
            raise SeparatrixError(f"export takes one file, {len(given)} given; write  separatrix runs export runs.csv")
        if given[0].endswith(".parquet"):
            require("Parquet", "pyarrow")
        from separatrix.training import check_target

        check_target(Path(given[0]), curves)


def _note_what_is_left_out(source: "RunSource") -> None:
    """Say on standard error how many runs are of tasks that only somebody's file defines; they are left out."""
    others = source.not_here()
    if others:
        verb = "is" if sum(others.values()) == 1 else "are"
        names = ", ".join(sorted(each[:40] for each in others))
        remark(
            f"{counted(sum(others.values()), 'run')} of tasks that are not here ({names}) {verb} left out; bring them "
            "with  separatrix --with FILE.py"
        )


def _print_what_there_is(source: "RunSource", where: str) -> None:
    """Print the tasks, models and lengths of all runs, where the filters leave none."""
    every = source.all()
    if not every:
        console().print(f"0 runs: nothing is recorded in {where}; name another store with --store", soft_wrap=True)
        return
    given = (
        ("--task", {record.spec.task for record in every}),
        ("--architecture", {record.spec.architecture for record in every}),
        ("--length", {record.spec.length for record in every}),
    )
    console().print(
        f"0 runs: none of the {counted(len(every), 'run')} in {where} is such a run; there are", soft_wrap=True
    )
    for option, values in given:
        texts = [str(value) for value in sorted(values)]
        more = f" and {len(texts) - MOST_VALUES} more" if len(texts) > MOST_VALUES else ""
        console().print(f"  {option} {', '.join(texts[:MOST_VALUES])}{more}", soft_wrap=True, markup=False)


def _listed(records: "list[Record]") -> Grid:
    # A task that all runs share is in the title; together with a long model name it would not fit a terminal.
    shared = {record.spec.task for record in records}
    of = f" of {min(shared)}" if len(shared) == 1 else ""
    rows: list[tuple[str, ...]] = []
    for record in records:
        spec, result = record.spec, record.result
        rows.append((
            spec.name[:SHOWN_DIGITS], *(() if of else (spec.task,)), spec.architecture, str(spec.length),
            f"{spec.learning_rate:g}", str(spec.seed), f"{100 * result.accuracy:.1f}", str(result.step), result.ending,
        ))  # fmt: skip
    columns = ("run", *(() if of else ("task",)), "model", "N", "lr", "seed", "%", "steps", "ended")
    title = f"{counted(len(records), 'run')}{of}"
    return Grid(title, columns, tuple(rows), numbers=("N", "lr", "seed", "%", "steps"))


def _export(
    context: typer.Context, source: "RunSource", records: "list[Record]", path: Path, curves: bool, as_json: bool
) -> None:
    from separatrix.training import export

    rows = export(source, records, path, curves=curves)
    if as_json:
        print_result(context, {"file": str(path), "rows": rows}, arithmetic="float32")
    else:
        console().print(f"wrote {rows} rows to {path}", soft_wrap=True)


def _show(
    context: typer.Context, source: "RunSource", records: "Sequence[Record]", plot: Path | None, as_json: bool
) -> None:
    """Print one run in full, or several side by side: what differs between them, and how they ended."""
    curves = [source.curve(record.spec.name) for record in records]
    if plot is not None:
        from separatrix.site import run_curves_figure

        labelled = [(run_label(each.spec), each, points) for each, points in zip(records, curves, strict=True)]
        write_picture(plot, run_curves_figure("Recorded runs" if len(records) > 1 else labelled[0][0], labelled))
    plain = [record.as_dict() for record in records]
    if as_json:
        listed = [
            {**each, "curve": [vars(point) for point in points]} for each, points in zip(plain, curves, strict=True)
        ]
        print_result(context, {"runs": listed}, arithmetic="float32")
        return
    alone, out = len(records) == 1, console()
    names = [record.spec.name for record in records]
    if not alone and len({name[:SHOWN_DIGITS] for name in names}) == len(set(names)):
        names = [name[:SHOWN_DIGITS] for name in names]
    described = {field: [str(each["spec"][field]) for each in plain] for field in plain[0]["spec"]}
    results = {field: [_text(each[field]) for each in plain] for field in RESULT_FIELDS}
    results["finished_at"] = [str(each["finished_at"]).replace("T", " ") for each in plain]
    if alone:
        results["weights"] = [_text(plain[0]["weights"])]
    results["device"] = [str(record.environment.get("device_name", "")) for record in records]
    results["trained with"] = [
        counted(int(record.environment.get("members", 1)) - 1, "other run") for record in records
    ]
    same = [field for field, values in results.items() if not alone and field != "accuracy" and len(set(values)) == 1]
    width = min(SPARKS, out.width - FRAME) // len(records) - BORDER
    rows = [(field, *values) for field, values in described.items() if alone or len(set(values)) > 1]
    rows += [(field, *values) for field, values in results.items() if field not in same]
    rows.append((CURVE, *(sparks([point.accuracy for point in points], max(width, 2)) for points in curves)))
    said = f"the same for all: {', '.join(f'{field} {results[field][0]}' for field in same)}"
    grid = Grid("" if alone else "what differs", ("field", *names), tuple(rows))
    show(Sheet(grids=(grid,), notes=(said,) if same else ()), out)


def _text(value: Any) -> str:
    return f"{value:.4f}" if isinstance(value, float) else str(value)


def sparks(values: "Sequence[float]", width: int) -> str:
    """Return numbers from 0 to 1 as a row of bars, at most ``width`` of them.

    >>> sparks([0.0, 0.5, 1.0], 10)
    '▁▅█'
    """
    if len(values) > width:
        values = [values[number * (len(values) - 1) // (width - 1)] for number in range(width)]
    return "".join(BARS[min(len(BARS) - 1, int(value * len(BARS)))] for value in values)
