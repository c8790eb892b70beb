"""What every function answers with: a frozen record, and the one way in which records are shown.

A record says what there is to show as a :class:`Sheet`: facts, grids and notes in plain text. The sheet becomes a table
of the terminal, HTML for notebooks and pages, or nothing of both: :meth:`Answer.as_dict` is the record as plain data.
"""

import html
import io
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast

if TYPE_CHECKING:
    from rich.console import Console

Tone: TypeAlias = Literal["", "good", "bad", "doubt", "alice", "bob"]
COLOURS: dict[Tone, str] = {
    "": "", "good": "green", "bad": "red", "doubt": "yellow", "alice": "cyan", "bob": "magenta",
}  # fmt: skip
STYLE = (
    "<style>.sx{font-family:system-ui,sans-serif;color:inherit}.sx table{border-collapse:collapse;margin:.4em 0}"
    ".sx td,.sx th{text-align:left;vertical-align:top;padding:.15em .7em;border-bottom:1px solid #8884}"
    ".sx .good{color:#00795b}.sx .bad{color:#c04a00}.sx .doubt{color:#8a6500}.sx .alice{color:#00639b}"
    ".sx .bob{color:#a0447b}"
    "@media(prefers-color-scheme:dark){.sx .good{color:#4fc3a1}.sx .bad{color:#ff9255}.sx .doubt{color:#e6b84d}"
    ".sx .alice{color:#5cb8f0}.sx .bob{color:#e89ac7}}"
    ".sx svg{max-width:100%;height:auto}.sx .wide{overflow-x:auto}"
    ".sx .pictures{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,24em),1fr));gap:.8em}"
    ".sx td.number,.sx th.number{text-align:right;font-variant-numeric:tabular-nums}</style>"
)

PAGE_STYLE = (
    ":root{color-scheme:light dark}body{margin:2em auto;max-width:60em;padding:0 1em;line-height:1.5;color:#1c2027;"
    "background:#fcfbf8}.sx>p>strong{font-size:1.15em}.sx>p:first-of-type>strong{font:600 1.9em/1.25 Georgia,serif;"
    "overflow-wrap:anywhere}.sx table{width:100%;margin:.2em 0 1.8em}.sx td{white-space:nowrap;"
    "padding:.4em .9em .4em 0}"
    ".sx th{padding:.4em .9em .4em 0}.sx .wide+p{margin-top:1.8em}.sx p.doubt{border-left:4px solid;padding:.1em .8em}"
    ".sx svg{background:#fff;border:1px solid #8884;border-radius:.6em;margin:.4em 0;display:block;width:100%}"
    "@media(prefers-color-scheme:dark){body{color:#e8e9eb;background:#13161a}}"
)
"""Of a sheet that is a page of its own; a notebook has its own style."""


@dataclass(frozen=True)
class Fact:
    """A line of a sheet; the tone is that of its text up to the first colon."""

    label: str
    text: str
    tone: Tone = ""


