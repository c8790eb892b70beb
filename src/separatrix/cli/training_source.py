"""Where the verbs that show runs read them from: a store, or files that were exported from one.

Where nothing is named and there is no store, the runs that ship with the package are read.
"""

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from separatrix import shipped
from separatrix.cli.output import remark
from separatrix.errors import SeparatrixError

if TYPE_CHECKING:
    from separatrix.training import RunSource

RecordsOption = Annotated[
    list[Path] | None,
    typer.Option(
        "--records",
        help="Read exported runs instead of a store: .json or .sqlite files, or folders of them; 'shipped' for those "
        "of the package, which are read where there is no store.",
    ),
]


def named_records(named: list[Path] | None) -> list[Path]:
    """Return the files and folders of ``--records``; raise a one-line error for one that is not there.

    >>> named_records([Path("nowhere")])
    Traceback (most recent call last):
    separatrix.errors.SeparatrixError: --records nowhere does not exist; give stores, files of separatrix runs \
export, or a folder
    """
    found = shipped.resolved(named or [])
    for path in found:
        if not path.exists():
            raise SeparatrixError(
                f"--records {path} does not exist; give stores, files of  separatrix runs export, or a folder"
            )
    return found


def usual_records(store: Path | None) -> list[Path]:
    """Return what is read where no source was named: the package's own records, if there is no store."""
    import os

    from separatrix.training import ENVIRONMENT_VARIABLE, store_path

    named = store is not None or os.environ.get(ENVIRONMENT_VARIABLE)
    return [] if named or store_path(store).exists() else [shipped.FOLDER]


def source_text(store: Path | None, exported: list[Path] | None) -> str:
    """Return what is read, for messages.

    >>> source_text(Path("a.sqlite"), None), source_text(None, [Path("b.json"), Path("c")])
    ('a.sqlite', 'b.json, c')
    """
    from separatrix.training import store_path

    return ", ".join(map(shipped.short_path, exported or usual_records(store) or [store_path(store)]))


def unfinished_groups(source: "RunSource") -> int:
    """Return how many groups of a store were interrupted and have a checkpoint to resume from; exported files have
    none."""
    from separatrix.training import CHECKPOINTS, Records

    return len(list((source.files / CHECKPOINTS).glob("*.safetensors"))) if isinstance(source, Records) else 0


@contextmanager
def opened_source(store: Path | None, exported: list[Path] | None) -> "Generator[RunSource]":
    """Yield the source that was named, or the usual one; a store that is not there is not made."""
    from separatrix.training import ExportedRecords, Records, store_path

    if exported:
        if store is not None:
            raise SeparatrixError(f"--store {store} and --records {exported[0]} are two sources; keep one")
        found = ExportedRecords(named_records(exported))
        if not found.paths:
            raise SeparatrixError("no file of exported runs was found there; write one with  separatrix runs export")
        yield found
        return
    if usual := usual_records(store):
        remark(f"there is no store {store_path(store)}; reading the runs that ship with the package")
        yield ExportedRecords(usual)
        return
    with Records(store_path(store), create=False) as records:
        yield records
