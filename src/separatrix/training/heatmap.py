"""The result of a sweep as the papers show it: tables of accuracy, rows against columns, best of the grid in each cell.

Axes that are neither rows nor columns make one table for each of their values.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from separatrix.errors import UnknownNameError
from separatrix.training.record import Record
from separatrix.training.sweep import Cell, value_text


@dataclass(frozen=True)
class HeatMap:
    """One table: ``cells`` by (row, column), both as texts; ``best`` the most accurate record of a cell."""

    title: str
    row_axis: str
    column_axis: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    cells: Mapping[tuple[str, str], Cell]
    best: Mapping[tuple[str, str], Record]

    def accuracy(self, row: str, column: str) -> float | None:
        """Return the best accuracy of a cell, from 0 to 1; None where nothing is recorded."""
        record = self.best.get((row, column))
        return None if record is None else record.result.accuracy


def table_axes(axes: Sequence[str]) -> tuple[str, str]:
    """Return the fields that are a sweep's rows and columns by default: architectures and lengths where those vary.

    >>> table_axes(["architecture", "length", "batch"]), table_axes(["batch", "clip"]), table_axes(["length"])
    (('architecture', 'length'), ('batch', 'clip'), ('architecture', 'length'))
    """
    others = [name for name in axes if name != "architecture"]
    columns = "length" if "length" in axes or not others else others[-1]
    rows = (
        "architecture" if "architecture" in axes else next((name for name in axes if name != columns), "architecture")
    )
    return rows, columns


def heat_maps(
    cells: Sequence[Cell], found: Mapping[str, Record], rows_and_columns: tuple[str, str] | None = None
) -> list[HeatMap]:
    """Return the tables of a sweep's cells, with the axes of :func:`table_axes` unless others are given."""
    axes = [name for name, _ in cells[0].coordinates]
    for each in rows_and_columns or ():
        if each not in axes:
            raise UnknownNameError("axis of this sweep", each, axes or ["(none)"])
    rows, columns = rows_and_columns or table_axes(axes)
    others = [name for name in axes if name not in (rows, columns)]
    values = {name: list(dict.fromkeys(value_text(cell.at(name)) for cell in cells)) for name in axes}
    maps: list[HeatMap] = []
    for place in product(*(values[name] for name in others)):
        fixed = dict(zip(others, place, strict=True))
        mine = [cell for cell in cells if all(value_text(cell.at(name)) == each for name, each in fixed.items())]
        title = ", ".join(f"{name} {each}" for name, each in fixed.items() if len(values[name]) > 1)
        at = {(value_text(cell.at(rows)), value_text(cell.at(columns))): cell for cell in mine}
        best = {key: record for key, cell in at.items() if (record := cell.best(found)) is not None}
        row_texts, column_texts = (tuple(dict.fromkeys(key[side] for key in at)) for side in (0, 1))
        maps.append(HeatMap(title, rows, columns, row_texts, column_texts, at, best))
    return maps
