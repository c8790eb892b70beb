"""``separatrix atlas``: the whole picture as a page, a JSON file and a table."""

from pathlib import Path
from typing import Annotated

import typer

from separatrix.cli.output import JsonOption, console, notes, print_json

NAME = "atlas"
ORDER = 90
EXAMPLE = "separatrix atlas --out atlas"


def command(
    out: Annotated[
        Path, typer.Option("--out", "-o", help="Folder to write index.html, atlas.json and figures/ to.")
    ] = Path("atlas"),
    as_json: JsonOption = False,
) -> None:
    """Run everything the catalogs hold at quick scale and write the atlas."""
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    from separatrix.atlas import build, ordered_sections, write
    from separatrix.errors import SeparatrixError
    from separatrix.files import write_atomically

    if out.exists() and not out.is_dir():
        raise SeparatrixError(f"--out {out} is a file; give a folder")
    # Asked first, so that a folder that cannot be written is known before the work and not after it.
    write_atomically(out / ".writable", b"")
    (out / ".writable").unlink()
    total = sum(section.units for section in ordered_sections())
    columns = (
        TextColumn("{task.description:<32}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(),
        TextColumn("left"), TimeRemainingColumn(),
    )  # fmt: skip
    with Progress(*columns, console=notes(), transient=True, disable=not notes().is_terminal) as bar:
        work = bar.add_task("starting", total=total)
        atlas = build(lambda what: bar.update(work, advance=1, description=what))
    written = write(atlas, out)
    if as_json:
        print_json({"files": [str(path) for path in written], **atlas.results})
        return
    for section in ordered_sections():
        console().print(section.table(atlas.results["sections"][section.name]))
    console().print(f"open [bold]{(out / 'index.html').resolve().as_uri()}[/bold]", soft_wrap=True)
