"""``separatrix sample``: examples of a task that a person can read."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from separatrix.cli.completion import complete_task
from separatrix.cli.given_options import refuse_given
from separatrix.cli.output import JsonOption, console, print_result

if TYPE_CHECKING:
    from separatrix.api import Sampled

NAME = "sample"
ORDER = 20
EXAMPLE = "separatrix sample dyck --length 24 --count 5 --seed 1 --set depth=3"
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
        str,
        typer.Argument(
            help="Name of a task, see 'separatrix list tasks', or FILE.py:function.", autocompletion=complete_task
        ),
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
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Write the examples and a data card into this folder instead.")
    ] = None,
    kind: Annotated[
        str, typer.Option("--format", help="With --out: jsonl, npz, or huggingface (a folder of datasets).")
    ] = "jsonl",
    as_json: JsonOption = False,
) -> None:
    """Show random examples of a task with their answers, or write them to files."""
    from separatrix.api import sample
    from separatrix.profiles import task_argument

    chosen = task_argument(task, settings or [])
    if out is not None:
        from separatrix.tasks import ExampleSet, try_user_task

        examples = ExampleSet(chosen, length, split.value, seed, count)
        try_user_task(chosen, length)
        data = examples.export(out, kind)
        if as_json:
            result = {"task": chosen.name, "length": length, "count": count, "data": str(data)}
            print_result(context, result, arithmetic="integers", seed=seed)
        else:
            console().print(f"{count:,} examples in {data}, with a data card", markup=False, soft_wrap=True)
        return
    refuse_given(context, ("kind",), "is for files; give --out FOLDER as well")
    found = sample(chosen, length, count, seed=seed, split=split.value)
    if as_json:
        print_result(context, {**found.as_dict()}, arithmetic="integers", seed=seed)
        return
    _print(found)


def _print(found: "Sampled") -> None:
    from rich.markup import escape
    from rich.panel import Panel

    from separatrix.answer import show

    out, task, length = console(), found.of, found.length
    show(found.sheet(), out)
    if task.positions(length) <= LARGEST_PICTURE:
        drawn = _in_chunks(task.picture(found.examples[0].input, length), out.width - FRAME)
        out.print(Panel(escape(drawn), title="example 1", title_align="left", expand=False))


def _in_chunks(picture: str, width: int) -> str:
    """Return a picture of lines that belong together column by column, cut so that no chunk of them is wider than
    ``width``.

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
