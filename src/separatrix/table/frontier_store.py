"""Verdicts of the frontier on disk, so that an interrupted search resumes where it stopped.

The store is one small JSON file, written whole or not at all, at most once in a few seconds and once more at the end,
also when the end is Ctrl-C. What it holds is worth nothing once the networks or the checker change, so it carries a
fingerprint of the code that decides and is started anew when that differs.
"""

import hashlib
import json
import time
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Literal

from separatrix.errors import SeparatrixError
from separatrix.files import write_atomically
from separatrix.reading import read_file
from separatrix.table.frontier import Point, Trial, decided

LARGEST_FILE = 256 << 20
ROOMS = ("arithmetic", "tasks", "networks", "constructions", "certificates")
SECONDS_BETWEEN_WRITES = 2.0


@cache
def fingerprint() -> str:
    """Return a hash of all code on which a verdict depends."""
    digest = hashlib.sha256()
    root = Path(__file__).resolve().parent.parent
    for room in ROOMS:
        for file in sorted((root / room).rglob("*.py")):
            digest.update(str(file.relative_to(root)).encode())
            digest.update(file.read_bytes())
    return digest.hexdigest()


class FrontierStore:
    """Decides trials and remembers them; use it in a ``with`` block. Without a path it remembers in memory alone.

    ``reused`` and ``decided`` count how many verdicts were found and how many were computed.
    """

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self.reused, self.decided = 0, 0
        self._points: dict[str, Point | None] = _read(path) if path is not None and path.exists() else {}
        self._found = frozenset(self._points)
        self._written = time.monotonic()
        self._changed = False

    def __call__(self, trial: Trial) -> Point | None:
        """Return the verdict on one network, from the store or from the checker."""
        key = _key(trial)
        if key in self._points:
            self.reused += key in self._found
            return self._points[key]
        point = decided(trial)
        self.decided += 1
        self._points[key], self._changed = point, True
        if time.monotonic() - self._written > SECONDS_BETWEEN_WRITES:
            self.save()
        return point

    def __enter__(self) -> "FrontierStore":
        if self.path is not None and not self.path.exists():
            # Asked first, so that a place that cannot be written is known before the work and not after it.
            self._changed = True
            self.save()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.save()

    def save(self) -> None:
        """Write the store if it has a path and anything is new."""
        if self.path is None or not self._changed:
            return
        content = asdict(_Stored("separatrix-frontier-1", fingerprint(), self._points))
        write_atomically(self.path, json.dumps(content, ensure_ascii=False, indent=0) + "\n")
        self._written, self._changed = time.monotonic(), False


def _key(trial: Trial) -> str:
    gain = "theorem" if trial.gain is None else str(trial.gain)
    return f"{trial.construction} {trial.length} {trial.code.label} {trial.bits} {gain}"


@dataclass(frozen=True)
class _Stored:
    """The content of a store: its format, the fingerprint of the code that decided, and the points by trial."""

    format: Literal["separatrix-frontier-1"]
    code: str
    points: dict[str, Point | None]


def _read(path: Path) -> dict[str, Point | None]:
    """Return the points of a file, none where it was made by other code; raises where it is not such a file."""
    from pydantic import TypeAdapter

    data = read_file(path, LARGEST_FILE, "give another --store")
    try:
        found = TypeAdapter(_Stored).validate_json(data, strict=True)
    except ValueError as error:
        raise SeparatrixError(
            f"{path} is not a store of frontier results; give another --store or remove it"
        ) from error
    return found.points if found.code == fingerprint() else {}
