"""A section of the atlas: what it collects from a room and how it shows it.

Every room that has something to show adds one file to ``separatrix/atlas/sections`` exporting ``SECTION``. The
builder runs :meth:`Section.collect` of each, writes the results to ``atlas.json``, and builds the page and the
terminal table from those results alone, so that nothing is shown that was not computed.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from rich.table import Table

Results: TypeAlias = Mapping[str, Any]
"""Plain data, ready for JSON."""

Advance: TypeAlias = Callable[[str], None]
"""Called once for each unit of work with a word about it."""


@dataclass(frozen=True)
class Figure:
    """One picture in the two formats that papers and pages want."""

    name: str
    caption: str
    svg: str
    png: bytes


@dataclass(frozen=True, kw_only=True)
class Section(ABC):
    """One part of the atlas; ``order`` sorts the parts on the page."""

    name: str
    title: str
    order: int

    @property
    @abstractmethod
    def units(self) -> int:
        """How many times :meth:`collect` will call ``advance``."""

    @abstractmethod
    def collect(self, advance: Advance) -> Results:
        """Run everything this section shows, at quick scale."""

    @abstractmethod
    def figures(self, results: Results) -> list[Figure]:
        """Pictures of the results."""

    @abstractmethod
    def body(self, results: Results) -> str:
        """The section as HTML, without heading and figures."""

    @abstractmethod
    def table(self, results: Results) -> Table:
        """The section as a terminal table."""
