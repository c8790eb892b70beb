"""``separatrix certify``: build a theorem's network, prove it for all inputs, write network and certificate."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from separatrix.cli.output import JsonOption, console, notes, print_json
from separatrix.errors import SeparatrixError
from separatrix.text_numbers import parse_fraction

if TYPE_CHECKING:
    from separatrix.constructions import Options

NAME = "certify"
ORDER = 50
EXAMPLE = "separatrix certify index-lookup --length 1024"


def complete_construction(incomplete: str) -> list[tuple[str, str]]:
    """Names of constructions for the shell, with their titles."""
    from separatrix.constructions import constructions

    return [(name, each.title) for name, each in constructions().items() if name.startswith(incomplete)]


def command(
    construction: Annotated[str, typer.Argument(help="Name of a construction.", autocompletion=complete_construction)],
    length: Annotated[int, typer.Option("--length", "-n", help="Input length N.")],
    precision: Annotated[
        int | None, typer.Option("--precision", "-p", help="Bits of one number, instead of --exponent.")
    ] = None,
    exponent: Annotated[
        int | None, typer.Option("--exponent", help="The constant Kc; the theorem's own by default.")
    ] = None,
    rounding: Annotated[str, typer.Option("--rounding", help="'down' as the paper has it, or 'nearest'.")] = "down",
    variant: Annotated[str, typer.Option("--variant", help="Which version of the proof.")] = "repaired",
    gain: Annotated[str | None, typer.Option("--gain", help="A score scale η instead of the theorem's.")] = None,
    settings: Annotated[list[str] | None, typer.Option("--set", help="A parameter of the task, NAME=VALUE.")] = None,
    max_memory: Annotated[str, typer.Option("--max-memory", help="Refuse what would need more, such as 8G.")] = "8G",
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Folder for the two files.")] = None,
    as_json: JsonOption = False,
) -> int:
    """Build a network from a theorem and certify that it is right on every input of a length."""
    from separatrix.certificates import Claim, check
    from separatrix.certificates.certificate import size_of, write_certificate
    from separatrix.certificates.memory import check_memory, parse_bytes
    from separatrix.constructions import constructions

    started = time.perf_counter()
    limit = parse_bytes(max_memory)
    chosen = constructions()[construction]
    options = _options(chosen.task_name, length, precision, exponent, rounding, variant, gain, settings or [])
    folder = out or Path("certificates") / f"{construction}-{length}"
    if folder.exists() and not folder.is_dir():
        raise SeparatrixError(f"--out {folder} is a file; give a folder")
    with notes().status(f"building {construction} for length {length}") as status:
        built = chosen.build(length, options)
        claim = Claim(built.task, built.length, built.arithmetic)
        check_memory(built.network, limit)
        status.update(f"checking all inputs of length {length}")
        verdict = check(built.network, claim)
        path: Path | None = None
        if verdict.valid:
            about = {"construction": construction, "theorem": chosen.theorem, "variant": variant}
            path = write_certificate(built.network, claim, verdict, folder, about)
    result: dict[str, Any] = {
        "claim": f"{chosen.theorem}: {chosen.statement}",
        "construction": construction,
        "task": built.task.name,
        "length": length,
        **size_of(built.network, claim),
        "arithmetic": str(claim.arithmetic),
        "inputs_covered": verdict.inputs_covered,
        "method": verdict.method,
        "certified": verdict.valid,
        "reason": verdict.reason,
        "counterexample": verdict.counterexample,
        "seconds": round(time.perf_counter() - started, 3),
        "certificate": str(path) if path else None,
    }
    if as_json:
        print_json(result)
    else:
        _print(result)
    return 0 if verdict.valid else 1


def _options(
    task: str, length: int, precision: int | None, exponent: int | None, rounding: str, variant: str, gain: str | None,
    settings: list[str],
) -> "Options":  # fmt: skip
    from separatrix.cli.verb_precision import exponent_for_bits
    from separatrix.constructions import Options
    from separatrix.tasks import tasks
    from separatrix.tasks.parameters import with_text_parameters

    if precision is not None and exponent is not None:
        raise SeparatrixError(f"give one of --precision {precision} and --exponent {exponent}, not both")
    tasks()[task].check_length(length)
    if precision is not None:
        exponent = exponent_for_bits(task, length, precision)
    if rounding not in ("down", "nearest"):
        raise SeparatrixError(f"--rounding {rounding} is unknown; choose down or nearest")
    scale = None if gain is None else parse_fraction("--gain", gain)
    changed = with_text_parameters(tasks()[task], settings).parameters()
    own = tasks()[task].parameters()
    parameters = {name: value for name, value in changed.items() if value != own[name]}
    return Options(
        exponent=exponent,
        rounding=rounding,
        variant=variant,
        gain=scale,
        parameters=parameters,
    )


def _print(result: dict[str, Any]) -> None:
    from rich.table import Table

    table = Table(show_header=False)
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    verdict = "[green]certified[/green]" if result["certified"] else "[red]not certified[/red]"
    rows = [
        ("claim", result["claim"]),
        ("verdict", f"{verdict}: {result['reason']}"),
        ("inputs covered", result["inputs_covered"]),
        ("method", result["method"]),
        (
            "size",
            f"{result['layers']} layers, {result['heads']} heads, width {result['width']}, {result['size_bits']} bits",
        ),
        ("arithmetic", f"{result['arithmetic']} ({result['precision_bits']} bits)"),
        ("certificate", result["certificate"] or "none"),
    ]
    if result["counterexample"] is not None:
        rows.append(("counterexample", " ".join(map(str, result["counterexample"]))))
    for name, value in rows:
        table.add_row(name, value)
    console().print(table)
