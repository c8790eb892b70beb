"""What finished runs can be read from: an open store (``records``), or files that travel (``exported_records``)."""

from collections.abc import Iterable
from pathlib import Path
from typing import Protocol

from separatrix.training.events import Point
from separatrix.training.record import Record


class RunSource(Protocol):
    """Whatever finished runs can be read from: an open store, or files that were exported from one."""

    def find(self, names: Iterable[str]) -> dict[str, Record]:
        """Return those of the named runs that are there."""
        ...

    def get(self, name: str) -> Record:
        """Return the run of a name or of the beginning of one."""
        ...

    def all(self) -> list[Record]:
        """Return every run of a task that is here, by the time it finished."""
        ...

    def newest(self, limit: int) -> list[Record]:
        """Return the last so many of :meth:`all`, which is by the time they finished."""
        ...

    def not_here(self) -> dict[str, int]:
        """Return how many runs there are of each task that is not here; :meth:`all` leaves them out."""
        ...

    def curve(self, name: str) -> list[Point]:
        """Return the points of a run, in order of steps."""
        ...

    def snapshots(self, name: str) -> dict[int, Path]:
        """Return the files with weights that a run kept, by step."""
        ...

    def folders(self) -> list[Path]:
        """Return where what is read lies, and what was measured on it."""
        ...