@dataclass(frozen=True)
class Grid:
    """A table with headings; ``tones`` are those of its cells, by row and column, where they have one, ``numbers`` the
    headings of the columns that hold numbers."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    tones: Mapping[tuple[int, int], Tone] | None = None
    numbers: tuple[str, ...] = ()


@dataclass(frozen=True)
class Sheet:
    """All that a record shows; ``pictures`` draws SVG, which a terminal leaves out. A page begins with ``warnings``.

    ``details`` are further facts, which a page folds; a terminal names their labels, and shows them when asked.
    """

    title: str = ""
    facts: tuple[Fact, ...] = ()
    grids: tuple[Grid, ...] = ()
    notes: tuple[str, ...] = ()
    pictures: Callable[[], tuple[str, ...]] = tuple
    warnings: tuple[str, ...] = ()
    details: tuple[Fact, ...] = ()


class Answer(ABC):
    """A record that shows itself; subclasses are frozen dataclasses made with ``repr=False``."""

    @abstractmethod
    def sheet(self) -> Sheet:
        """Return what a person should see."""

    def as_dict(self) -> dict[str, Any]:
        """Return the record as plain data, ready for JSON."""
        return {each.name.rstrip("_"): plain(getattr(self, each.name)) for each in fields(self)}  # type: ignore[arg-type]

    def __repr__(self) -> str:
        """The sheet as a terminal shows it."""
        from rich.console import Console

        text = io.StringIO()
        # Not to the notebook itself, to which rich would write in place of the file; it has the HTML.
        show(self.sheet(), Console(file=text, width=100, no_color=True, force_jupyter=False))
        return text.getvalue().rstrip("\n")

    def _repr_html_(self) -> str:
        """Return the sheet as a notebook shows it."""
        return to_html(self.sheet())


def plain(value: Any) -> Any:
    """Return a value as JSON has it: records as tables, exact numbers and anything else as text.

    A field such as ``class_`` is written without the underscore that keeps it apart from a word of Python.

    >>> from fractions import Fraction
    >>> plain((Fraction(1, 3), {"n": Fact("a", "b")}))
    ['1/3', {'n': {'label': 'a', 'text': 'b', 'tone': ''}}]
    """
    if isinstance(value, Answer):
        return value.as_dict()
    if isinstance(value, Enum):
        return value.value
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if is_dataclass(value) and not isinstance(value, type):
        return {each.name.rstrip("_"): plain(getattr(value, each.name)) for each in fields(value)}
    if isinstance(value, Mapping):
        return {str(name): plain(each) for name, each in cast("Mapping[Any, Any]", value).items()}
    if isinstance(value, Iterable):
        return [plain(each) for each in cast("Iterable[Any]", value)]
    return str(value)


def show(sheet: Sheet, out: "Console", details: bool = True) -> None:
    """Print a sheet: facts as a table without headings, then the grids, then the notes.

    Without the ``details`` their labels are counted in one line.
    """
    from rich.markup import escape
    from rich.table import Table

    if sheet.title:
        out.print(f"[bold]{escape(sheet.title)}[/bold]")
    if sheet.facts:
        table = Table(show_header=False)
        table.add_column(style="bold", no_wrap=True)
        table.add_column(overflow="fold")
        for fact in (*sheet.facts, *(sheet.details if details else ())):
            table.add_row(escape(fact.label), _toned(fact))
        out.print(table)
    if sheet.details and not details:
        out.print(escape(f"--details adds: {_labels(sheet.details)}"), style="dim", soft_wrap=True)
    for grid in sheet.grids:
        table = Table(title=escape(grid.title) or None, title_justify="left")
        for column in grid.columns:
            justify = "right" if column in grid.numbers else "left"
            table.add_column(escape(column), overflow="fold", justify=justify)
        for number, row in enumerate(grid.rows):
            tones: list[Tone] = [(grid.tones or {}).get((number, place), "") for place in range(len(row))]
            table.add_row(*[_coloured(escape(text), tone) for text, tone in zip(row, tones, strict=True)])
        out.print(table)
    for warning in sheet.warnings:
        out.print(_coloured(escape(f"Warning: {warning}"), "doubt"), soft_wrap=True)
    for note in sheet.notes:
        out.print(escape(note), soft_wrap=True)


def _labels(facts: Iterable[Fact]) -> str:
    """The labels of facts, each once.

    >>> _labels([Fact("method", "…"), Fact("assumed", "…"), Fact("assumed", "…")])
    'method, assumed (2)'
    """
    counts = Counter(fact.label for fact in facts)
    return ", ".join(label if many == 1 else f"{label} ({many})" for label, many in counts.items())


def _coloured(text: str, tone: Tone) -> str:
    return f"[{COLOURS[tone]}]{text}[/{COLOURS[tone]}]" if tone and text else text


def _toned(fact: Fact) -> str:
    from rich.markup import escape

    word, colon, rest = fact.text.partition(":")
    return f"{_coloured(escape(word), fact.tone)}{escape(colon + rest)}"


def to_html(sheet: Sheet) -> str:
    """Write a sheet as self-contained HTML, for which nothing is fetched.

    >>> "<td>1 &lt; 2</td>" in to_html(Sheet(facts=(Fact("claim", "1 < 2"),)))
    True
    """
    parts = ['<div class="sx">', STYLE]
    if sheet.title:
        parts.append(f"<p><strong>{html.escape(sheet.title)}</strong></p>")
    parts += [f'<p class="doubt">Warning: {html.escape(warning)}</p>' for warning in sheet.warnings]
    if sheet.facts:
        parts.append(_listed(sheet.facts))
    if sheet.details:
        parts.append(f"<details><summary>Details</summary>{_listed(sheet.details)}</details>")
    for grid in sheet.grids:
        right = [' class="number"' if column in grid.numbers else "" for column in grid.columns]
        heads = "".join(
            f"<th{number}>{html.escape(column)}</th>" for column, number in zip(grid.columns, right, strict=True)
        )
        tones = grid.tones or {}
        body = ""
        for number, row in enumerate(grid.rows):
            cells = [_cell(text, tones.get((number, place), ""), bool(right[place])) for place, text in enumerate(row)]
            body += f"<tr>{''.join(cells)}</tr>"
        title = f"<p><strong>{html.escape(grid.title)}</strong></p>" if grid.title else ""
        parts.append(title + _scrolled(f"<table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>"))
    if pictures := sheet.pictures():
        parts.append(f'<div class="pictures">{"".join(pictures)}</div>')
    parts += [f"<p>{html.escape(note)}</p>" for note in sheet.notes]
    return "\n".join([*parts, "</div>"])


def to_page(sheet: Sheet) -> str:
    """Write a sheet as a whole page in one file, for which nothing is fetched."""
    head = '<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
    style = f"<style>{PAGE_STYLE}</style>"
    title = f"<title>{html.escape(sheet.title)}</title>"
    return (
        f'<!doctype html>\n<html lang="en"><head>{head}{title}{style}</head><body>\n{to_html(sheet)}\n</body></html>\n'
    )


def _listed(facts: Iterable[Fact]) -> str:
    rows = "".join(f"<tr><th>{html.escape(each.label)}</th>{_cell(each.text, each.tone)}</tr>" for each in facts)
    return _scrolled(f"<table>{rows}</table>")


def _scrolled(table: str) -> str:
    return f'<div class="wide">{table}</div>'


def _cell(text: str, tone: Tone, number: bool = False) -> str:
    kinds = " ".join(each for each in (tone, "number" if number else "") if each)
    return f'<td class="{kinds}">{html.escape(text)}</td>' if kinds else f"<td>{html.escape(text)}</td>"
