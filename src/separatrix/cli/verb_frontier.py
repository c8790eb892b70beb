"""``separatrix frontier``: the smallest certified width and precision of a construction at each length."""

import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from separatrix.cli.construction_options import complete_construction
from separatrix.cli.output import JsonOption, command_line, console, notes, print_json
from separatrix.errors import SeparatrixError

if TYPE_CHECKING:
    from separatrix.atlas.frontier import Point

NAME = "frontier"
ORDER = 70
EXAMPLE = "separatrix frontier index-lookup --from 4 --to 10"


def command(
    context: typer.Context,
    construction: Annotated[str, typer.Argument(help="Name of a construction.", autocompletion=complete_construction)],
    first: Annotated[int, typer.Option("--from", help="Smallest power of two.")] = 4,
    last: Annotated[int, typer.Option("--to", help="Largest power of two.")] = 8,
    figure: Annotated[Path | None, typer.Option("--figure", help="Also draw it, to this .svg or .png file.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Find which widths and precisions certify, from two points on a circle to sign codes."""
    from rich.progress import Progress

    from separatrix.atlas.frontier import EXPONENTS, LADDER, best, plane, supports_codes
    from separatrix.constructions import constructions
    from separatrix.provenance import provenance

    started = time.perf_counter()
    chosen = constructions()[construction]
    if not 2 <= first <= last <= 20:
        raise SeparatrixError(f"--from {first} --to {last} is no range of powers; choose 2 ≤ from ≤ to ≤ 20")
    if figure is not None and figure.suffix not in (".svg", ".png"):
        raise SeparatrixError(f"--figure {figure} must end in .svg or .png")
    if not supports_codes(construction):
        raise SeparatrixError(f"{construction} does not take its addresses from a code; its size is what certify shows")
    lengths = [2**power for power in range(first, last + 1) if 2**power >= chosen.minimum_length]
    points: list[Point] = []
    with Progress(console=notes(), transient=True, disable=not notes().is_terminal) as bar:
        work = bar.add_task(construction, total=len(lengths) * len(LADDER) * len(EXPONENTS))
        for length in lengths:
            points += plane(construction, length, lambda what: bar.update(work, advance=1, description=what))
    frontier = {length: best([point for point in points if point.length == length]) for length in lengths}
    if figure is not None:
        _draw(construction, points, figure)
    if as_json:
        record = provenance(command_line(context), arithmetic="fixed point", seed=None, started=started)
        listed: list[dict[str, Any]] = [asdict(point) for point in points]
        kept = {str(length): [asdict(point) for point in chosen_ones] for length, chosen_ones in frontier.items()}
        print_json({"construction": construction, "points": listed, "frontier": kept, "provenance": record})
        return
    _print(construction, frontier)


def _print(construction: str, frontier: "dict[int, list[Point]]") -> None:
    from rich.table import Table

    console().print(f"[bold]{construction}[/bold]: certified for all inputs, none narrower and coarser on the ladder")
    table = Table()
    for heading in ("N", "width", "bits of a number", "Kc", "size in bits"):
        table.add_column(heading, justify="right")
    table.add_column("addresses")
    for length, points in frontier.items():
        for point in points:
            numbers = (length, point.width, point.precision_bits, point.exponent, point.size_bits)
            table.add_row(*map(str, numbers), point.code)
    console().print(table)


def _draw(construction: str, points: "list[Point]", path: Path) -> None:
    from separatrix.atlas.figure import PALETTE, draw
    from separatrix.files import write_atomically

    def paint(axes: Any) -> None:
        for number, length in enumerate(sorted({point.length for point in points})):
            colour = PALETTE[number % len(PALETTE)]
            mine = [point for point in points if point.length == length]
            for certified, marker in ((True, "o"), (False, "x")):
                shown = [(p.precision_bits, p.width) for p in mine if p.certified == certified]
                if shown:
                    label = f"N = {length}" if certified else None
                    axes.scatter(*zip(*shown, strict=True), color=colour, marker=marker, label=label)
        axes.set_xlabel("bits of a number")
        axes.set_ylabel("width")
        axes.set_yscale("log", base=2)
        axes.grid(alpha=0.3)
        axes.legend(frameon=False, fontsize=8)

    caption = f"{construction}: circles are certified for all inputs, crosses are not."
    drawn = draw(f"frontier-{construction}", caption, paint)
    write_atomically(path, drawn.svg if path.suffix == ".svg" else drawn.png)
