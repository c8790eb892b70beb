"""How verbs print: one JSON object for machines, Rich tables for people."""

import json
import shlex
from collections.abc import Mapping
from typing import Annotated, Any

import typer
from rich.console import Console

from separatrix.cli.fitting import FittingConsole

JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of tables.")]


def print_json(value: Mapping[str, Any]) -> None:
    """One JSON object on standard output."""
    typer.echo(json.dumps(value, ensure_ascii=False, indent=2))


def command_line(context: typer.Context) -> str:
    """The command as it was given, for the record of its result."""
    return f"separatrix {shlex.join(context.find_root().obj or [])}".strip()


def console() -> Console:
    """A console on standard output that keeps its width when it is piped, and cuts no number off in a table."""
    return FittingConsole(highlight=False)


def notes() -> Console:
    """A console on standard error, for progress and remarks."""
    return Console(stderr=True, highlight=False)
