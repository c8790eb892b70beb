"""Tables that fit the terminal without losing a digit or a letter.

Rich makes a table fit by cutting cells and putting an ellipsis where the rest was; a number without its end is a wrong
number. Here numbers and names keep their width, texts fold between words, the spaces next to the lines go if they must,
and a table whose numbers and names do not fit side by side even then becomes one block for each row, ``heading: value``
line by line. A table that fits looks as Rich shows it.
"""

import re
from collections.abc import Iterator
from typing import Any

from rich.cells import cell_len
from rich.console import Console, ConsoleRenderable, Group
from rich.measure import Measurement
from rich.table import Column, Table
from rich.text import Text

READABLE = 16
"""A text is not squeezed into fewer columns than this."""
LONGEST_WORD = 40
"""A longer word in a text, such as the path of a file, may be broken."""
UNLIMITED = 1_000_000
"""Wider than any table."""


class FittingConsole(Console):
    """A console that prints every table so that it fits."""

    def print(self, *objects: Any, **options: Any) -> None:
        """Print as Rich does, with tables made to fit the width."""
        super().print(*[fitted(each, self) if isinstance(each, Table) else each for each in objects], **options)


def fitted(table: Table, console: Console) -> ConsoleRenderable:
    """Return the table with columns that no number and no name is too wide for, or blocks of lines where there is no
    room.

    >>> from io import StringIO
    >>> narrow = FittingConsole(file=StringIO(), width=30)
    >>> shown = Table("model", "parameters", "what it keeps from one position to the next")
    >>> shown.add_row("mamba-2.8b", "2,768,345,600", "a state")
    >>> type(fitted(shown, narrow)).__name__
    'Group'
    """
    texts = [[_text(each, console).plain for each in (column.header, *column.cells)] for column in table.columns]
    natural = [_widest(each, whole=True) for each in texts]
    for column, width in zip(table.columns, natural, strict=True):
        column.width = width  # else Rich would measure every cell again, and again when it prints
    room = console.width - _frame(table, natural, console)
    if sum(natural) <= room:
        return table
    padding = table.padding
    for tight in (False, True):
        table.padding = (0, 0) if tight else padding
        room = console.width - _frame(table, natural, console)
        for names_whole in (True, False):
            floors = [_floor(*each, names_whole) for each in zip(table.columns, texts, strict=True)]
            if sum(floors) <= room:
                for column, width in zip(table.columns, _levelled(natural, floors, room), strict=True):
                    column.width, column.no_wrap, column.overflow = width, False, "fold"
                return table
    return Group(*_blocks(table, console))


def _frame(table: Table, widths: list[int], console: Console) -> int:
    """Return what lines and spaces between columns of these widths take."""
    return Measurement.get(console, console.options.update(width=UNLIMITED), table).maximum - sum(widths)


def _levelled(natural: list[int], floors: list[int], room: int) -> list[int]:
    """Return widths that add up to the room: the widest column gives way first, none below its floor."""
    widths = list(natural)
    while sum(widths) > room:
        shrinkable = [place for place in reversed(range(len(widths))) if widths[place] > floors[place]]
        widest = max(shrinkable, key=widths.__getitem__)
        widths[widest] -= 1
    return widths


def _floor(column: Column, texts: list[str], names_whole: bool) -> int:
    """Return the width below which a column, of these texts below a heading, would lose something."""
    header, *cells = texts
    whole = _widest(cells, whole=True)
    words = min(LONGEST_WORD, _widest(texts, whole=False))
    heading = _widest([header], whole=False)
    one_word = not any(" " in cell for cell in cells)
    if column.justify == "right" or one_word or (column.no_wrap and names_whole):
        return max(whole, heading)
    return max(words, heading, min(whole, READABLE))


def _widest(texts: list[str], whole: bool) -> int:
    """Return the widest line of some texts, or their widest word."""
    pieces = {piece for text in texts for piece in (text.splitlines() if whole else text.split())}
    return max(map(cell_len, pieces), default=0)


def _text(cell: Any, console: Console) -> Text:
    return cell if isinstance(cell, Text) else console.render_str(str(cell or ""))


def _blocks(table: Table, console: Console) -> Iterator[Text]:
    """Yield one block of lines for each row."""
    if table.title:
        yield Text(_text(table.title, console).plain, style="italic")
    headings = [column.header for column in table.columns]
    for number, cells in enumerate(zip(*(column.cells for column in table.columns), strict=True)):
        if number and table.show_header:
            yield Text("")
        # Without headings the first cell of a row says what the others are.
        labelled = zip(headings, cells, strict=True) if table.show_header else ((cells[0], cell) for cell in cells[1:])
        for heading, cell in labelled:
            label, value = _text(heading, console).plain, _text(cell, console)
            value = Text(re.sub(r"\s*\n\s*", ", ", value.plain)) if "\n" in value.plain else value
            if value.plain:
                style = table.rows[number].style or ""
                yield Text.assemble((f"{label}: " if label else "", "bold"), value, style=style, overflow="fold")
    if table.caption:
        yield Text(_text(table.caption, console).plain, style="dim")
