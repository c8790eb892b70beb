"""``separatrix code``: the narrowest sign code for N vectors, verified, next to the limit no code can pass."""

import time
from typing import TYPE_CHECKING, Annotated

import typer

from separatrix.cli.completion import complete_family
from separatrix.cli.output import JsonOption, command_line, console, print_json
from separatrix.text_numbers import parse_fraction
from separatrix.wording import counted

if TYPE_CHECKING:
    from separatrix.arithmetic import SignCode

NAME = "code"
ORDER = 30
EXAMPLE = "separatrix code --count 1024 --max-inner 1/4"
SHOWN_VECTORS = 4


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
    from separatrix.arithmetic import delsarte_width, paper_width, sign_code
    from separatrix.provenance import provenance

    started = time.perf_counter()
    bound = parse_fraction("--max-inner", max_inner)
    code = sign_code(count, bound, two_sided, family)
    limit = delsarte_width(count, bound, two_sided)
    result = {
        "count": count,
        "max_inner_allowed": str(bound),
        "two_sided": two_sided,
        "family": code.family,
        "width": code.width,
        "max_inner": str(code.max_inner),
        "min_inner": str(code.min_inner),
        "evidence": code.evidence,
        "description_bits": code.description_bits,
        "description": code.description(),
        "delsarte_limit": limit.width,
        "delsarte_limit_complete": limit.complete,
        "paper_width": paper_width(count, bound),
        "provenance": provenance(command_line(context), arithmetic="integers", seed=None, started=started),
    }
    if as_json:
        print_json(result)
        return
    _print(code, limit.width, paper_width(count, bound))


def _print(code: "SignCode", limit: int, paper: int) -> None:
    from rich.table import Table

    out = console()
    table = Table(show_header=False)
    table.add_column(style="bold")
    table.add_column()
    optimal = ", so no code is narrower" if code.width == limit else ""
    for name, value in [
        ("vectors", str(code.count)),
        ("width", str(code.width)),
        ("family", code.family),
        ("largest inner product", f"{code.max_inner} (exact)"),
        ("smallest inner product", f"{code.min_inner} (exact)"),
        ("verified by", code.evidence),
        ("description", counted(code.description_bits, "bit")),
        ("Delsarte limit", f"width {limit}{optimal}"),
        ("the paper's formula", f"width {paper}"),
    ]:
        table.add_row(name, value)
    out.print(table)
    for index, signs in enumerate(code.signs(range(min(SHOWN_VECTORS, code.count)))):
        shown = "".join("+" if sign > 0 else "−" for sign in signs.tolist())
        out.print(f"T({index + 1}) {shown}", soft_wrap=True)
