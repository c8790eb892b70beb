"""``separatrix list``: what is in the catalogs."""

from typing import Annotated

import typer

from separatrix.answer import show
from separatrix.cli.output import JsonOption, console, print_json

NAME = "list"
ORDER = 10
EXAMPLE = "separatrix list tasks"


def _complete(incomplete: str) -> list[str]:
    from separatrix.api import CATALOGS

    return [name for name in CATALOGS if name.startswith(incomplete)]


def command(
    catalog: Annotated[
        str | None,
        typer.Argument(
            help="One catalog; if left out all, architectures and experiments in short.",
            autocompletion=_complete,
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """List what is in the catalogs: tasks, theorems, bounds, codes, arithmetics, architectures, experiments.

    State sizes and numbers of runs:  separatrix list architectures,  separatrix list experiments.
    """
    from separatrix.api import listing

    found = listing(catalog)
    if as_json:
        print_json(found.as_dict())
    else:
        show(found.sheet(), console())
