"""``separatrix code``: the narrowest sign code for N vectors, verified, next to the limit no code can pass."""

from typing import Annotated

import typer

from separatrix.cli.completion import complete_family
from separatrix.cli.output import JsonOption, print_answer
from separatrix.text_numbers import parse_fraction

NAME = "code"
ORDER = 66
EXAMPLE = "separatrix code --count 1024 --max-inner 1/4"


def command(
    context: typer.Context,
    count: Annotated[int, typer.Option("--count", "-n", help="How many vectors N.")],
    max_inner: Annotated[str, typer.Option("--max-inner", help="Largest inner product of two vectors.")] = "1/4",
    two_sided: Annotated[
        bool, typer.Option("--two-sided", help="Bound the inner products from below as well.")
    ] = False,
    family: Annotated[
        str | None, typer.Option("--family", help="Only codes of this family.", autocompletion=complete_family)
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Find the narrowest known sign code (BHBK24 Lemma 2) and verify all its inner products exactly."""
    from separatrix.api import find_code

    found = find_code(count, parse_fraction("--max-inner", max_inner), two_sided, family)
    print_answer(context, found, as_json, arithmetic="integers")
