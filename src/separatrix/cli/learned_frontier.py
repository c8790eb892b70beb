"""``separatrix frontier TASK --learned MODEL``: the longest input each width learns, beside what its state can hold."""

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from separatrix.cli.output import command_line, console, print_json
from separatrix.cli.pictures import check_picture, write_picture
from separatrix.cli.training_options import Place, parse_list, parse_rates
from separatrix.errors import SeparatrixError

if TYPE_CHECKING:
    from separatrix.training.group import Group
    from separatrix.training.learned_frontier import FrontierPoint
    from separatrix.training.records import Record
    from separatrix.training.spec import RunSpec

LearnedOption = Annotated[
    list[str] | None,
    typer.Option("--learned", help="Train instead: a model with W for the width (LSTM-(1,W)); the name is a task."),
]
WidthsOption = Annotated[str, typer.Option("--widths", help="With --learned: widths, comma-separated.")]
LengthsOption = Annotated[str, typer.Option("--lengths", help="With --learned: lengths to climb, comma-separated.")]
RatesOption = Annotated[str, typer.Option("--lr", help="With --learned: learning rates, comma-separated.")]
StepsOption = Annotated[int, typer.Option("--steps", help="With --learned: training steps for each length.")]
GoalOption = Annotated[float, typer.Option("--goal", help="With --learned: the accuracy that counts as learned.")]


TRAINING_OPTIONS = {
    "widths": "--widths", "ladder": "--lengths", "rates": "--lr", "steps": "--steps", "goal": "--goal",
    "device": "--device", "executor": "--executor", "workers": "--workers", "address": "--address",
}  # fmt: skip
"""Options that mean something only where models are trained, by the name of their parameter."""


def refuse_without_learned(context: typer.Context) -> None:
    """Raise a one-line error for an option of ``--learned`` that was given without it: it would change nothing."""
    for name, option in TRAINING_OPTIONS.items():
        source = context.get_parameter_source(name)
        if source is not None and source.name == "COMMANDLINE":
            raise SeparatrixError(
                f'{option} {context.params[name]} is for trained models; give --learned "LSTM-(1,W)" as well, or '
                "choose lengths by their exponents with --from and --to"
            )


def learned_frontier(
    context: typer.Context,
    task: str,
    patterns: Sequence[str],
    *,
    widths: str,
    lengths: str,
    rates: str,
    steps: int,
    goal: float,
    place: Place,
    store: Path | None,
    figure: Path | None,
    as_json: bool,
) -> None:
    """Climb the ladder, then print or draw it; the same command goes on where it was interrupted."""
    from separatrix.cli.training_run import run_groups
    from separatrix.provenance import provenance
    from separatrix.training.learned_frontier import Ladder, climb

    started = time.perf_counter()
    check_picture("--figure", figure)
    every = max(1, min(100, steps // 4))
    ladder = Ladder(
        task=task, patterns=tuple(patterns), widths=parse_list(widths, int, "--widths"),
        lengths=parse_list(lengths, int, "--lengths"), learning_rates=parse_rates(rates), steps=steps,
        goal=goal, settings={"evaluate_every": every, "evaluation_examples": 2000},
    )  # fmt: skip

    def train(groups: "Sequence[Group]") -> "Mapping[str, Record]":
        return run_groups(groups, store, place, False, True, as_json, _label)[0]

    points = climb(ladder, train)
    if figure is not None:
        from separatrix.atlas.training_figures import learned_frontier_figure

        write_picture(figure, learned_frontier_figure(task, goal, points))
    if as_json:
        record = provenance(command_line(context), arithmetic="float32", seed=0, started=started)
        print_json(
            {"task": task, "goal": goal, "steps": steps, "points": [p.as_dict() for p in points], "provenance": record}
        )
        return
    _print(task, goal, steps, points)


def _label(spec: "RunSpec") -> str:
    return f"{spec.architecture} N={spec.length} lr {spec.learning_rate:g}"


def _print(task: str, goal: float, steps: int, points: "list[FrontierPoint]") -> None:
    from rich.table import Table

    table = Table(title=f"{task}: learned to {100 * goal:g} % within {steps:,} steps")
    for column in ("model", "state bits", "learned", "not learned", "bound"):
        table.add_column(column, justify="left" if column == "model" else "right", no_wrap=column != "model")
    for point in points:
        values: tuple[Any, ...] = (
            point.model,
            "grows with N" if point.state_bits is None else f"{point.state_bits:,}",
            "none" if point.learned is None else f"N = {point.learned}",
            "-" if point.failed is None else f"N = {point.failed.length} ({100 * point.failed.accuracy:.1f} %)",
            "-" if point.bound is None else f"N ≤ {point.bound:,}",
        )
        table.add_row(*values)
    console().print(table)
    for claim in dict.fromkeys(point.bound_claim for point in points if point.bound_claim):
        console().print(f"bound: {claim}; longer inputs are out of reach for every choice of weights", soft_wrap=True)
    last = "learned: the longest N; not learned: the first that failed, evidence for this recipe only"
    console().print(last, soft_wrap=True)
