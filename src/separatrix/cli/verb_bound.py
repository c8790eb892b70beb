"""``separatrix bound``: how large a model must be at least for a task, the formula with its numbers, and the
evidence."""

from typing import Annotated

import typer

from separatrix.bit_counts import OWN_PRECISION
from separatrix.cli.completion import complete_model, complete_task
from separatrix.cli.given_options import is_given
from separatrix.cli.model_argument import ArithmeticOption
from separatrix.cli.output import DetailsOption, JsonOption, print_answer

NAME = "bound"
ORDER = 71
EXAMPLE = "separatrix bound dyck --model transformer-1layer --length 400 --precision 32"


def command(
    context: typer.Context,
    task: Annotated[str, typer.Argument(help="Name of a task, or FILE.py:function.", autocompletion=complete_task)],
    model: Annotated[
        str,
        typer.Option(
            "--model",
            "-m",
            help="rnn, transformer-1layer, transformer-2layer, fnn, third-order, graph-transformer, or one of this "
            "package's models such as 'LSTM-(3,256)'.",
            autocompletion=complete_model,
        ),
    ],
    length: Annotated[int, typer.Option("--length", "-n", help="Input length N.")],
    precision: Annotated[
        int, typer.Option("--precision", "-p", help="Bits of one number; left out, those of --arithmetic, or 32.")
    ] = OWN_PRECISION,
    heads: Annotated[int, typer.Option("--heads", help="Heads of an attention layer.")] = 1,
    layers: Annotated[int, typer.Option("--layers", help="Layers of a graph Transformer.")] = 1,
    limit: Annotated[int, typer.Option("--limit", help="Check reductions on all instances up to so many bits.")] = 6,
    settings: Annotated[list[str] | None, typer.Option("--set", help="A parameter of the task, NAME=VALUE.")] = None,
    arithmetic: ArithmeticOption = None,
    details: DetailsOption = False,
    as_json: JsonOption = False,
) -> int:
    """Give the smallest size that a model may have for a task, and run the evidence for it."""
    from separatrix.api import bound
    from separatrix.profiles import task_argument

    given = {name: value if is_given(context, name) else None for name, value in
             (("precision", precision), ("heads", heads), ("layers", layers))}  # fmt: skip
    found = bound(task_argument(task, settings or []), model, length, arithmetic=arithmetic, limit=limit, **given)
    print_answer(context, found, as_json, arithmetic="integers", details=details)
    return 0 if found else 1
