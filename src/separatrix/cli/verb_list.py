"""``separatrix list``: what is in the catalogs."""

from collections.abc import Iterable
from typing import Annotated, Any

import typer

from separatrix.cli.output import JsonOption, console, print_json
from separatrix.errors import UnknownNameError

NAME = "list"
ORDER = 10
EXAMPLE = "separatrix list tasks"


def _tasks() -> list[dict[str, Any]]:
    from separatrix.tasks import tasks

    return [
        {
            "name": task.name,
            "title": task.title,
            "question": task.question,
            "source": task.source,
            "parameters": task.parameters(),
            "lengths": {"from": task.minimum_length, "to": task.maximum_length, "step": task.length_step},
        }
        for task in tasks().values()
    ]


def _rows(entries: Iterable[object], *fields: str, **renamed: str) -> list[dict[str, Any]]:
    """Return these fields of each entry as plain data; ``renamed`` gives the field of a column by another name."""
    from separatrix.answer import plain

    columns = {**{name: name for name in fields}, **renamed}
    return [{name: plain(getattr(each, field)) for name, field in columns.items()} for each in entries]


def _codes() -> list[dict[str, Any]]:
    from separatrix.arithmetic import families

    return _rows(families().values(), "name", about="title")


def _arithmetics() -> list[dict[str, Any]]:
    from separatrix.arithmetic import ARITHMETIC_NAMES, arithmetic_named

    return _rows(map(arithmetic_named, ARITHMETIC_NAMES), "name", bits="precision_bits", about="description")


def _constructions() -> list[dict[str, Any]]:
    from separatrix.constructions import constructions

    return _rows(constructions().values(), "name", "theorem", "statement", "variants", "deviations", task="task_name")


def _bounds() -> list[dict[str, Any]]:
    from separatrix.bounds import bounds

    fields = ("name", "claim", "statement", "kind", "models", "in_the_papers")
    return _rows(bounds().values(), *fields, tasks="task_names")


def _reductions() -> list[dict[str, Any]]:
    from separatrix.communication import reductions

    return [
        {
            "name": version.name,
            "from": version.problem,
            "statement": f"does not hold: {version.statement}" if version.fails else version.statement,
            "source": version.source,
            "fails": version.fails,
        }
        for each in reductions().values()
        for version in (each, *each.variants)
    ]


def _theorems() -> list[dict[str, Any]]:
    from separatrix.answer import plain
    from separatrix.table import theorem_index

    return plain(theorem_index())


WIDTH, LENGTH, PRECISION = 64, 400, 32
"""One layer of this width, at this length, with numbers of so many bits, is what architectures are compared by."""


def _architectures() -> list[dict[str, Any]]:
    from separatrix.models import ModelSpec, architectures

    found: list[dict[str, Any]] = []
    for each in architectures().values():
        spec = ModelSpec((each.name,), WIDTH)
        bits = spec.attention_bits(LENGTH, PRECISION)
        found.append(
            {
                "name": each.name,
                "short": each.short,
                "model": str(spec),
                "title": each.title,
                "reference": each.reference,
                "equations": each.equations,
                "deviations": list(each.deviations),
                "options": [
                    {"name": option.name, "default": option.default, "choices": list(option.choices)}
                    for option in each.options
                ],
                "block": each.block,
                "recurrent": each.recurrent,
                "linear_time": each.linear_time,
                "length": LENGTH,
                "precision_bits": PRECISION,
                "state_bits": spec.state_bits(LENGTH, PRECISION),
                "state_bits_grow": spec.state_bits(2 * LENGTH, PRECISION) > spec.state_bits(LENGTH, PRECISION),
                "attention_bits": bits,
            }
        )
    return found


def _experiments() -> list[dict[str, Any]]:
    from separatrix.training import experiments

    return [
        {
            "name": each.name,
            "title": each.title,
            "source": each.source,
            "task": each.task,
            "scales": {
                scale: {"cells": len(cells), "runs": sum(len(cell.runs) for cell in cells)}
                for scale in each.scales
                for cells in [each.sweep(scale).cells()]
            },
        }
        for each in experiments().values()
    ]


def _architectures_in_short() -> list[dict[str, Any]]:
    from separatrix.catalog_names import names_in_files

    return [*names_in_files("architecture", "models/architectures", "ARCHITECTURE", COLUMNS_IN_SHORT["architectures"])]


def _experiments_in_short() -> list[dict[str, Any]]:
    from separatrix.catalog_names import names_in_table

    return [*names_in_table("training/experiments/experiments.toml", COLUMNS_IN_SHORT["experiments"])]


CATALOGS = {
    "tasks": _tasks,
    "constructions": _constructions,
    "bounds": _bounds,
    "reductions": _reductions,
    "theorems": _theorems,
    "codes": _codes,
    "arithmetics": _arithmetics,
    "architectures": _architectures,
    "experiments": _experiments,
}
IN_SHORT = {"architectures": _architectures_in_short, "experiments": _experiments_in_short}
"""What is in the list of everything, read from the files: state sizes and numbers of runs take longer."""
COLUMNS_IN_SHORT = {
    "architectures": ("name", "short", "title", "reference"),
    "experiments": ("name", "title", "source", "task"),
}
COLUMNS = {
    "tasks": ("name", "question", "source"),
    "constructions": ("name", "theorem", "statement"),
    "bounds": ("name", "claim", "statement"),
    "reductions": ("name", "statement", "source"),
    "theorems": ("claim", "as", "name"),
    "codes": ("name", "about"),
    "arithmetics": ("name", "bits", "about"),
    "architectures": ("model", "title", "state_bits", "attention_bits"),
    "experiments": ("name", "title", "source", "task"),
}
REMARKS = {
    "architectures": f"state_bits: what one layer carries past position {LENGTH} in {PRECISION}-bit numbers; "
    "attention_bits: m·H·(p + ⌈log₂ N⌉) of BHBK24 Theorem 4",
}


def _complete(incomplete: str) -> list[str]:
    return [name for name in CATALOGS if name.startswith(incomplete)]


def command(
    catalog: Annotated[
        str | None,
        typer.Argument(
            help="One catalog; if left out all, architectures and experiments in short.",
            autocompletion=_complete,
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """List what is in the catalogs: tasks, theorems, bounds, codes, arithmetics, architectures, experiments.

    State sizes and numbers of runs:  separatrix list architectures,  separatrix list experiments.
    """
    from rich.markup import escape
    from rich.table import Table

    if catalog is not None and catalog not in CATALOGS:
        raise UnknownNameError("catalog", catalog, CATALOGS)
    listing, columns = ({catalog: CATALOGS[catalog]}, COLUMNS) if catalog else (
        {**CATALOGS, **IN_SHORT}, {**COLUMNS, **COLUMNS_IN_SHORT},
    )  # fmt: skip
    if catalog is None:
        del listing["theorems"]  # the same entries, by the papers' numbers
    found = {name: entries() for name, entries in listing.items()}
    if as_json:
        print_json(found)
        return
    for name in found:
        console().print(f"[bold]{len(found[name])} {name}[/bold]")
        table = Table()
        for number, column in enumerate(columns[name]):
            table.add_column(column, style="bold" if number == 0 else "", no_wrap=number == 0)
        for entry in found[name]:
            table.add_row(*["-" if entry[column] is None else escape(str(entry[column])) for column in columns[name]])
        console().print(table)
        if catalog in REMARKS:
            console().print(REMARKS[catalog])
    if catalog is None:
        asked = ",  ".join(f"separatrix list {name}" for name in IN_SHORT)
        console().print(f"state sizes and numbers of runs:  {asked}", soft_wrap=True)
