"""A table of measurements, printed for people and written as Markdown for the documentation."""

import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table

if TYPE_CHECKING:  # a machine that only measures need not have what the atlas needs
    from separatrix.site.section import Figure

FIGURES = "figures"
"""The folder next to a page that holds its pictures."""


@dataclass
class Report:
    """A titled table, and pictures of it; every cell is already text."""

    title: str
    conditions: str
    headings: tuple[str, ...]
    rows: list[list[str]] = field(default_factory=list[list[str]])
    figures: "list[Figure]" = field(default_factory=lambda: list["Figure"]())
    files: dict[str, str] = field(default_factory=dict[str, str])
    """Further files next to the page, by their paths from it."""

    def add(self, *cells: object) -> None:
        """Append one row."""
        self.rows.append([str(cell) for cell in cells])

    def plain(self) -> dict[str, Any]:
        """The table and the names of its pictures, as data for JSON."""
        pictures = [[each.name, each.caption] for each in self.figures]
        summary = {"title": self.title, "conditions": self.conditions, "headings": list(self.headings)}
        return {**summary, "rows": self.rows, "figures": pictures}

    @classmethod
    def from_plain(cls, data: Mapping[str, Any]) -> "Report":
        """What :meth:`plain` described; pictures have their names and captions alone."""
        from separatrix.site.section import Figure

        pictures = [Figure(name, caption, svg="", png=b"") for name, caption in data["figures"]]
        return cls(data["title"], data["conditions"], tuple(data["headings"]), data["rows"], pictures)

    def show(self, console: Console) -> None:
        """Print the table."""
        table = Table(title=self.title, caption=self.conditions, title_justify="left", caption_justify="left")
        for number, heading in enumerate(self.headings):
            table.add_column(heading, justify="left" if number == 0 else "right")
        for row in self.rows:
            table.add_row(*row)
        console.print(table)

    def markdown(self, level: int = 2) -> str:
        """The table as a Markdown section with a heading of this level."""
        head = "| " + " | ".join(heading.strip() for heading in self.headings) + " |"
        rule = "|" + "|".join("---" if number == 0 else "---:" for number in range(len(self.headings))) + "|"
        body = "\n".join("| " + " | ".join(row) + " |" for row in self.rows)
        shown = "".join(f"![{each.caption}]({FIGURES}/{each.name}.svg)\n\n" for each in self.figures)
        return f"{'#' * level} {self.title}\n\n{self.conditions}\n\n{shown}{head}\n{rule}\n{body}\n"


def progress(what: str) -> None:
    """Tell on standard error what is being measured, and since when."""
    print(f"[{time.strftime('%H:%M:%S')}] {what}", file=sys.stderr, flush=True)
