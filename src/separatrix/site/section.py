"""A section of the atlas: what it collects from a room and how it shows it.

Every room that has something to show adds one file to ``separatrix/site/sections`` exporting ``SECTION``. The
builder runs :meth:`Section.collect` of each, writes the results to ``atlas.json``, and builds the pages from those
results alone, so that nothing is shown that was not computed. Results are a frozen dataclass of plain values; its type
is the schema that is published next to the data (``atlas.schema.json``).

A section whose ``page`` is a name has a page of its own, made of its body and figures. Sections without one are data
for the pages of ``separatrix/site/pages``: the front page, the pages of tasks, those of architectures.

One that is being written is built and looked at alone: ``write(build(print, only=[SECTION]), Path("preview"))``.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeAlias, TypeVar

from separatrix.site.origin import Origin
from separatrix.table import Sources

Results = TypeVar("Results")
"""What a section collects: a frozen dataclass of plain values."""

Advance: TypeAlias = Callable[[str], None]
"""Called once for each unit of work with a word about it."""


@dataclass(frozen=True)
class Figure:
    """One picture in the two formats that papers and pages want.

    ``svg`` has its text as paths, for papers. ``inline`` is the same for a page: text stays text and colours are
    variables of the page's style, so that it follows light and dark; ``narrow`` is drawn for a phone. Both are
    empty where there is none. ``origin`` says where
    it comes from (see ``origin.py``), None where the text next to the figure does.
    """

    name: str
    caption: str
    svg: str
    png: bytes
    inline: str = ""
    narrow: str = ""
    origin: Origin | None = None

    def with_origin(self, origin: Origin) -> "Figure":
        """Return the same figure, with where it comes from."""
        return replace(self, origin=origin)


@dataclass(frozen=True, kw_only=True)
class Section(ABC, Generic[Results]):
    """One part of the atlas; ``order`` sorts the parts.

    >>> class Squares(Section[dict[str, list[int]]]):
    ...     def collect(self, advance):
    ...         advance("squared")
    ...         return {"rows": [number**2 for number in range(4)]}
    >>> Squares(name="squares", title="Squares", order=1).collect(print)
    squared
    {'rows': [0, 1, 4, 9]}
    """

    name: str
    title: str
    order: int
    page: str = ""
    """The name of the section's own page, without ``.html``; empty where others show its results."""
    lead: str = ""
    """One or two sentences under the title of that page."""
    menu: str = ""
    """The menu of the navigation that holds the page's link, such as "Can it?" or "Must it be big?"; a new name makes a
    new menu, and without one the link is in the navigation itself."""
    results_type: Any = dict
    """The type of what is collected; its JSON schema is published."""
    catalog: Callable[[], Mapping[str, Any]] = dict
    """The entries that are collected one by one, by name; empty where :meth:`collect` does all at once."""

    @property
    def units(self) -> int:
        """How many times :meth:`collect` will call ``advance``."""
        return len(self.catalog()) or 1

    def entries(self, advance: Advance, what: str) -> Iterator[Any]:
        """Yield the entries of the catalog; each that is done is a unit of work, ``what`` with its name."""
        for name, each in self.catalog().items():
            yield each
            advance(f"{what} {name}")

    @abstractmethod
    def collect(self, advance: Advance) -> Results:
        """Run everything this section shows, at quick scale."""

    def figures(self, results: Results) -> list[Figure]:
        """Draw pictures of the results; none unless a section draws some."""
        del results
        return []

    def body(self, results: Results) -> str:
        """Return the section as HTML, without heading and figures; empty where it has no page."""
        del results
        return ""


@dataclass(frozen=True, kw_only=True)
class RecordedSection(Section[Results]):
    """A section that also reads records of earlier work."""

    @abstractmethod
    def collect_from(self, sources: Sources, advance: Advance) -> Results:
        """Do the same as :meth:`collect` with records; what cannot be read raises."""

    def collect(self, advance: Advance) -> Results:
        """Collect without any records of earlier work."""
        return self.collect_from(Sources(), advance)
