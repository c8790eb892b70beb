"""The result of a sweep as the papers show it: tables of accuracy, rows against columns, best of the grid in each cell.

Axes that are neither rows nor columns make one table for each of their values.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from separatrix.errors import UnknownNameError
from separatrix.training.records import Record
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
        """The best accuracy of a cell, from 0 to 1; None where nothing is recorded."""
        record = self.best.get((row, column))
        return None if record is None else record.result.accuracy


def heat_maps(
    cells: Sequence[Cell], found: Mapping[str, Record], rows: str | None = None, columns: str | None = None
) -> list[HeatMap]:
    """The tables of a sweep's cells.

    Unless they are given, rows are the architectures and columns the lengths where those vary, else the first axes.
    """
    axes = [name for name, _ in cells[0].coordinates]
    for each in (rows, columns):
        if each is not None and each not in axes:
            raise UnknownNameError("axis of this sweep", each, axes or ["(none)"])
    rows = rows or _first(["architecture"], axes, taken=columns)
    columns = columns or _first(["length"], axes, taken=rows)
    others = [name for name in axes if name not in (rows, columns)]
    values = {name: list(dict.fromkeys(value_text(cell.at(name)) for cell in cells)) for name in axes}
    maps: list[HeatMap] = []
    for place in product(*(values[name] for name in others)):
        fixed = dict(zip(others, place, strict=True))
        mine = [cell for cell in cells if all(value_text(cell.at(name)) == each for name, each in fixed.items())]
        title = ", ".join(f"{name} {each}" for name, each in fixed.items() if len(values[name]) > 1)
        at = {(_label(cell, rows, "architecture"), _label(cell, columns, "length")): cell for cell in mine}
        best = {key: record for key, cell in at.items() if (record := cell.best(found)) is not None}
        row_texts, column_texts = (tuple(dict.fromkeys(key[side] for key in at)) for side in (0, 1))
        maps.append(HeatMap(title, rows or "architecture", columns or "length", row_texts, column_texts, at, best))
    return maps


def _first(preferred: Sequence[str], axes: Sequence[str], taken: str | None) -> str | None:
    ordered = [*(name for name in preferred if name in axes), *axes]
    return next((name for name in ordered if name != taken), None)


def _label(cell: Cell, axis: str | None, otherwise: str) -> str:
    """The cell's value on an axis; where no axis varies, what all cells have in common."""
    value: Any = cell.at(axis) if axis is not None else getattr(cell.runs[0], otherwise)
    return value_text(value)
