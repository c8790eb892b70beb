"""Runs written for elsewhere: tables for other tools (CSV, Parquet) and the JSON file of ``exported_records``.

A store is a database with checkpoints and weights next to it; what belongs into a repository or an article is smaller.
"""

import csv
import io
import json
import math
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from separatrix.errors import SeparatrixError
from separatrix.extras import require
from separatrix.files import write_atomically
from separatrix.training.exported_records import FORMAT, snapshot_name
from separatrix.training.record import Record
from separatrix.training.run_source import RunSource
from separatrix.training.spec import FIELDS

SUFFIXES = (".json", ".csv", ".parquet")
DIGITS = 6
"""Losses and accuracies of curves are rounded to this many digits after the point."""


def flat_row(record: Record) -> dict[str, Any]:
    """Return a run as one row of a table: the fields of its description next to those of its result; nested ones as
    JSON."""
    plain = record.as_dict()
    described = plain.pop("spec")
    spec = {name: described.get(name, getattr(record.spec, name)) for name in FIELDS}
    row = {"name": plain.pop("name"), **spec, **plain}
    return {
        key: json.dumps(value, sort_keys=True) if isinstance(value, dict | list) else value
        for key, value in row.items()
    }


def curve_rows(source: RunSource, records: Sequence[Record]) -> list[dict[str, Any]]:
    """Return all points of runs as rows of one long table."""
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


def check_target(path: Path, curves: bool = False) -> None:
    """Raise a one-line error unless runs can be written to a file of this name.

    >>> check_target(Path("runs.xls"))
    Traceback (most recent call last):
    separatrix.errors.SeparatrixError: cannot export to runs.xls; it must end in .json, .csv, .parquet, with a name \
before that
    """
    if path.suffix not in SUFFIXES:
        raise SeparatrixError(f"cannot export to {path}; it must end in {', '.join(SUFFIXES)}, with a name before that")
    if path.suffix == ".json" and curves:
        raise SeparatrixError(f"{path}: a .json file always holds the curves; leave --curves out")


def export(source: RunSource, records: Sequence[Record], path: Path, *, curves: bool = False) -> int:
    """Write runs (or, with ``curves``, all points of their curves) to a file of the kind its suffix says.

    Returns how many rows were written.
    """
    check_target(path, curves)
    if path.suffix == ".json":
        if any(source.snapshots(record.spec.name) for record in records):
            require("exporting kept weights to .json", "torch")
        _write_json(source, records, path)
        return len(records)
    rows = curve_rows(source, records) if curves else [flat_row(record) for record in records]
    if not rows:
        raise SeparatrixError(f"there is nothing to write to {path}; choose other filters or train something first")
    if path.suffix == ".csv":
        text = io.StringIO()
        table = csv.DictWriter(text, fieldnames=list(dict.fromkeys(chain(*rows))), restval="", lineterminator="\n")
        table.writeheader()
        table.writerows(rows)
        write_atomically(path, text.getvalue())
    else:
        write_atomically(path, _parquet(rows))
    return len(rows)


def _parquet(rows: list[dict[str, Any]]) -> bytes:
    require("Parquet", "pyarrow")
    import pyarrow
    from pyarrow import parquet

    sink = io.BytesIO()
    parquet.write_table(pyarrow.Table.from_pylist(rows), sink)
    return sink.getvalue()


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


def _copied_snapshots(source: RunSource, run: str, files: Path) -> list[int]:
    """Write the weights of one run, without those of the others it trained with; returns the steps."""
    snapshots = source.snapshots(run)
    if not snapshots:
        return []
    from separatrix.training.checkpoints import read_weights, with_checksum

    for step, path in snapshots.items():
        tensors = {f"{run}/{key}": value for key, value in read_weights(path, run).items()}
        write_atomically(files / snapshot_name(run, step), with_checksum(tensors))
    return list(snapshots)


def _finite(value: float) -> float | None:
    return round(value, DIGITS) if math.isfinite(value) else None
