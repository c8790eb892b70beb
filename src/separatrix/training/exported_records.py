"""The JSON file of exported runs, and reading it back: figures are drawn on a machine that never trained anything.

The file holds every run with its description, result, environment and curve, one run on a line; ``export_records``
writes it. :class:`ExportedRecords` answers the questions of an open store from such files. The name of a run is the
hash of its description and is checked on reading.

Weights that runs kept at certain steps lie beside it, in ``NAME.files`` as a store has it, one file for each run and
step.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from separatrix.errors import SeparatrixError
from separatrix.reading import parse_json, read_file
from separatrix.training.events import Point
from separatrix.training.records import Record, Records, kept_weights
from separatrix.training.row_checks import (
    TaskNotHereError,
    checked_environment,
    checked_point,
    checked_run,
    checked_text,
)

FORMAT = "separatrix-runs-1"
LARGEST_FILE = 1 << 30


def snapshot_name(run: str, step: int) -> str:
    """Where the weights of a run at a step lie in the folder beside the file.

    >>> snapshot_name("0a1b", 500)
    'snapshots/0a1b-500.safetensors'
    """
    return f"snapshots/{run}-{step}.safetensors"


class ExportedRecords:
    """Runs read from JSON files that ``export_records`` wrote, or from stores that are only looked at.

    Of a run that stands in several files, the last one counts.
    """

    def __init__(self, paths: Iterable[Path]) -> None:
        self._records: dict[str, Record] = {}
        self._curves: dict[str, list[Point]] = {}
        self._snapshots: dict[str, dict[int, Path]] = {}
        self._not_here: dict[str, int] = {}
        self.paths = tuple(file for path in paths for file in run_files(path))
        if not self.paths:
            raise SeparatrixError("no file of exported runs was found there; write one with  separatrix runs export")
        for path in self.paths:
            if path.suffix == ".json":
                self._read(path)
            else:
                self._read_store(path)

    def _read_store(self, path: Path) -> None:
        with Records(path, create=False) as store:
            found, others = store.all_and_not_here()
            for task, count in others.items():
                self._not_here[task] = self._not_here.get(task, 0) + count
            for record in found:
                name = record.spec.name
                self._records[name] = record
                self._curves[name], self._snapshots[name] = store.curve(name), store.snapshots(name)

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
                self._records[name] = Record(spec, result, where, finished_at, None)
                curve = plain["curve"]
                columns = zip(curve["step"], curve["loss"], curve["training_accuracy"], curve["accuracy"], strict=True)
                self._curves[name] = [checked_point(path, name, *values) for values in columns]
                folder, kept = path.with_name(f"{path.stem}.files"), plain.get("snapshots", [])
                self._snapshots[name] = dict(
                    kept_weights(path, folder, name, step, snapshot_name(name, step)) for step in kept
                )
        except (KeyError, TypeError, IndexError, AttributeError, ValueError) as error:
            if isinstance(error, SeparatrixError):
                raise
            raise SeparatrixError(f"{path} is not a whole file of exported runs ({str(error)[:100]!r})") from error

    def find(self, names: Iterable[str]) -> dict[str, Record]:
        """Those of the named runs that are there."""
        return {name: self._records[name] for name in names if name in self._records}

    def get(self, name: str) -> Record:
        """The run of a name or of the beginning of one."""
        found = [record for each, record in self._records.items() if each.startswith(name)] if name else []
        if not found:
            raise SeparatrixError(f"no run in {', '.join(map(str, self.paths))} is named {name!r}; see  runs list")
        if len(found) > 1:
            raise SeparatrixError(f"{name!r} begins the names of several runs; give more of its digits")
        return found[0]

    def all(self) -> list[Record]:
        """Every run, by the time it finished."""
        return sorted(self._records.values(), key=lambda record: (record.finished_at, record.spec.name))

    def curve(self, name: str) -> list[Point]:
        """The points of a run, in order of steps."""
        return self._curves.get(name, [])

    def snapshots(self, name: str) -> dict[int, Path]:
        """Files with weights that a run kept, by step."""
        return self._snapshots.get(name, {})

    def not_here(self) -> dict[str, int]:
        """How many runs there are of each task that is not here; :meth:`all` leaves them out."""
        return dict(self._not_here)

    def folders(self) -> list[Path]:
        """Where the files lie."""
        return list(dict.fromkeys(path.parent for path in self.paths))


def run_files(path: Path) -> list[Path]:
    """The file itself, or of a folder and those below it the JSON files that are exported runs and the stores."""
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
