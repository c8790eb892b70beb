"""``separatrix sweep``: train a grid of runs: a paper's experiment, a file's, or models by lengths on a task."""

from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from separatrix.answer import Grid, Sheet, show
from separatrix.cli.completion import complete_experiment
from separatrix.cli.given_options import refuse_given
from separatrix.cli.output import JsonOption, console, notes, print_result
from separatrix.cli.training_options import (
    ANYWHERE,
    USUAL,
    Place,
    Recording,
    parse_list,
    parse_names,
    parse_rates,
    run_label,
    with_option_groups,
)
from separatrix.errors import SeparatrixError
from separatrix.extras import require

if TYPE_CHECKING:
    from collections.abc import Sequence

    from separatrix.tasks import Task
    from separatrix.training import Cell, Group, HeatMap, Plan, Sweep

NAME = "sweep"
ORDER = 83
EXAMPLE = "separatrix sweep figure2-left --scale quick --dry-run"
CONSTANT = "majority baseline"
GRID = ("models", "lengths", "rates", "steps")
"""Parameters that make the sweep of a task."""


@with_option_groups
def command(
    context: typer.Context,
    name: Annotated[
        str,
        typer.Argument(
            help="An experiment, a sweep file (.toml), or a task, such as FILE.py:function.",
            autocompletion=complete_experiment,
        ),
    ],
    models: Annotated[
        str, typer.Option("--models", help="Of a task: models, comma-separated.")
    ] = "TF-(1,64),LSTM-(1,64)",
    lengths: Annotated[str, typer.Option("--lengths", help="Of a task: lengths N, comma-separated.")] = "8,16",
    rates: Annotated[str, typer.Option("--lr", help="Of a task: learning rates, comma-separated.")] = "3e-3,1e-3",
    steps: Annotated[int, typer.Option("--steps", help="Of a task: training steps.")] = 1000,
    scale: Annotated[
        str | None, typer.Option("--scale", help="Of an experiment: quick (default), reduced or paper.")
    ] = None,
    only: Annotated[
        list[str] | None, typer.Option("--only", help="AXIS=VALUE: only these cells; may be given several times.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be trained and how long, and stop.")
    ] = False,
    estimate: Annotated[bool, typer.Option(help="Measure how long it will take before starting.")] = True,
    full_grid: Annotated[bool, typer.Option("--full-grid", help="Train every run to its end; prune nothing.")] = False,
    place: Place = ANYWHERE,
    recording: Recording = USUAL,
    as_json: JsonOption = False,
) -> None:
    """Train every cell of a sweep; interrupted sweeps resume."""
    require("a sweep", "torch")
    from separatrix.cli.training_run import run_groups
    from separatrix.training import heat_maps, no_better_than_guessing, sink_from

    task = _task(name)
    if task is None:
        refuse_given(context, GRID, f"is for a task; {name} has its own grid, of which --only AXIS=VALUE takes a part")
        sweep, axes = _named(name, scale)
    else:
        refuse_given(context, ("scale",), f"is for an experiment; {name} is a task: give --models and --lengths")
        sweep = _grid(task, parse_names(models), parse_list(lengths, int, "--lengths"), parse_rates(rates), steps)
        axes = ("architecture", "length")
    sweep = sweep.restricted(only or [])
    cells = sweep.cells()
    groups = sweep.groups(cells, full_grid)
    place.check()
    for text in recording.sinks or []:
        sink_from(text).close()  # a missing package is reported now and not after the estimate
    plan = _planned(groups, place, recording, full_grid, estimate, quiet=as_json)
    if dry_run:
        if as_json:
            print_result(context, {"sweep": sweep.as_dict(), "plan": plan.as_dict()}, arithmetic="float32")
        else:
            console().print(_plan_text(sweep.title, plan, place), soft_wrap=True)
            show(Sheet(grids=(_plan_table(plan),)), console())
        return
    if not as_json:
        notes().print(_plan_text(sweep.title, plan, place), soft_wrap=True)
    found = run_groups(groups, place, recording, run_label, full_grid=full_grid, quiet=as_json)
    maps = heat_maps(cells, found, axes)
    best = [cell.best(found) for cell in cells]
    if as_json:
        rows = [
            {
                **dict(cell.coordinates),
                "runs": len(cell.runs),
                "accuracy": None if record is None else record.result.accuracy,
                "constant_answer": constant,
                "learned": None if record is None else not no_better_than_guessing(record),
                "best": None if record is None else record.as_dict(),
            }
            for cell, record, constant in zip(cells, best, _constant_answers(cells), strict=True)
        ]
        result = {"sweep": sweep.as_dict(), "plan": plan.as_dict(), "cells": rows}
        first = cells[0].runs[0]
        print_result(context, result, arithmetic=first.precision, seed=first.seed)
        return
    for each in maps:
        console().print(heat_map_table(sweep.title, each))
    ended = [(cell, record) for cell, record in zip(cells, best, strict=True) if record is not None]
    if idle := [cell for cell, record in ended if no_better_than_guessing(record)]:
        names = "; ".join(", ".join(str(value) for _, value in cell.coordinates) for cell in idle)
        warning = "not shown to be better than the majority baseline or a guess, so comparing them shows nothing"
        console().print(f"{warning}: {names}", soft_wrap=True, markup=False)


