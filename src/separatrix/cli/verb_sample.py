"""``separatrix sample``: examples of a task that a person can read."""

import time
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from separatrix.cli.completion import complete_task
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
FRAME = 4
"""Columns of the frame around a picture."""
LARGEST_PICTURE = 200
"""Positions of an example that is drawn."""


class SplitName(StrEnum):
    """Which of the papers' two distributions to sample."""

    TRAIN = "train"
    EVAL = "eval"


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
    from separatrix.tasks import draws_from, tasks, try_user_task, with_text_parameters

    started = time.perf_counter()
    chosen = with_text_parameters(tasks()[task], settings or [])
    chosen.check_length(length)
    if count < 1:
        raise SeparatrixError(f"--count {count} gives no example; choose 1 or more")
    work = count * chosen.work(length)
    if work > LARGEST_WORK:
        raise SeparatrixError(
            f"--count {count} at length {length} would cost about {work} steps, more than {LARGEST_WORK}; "
            "lower --count or --length"
        )
    try_user_task(chosen, length)
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
        drawn = _in_chunks(task.picture(rows[0]["input"], length), out.width - FRAME)
        out.print(Panel(escape(drawn), title="example 1", title_align="left", expand=False))


def _in_chunks(picture: str, width: int) -> str:
    """A picture of lines that belong together column by column, cut so that no chunk of them is wider than ``width``.

    It is cut where all lines have a space, if there is such a place in the second half of a chunk; a line that has
    nothing in a chunk is left out there. A last line of words that fits is a remark, which comes after all chunks.
    """
    lines = picture.splitlines()
    if max(map(len, lines), default=0) <= width:
        return picture
    remark = [lines.pop()] if len(lines[-1]) <= width and lines[-1][:1].isalpha() else []
    chunks: list[str] = []
    while any(lines):
        end = max(1, width)
        if max(map(len, lines)) > end:
            places = range(end // 2, end + 1)
            blank = [place for place in places if all(line[place : place + 1] in ("", " ") for line in lines)]
            end = blank[-1] if blank else end
        chunks.append("\n".join(line[:end].rstrip() for line in lines if line[:end].strip()))
        rest = [line[end:] for line in lines]
        skipped = int(all(line[:1] in ("", " ") for line in rest))
        lines = [line[skipped:].rstrip() for line in rest]
    return "\n".join(chunks + remark)


def _shortened(text: str) -> str:
    """The beginning of a long text and how much is left out."""
    if len(text) <= LONGEST_SHOWN:
        return text
    return f"{text[:LONGEST_SHOWN]} … {len(text) - LONGEST_SHOWN} more characters, all with --json"
