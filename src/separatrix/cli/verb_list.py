"""``separatrix list``: what is in the catalogs."""

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


def _codes() -> list[dict[str, Any]]:
    from separatrix.arithmetic.codes import families

    return [{"name": name, "about": family.title} for name, family in families().items()]


def _arithmetics() -> list[dict[str, Any]]:
    from separatrix.arithmetic import ARITHMETIC_NAMES, arithmetic_named

    named = [arithmetic_named(name) for name in ARITHMETIC_NAMES]
    return [{"name": each.name, "bits": each.precision_bits, "about": each.description} for each in named]


def _constructions() -> list[dict[str, Any]]:
    from separatrix.constructions import constructions

    return [
        {
            "name": each.name,
            "theorem": each.theorem,
            "statement": each.statement,
            "task": each.task_name,
            "variants": list(each.variants),
            "deviations": list(each.deviations),
        }
        for each in constructions().values()
    ]


def _bounds() -> list[dict[str, Any]]:
    from separatrix.communication.bounds import bounds

    return [
        {
            "name": each.name,
            "claim": each.claim,
            "statement": each.statement,
            "kind": each.kind,
            "tasks": list(each.task_names),
            "models": list(each.models),
            "in_the_papers": not each.extension,
        }
        for each in bounds().values()
    ]


def _reductions() -> list[dict[str, Any]]:
    from separatrix.communication.reductions import reductions

    return [
        {
            "name": version.name,
            "from": version.problem,
            "statement": version.statement,
            "source": version.source,
            "fails": version.fails,
        }
        for each in reductions().values()
        for version in (each, *each.variants)
    ]


CATALOGS = {
    "tasks": _tasks,
    "constructions": _constructions,
    "bounds": _bounds,
    "reductions": _reductions,
    "codes": _codes,
    "arithmetics": _arithmetics,
}
COLUMNS = {
    "tasks": ("name", "question", "source"),
    "constructions": ("name", "theorem", "statement"),
    "bounds": ("name", "claim", "statement"),
    "reductions": ("name", "statement", "source"),
    "codes": ("name", "about"),
    "arithmetics": ("name", "bits", "about"),
}


def _complete(incomplete: str) -> list[str]:
    return [name for name in CATALOGS if name.startswith(incomplete)]


def command(
    catalog: Annotated[
        str | None, typer.Argument(help="One catalog; all of them if left out.", autocompletion=_complete)
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """List what is in the catalogs: tasks, constructions, bounds, reductions, families of sign codes, arithmetics."""
    from rich.table import Table

    if catalog is not None and catalog not in CATALOGS:
        raise UnknownNameError("catalog", catalog, CATALOGS)
    chosen = [catalog] if catalog else list(CATALOGS)
    found = {name: CATALOGS[name]() for name in chosen}
    if as_json:
        print_json(found)
        return
    for name in chosen:
        console().print(f"[bold]{len(found[name])} {name}[/bold]")
        table = Table()
        for number, column in enumerate(COLUMNS[name]):
            table.add_column(column, style="bold" if number == 0 else "", no_wrap=number == 0)
        for entry in found[name]:
            table.add_row(*[str(entry[column]) for column in COLUMNS[name]])
        console().print(table)
