"""How verbs print: one JSON object for machines, Rich tables for people."""

import json
import shlex
import sys
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from typing import Annotated, Any, TextIO, cast

import typer
from rich.console import Console

from separatrix.answer import Answer, show
from separatrix.cli.fitting import FittingConsole

JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of tables.")]
DetailsOption = Annotated[
    bool, typer.Option("--details", help="Show all that is known, such as assumptions and evidence line by line.")
]


class _Aside:
    """Standard error in the place of standard output, which it keeps for the one object that is the result."""

    def __init__(self, results: TextIO) -> None:
        self.results = results

    def __getattr__(self, name: str) -> Any:
        """Return what standard error has: only the kept output is another."""
        return getattr(sys.stderr, name)


@contextmanager
def only_json(wanted: bool) -> Generator[None]:
    """Keep standard output for :func:`print_json`: what a user's module or task prints goes to standard error.

    >>> with only_json(True):
    ...     print("from a user's module")
    ...     print_json({"answer": 1})
    {
      "answer": 1
    }
    """
    if not wanted or sys.stdout is None or sys.stderr is None:
        yield
        return
    with redirect_stdout(cast(TextIO, _Aside(sys.stdout))):
        yield


def print_json(value: Mapping[str, Any]) -> None:
    """Print one JSON object on standard output, in characters that it can take."""
    text = json.dumps(value, ensure_ascii=False, indent=2)
    stream = getattr(sys.stdout, "results", sys.stdout)
    try:
        text.encode(getattr(stream, "encoding", None) or "utf-8")
    except UnicodeEncodeError:  # half a surrogate pair from a user's function, or a terminal of few characters
        text = json.dumps(value, indent=2)
    typer.echo(text, file=stream)


@dataclass(frozen=True)
class Call:
    """One call of the program: its arguments, and when it began, a reading of :func:`time.perf_counter`."""

    arguments: Sequence[str]
    started: float


def command_line(context: typer.Context) -> str:
    """Return the command as it was given, for the record of its result."""
    return f"separatrix {shlex.join(context.find_root().obj.arguments)}".strip()


def seconds_so_far(context: typer.Context) -> float:
    """Return how long the command has taken until now."""
    return round(time.perf_counter() - context.find_root().obj.started, 3)


def how_made(context: typer.Context, *, arithmetic: str, seed: int | None = None) -> Mapping[str, Any]:
    """Return the record of how this command made its result."""
    from separatrix.provenance import provenance

    call: Call = context.find_root().obj
    return provenance(command_line(context), arithmetic=arithmetic, seed=seed, started=call.started)


def print_result(
    context: typer.Context, result: Mapping[str, Any], *, arithmetic: str, seed: int | None = None
) -> None:
    """Print a result as one JSON object, with the record of how it was made."""
    print_json({**result, "provenance": how_made(context, arithmetic=arithmetic, seed=seed)})


def print_answer(
    context: typer.Context,
    answer: Answer,
    as_json: bool,
    *,
    arithmetic: str,
    seed: int | None = None,
    details: bool = True,
    **more: Any,
) -> None:
    """Print what a function of the API answered: the record with ``more`` fields as JSON, or its sheet."""
    if as_json:
        print_result(context, {**answer.as_dict(), **more}, arithmetic=arithmetic, seed=seed)
    else:
        show(answer.sheet(), console(), details)


def console() -> Console:
    """Return a console on standard output that keeps its width when it is piped, and cuts no number off in a table."""
    return FittingConsole(highlight=False, emoji=False)


def notes() -> Console:
    """Return a console on standard error, for progress and remarks."""
    return Console(stderr=True, highlight=False, emoji=False)


def remark(text: str) -> None:
    """Write one marked line to standard error; bad input is the only other thing written there."""
    notes().print(f"note: {text}", soft_wrap=True, markup=False)
