"""``separatrix attack``: search for inputs on which a trained run fails."""

from pathlib import Path
from typing import Annotated

import typer

from separatrix.cli.output import JsonOption, print_answer
from separatrix.extras import require

NAME = "attack"
ORDER = 84
EXAMPLE = "separatrix attack 0b5d1c2e --seconds 60"


def command(
    context: typer.Context,
    run: Annotated[str, typer.Argument(help="A run of a store by its name; its weights must be there.")],
    length: Annotated[int | None, typer.Option("--length", "-n", help="Length N; the run's own if not given.")] = None,
    seconds: Annotated[float, typer.Option("--seconds", help="How long to search.")] = 10.0,
    most: Annotated[int, typer.Option("--most", help="Stop when so many failing inputs are found.")] = 8,
    seed: Annotated[int, typer.Option("--seed", help="Seed of the search.")] = 0,
    store: Annotated[
        Path | None, typer.Option("--store", help="The run's store; SEPARATRIX_STORE or runs.sqlite.")
    ] = None,
    as_json: JsonOption = False,
) -> int:
    """Search for inputs that a trained model answers wrongly (exit 1 if one is found); finding none proves nothing."""
    require("attacking a trained run", "torch")
    from separatrix.api import attack
    from separatrix.cli.progress import progress_bar
    from separatrix.progress import listening

    with progress_bar(f"attacking {run}", as_json) as show, listening(show):
        found = attack(run, length, seconds, most, seed, store)
    print_answer(context, found, as_json, arithmetic="float32", seed=seed)
    return 0 if found else 1
