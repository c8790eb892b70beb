"""``separatrix atlas``: the whole picture as a static site, a JSON file and tables."""

from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from separatrix.cli.output import JsonOption, command_line, console, print_json, remark
from separatrix.cli.training_options import StoreOption
from separatrix.cli.training_source import named_records
from separatrix.extras import require

if TYPE_CHECKING:
    from separatrix.table import Sources

NAME = "atlas"
ORDER = 90
EXAMPLE = "separatrix atlas --out atlas"


def command(
    context: typer.Context,
    out: Annotated[
        Path, typer.Option("--out", "-o", help="Folder to write the site, atlas.json and figures/ to.")
    ] = Path("atlas"),
    records: Annotated[
        list[Path] | None,
        typer.Option(
            "--records",
            help="Files or folders of recorded runs and frontiers; 'shipped', those of the package, if not given.",
        ),
    ] = None,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Run everything the catalogs hold at quick scale and write the atlas."""
    require("the atlas", "matplotlib", "plotly", "jinja2")
    from separatrix.cli.progress import progress_bar
    from separatrix.errors import SeparatrixError
    from separatrix.files import check_writable
    from separatrix.site import build, terminal_table, units, write

    if out.exists() and not out.is_dir():
        raise SeparatrixError(f"--out {out} is a file; give a folder")
    sources = _sources(records, store)
    # Asked first, so that a folder that cannot be written is known before the work and not after it.
    check_writable(out / "index.html")
    if not as_json:
        remark(_read(sources))
    with progress_bar("building the atlas", as_json) as show:
        done, total = count(1), units()
        atlas = build(lambda what: show(f"{what:<40.40}", next(done), total), sources, command_line(context))
    written = write(atlas, out)
    if as_json:
        print_json({"files": [str(path) for path in written], **atlas.results})
        return
    console().print(terminal_table(atlas.sections))
    size = sum(path.stat().st_size for path in written)
    console().print(f"{len(written)} files, {size / 1e6:.1f} MB")
    console().print(f"open [bold]{(out / 'index.html').resolve().as_uri()}[/bold]", soft_wrap=True)


def _sources(records: "list[Path] | None", store: Path | None) -> "Sources":
    """Require what was named to be there; the usual store may be missing."""
    from separatrix import shipped
    from separatrix.errors import SeparatrixError
    from separatrix.table import Sources
    from separatrix.training import store_path

    recorded = named_records(records) or [shipped.FOLDER]
    if store is not None and not store.is_file():
        raise SeparatrixError(f"there is no store {store}; train something first or leave --store out")
    return Sources(tuple(recorded), store_path(store))


def _read(sources: "Sources") -> str:
    """Return where records are read from."""
    from separatrix import shipped

    known = [
        shipped.short_path(path) for path in (*sources.recorded, sources.store) if path is not None and path.exists()
    ]
    return f"records of earlier runs: {', '.join(known)}"
