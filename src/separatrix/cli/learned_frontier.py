"""``separatrix frontier TASK --learned MODEL``: the longest input each width learns, and what its state can hold."""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from separatrix.answer import Grid, Sheet, show
from separatrix.cli.given_options import refuse_given
from separatrix.cli.output import console, print_result
from separatrix.cli.pictures import check_picture, write_picture
from separatrix.cli.training_options import Place, Recording, parse_list, parse_rates
from separatrix.extras import require

if TYPE_CHECKING:
    from separatrix.training import FrontierPoint, Group, Record, RunSpec

LearnedOption = Annotated[
    list[str] | None,
    typer.Option("--learned", help="Train instead: a model with W for the width (LSTM-(1,W)); the name is a task."),
]
WidthsOption = Annotated[str, typer.Option("--widths", help="With --learned: widths, comma-separated.")]
LengthsOption = Annotated[
    str, typer.Option("--lengths", "--length", "-n", help="With --learned: lengths to climb, comma-separated.")
]
RatesOption = Annotated[str, typer.Option("--lr", help="With --learned: learning rates, comma-separated.")]
StepsOption = Annotated[int, typer.Option("--steps", help="With --learned: training steps for each length.")]
GoalOption = Annotated[float, typer.Option("--goal", help="With --learned: the accuracy that counts as learned.")]


TRAINING = ("widths", "ladder", "rates", "steps", "goal", *(field.name for field in fields(Place)))
"""Parameters that mean something only where models are trained."""
CERTIFYING = ("first", "last", "max_memory")
"""Parameters that mean something only where networks are certified."""


def refuse_other_options(context: typer.Context, learned: bool) -> None:
    """Raise a one-line error for an option of ``--learned`` without it, or of certified networks with it."""
    if learned:
        refuse_given(context, CERTIFYING, "is for certified networks; leave --learned out, or choose --lengths")
    else:
        refuse_given(
            context,
            TRAINING,
            'is for trained models; give --learned "LSTM-(1,W)" as well, or choose lengths by their exponents with '
            "--from and --to",
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
    """Climb the ladder, then print or draw it; the same command resumes after an interruption."""
    require("--learned", "torch")
    from separatrix.cli.training_run import run_groups
    from separatrix.profiles import changed_parameters, task_argument
    from separatrix.training import Ladder, climb

    check_picture("--figure", figure)
    every = max(1, min(100, steps // 4))
    chosen = task_argument(task)
    task, own = chosen.name, changed_parameters(chosen)
    settings: dict[str, Any] = {"evaluate_every": every, "evaluation_examples": 2000}
    settings |= {"task_parameters": own} if own else {}
    ladder = Ladder(
        task=task, patterns=tuple(patterns), widths=parse_list(widths, int, "--widths"),
        lengths=parse_list(lengths, int, "--lengths"), learning_rates=parse_rates(rates), steps=steps,
        goal=goal, settings=settings,
    )  # fmt: skip

    def train(groups: "Sequence[Group]") -> "Mapping[str, Record]":
        return run_groups(groups, place, Recording(store), _label, quiet=as_json)

    points = climb(ladder, train)
    if figure is not None:
        from separatrix.site import learned_frontier_figure

        write_picture(figure, learned_frontier_figure(task, goal, points))
    if as_json:
        result = {"task": task, "goal": goal, "steps": steps, "points": [p.as_dict() for p in points]}
        print_result(context, result, arithmetic="float32", seed=0)
        return
    show(_sheet(task, goal, steps, points), console())


def _label(spec: "RunSpec") -> str:
    return f"{spec.architecture} N={spec.length} lr {spec.learning_rate:g}"


def _sheet(task: str, goal: float, steps: int, points: "list[FrontierPoint]") -> Sheet:
    columns = ("model", "state bits", "learned", "not learned", "bound")
    rows = tuple(
        (
            point.model,
            "grows with N" if point.state_bits is None else f"{point.state_bits:,}",
            "none" if point.learned is None else f"N = {point.learned}",
            "-" if point.failed is None else f"N = {point.failed.length} ({100 * point.failed.accuracy:.1f} %)",
            "-" if point.bound is None else f"N ≤ {point.bound:,}",
        )
        for point in points
    )
    claims = dict.fromkeys((point.bound_claim, point.arithmetic) for point in points if point.bound_claim)
    refuted = dict.fromkeys(each for point in points for each in point.refuted)
    notes = [
        f"bound: {claim}; longer inputs are out of reach for every choice of weights ({within})"
        for claim, within in claims
    ]
    notes.append("learned: the longest N; not learned: the first that failed, evidence for this recipe only")
    title = f"{task}: learned to {100 * goal:g} % within {steps:,} steps"
    warnings = tuple(f"refuted, not used: {each}" for each in refuted)
    return Sheet(grids=(Grid(title, columns, rows, numbers=columns[1:]),), notes=tuple(notes), warnings=warnings)
