"""The sizes of a design against the length, for its picture."""

from dataclasses import dataclass
from typing import TypeAlias

from separatrix.table.design_needs import kept_need, needs
from separatrix.table.design_record import CLASSES, Design
from separatrix.tasks import Task

SHORTER = 6
"""The picture begins so many powers of two below the length."""
Line: TypeAlias = tuple[str, list[tuple[int, int]]]
"""A name, and its points (length, size)."""


@dataclass(frozen=True)
class Curves:
    """A design's sizes against the length: bits that are kept of a text, and widths of attention layers."""

    memory: tuple[Line, ...]
    widths: tuple[Line, ...]


def curves(found: Design) -> Curves:
    """Return what is needed and what is enough for the lengths up to the one that was asked about."""
    task, length = found.task, found.length
    lengths = sorted({max(task.minimum_length, _on_grid(task, length >> power)) for power in range(SHORTER + 1)})
    kept = [(each, need.at_least) for each in lengths for need in kept_need(task, each)]
    narrow = [
        (each, need.at_least * found.heads)
        for each in lengths
        for need in needs(task, "transformer-1layer", each, found.precision, found.heads)
    ]
    memory: list[Line] = [("state and cache: at least", kept)]
    widths: list[Line] = [(f"one layer: at least, p = {found.precision}", narrow)]
    for kind in CLASSES:
        best = next(iter(found.row(kind).enough), None)
        if best is None or best.at_length is None:
            continue
        sizes = [(each, size) for each in lengths if (size := best.at_length(each)) is not None]
        stored = [(each, size.memory_bits) for each, size in sizes if size.memory_bits is not None]
        memory.append((f"{kind}: enough ({best.name})", stored))
        if kind != "recurrent":
            widths.append((f"{kind}: enough ({best.name})", [(each, size.width * size.heads) for each, size in sizes]))
    return Curves(tuple(memory), tuple(widths))


def _on_grid(task: Task, length: int) -> int:
    return length - length % task.length_step
