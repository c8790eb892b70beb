"""``separatrix sample``: examples of a task that a person can read."""

import time
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from separatrix.cli.output import JsonOption, command_line, console, print_json
from separatrix.errors import SeparatrixError

if TYPE_CHECKING:
    from separatrix.tasks import Task

NAME = "sample"
ORDER = 20
EXAMPLE = "separatrix sample dyck --length 24 --count 5 --seed 1 --set depth=3"
LARGEST_WORK = 100_000_000
"""Steps of one batch, so that a mistyped number ends in a message and not in swapped memory or a long wait."""
LONGEST_SHOWN = 600
"""Characters of an input or an answer in the table."""
LARGEST_PICTURE = 200
"""Positions of an example that is drawn."""


class SplitName(StrEnum):
    """Which of the papers' two distributions to sample."""

    TRAIN = "train"
    EVAL = "eval"


def complete_task(incomplete: str) -> list[tuple[str, str]]:
    """Names of tasks for the shell, with their titles."""
    from separatrix.tasks import tasks

    return [(name, task.title) for name, task in tasks().items() if name.startswith(incomplete)]


def command(
    context: typer.Context,
    task: Annotated[
        str, typer.Argument(help="Name of a task, see 'separatrix list tasks'.", autocompletion=complete_task)
    ],
    length: Annotated[int, typer.Option("--length", "-n", help="Input length N, as the task counts it.")] = 24,
    count: Annotated[int, typer.Option("--count", "-c", help="How many examples.")] = 5,
    seed: Annotated[int, typer.Option("--seed", "-s", help="Same seed, same examples.")] = 0,
    split: Annotated[
        SplitName, typer.Option("--split", help="Training lengths vary; evaluation is at exactly N.")
    ] = SplitName.EVAL,
    settings: Annotated[
        list[str] | None, typer.Option("--set", help="A parameter of the task, NAME=VALUE; may be repeated.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Show random examples of a task with their answers."""
    from separatrix.provenance import provenance
    from separatrix.tasks import draws_from, tasks
    from separatrix.tasks.parameters import with_text_parameters

    started = time.perf_counter()
    chosen = with_text_parameters(tasks()[task], settings or [])
    chosen.check_length(length)
    work = count * chosen.work(length)
    if work > LARGEST_WORK:
        raise SeparatrixError(
            f"--count {count} at length {length} would cost about {work} steps, more than {LARGEST_WORK}; "
            "lower --count or --length"
        )
    examples = chosen.sample(draws_from(seed), count, length, split.value)
    rows: list[dict[str, Any]] = []
    for number in range(count):
        row = chosen.trim(examples.inputs[number], length)
        rows.append(
            {"text": chosen.write(row, length), "input": row, "answers": chosen.answers(examples, number, length)}
        )
    if as_json:
        record = provenance(command_line(context), arithmetic="integers", seed=seed, started=started)
        print_json(
            {
                "task": chosen.name,
                "parameters": {name: _plain(value) for name, value in chosen.parameters().items()},
                "length": length,
                "split": split.value,
                "count": count,
                "examples": rows,
                "provenance": record,
            }
        )
        return
    _print_table(chosen, length, rows)


def _plain(value: Any) -> Any:
    """A parameter as JSON has it; exact fractions as text."""
    return value if isinstance(value, int | str | float | bool | None) else str(value)


def _print_table(task: "Task", length: int, rows: list[dict[str, Any]]) -> None:
    from rich.markup import escape
    from rich.panel import Panel
    from rich.table import Table

    out = console()
    out.print(f"[bold]{escape(task.title)}[/bold], length {length}: {escape(task.layout(length))}")
    table = Table()
    table.add_column("", justify="right", style="dim")
    table.add_column("input", overflow="fold")
    table.add_column("answer", overflow="fold")
    for number, row in enumerate(rows, 1):
        asked = [task.write_answer(answer, length) for answer in row["answers"] if answer is not None]
        table.add_row(
            str(number),
            escape(_shortened(row["text"])),
            escape(_shortened((" " if task.classes(length) else "; ").join(asked))),
        )
    out.print(table)
    if rows and task.positions(length) <= LARGEST_PICTURE:
        out.print(
            Panel(escape(task.picture(rows[0]["input"], length)), title="example 1", title_align="left", expand=False)
        )


def _shortened(text: str) -> str:
    """The beginning of a long text and how much is left out."""
    if len(text) <= LONGEST_SHOWN:
        return text
    return f"{text[:LONGEST_SHOWN]} … {len(text) - LONGEST_SHOWN} more characters, all with --json"
