"""``separatrix design``: what a task of a length needs at least, what is enough, and which published models pass."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from separatrix.bit_counts import OWN_PRECISION
from separatrix.cli.completion import complete_task
from separatrix.cli.given_options import refuse_given
from separatrix.cli.output import JsonOption, command_line, console, print_json
from separatrix.cli.pictures import check_picture, write_picture
from separatrix.errors import SeparatrixError

if TYPE_CHECKING:
    from separatrix.table import Design, Enough, Row

NAME = "design"
ORDER = 74
EXAMPLE = "separatrix design mqar --length 8192"
EXACT = "exact"
NAMED = {
    "recurrent": "recurrent",
    "windows": "windows alone",
    "one-layer": "one attention layer",
    "two-layer": "two attention layers",
    "hybrid": "hybrid",
}
"""The designs as the table calls them."""


def command(
    context: typer.Context,
    task: Annotated[str, typer.Argument(help="Name of a task, or FILE.py:function.", autocompletion=complete_task)],
    length: Annotated[int, typer.Option("--length", "-n", help="Input length N.")],
    accuracy: Annotated[
        str, typer.Option("--accuracy", help="exact: right on every input, which all bounds here are about.")
    ] = EXACT,
    precision: Annotated[
        int, typer.Option("--precision", "-p", help="Bits of a number of the models that bounds speak about.")
    ] = OWN_PRECISION,
    heads: Annotated[int, typer.Option("--heads", help="Heads of the one attention layer.")] = 1,
    settings: Annotated[list[str] | None, typer.Option("--set", help="A parameter of the task, NAME=VALUE.")] = None,
    certify: Annotated[
        bool, typer.Option("--certify", help="Certify each network at this length, however long it takes.")
    ] = False,
    plot: Annotated[Path | None, typer.Option("--plot", help="Also draw it, to this .svg or .png file.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Say what a model for a task needs at least, which certified construction is enough, and which presets pass."""
    check_picture("--plot", plot)
    if accuracy != EXACT:
        raise SeparatrixError(
            f"--accuracy {accuracy} is not known here: bounds and certificates are about models that are right on "
            "every input; give exact, or leave it out"
        )
    from separatrix.api import design
    from separatrix.cli.progress import progress_bar
    from separatrix.profiles import task_argument
    from separatrix.progress import listening
    from separatrix.provenance import provenance
    from separatrix.site import design_picture

    started = time.perf_counter()
    chosen = task_argument(task, settings or [])
    if plot is not None and chosen.name != task and ":" in task:
        refuse_given(context, ("plot",), "draws the tasks of the papers; of a function use  separatrix profile --plot")
    with progress_bar(f"designs for {task} of length {length}", as_json) as show, listening(show):
        found = design(chosen, length, precision=precision, heads=heads, certify=certify).found
    if plot is not None:
        write_picture(plot, design_picture(found))
    if as_json:
        record = provenance(command_line(context), arithmetic="integers", seed=None, started=started)
        print_json({**found.plain(), "provenance": record})
        return
    _print(found)


def _print(found: "Design") -> None:
    from rich.markup import escape
    from rich.table import Table

    out = console()
    name, positions = escape(found.task.name), found.task.positions(found.length)
    out.print(f"[bold]{name}[/bold] at N = {found.length:,}: {positions:,} positions, right on every input.")
    shown = Table()
    shown.add_column("design", style="bold")
    shown.add_column("needs at least")
    shown.add_column("enough")
    shown.add_column("evidence")
    for row in found.rows:
        needs = "\n".join(f"{need.at_least:,} {need.quantity}" for need in row.needs) or "no bound is known"
        needs += f" ({row.remark})" if row.design == "two-layer" and row.remark and row.needs else ""
        # A hybrid has both: the smallest certified network and the smallest state.
        best = row.enough[:2] if row.design == "hybrid" else row.enough[:1]
        enough = "\nor ".join(_size(each, row) for each in best) or "nothing is known"
        shown.add_row(NAMED[row.design], escape(needs), escape(enough), escape("\n".join(map(_evidence, best))))
    out.print(shown)
    # A line for each argument, not for each design that it holds for.
    for need in dict.fromkeys(need for row in found.rows for need in row.needs):
        mark = "" if need.in_the_papers else " *"
        out.print(
            f"- at least {need.at_least:,} {escape(need.quantity)}: {escape(need.arithmetic)} ({need.claim}){mark}"
        )
        out.print(f"  Holds for: {escape(need.holds_for)}.")
    every = {each.name: each for row in reversed(found.rows) for each in row.enough}
    for each in every.values():
        out.print(f"- enough, {escape(each.name)}: {escape(each.how)} ({escape(each.source)})")
    short = [each for each in every.values() if each.evidence == "certified at a shorter length"]
    if short:
        out.print(
            f"{', '.join(each.name for each in short)}: the sizes are those of the network of N = {found.length:,}; "
            "its certificate takes long at this length, --certify makes it."
        )
    if any(not need.in_the_papers for row in found.rows for need in row.needs):
        out.print("* derived here, not in the papers")
    _print_presets(found)
    out.print(
        "Not excluded means that every bound that covers a preset leaves room: no promise that some weights of it do "
        "the task, and none that training finds them. Lengths count symbols of the task, not tokens of a tokeniser."
    )


def _print_presets(found: "Design") -> None:
    """The presets by outcome; of those that are excluded, why."""
    from rich.markup import escape

    from separatrix.table import Outcome

    out, positions = console(), found.task.positions(found.length)
    for judged in found.judged(Outcome.EXCLUDED):
        bits = "" if judged.needed_bits is None else f" ({judged.needed_bits:,} > {judged.available_bits:,} bits)"
        out.print(f"- [red]excluded[/red] {escape(judged.preset)}{bits}: {escape(judged.reason)}")
    for outcome in (Outcome.PASSES, Outcome.UNKNOWN):
        each = sorted(found.judged(outcome), key=lambda one: (one.available_bits or 0, one.preset))
        if each:
            short = {
                one.preset: f" (context {one.context:,})" for one in each if (one.context or positions) < positions
            }
            names = ", ".join(f"{one.preset}{short.get(one.preset, '')}" for one in each)
            word = (
                "are not excluded, the smallest memory first"
                if outcome is Outcome.PASSES
                else "of which nothing is known"
            )
            out.print(f"{len(each)} of {len(found.presets)} presets {word}: {escape(names)}.")
    if not found.judged(Outcome.EXCLUDED):
        out.print("No preset is excluded at this length.")


def _size(each: "Enough", row: "Row") -> str:
    """Return a size in the words of its design."""
    from separatrix.wording import counted

    memory = "" if each.memory_bits is None else f"; keeps {each.memory_bits:,} bits"
    if row.design == "recurrent" or (row.design == "hybrid" and each.evidence == "fact"):
        return f"{each.bits:,} state bits"
    return (
        f"{counted(each.layers, 'layer')}, {counted(each.heads, 'head')} of m = {each.width:,}"
        f"{'' if each.model_width is None else f', width {each.model_width:,}'}, {each.precision_bits} bits a number"
        f"{memory}"
    )


def _evidence(each: "Enough") -> str:
    match each.evidence:
        case "fact":
            return f"{each.name} (a fact, no theorem)"
        case "certified":
            return f"{each.name}, certified now"
        case "certificate recorded":
            return f"{each.name}, certified (recorded)"
        case "certified at a shorter length":
            return (
                f"{each.name}, built at this length, certified at {each.certified_length:,}; --certify proves it here"
            )
