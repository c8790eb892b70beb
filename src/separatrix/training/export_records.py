"""Records that travel: tables for other tools (CSV, Parquet) and a JSON file that this package reads back.

A store is a database with checkpoints and weights beside it; what belongs into a repository or an article is smaller.
The JSON file holds every run with its description, result, environment and curve, one run on a line, and
:class:`ExportedRecords` answers the questions of an open store from such files, so that figures are drawn from them on
a machine that never trained anything. The name of a run is the hash of its description and is checked on reading.

Weights that runs kept at certain steps are written beside it, into ``NAME.files`` as a store has it, one file for each
run and step.
"""

import csv
import io
import json
import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Protocol

from separatrix.errors import SeparatrixError
from separatrix.files import write_atomically
from separatrix.reading import parse_json, read_file
from separatrix.training.events import Point
from separatrix.training.records import Record, Records, kept_weights
from separatrix.training.row_checks import checked_environment, checked_point, checked_run, checked_text

FORMAT = "separatrix-runs-1"
SUFFIXES = (".json", ".csv", ".parquet")
LARGEST_FILE = 1 << 30
DIGITS = 6
"""Losses and accuracies of curves are rounded to this many digits after the point."""


class RunSource(Protocol):
    """Whatever finished runs can be read from: an open store, or files that were exported from one."""

    def find(self, names: Iterable[str]) -> dict[str, Record]:
        """Those of the named runs that are there."""
        ...

    def get(self, name: str) -> Record:
        """The run of a name or of the beginning of one."""
        ...

    def all(self) -> list[Record]:
        """Every run."""
        ...

    def curve(self, name: str) -> list[Point]:
        """The points of a run, in order of steps."""
        ...

    def snapshots(self, name: str) -> dict[int, Path]:
        """Files with weights that a run kept, by step."""
        ...


def flat_row(record: Record) -> dict[str, Any]:
    """A run as one row of a table: the fields of its description beside those of its result; nested ones as JSON."""
    plain = record.as_dict()
    spec = plain.pop("spec")
    row = {"name": plain.pop("name"), **spec, **plain}
    return {
        key: json.dumps(value, sort_keys=True) if isinstance(value, dict | list) else value
        for key, value in row.items()
    }


def curve_rows(source: RunSource, records: Sequence[Record]) -> list[dict[str, Any]]:
    """All points of runs as rows of one long table."""
    return [
        {
            "run": record.spec.name,
            "task": record.spec.task,
            "architecture": record.spec.architecture,
            "length": record.spec.length,
            "learning_rate": record.spec.learning_rate,
            "seed": record.spec.seed,
            "step": point.step,
            "loss": point.loss,
            "training_accuracy": point.training_accuracy,
            "accuracy": point.accuracy,
        }
        for record in records
        for point in source.curve(record.spec.name)
    ]


def export(source: RunSource, records: Sequence[Record], path: Path, *, curves: bool = False) -> int:
    """Write runs (or, with ``curves``, all points of their curves) to a file of the kind its suffix says.

    Returns how many rows were written.
    """
    if path.suffix not in SUFFIXES:
        raise SeparatrixError(f"cannot export to {path}; the file must end in {', '.join(SUFFIXES)}")
    if path.suffix == ".json":
        if curves:
            raise SeparatrixError(f"{path}: a .json file always holds the curves; leave --curves out")
        _write_json(source, records, path)
        return len(records)
    rows = curve_rows(source, records) if curves else [flat_row(record) for record in records]
    if not rows:
        raise SeparatrixError(f"there is nothing to write to {path}; choose other filters or train something first")
    if path.suffix == ".csv":
        text = io.StringIO()
        table = csv.DictWriter(text, fieldnames=list(rows[0]), lineterminator="\n")
        table.writeheader()
        table.writerows(rows)
        write_atomically(path, text.getvalue())
    else:
        write_atomically(path, _parquet(rows))
    return len(rows)


