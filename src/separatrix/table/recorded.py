"""Records of earlier work: runs in files and stores, and surveys of frontiers, read as they are.

A folder of results may hold several kinds of files; each reader takes those of its own kind.
"""

from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from separatrix.errors import SeparatrixError
from separatrix.reading import parse_json, read_file
from separatrix.shipped import short_path
from separatrix.table.frontier_survey import Narrowest

if TYPE_CHECKING:
    from separatrix.training import Point, Record, RunSource

LARGEST_SURVEY = 64 << 20
"""A survey of a frontier is some thousand lines; larger files are something else."""


@dataclass(frozen=True)
class Sources:
    """Where records of earlier work are read from: files and folders that ship with results, and a store of runs."""

    recorded: tuple[Path, ...] = ()
    store: Path | None = None


class SeveralRuns:
    """Several sources of runs as one; of a run that is in several, the first one counts."""

    def __init__(self, sources: "Sequence[RunSource]") -> None:
        self._sources = tuple(sources)

    def find(self, names: Iterable[str]) -> "dict[str, Record]":
        """Return those of the named runs that are in any of them."""
        asked = list(names)
        found: dict[str, Record] = {}
        for source in reversed(self._sources):
            found |= source.find(asked)
        return found

    def get(self, name: str) -> "Record":
        """Return the run of a name or of the beginning of one."""
        return self._holder(name).get(name)

    def all(self) -> "list[Record]":
        """Return every run, by the time it finished."""
        found = {record.spec.name: record for source in reversed(self._sources) for record in source.all()}
        return sorted(found.values(), key=lambda record: (record.finished_at, record.spec.name))

    def newest(self, limit: int) -> "list[Record]":
        """Return the last so many of :meth:`all`."""
        return self.all()[-limit:] if limit else []

    def curve(self, name: str) -> "list[Point]":
        """Return the points of a run, in order of steps."""
        found = [points for source in self._sources if (points := source.curve(name))]
        return found[0] if found else []

    def snapshots(self, name: str) -> dict[int, Path]:
        """Return the files with weights that a run kept, by step."""
        found = [files for source in self._sources if (files := source.snapshots(name))]
        return found[0] if found else {}

    def not_here(self) -> dict[str, int]:
        """Return how many runs there are of each task that is not here; those that several sources hold count once
        each."""
        found: dict[str, int] = {}
        for source in self._sources:
            for task, count in source.not_here().items():
                found[task] = found.get(task, 0) + count
        return found

    def folders(self) -> list[Path]:
        """Return where what is read lies."""
        return list(dict.fromkeys(folder for source in self._sources for folder in source.folders()))

    def _holder(self, name: str) -> "RunSource":
        for source in self._sources:
            if any(record.spec.name.startswith(name) for record in source.all()):
                return source
        raise SeparatrixError(f"no run is named {name!r} in the records of the atlas; see  separatrix runs list")


@contextmanager
def opened_runs(sources: Sources) -> "Generator[tuple[RunSource, list[str]]]":
    """Yield all runs that can be read, and the names of the files they are in."""
    from separatrix.training import ExportedRecords, Records, run_files

    files = [file for path in sources.recorded for file in run_files(path)]
    with ExitStack() as stack:
        found: list[RunSource] = [ExportedRecords(files)] if files else []
        names = [short_path(file) for file in files]
        if sources.store is not None and sources.store.is_file():
            found.append(stack.enter_context(Records(sources.store, create=False)))
            names.append(str(sources.store))
        yield SeveralRuns(found), names


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
