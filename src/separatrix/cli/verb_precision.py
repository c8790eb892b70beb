"""``separatrix precision``: the fixed point of BHBK24 Appendix B.2 at a length, and what it can hold."""

from typing import Annotated

import typer

from separatrix.cli.completion import complete_task
from separatrix.cli.output import JsonOption, print_answer, remark

NAME = "precision"
ORDER = 67
EXAMPLE = "separatrix precision sparse-threshold --length 1024 --bits 42"


def command(
    context: typer.Context,
    task: Annotated[str, typer.Argument(help="Name of a task.", autocompletion=complete_task)],
    length: Annotated[int, typer.Option("--length", "-n", help="Input length N.")],
    bits: Annotated[
        int | None, typer.Option("--bits", "--precision", "-p", help="Bits p of one number; the finest step that fits.")
    ] = None,
    exponent: Annotated[
        int | None, typer.Option("--exponent", help="The paper's constant Kc, instead of --bits.")
    ] = None,
    rounding: Annotated[str, typer.Option("--rounding", help="'down' as the paper has it, or 'nearest'.")] = "down",
    as_json: JsonOption = False,
) -> None:
    """Show the numbers of B.2 at this length: step, range, bits, and whether uniform attention survives rounding."""
    from separatrix.api import fixed_point_of

    found = fixed_point_of(task, length, bits, exponent, rounding)
    if bits is not None:
        note_unused_bits(length, bits, found.exponent)
    print_answer(context, found, as_json, arithmetic=found.arithmetic)


def note_unused_bits(length: int, bits: int, exponent: int, offered: str | None = None) -> None:
    """Say on standard error why fewer bits are used than were given."""
    from separatrix.api import unused_bits

    if line := unused_bits(length, bits, exponent, offered):
        remark(line)