def _parquet(rows: list[dict[str, Any]]) -> bytes:
    try:
        import pyarrow
        from pyarrow import parquet
    except ModuleNotFoundError:
        raise SeparatrixError("Parquet needs pyarrow; install it with  pip install 'separatrix[records]'") from None
    sink = io.BytesIO()
    parquet.write_table(pyarrow.Table.from_pylist(rows), sink)
    return sink.getvalue()


# -- the JSON file -------------------------------------------------------------------------------------------


def _write_json(source: RunSource, records: Sequence[Record], path: Path) -> None:
    environments: list[dict[str, Any]] = []
    lines: list[str] = []
    files = path.with_name(f"{path.stem}.files")
    for record in records:
        own = {key: record.environment[key] for key in ("group", "members") if key in record.environment}
        shared = {key: value for key, value in record.environment.items() if key not in own}
        if shared not in environments:
            environments.append(shared)
        plain = record.as_dict()
        del plain["weights"]  # stays with the store
        plain |= {"environment": environments.index(shared), **own, "loss": _finite(record.result.loss)}
        plain["seconds"] = round(record.result.seconds, 3)
        points = source.curve(record.spec.name)
        plain["curve"] = {
            "step": [point.step for point in points],
            "loss": [_finite(point.loss) for point in points],
            "training_accuracy": [round(point.training_accuracy, DIGITS) for point in points],
            "accuracy": [round(point.accuracy, DIGITS) for point in points],
        }
        kept = _copied_snapshots(source, record.spec.name, files)
        if kept:
            plain["snapshots"] = kept
        lines.append(json.dumps(plain, sort_keys=True, separators=(",", ":"), ensure_ascii=False))
    about = json.dumps(environments, sort_keys=True, ensure_ascii=False, indent=1)
    body = ",\n".join(lines)
    write_atomically(path, f'{{"format": "{FORMAT}",\n"environments": {about},\n"runs": [\n{body}\n]}}\n')


def _snapshot_name(run: str, step: int) -> str:
    return f"snapshots/{run}-{step}.safetensors"


def _copied_snapshots(source: RunSource, run: str, files: Path) -> list[int]:
    """Write the weights of one run, without those of the others it trained with; returns the steps."""
    from separatrix.training.checkpoints import read_weights, with_checksum

    snapshots = source.snapshots(run)
    for step, path in snapshots.items():
        tensors = {f"{run}/{key}": value for key, value in read_weights(path, run).items()}
        write_atomically(files / _snapshot_name(run, step), with_checksum(tensors))
    return list(snapshots)


def _finite(value: float) -> float | None:
    return round(value, DIGITS) if math.isfinite(value) else None


class ExportedRecords:
    """Runs read from JSON files that :func:`export` wrote, or from stores that are only looked at.

    Of a run that stands in several files, the last one counts.
    """

    def __init__(self, paths: Iterable[Path]) -> None:
        self._records: dict[str, Record] = {}
        self._curves: dict[str, list[Point]] = {}
        self._snapshots: dict[str, dict[int, Path]] = {}
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
            for record in store.all():
                name = record.spec.name
                self._records[name] = record
                self._curves[name], self._snapshots[name] = store.curve(name), store.snapshots(name)

    def _read(self, path: Path) -> None:
        content = _loaded(path)
        try:
            for plain in content["runs"]:
                name = plain["name"]
                fields = [plain[key] for key in ("spec", "ending", "step", "accuracy", "loss", "seconds", "parameters")]
                spec, result = checked_run(path, name, *fields)
                own = {key: plain[key] for key in ("group", "members") if key in plain}
                where = checked_environment(path, name, {**content["environments"][plain["environment"]], **own})
                finished_at = checked_text(path, name, plain["finished_at"])
                self._records[name] = Record(spec, result, where, finished_at, None)
                curve = plain["curve"]
                columns = zip(curve["step"], curve["loss"], curve["training_accuracy"], curve["accuracy"], strict=True)
                self._curves[name] = [checked_point(path, name, *values) for values in columns]
                folder, kept = path.with_name(f"{path.stem}.files"), plain.get("snapshots", [])
                self._snapshots[name] = dict(
                    kept_weights(path, folder, name, step, _snapshot_name(name, step)) for step in kept
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
