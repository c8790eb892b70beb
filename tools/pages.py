"""Parts of the documentation that scripts write, and the records that they are written from.

A measurement is kept as JSON in ``docs/records``; the text of a page is made from it by a function, so that a test can
hold every page against its record without measuring again. What is exact is computed instead. There are four kinds of
parts: a whole page, a section between two comments that name it, a table known by its header, and a sentence whose
numbers are filled in. ``tools.page_parts`` lists all of them, ``python -m tools.fill_pages`` writes them.
"""

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from string import Formatter
from typing import Any, Protocol

from separatrix import shipped
from separatrix.files import write_atomically

ROOT = Path(__file__).resolve().parent.parent
RECORDS = ROOT / "docs" / "records"
NUMBER = r"\d(?:[\d.,^]*\d)?"
"""What is in the place of a field in a sentence."""


def recorded(name: str) -> Any:
    """The record of a measurement, of the documentation or shipped with the package."""
    places = [folder / f"{name}.json" for folder in (RECORDS, shipped.FOLDER)]
    file = next((each for each in places if each.exists()), None)
    if file is None:
        raise ValueError(f"docs/records/{name}.json is not there; run the command that measures it")
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


class Part(Protocol):
    """Something on a page that a script writes."""

    @property
    def page(self) -> str:
        """The page, from the root of the project."""
        ...

    @property
    def label(self) -> str:
        """What it is called in messages."""
        ...

    def spans(self, content: str) -> list[tuple[int, int]]:
        """Which characters of the page it answers for; raises where it has no place."""
        ...

    def filled(self, content: str) -> str:
        """The page with this part written anew; raises where it has no place."""
        ...


@dataclass(frozen=True)
class Whole:
    """A page of which every character is written."""

    page: str
    text: Callable[[], str]

    @property
    def label(self) -> str:
        """The page."""
        return "all of it"

    def spans(self, content: str) -> list[tuple[int, int]]:
        """All of it."""
        return [(0, len(content))]

    def filled(self, content: str) -> str:
        """The page."""
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

    def spans(self, content: str) -> list[tuple[int, int]]:
        """What is between the comments."""
        before, first, rest = content.partition(f"<!-- {self.name} -->\n")
        inner, last, _ = rest.partition(f"<!-- end of {self.name} -->")
        if not first or not last:
            raise ValueError(
                f"{self.page} has no section between <!-- {self.name} --> and <!-- end of {self.name} -->; "
                "add both lines"
            )
        start = len(before) + len(first)
        return [(start, start + len(inner))]

    def filled(self, content: str) -> str:
        """With the text between the comments."""
        ((start, end),) = self.spans(content)
        return f"{content[:start]}\n{self.text().strip()}\n\n{content[end:]}"


@dataclass(frozen=True)
class Table:
    """A Markdown table in the place of the one with the same header."""

    page: str
    text: Callable[[], str]
    header: str
    """The beginning of its first line."""

    @property
    def label(self) -> str:
        """Its header."""
        return f"table {self.header}"

    def spans(self, content: str) -> list[tuple[int, int]]:
        """From the first line with the header to the last with a bar."""
        found = re.search(rf"^{re.escape(self.header)}.*\n(?:\|.*\n?)*", content, re.MULTILINE)
        if found is None:
            raise ValueError(f"{self.page} has no table that begins with {self.header!r}")
        return [found.span()]

    def filled(self, content: str) -> str:
        """With the table in its place."""
        ((start, end),) = self.spans(content)
        return f"{content[:start]}{self.text().strip()}\n{content[end:]}"


@dataclass(frozen=True)
class Sentence:
    """Words with fields for numbers, as in ``"width {} and {:,} bits"``; the page may break lines anywhere in it.

    ``values`` computes what is in the fields, from left to right. Where the words occur more than once, all of them
    are filled.
    """

    page: str
    template: str
    values: Callable[[], Iterable[object]]

    @property
    def label(self) -> str:
        """Its words."""
        return f"“{self.template}”"

    def _pieces(self) -> list[tuple[str, str | None]]:
        """Words, and the format of the field behind them."""
        return [
            (words, None if field is None else form or "") for words, field, form, _ in Formatter().parse(self.template)
        ]

    def _found(self, content: str) -> list[re.Match[str]]:
        pattern = "".join(
            re.sub(r"(?:\\ )+", r"\\s+", re.escape(words)) + ("" if form is None else f"({NUMBER})")
            for words, form in self._pieces()
        )
        found = list(re.finditer(pattern, content))
        if not found:
            raise ValueError(f"{self.page} does not say {self.template!r}; mend the page or the list of its sentences")
        return found

    def spans(self, content: str) -> list[tuple[int, int]]:
        """The words with their numbers."""
        return [match.span() for match in self._found(content)]

    def filled(self, content: str) -> str:
        """With the values in the fields, everything else untouched."""
        forms = [form for _, form in self._pieces() if form is not None]
        values = [format(value, form) for value, form in zip(self.values(), forms, strict=True)]
        for match in reversed(self._found(content)):
            for number in range(len(values), 0, -1):
                start, end = match.span(number)
                content = content[:start] + values[number - 1] + content[end:]
        return content


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


def print_or_write(table: str, arguments: list[str]) -> int:
    """Print a table, or with ``--write PAGE`` put it into a page."""
    if arguments[:1] == ["--write"] and len(arguments) == 2:
        replace_table(Path(arguments[1]), table)
        print(f"filled {arguments[1]}")
    else:
        print(table)
    return 0
