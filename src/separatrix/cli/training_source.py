"""Where the verbs that show runs read them from: a store, or files that were exported from one."""

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from separatrix.errors import SeparatrixError

if TYPE_CHECKING:
    from separatrix.training.run_source import RunSource

RecordsOption = Annotated[
    list[Path] | None,
    typer.Option(
        "--records", help="Read exported runs instead of a store: .json or .sqlite files, or folders of them."
    ),
]


def source_text(store: Path | None, exported: list[Path] | None) -> str:
    """What is read, for messages.

    >>> source_text(Path("a.sqlite"), None), source_text(None, [Path("b.json"), Path("c")])
    ('a.sqlite', 'b.json, c')
    """
    from separatrix.training.records import store_path

    return ", ".join(map(str, exported)) if exported else str(store_path(store))


def unfinished_groups(source: "RunSource") -> int:
    """How many groups of a store were interrupted and have a checkpoint to go on from; exported files have none."""
    from separatrix.training.group_files import CHECKPOINTS
    from separatrix.training.records import Records

    return len(list((source.files / CHECKPOINTS).glob("*.safetensors"))) if isinstance(source, Records) else 0


@contextmanager
def opened_source(store: Path | None, exported: list[Path] | None) -> "Generator[RunSource]":
    """The source that was named; a store that is not there is not made."""
    from separatrix.training.exported_records import ExportedRecords
    from separatrix.training.records import Records, store_path

    if exported:
        if store is not None:
            raise SeparatrixError(f"--store {store} and --records {exported[0]} are two sources; keep one")
        yield ExportedRecords(exported)
        return
    with Records(store_path(store), create=False) as records:
        yield records
