"""``separatrix design``: what a task of a length needs at least, what is enough, and which published models pass."""

from pathlib import Path
from typing import Annotated

import typer

from separatrix.bit_counts import OWN_PRECISION
from separatrix.cli.completion import complete_task
from separatrix.cli.given_options import refuse_given
from separatrix.cli.output import JsonOption, print_answer
from separatrix.cli.pictures import check_picture, write_picture
from separatrix.errors import SeparatrixError

NAME = "design"
ORDER = 74
EXAMPLE = "separatrix design mqar --length 8192"
EXACT = "exact"


def command(
    context: typer.Context,
    task: Annotated[str, typer.Argument(help="Name of a task, or FILE.py:function.", autocompletion=complete_task)],
    length: Annotated[int, typer.Option("--length", "-n", help="Input length N.")],
    accuracy: Annotated[
        str, typer.Option("--accuracy", help="exact: correct on every input, which all bounds here are about.")
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
    """Show what a model for a task needs at least, which certified construction is enough, and which presets pass."""
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
    from separatrix.site import design_picture

    chosen = task_argument(task, settings or [])
    if plot is not None and chosen.name != task and ":" in task:
        refuse_given(context, ("plot",), "draws the tasks of the papers; of a function use  separatrix profile --plot")
    with progress_bar(f"designs for {task} of length {length}", as_json) as show, listening(show):
        answer = design(chosen, length, precision=precision, heads=heads, certify=certify)
    if plot is not None:
        write_picture(plot, design_picture(answer.found))
    print_answer(context, answer, as_json, arithmetic="integers")