def _task(name: str) -> "Task | None":
    """Find the task of that name, FILE.py:function among them; None where an experiment or a file has it."""
    from separatrix.profiles import is_function_name, task_argument
    from separatrix.tasks import tasks
    from separatrix.training import experiments

    if name in experiments() or name.endswith(".toml") or Path(name).is_file():
        return None
    known = name.partition(":")[0].partition(",")[0] in tasks() or is_function_name(name)
    return task_argument(name) if known else None


def _grid(
    task: "Task", models: "Sequence[str]", lengths: "Sequence[int]", rates: "Sequence[float]", steps: int
) -> "Sweep":
    """Make the sweep of a task: models against lengths, every rate in each cell."""
    from separatrix.profiles import changed_parameters
    from separatrix.training import Sweep

    base = {"task": task.name, "steps": steps, "evaluate_every": max(1, steps // 10)}
    own = changed_parameters(task)
    axes = {"architecture": list(models), "length": list(lengths), "learning_rate": list(rates)}
    return Sweep(task.name, task.name, base | ({"task_parameters": own} if own else {}), axes)


def _named(name: str, scale: str | None) -> "tuple[Sweep, tuple[str, str] | None]":
    """Return the sweep of a file or of an experiment, and the rows and columns of its table."""
    from separatrix.training import experiments, read_sweep

    if name.endswith(".toml") or Path(name).is_file():
        if scale is not None:
            raise SeparatrixError(f"--scale {scale} is for the papers' experiments; {name} says its own sizes")
        return read_sweep(Path(name)), None
    experiment = experiments()[name]
    return experiment.sweep(scale or "quick"), (experiment.rows, experiment.columns)


def _planned(
    groups: "Sequence[Group]",
    place: Place,
    recording: Recording,
    full_grid: bool,
    estimate: bool,
    quiet: bool,
) -> "Plan":
    """Return what is left to do and how long it will take; a store that is not there yet is not made for that."""
    from separatrix.cli.limits import within_free_memory
    from separatrix.cli.progress import progress_bar
    from separatrix.training import Records, counted, device_named, environment, plan, store_path, using_threads

    path = store_path(recording.store)
    names = [spec.name for group in groups for spec in group.specs]
    recorded, earlier = {}, []
    if path.exists():
        with Records(path, create=False) as records:
            recorded, earlier = records.find(names) if recording.resume else {}, records.all()
    if not estimate:
        return counted(groups, recorded, full_grid=full_grid)
    device = device_named(place.device)
    memory = within_free_memory() if device.type == "cpu" else nullcontext()
    threads = using_threads(place.threads_of_worker())
    with memory, threads, progress_bar("timing one step of each shape", quiet) as show:
        where = environment(device, place.executor)
        return plan(
            groups, recorded, earlier, device, where, full_grid=full_grid, workers=place.groups_at_once(),
            report=lambda done, total: show("timing one step of each shape", done, total),
        )  # fmt: skip


def _plan_text(title: str, plan: "Plan", place: Place) -> str:
    from rich.markup import escape

    from separatrix.wording import counted, in_words

    known = f", {plan.recorded} of them recorded" if plan.recorded else ""
    text = f"[bold]{escape(title)}[/bold]: {counted(len(plan.groups), 'cell')}, {counted(plan.runs, 'run')}{known}; "
    if plan.recorded == plan.runs:
        return f"{text}nothing is left to train"
    text += f"at most {plan.steps:,} steps of ensembles ({plan.model_steps:,} of single models)"
    if plan.seconds is None:
        return text
    about = plan.as_dict()["estimated_from"]
    basis = ", ".join(f"{count} {kind if kind != 'records' else 'from records'}" for kind, count in about.items())
    several = f", {plan.workers} groups at a time" if plan.workers > 1 else ""
    return f"{text}, at most {in_words(plan.seconds)} on {place.device_text()}{several} (shapes: {basis})"


def _plan_table(plan: "Plan") -> Grid:
    from separatrix.wording import in_words

    tasks = {each.group.specs[0].task for each in plan.groups}
    several = len(tasks) > 1
    rows: list[tuple[str, ...]] = []
    for each in plan.groups:
        spec = each.group.specs[0]
        time_text = "done" if each.done else "" if each.seconds is None else in_words(each.seconds)
        rows.append((
            spec.architecture, *((spec.task,) if several else ()), str(spec.length), str(len(each.group.specs)),
            str(each.recorded), str(spec.steps), time_text, each.basis,
        ))  # fmt: skip
    columns = ("model", *(("task",) if several else ()), "N", "runs", "recorded", "steps", "at most", "estimate")
    numbers = ("N", "runs", "recorded", "steps", "at most")
    return Grid("" if several else f"task {min(tasks)}", columns, tuple(rows), numbers=numbers)


def _constant_answers(cells: "Sequence[Cell]") -> list[float]:
    """Return the majority baseline of each cell; measured once for each task and length."""
    from separatrix.tasks import constant_score

    specs = [cell.runs[0] for cell in cells]
    different = {(spec.task, spec.task_parameters, spec.length): spec for spec in specs}
    scores = {key: constant_score(spec.the_task(), spec.length) for key, spec in different.items()}
    return [scores[spec.task, spec.task_parameters, spec.length] for spec in specs]


def heat_map_table(title: str, shown: "HeatMap") -> Any:
    """Return the accuracy in percent, best of the grid in each cell; a dot where nothing is recorded."""
    from rich.markup import escape
    from rich.table import Table

    heading = escape(f"{title}{', ' + shown.title if shown.title else ''}: accuracy in %")
    table = Table(title=heading, caption="best of each cell's runs")
    table.add_column(f"{shown.row_axis} \\ {shown.column_axis}", style="bold", no_wrap=True)
    for column in shown.columns:
        table.add_column(escape(column), justify="right")
    answers = _constant_answers(list(shown.cells.values()))
    constant = {key: f"{100 * share:.1f}" for key, share in zip(shown.cells, answers, strict=True)}
    by_column = [{text for key, text in constant.items() if key[1] == column} for column in shown.columns]
    # The majority baseline depends on the task and the length: a row of its own, or a column where rows differ.
    below = all(len(texts) == 1 for texts in by_column)
    if not below:
        table.add_column(CONSTANT, justify="right", style="dim")
    for row in shown.rows:
        mine = sorted({text for key, text in constant.items() if key[0] == row}, key=float)
        more = () if below else ("–".join(dict.fromkeys((mine[0], mine[-1]))),)
        table.add_row(escape(row), *[_percent(shown, row, column) for column in shown.columns], *more)
    if below:
        table.add_section()
        table.add_row(CONSTANT, *map(min, by_column), style="dim")
    return table


def _percent(shown: "HeatMap", row: str, column: str) -> str:
    """Return one digit after the point, greener the better, where the terminal has colours; marked where it means
    nothing."""
    accuracy = shown.accuracy(row, column)
    if accuracy is None:
        return "·"
    if shown.best[row, column].result.ending == "diverged":
        return f"{100 * accuracy:.1f} [red]diverged[/red]"
    colour = "green" if accuracy >= 0.99 else "yellow" if accuracy >= 0.5 else "red"
    return f"[{colour}]{100 * accuracy:.1f}[/{colour}]"
