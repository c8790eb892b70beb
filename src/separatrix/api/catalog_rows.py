"""What is in the catalogs: entries as rows of plain data, one table of catalogs for the command line and Python."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from operator import attrgetter
from typing import Any

from separatrix.answer import Answer, Grid, Sheet, plain
from separatrix.catalog_names import names_in_files, names_in_table
from separatrix.errors import UnknownNameError

WIDTH, LENGTH, PRECISION = 64, 400, 32
"""One layer of this width, at this length, with numbers of so many bits, is what architectures are compared by."""


@dataclass(frozen=True)
class Listed:
    """A catalog: where its entries are, the fields of a row, and those that a table shows.

    ``computed`` are fields by name that are no attribute of an entry.
    """

    entries: Callable[[], Iterable[Any]]
    fields: tuple[str, ...]
    computed: Mapping[str, Callable[[Any], Any]] = field(default_factory=dict[str, Callable[[Any], Any]])
    shown: tuple[str, ...] = ()
    remark: str = ""

    def rows(self) -> tuple[dict[str, Any], ...]:
        """Return a row for each entry."""
        return tuple(
            plain({**{name: getattr(each, name) for name in self.fields},
                   **{name: compute(each) for name, compute in self.computed.items()}})
            for each in self.entries()
        )  # fmt: skip


def _catalog(room: str, name: str) -> Callable[[], Iterable[Any]]:
    return lambda: getattr(import_module(f"separatrix.{room}"), name)().values()


def _arithmetics() -> Iterable[Any]:
    from separatrix.arithmetic import ARITHMETIC_NAMES, arithmetic_named

    return map(arithmetic_named, ARITHMETIC_NAMES)


def _reductions() -> Iterable[Any]:
    from separatrix.communication import reductions

    return (version for each in reductions().values() for version in (each, *each.variants))


def _theorems() -> Iterable[Any]:
    from separatrix.table import theorem_index

    return theorem_index()


def _layer(each: Any) -> Any:
    """Return an architecture as a model of one layer."""
    from separatrix.models import ModelSpec

    return ModelSpec((each.name,), WIDTH)


def _state_bits(each: Any, length: int = LENGTH) -> int:
    return _layer(each).state_bits(length, PRECISION)


def _scales(each: Any) -> dict[str, Any]:
    cells = {scale: each.sweep(scale).cells() for scale in each.scales}
    return {
        scale: {"cells": len(found), "runs": sum(len(cell.runs) for cell in found)} for scale, found in cells.items()
    }


CATALOGS = {
    "tasks": Listed(
        _catalog("tasks", "tasks"), ("name", "title", "question", "source"),
        {
            "parameters": lambda each: each.parameters(),
            "lengths": lambda each: {
                "from": each.minimum_length, "to": each.maximum_length, "step": each.length_step,
            },
        },
        ("name", "question", "source"),
    ),
    "constructions": Listed(
        _catalog("constructions", "constructions"), ("name", "theorem", "statement", "variants", "deviations"),
        {"task": attrgetter("task_name")}, ("name", "theorem", "statement"),
    ),
    "bounds": Listed(
        _catalog("bounds", "bounds"), ("name", "claim", "statement", "kind", "models", "in_the_papers"),
        {"tasks": attrgetter("task_names")}, ("name", "claim", "statement"),
    ),
    "reductions": Listed(
        _reductions, ("name", "source", "fails"),
        {
            "from": attrgetter("problem"),
            "statement": lambda each: f"{'does not hold: ' if each.fails else ''}{each.statement}",
        },
        ("name", "statement", "source"),
    ),
    "theorems": Listed(
        _theorems, ("claim", "name", "file", "command"), {"as": attrgetter("as_")}, ("claim", "as", "name")
    ),
    "codes": Listed(_catalog("arithmetic", "families"), ("name",), {"about": attrgetter("title")}, ("name", "about")),
    "arithmetics": Listed(
        _arithmetics, ("name",), {"bits": attrgetter("precision_bits"), "about": attrgetter("description")},
        ("name", "bits", "about"),
    ),
    "architectures": Listed(
        _catalog("models", "architectures"),
        ("name", "short", "title", "reference", "equations", "deviations", "block", "recurrent", "linear_time"),
        {
            "model": lambda each: str(_layer(each)),
            "options": lambda each: [
                {"name": option.name, "default": option.default, "choices": option.choices} for option in each.options
            ],
            "length": lambda each: LENGTH,
            "precision_bits": lambda each: PRECISION,
            "state_bits": _state_bits,
            "state_bits_grow": lambda each: _state_bits(each, 2 * LENGTH) > _state_bits(each),
            "attention_bits": lambda each: _layer(each).attention_bits(LENGTH, PRECISION),
        },
        ("model", "title", "state_bits", "attention_bits"),
        f"state_bits: what one layer carries past position {LENGTH} in {PRECISION}-bit numbers; attention_bits: "
        "m·H·(p + ⌈log₂ N⌉) of BHBK24 Theorem 4",
    ),
    "experiments": Listed(
        _catalog("training", "experiments"), ("name", "title", "source", "task"), {"scales": _scales},
        ("name", "title", "source", "task"),
    ),
}  # fmt: skip
IN_SHORT: Mapping[str, Callable[[], Iterable[dict[str, Any]]]] = {
    "architectures": lambda: names_in_files(
        "architecture", "models/architectures", "ARCHITECTURE", ("name", "short", "title", "reference")
    ),
    "experiments": lambda: names_in_table("training/experiments/experiments.toml", ("name", "title", "source", "task")),
}
"""What is in the list of everything, read from the files: state sizes and numbers of runs take longer."""


@dataclass(frozen=True, repr=False)
class Listing(Answer):
    """Catalogs by name, each with its entries as rows."""

    catalogs: Mapping[str, tuple[dict[str, Any], ...]]
    whole: bool

    def as_dict(self) -> dict[str, Any]:
        """Return the rows by catalog."""
        return {name: list(rows) for name, rows in self.catalogs.items()}

    def sheet(self) -> Sheet:
        """Show a table for each catalog."""
        grids: list[Grid] = []
        for name, rows in self.catalogs.items():
            shown = tuple(rows[0]) if self.whole and name in IN_SHORT else CATALOGS[name].shown
            cells = tuple(tuple("-" if row[each] is None else str(row[each]) for each in shown) for row in rows)
            grids.append(Grid(f"{len(rows)} {name}", shown, cells))
        remarks = [CATALOGS[name].remark for name in self.catalogs if not self.whole]
        if self.whole:
            more = ",  ".join(f"separatrix list {name}" for name in IN_SHORT)
            remarks = [f"state sizes and numbers of runs:  {more}"]
        return Sheet(grids=tuple(grids), notes=tuple(filter(None, remarks)))


def listing(catalog: str | None = None) -> Listing:
    """Return the entries of one catalog, or of all but the theorems, which are the same entries by their numbers.

    >>> len(listing("codes").catalogs["codes"]) > 4
    True
    """
    if catalog is not None:
        if catalog not in CATALOGS:
            raise UnknownNameError("catalog", catalog, CATALOGS)
        return Listing({catalog: CATALOGS[catalog].rows()}, whole=False)
    names = [name for name in CATALOGS if name != "theorems"]
    return Listing({name: tuple(IN_SHORT[name]()) if name in IN_SHORT else CATALOGS[name].rows() for name in names},
                   whole=True)  # fmt: skip
