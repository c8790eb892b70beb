"""``separatrix check``: verify a certificate from its weight file with the independent checker."""

from pathlib import Path
from typing import Annotated

import typer

from separatrix.answer import COLOURS
from separatrix.cli.given_options import refuse_given
from separatrix.cli.limits import MaxMemoryOption, limited_memory, memory_limit
from separatrix.cli.output import JsonOption, console, print_result
from separatrix.shipped import resolved

NAME = "check"
ORDER = 60
EXAMPLE = "separatrix check certificates/index-lookup-1024"
UNLABELLED = ("verdict", "it shows")
"""Lines that speak for themselves."""


def command(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(help="A certificate or refutation, or the folder it lies in.")],
    replay: Annotated[bool, typer.Option("--replay", help="Run the counterexample and show it.")] = False,
    max_memory: MaxMemoryOption = None,
    as_json: JsonOption = False,
) -> int:
    """Recompute a certificate from the weights: valid, refuted by an input that is shown, or not valid (exit 1)."""
    from separatrix_kernel.trained import TRAINED_FILE

    (file,) = resolved([file])
    folder = file.parent if file.name == TRAINED_FILE else file
    if (folder / TRAINED_FILE).is_file():
        refuse_given(context, ("max_memory",), "is for networks of constructions, not trained weights; leave it out")
        file = folder
    from rich.markup import escape

    from separatrix.api import check
    from separatrix.cli.progress import progress_bar
    from separatrix.progress import listening

    limit = memory_limit(max_memory)
    with progress_bar(f"checking {file}", as_json) as show, limited_memory(limit), listening(show):
        found = check(file, replay=replay, memory=limit)
    if as_json:
        print_result(context, {**found.as_dict()}, arithmetic=found.arithmetic)
    else:
        # Lines and not the table of ``certify``: what is checked by hundreds is read by grep.
        for fact in found.sheet().facts:
            word, colon, rest = fact.text.partition(":")
            colour = COLOURS[fact.tone]
            text = f"[{colour}]{word}[/{colour}]{escape(colon + rest)}" if colour else escape(fact.text)
            label = "" if fact.label in UNLABELLED else f"{fact.label}: "
            console().print(f"{label}{text}", soft_wrap=fact.label != "verdict")
    return 0 if found else 1
