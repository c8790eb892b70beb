"""Records of earlier work: runs in files and stores, and surveys of frontiers, read as they are.

A folder of results may hold several kinds of files; each reader takes those of its own kind.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from separatrix.errors import SeparatrixError
from separatrix.reading import parse_json, read_file
from separatrix.shipped import short_path
from separatrix.table.frontier_survey import Narrowest

if TYPE_CHECKING:
    from separatrix.training import RunSource

LARGEST_SURVEY = 64 << 20
"""A survey of a frontier is some thousand lines; larger files are something else."""


@dataclass(frozen=True)
class Sources:
    """Where records of earlier work are read from: files and folders that ship with results, and a store of runs."""

    recorded: tuple[Path, ...] = ()
    store: Path | None = None


def read_runs(sources: Sources) -> "tuple[RunSource, list[str]]":
    """Return all runs that can be read, and the names of the files they are in; of a run in both a file counts."""
    from separatrix.training import ExportedRecords, run_files

    files = [file for path in sources.recorded for file in run_files(path)]
    store = [sources.store] if sources.store is not None and sources.store.is_file() else []
    return ExportedRecords([*store, *files]), [*map(short_path, files), *map(str, store)]


@dataclass(frozen=True)
class Made:
    """How a survey was made."""

    command: str
    arithmetic: str
    seed: int | None
    versions: dict[str, str]


@dataclass(frozen=True)
class RecordedSurvey:
    """What is read of a survey of a frontier."""

    construction: str
    widths: tuple[Narrowest, ...]
    provenance: Made


def recorded_surveys(sources: Sources) -> Iterator[tuple[str, RecordedSurvey]]:
    """Yield surveys of frontiers as ``separatrix frontier --json`` prints them, with the files they are in."""
    from pydantic import TypeAdapter, ValidationError

    reader, remedy = TypeAdapter(RecordedSurvey), "remove it or name other --records"
    for folder in sources.recorded:
        for each in sorted(folder.rglob("*.json")) if folder.is_dir() else ():
            if not each.is_file() or each.stat().st_size > LARGEST_SURVEY:
                continue
            data = read_file(each, LARGEST_SURVEY, remedy)
            try:
                content: Any = parse_json(data)
            except ValueError as error:
                raise SeparatrixError(f"cannot read {each}: {error}; {remedy}") from error
            if isinstance(content, dict) and {"construction", "widths", "provenance"} <= set(cast("Any", content)):
                try:
                    yield short_path(each), reader.validate_json(data, strict=True)
                except ValidationError as error:
                    first = error.errors()[0]
                    fault = f"{'.'.join(map(str, first['loc']))}: {first['msg'].lower()}"
                    raise SeparatrixError(
                        f"{short_path(each)} is not a whole record of a frontier ({fault}); {remedy}"
                    ) from error
