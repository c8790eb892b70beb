"""Parts of the documentation that scripts write, and the records that they are written from.

A measurement is kept as JSON in ``docs/records``; the text of a page is made from it by a function, so that a test can
compare every page with its record without measuring again. What is exact is computed instead. There are three kinds of
parts: a whole page, a section between two comments that name it, and a table known by its header. ``tools.page_parts``
lists all of them, ``python -m tools.fill_pages`` writes them.
"""

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from separatrix import shipped
from separatrix.files import write_atomically

ROOT = Path(__file__).resolve().parent.parent
RECORDS = ROOT / "docs" / "records"


MEASURE = "run the command that measures it"
REMEDIES = {
    "frontier": "run  python -m benchmarks frontier --write docs/frontier.md,  or give the theorem frontier_power=0",
}
"""What to do about missing records that a new entry may need."""


def recorded(name: str) -> Any:
    """The record of a measurement, of the documentation or shipped with the package."""
    places = [folder / f"{name}.json" for folder in (RECORDS, shipped.FOLDER)]
    file = next((each for each in places if each.exists()), None)
    if file is None:
        raise ValueError(f"docs/records/{name}.json is not there; {REMEDIES.get(name.partition('-')[0], MEASURE)}")
    return json.loads(file.read_text(encoding="utf-8"))


def keep(name: str, record: object, page: Path | None = None) -> None:
    """Write the record of a measurement, next to the page that shows it or else in docs."""
    folder = RECORDS if page is None else page.parent / RECORDS.name
    write_atomically(folder / f"{name}.json", _json(record) + "\n")


def _json(value: Any, indent: str = "") -> str:
    """JSON that changes line by line: what holds no lists or objects itself is one line."""
    deeper = f"{indent} "
    if isinstance(value, dict) and any(isinstance(each, dict | list) for each in value.values()):
        inner = [f"{deeper}{json.dumps(str(key))}: {_json(each, deeper)}" for key, each in value.items()]
        return "{\n" + ",\n".join(inner) + f"\n{indent}}}"
    if isinstance(value, list | tuple) and any(isinstance(each, dict | list) for each in value):
        return "[\n" + ",\n".join(f"{deeper}{_json(each, deeper)}" for each in value) + f"\n{indent}]"
    return json.dumps(value, ensure_ascii=False)


@dataclass(frozen=True)
class Whole:
    """A page of which every character is written."""

    page: str
    text: Callable[[], str]
    label = "all of it"

    def filled(self, content: str) -> str:
        """The page."""
        del content
        return self.text()


@dataclass(frozen=True)
class Section:
    """Markdown between the comments ``<!-- NAME -->`` and ``<!-- end of NAME -->``."""

    page: str
    name: str
    text: Callable[[], str]

    @property
    def label(self) -> str:
        """Its name."""
        return f"section {self.name}"

    def filled(self, content: str) -> str:
        """The page with the text between the comments; raises where they are missing."""
        first, last = f"<!-- {self.name} -->\n", f"<!-- end of {self.name} -->"
        before, start, rest = content.partition(first)
        _, end, after = rest.partition(last)
        if not start or not end:
            raise ValueError(f"{self.page} has no section between {first.strip()} and {last}; add both lines")
        return f"{before}{first}\n{self.text().strip()}\n\n{last}{after}"


@dataclass(frozen=True)
class Table:
    """A Markdown table that replaces the one with the same header."""

    page: str
    text: Callable[[], str]
    header: str
    """The beginning of its first line."""

    @property
    def label(self) -> str:
        """Its header."""
        return f"table {self.header}"

    def filled(self, content: str) -> str:
        """The page with the table; raises where no table has the header."""
        found = re.search(rf"^{re.escape(self.header)}.*\n(?:\|.*\n?)*", content, re.MULTILINE)
        if found is None:
            raise ValueError(f"{self.page} has no table that begins with {self.header!r}")
        return f"{content[: found.start()]}{self.text().strip()}\n{content[found.end() :]}"


Part = Whole | Section | Table


def write(part: Part) -> bool:
    """Write a part into its page; whether that changed the page."""
    page = ROOT / part.page
    before = page.read_text(encoding="utf-8")
    after = part.filled(before)
    if after != before:
        write_atomically(page, after)
    return after != before


def fill_section(page: Path, name: str, text: str) -> None:
    """Put Markdown between the comments ``<!-- NAME -->`` and ``<!-- end of NAME -->``; raises where they are not."""
    content = page.read_text(encoding="utf-8")
    write_atomically(page, Section(str(page), name, lambda: text).filled(content))


def replace_table(page: Path, table: str) -> None:
    """Put a Markdown table in the place of the one with the same header; raises where the page has none."""
    content = page.read_text(encoding="utf-8")
    write_atomically(page, Table(str(page), lambda: table, table.splitlines()[0]).filled(content))


def markdown_table(headings: Iterable[object], rows: Iterable[Iterable[object]], left: int = 1) -> str:
    """A table whose first ``left`` columns are words and whose others are numbers."""
    shown = [str(heading) for heading in headings]
    rule = "".join("---|" if number < left else "---:|" for number in range(len(shown)))
    lines = [f"| {' | '.join(map(str, row))} |" for row in (shown, *rows)]
    return "\n".join([lines[0], f"|{rule}", *lines[1:]])
