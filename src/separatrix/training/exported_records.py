"""The JSON file of exported runs, and reading it back: figures are drawn on a machine that never trained anything.

The file holds every run with its description, result, environment and curve, one run on a line; ``export_records``
writes it. :class:`ExportedRecords` answers the questions of an open store from such files. The name of a run is the
hash of its description and is checked on reading.

Weights that runs kept at certain steps lie next to it, in ``NAME.files`` as a store has it, one file for each run and
step.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from separatrix.errors import SeparatrixError
from separatrix.reading import parse_json, read_file
from separatrix.training.events import Point
from separatrix.training.record import (
    FINISHED_AT,
    NAME,
    SPEC,
    Record,
    Row,
    kept_folder,
    record_from_row,
    snapshot_entry,
)
from separatrix.training.records import Records
from separatrix.training.row_checks import (
    TaskNotHereError,
    checked_environment,
    checked_point,
    checked_run,
    checked_text,
    task_not_here,
)

FORMAT = "separatrix-runs-1"
LARGEST_FILE = 1 << 30


def snapshot_name(run: str, step: int) -> str:
    """Return where the weights of a run at a step lie in the folder next to the file.

    >>> snapshot_name("0a1b", 500)
    'snapshots/0a1b-500.safetensors'
    """
    return f"snapshots/{run}-{step}.safetensors"


class ExportedRecords:
    """Runs read from JSON files that ``export_records`` wrote, or from stores that are only looked at.

    Of a run that is in several files, the last one counts. What a store holds of a run is checked when the run is asked
    for, and curves are read when the first one is, so that listing a few runs does not wait for all.
    """

    def __init__(self, paths: Iterable[Path]) -> None:
        self._records: dict[str, Record] = {}
        self._unchecked: dict[str, tuple[Path, Row]] = {}
        self._curves: dict[str, list[Point]] = {}
        self._snapshots: dict[str, dict[int, Path]] = {}
        self._stores: dict[str, Path] = {}
        self._rows_of: dict[Path, tuple[dict[str, list[Row]], dict[str, list[Row]]]] = {}
        self._not_here: dict[str, int] = {}
        given = tuple(paths)
        self.paths = tuple(file for path in given for file in run_files(path))
        if given and not self.paths:
            raise SeparatrixError("no file of exported runs was found there; write one with  separatrix runs export")
        for path in self.paths:
            if path.suffix == ".json":
                self._read(path)
            else:
                self._read_store(path)

    def _read_store(self, path: Path) -> None:
        with Records(path, create=False) as store:
            rows = store.rows()
        for row in rows:
            if (task := task_not_here(row[SPEC])) is not None:
                self._not_here[task] = self._not_here.get(task, 0) + 1
                continue
            name = row[NAME]
            if not isinstance(name, str) or not isinstance(row[FINISHED_AT], str):
                record_from_row(row, path)  # raises: such a run can be neither named nor put in order
            for earlier in (self._records, self._curves, self._snapshots):
                earlier.pop(name, None)
            self._unchecked[name], self._stores[name] = (path, row), path

    def _read(self, path: Path) -> None:
        content = _loaded(path)
        try:
            for plain in content["runs"]:
                name = plain["name"]
                fields = [plain[key] for key in ("spec", "ending", "step", "accuracy", "loss", "seconds", "parameters")]
                try:
                    spec, result = checked_run(path, name, *fields)
                except TaskNotHereError as error:
                    self._not_here[error.task] = self._not_here.get(error.task, 0) + 1
                    continue
                own = {key: plain[key] for key in ("group", "members") if key in plain}
                where = checked_environment(path, name, {**content["environments"][plain["environment"]], **own})
                finished_at = checked_text(path, name, plain["finished_at"])
                self._unchecked.pop(name, None)
                self._stores.pop(name, None)
                self._records[name] = Record(spec, result, where, finished_at, None)
                curve = plain["curve"]
                columns = zip(curve["step"], curve["loss"], curve["training_accuracy"], curve["accuracy"], strict=True)
                self._curves[name] = [checked_point(path, name, *values) for values in columns]
                folder, kept = kept_folder(path), plain.get("snapshots", [])
                self._snapshots[name] = dict(
                    snapshot_entry(path, folder, name, step, snapshot_name(name, step)) for step in kept
                )
        except (KeyError, TypeError, IndexError, AttributeError, ValueError) as error:
            if isinstance(error, SeparatrixError):
                raise
            raise SeparatrixError(f"{path} is not a whole file of exported runs ({str(error)[:100]!r})") from error

    def find(self, names: Iterable[str]) -> dict[str, Record]:
        """Return those of the named runs that are there."""
        return {name: self._record(name) for name in names if name in self._records or name in self._unchecked}

    def get(self, name: str) -> Record:
        """Return the run of a name or of the beginning of one."""
        found = [each for each in (*self._records, *self._unchecked) if each.startswith(name)] if name else []
        if not found:
            places = ", ".join(map(str, self.paths))
            raise SeparatrixError(f"no run in {places} is named {name!r}; see  separatrix runs list --records FILE")
        if len(found) > 1:
            raise SeparatrixError(f"{name!r} begins the names of several runs; give more of its digits")
        return self._record(found[0])

    def all(self) -> list[Record]:
        """Return every run, by the time it finished."""
        return self.newest(len(self._records) + len(self._unchecked))

    def newest(self, limit: int) -> list[Record]:
        """Return the last ``limit`` runs of :meth:`all`; no others are checked."""
        times = [(record.finished_at, name) for name, record in self._records.items()]
        times += [(row[FINISHED_AT], name) for name, (_, row) in self._unchecked.items()]
        return [self._record(name) for _, name in sorted(times)[-limit:]] if limit else []

    def curve(self, name: str) -> list[Point]:
        """Return the points of a run, in order of steps."""
        if name not in self._curves and name in self._stores:
            path = self._stores[name]
            self._curves[name] = [checked_point(path, *row) for row in self._rows(path)[0].get(name, [])]
        return self._curves.get(name, [])

    def snapshots(self, name: str) -> dict[int, Path]:
        """Return the files with weights that a run kept, by step."""
        if name not in self._snapshots and name in self._stores:
            path = self._stores[name]
            folder, rows = kept_folder(path), self._rows(path)[1].get(name, [])
            self._snapshots[name] = dict(snapshot_entry(path, folder, *row) for row in rows)
        return self._snapshots.get(name, {})

    def _record(self, name: str) -> Record:
        if name in self._unchecked:
            path, row = self._unchecked[name]
            self._records[name] = record_from_row(row, path)
            del self._unchecked[name]
        return self._records[name]

    def _rows(self, path: Path) -> tuple[dict[str, list[Row]], dict[str, list[Row]]]:
        """Return the rows of all curves of a store and of all weights that its runs kept, read once."""
        if path not in self._rows_of:
            with Records(path, create=False) as store:
                self._rows_of[path] = store.rows_of_curves(), store.rows_of_snapshots()
        return self._rows_of[path]

    def not_here(self) -> dict[str, int]:
        """Return how many runs there are of each task that is not here; :meth:`all` leaves them out."""
        return dict(self._not_here)

    def folders(self) -> list[Path]:
        """Return where the files lie."""
        return list(dict.fromkeys(path.parent for path in self.paths))


def run_files(path: Path) -> list[Path]:
    """Return the file itself, or of a folder and those below it the JSON files that are exported runs and the
    stores."""
    if not path.is_dir():
        return [path]
    beginning = f'{{"format": "{FORMAT}"'.encode()
    found: list[Path] = []
    for each in sorted((*path.rglob("*.json"), *path.rglob("*.sqlite"))):
        if not each.is_file():
            continue  # a folder or a pipe of that name
        with each.open("rb") as stream:
            if each.suffix == ".sqlite" or stream.read(len(beginning)) == beginning:
                found.append(each)
    return found


def _loaded(path: Path) -> dict[str, Any]:
    data = read_file(path, LARGEST_FILE, "give a .json file of  separatrix runs export")
    try:
        content = parse_json(data)
    except ValueError as error:
        raise SeparatrixError(f"{path} is not JSON ({error}); give a file of  separatrix runs export") from error
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise SeparatrixError(f"{path} holds no exported runs; write it with  separatrix runs export {path.name}")
    return content
