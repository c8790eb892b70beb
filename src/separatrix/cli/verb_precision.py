"""``separatrix precision``: the fixed point of BHBK24 Appendix B.2 at a length, and what it can hold."""

import time
from fractions import Fraction
from typing import Annotated

import typer

from separatrix.cli.completion import complete_task
from separatrix.cli.output import JsonOption, command_line, console, print_json, remark
from separatrix.errors import SeparatrixError
from separatrix.wording import counted

MOST_BITS = 4096
LONGEST_SHOWN = 80
"""Characters of a number beyond which only its power of N is shown."""
NAME = "precision"
ORDER = 40
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
    from rich.table import Table

    from separatrix.arithmetic import FixedPoint
    from separatrix.provenance import provenance
    from separatrix.tasks import tasks

    started = time.perf_counter()
    chosen = tasks()[task]
    chosen.check_length(length)
    if (bits is None) == (exponent is None):
        raise SeparatrixError(
            "give one of --bits and --exponent, not both" if bits is not None else "give --bits or --exponent"
        )
    positions = chosen.positions(length)
    if bits is not None:
        exponent = exponent_for_bits(task, length, bits)
    assert exponent is not None
    arithmetic = FixedPoint(length, exponent, rounding)  # type: ignore[arg-type]
    if bits is not None:
        tell_unused_bits(length, bits, exponent)
    share = arithmetic.decode(arithmetic.encode(Fraction(1, positions))).item()
    result = {
        "task": task,
        "length": length,
        "positions": positions,
        "exponent": exponent,
        "rounding": rounding,
        "arithmetic": str(arithmetic),
        "step": str(arithmetic.step),
        "largest": str(arithmetic.largest),
        "precision_bits": arithmetic.precision_bits,
        "uniform_attention_weight": str(share),
        "uniform_attention_survives": share > 0,
        "provenance": provenance(command_line(context), arithmetic=str(arithmetic), seed=None, started=started),
    }
    if as_json:
        print_json(result)
        return
    table = Table(show_header=False)
    table.add_column(style="bold")
    table.add_column()
    verdict = "kept" if share > 0 else "lost: it rounds to 0 (E4), choose a larger Kc"
    for name, value in [
        ("arithmetic", str(arithmetic)),
        ("step", _written(f"{arithmetic.step}", f"N^-{exponent}")),
        ("range", _written(f"±{arithmetic.largest}", f"N^{exponent}")),
        ("bits of one number", str(arithmetic.precision_bits)),
        (f"1/{positions}, uniform attention", _written(str(share), verdict, ", ")),
    ]:
        table.add_row(name, value)
    console().print(table)


def _written(number: str, words: str, joined: str = " (") -> str:
    """Return a number and what it is; one that would fill lines is left to ``--json``."""
    if len(number) > LONGEST_SHOWN:
        return f"{'±' if number.startswith('±') else ''}{words}"
    return f"{number}{joined}{words}{')' if joined == ' (' else ''}"


def exponent_for_bits(task: str, length: int, bits: int) -> int:
    """Return the largest Kc whose numbers fit in p bits; raises when not even Kc = 1 does."""
    from separatrix.arithmetic import FixedPoint

    if not 1 <= bits <= MOST_BITS:
        raise SeparatrixError(f"{bits} bits are out of range; give 1 to {MOST_BITS}")
    if length < 2:
        raise SeparatrixError(
            f"at length {length} steps of N^-Kc up to N^Kc are 1 whatever Kc is, so that bits choose nothing; "
            "give a length from 2 on"
        )
    exponent = 0
    while FixedPoint(length, exponent + 1).precision_bits <= bits:
        exponent += 1
    if exponent == 0:
        needed = FixedPoint(length, 1).precision_bits
        raise SeparatrixError(
            f"{counted(bits, 'bit')} cannot hold {task} at length {length}: "
            f"steps of 1/{length} up to {length} need {needed}; "
            f"give at least {needed} bits"
        )
    return exponent


def unused_bits(length: int, bits: int, exponent: int, offered: str | None = None) -> str:
    """Why fewer bits are used than were asked for, in a line; empty where all of them are.

    ``offered`` is the rounding where the caller takes an arithmetic by name: steps of 2^-b up to 2^b have 2b + 2 bits
    at every length.

    >>> unused_bits(1024, 30, 1)
    '30 bits asked for, 22 used: at N = 1024 numbers have 22 bits with Kc = 1 and 42 with Kc = 2 (BHBK24 B.2)'
    >>> unused_bits(1024, 22, 1)
    ''
    """
    from separatrix.arithmetic import FixedPoint

    used, more = (FixedPoint(length, each).precision_bits for each in (exponent, exponent + 1))
    if used == bits:
        return ""
    steps = (bits - 2) // 2
    finer = f"; for {2 * steps + 2} give --arithmetic fixed:N=2,Kc={steps},{offered} instead of --precision"
    return (
        f"{counted(bits, 'bit')} asked for, {used} used: at N = {length} numbers have {used} bits with Kc = {exponent} "
        f"and {more} with Kc = {exponent + 1} (BHBK24 B.2){finer if offered and 2 * steps + 2 > used else ''}"
    )


def tell_unused_bits(length: int, bits: int, exponent: int, offered: str | None = None) -> None:
    """Say so on standard error."""
    if line := unused_bits(length, bits, exponent, offered):
        remark(line)
