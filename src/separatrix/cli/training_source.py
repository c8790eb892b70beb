"""Where the verbs that show runs read them from: a store, or files that were exported from one."""

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from separatrix.errors import SeparatrixError

if TYPE_CHECKING:
    from separatrix.training.export_records import RunSource

RecordsOption = Annotated[
    list[Path] | None,
    typer.Option("--records", help="Read exported runs (.json files or folders) instead of a store."),
]


@contextmanager
def opened_source(store: Path | None, exported: list[Path] | None) -> "Generator[RunSource]":
    """The source that was named; a store that is not there is not made."""
    from separatrix.training.export_records import ExportedRecords
    from separatrix.training.records import Records, store_path

    if exported:
        if store is not None:
            raise SeparatrixError(f"--store {store} and --records {exported[0]} are two sources; keep one")
        yield ExportedRecords(exported)
        return
    with Records(store_path(store), create=False) as records:
        yield records
