"""``separatrix profile``: what a recurrent model and a one-layer Transformer need for a function of your own."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from separatrix.bit_counts import PUBLISHED_PRECISION
from separatrix.cli.completion import complete_preset
from separatrix.cli.output import JsonOption, print_answer, remark
from separatrix.cli.pictures import check_picture, write_picture
from separatrix.errors import SeparatrixError

if TYPE_CHECKING:
    from separatrix.profiles import Estimate

NAME = "profile"
ORDER = 72
MEMORY = "4G"
ANNOUNCED = 5.0
"""Seconds from which on the cost is said before it is spent."""
EXAMPLE = "separatrix profile my_functions.py:parity --length 16"


def command(
    context: typer.Context,
    target: Annotated[
        str, typer.Argument(metavar="FILE.py:FUNCTION", help="Your file (or module) and the function in it.")
    ],
    length: Annotated[int, typer.Option("--length", "-n", help="Input length N; all shorter ones are run too.")],
    alphabet: Annotated[
        str, typer.Option("--alphabet", help="Symbols: a size, N, characters such as '()[]', or words.")
    ] = "2",
    partition: Annotated[
        list[str] | None,
        typer.Option("--partition", help="odd-even, halves, cut:5 or Alice's positions 0,2,4; default: a search."),
    ] = None,
    precision: Annotated[
        int | None,
        typer.Option(
            "--precision",
            "-p",
            help=f"Bits of one number; left out: {PUBLISHED_PRECISION}, and for --model what capacity takes.",
        ),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            "--model",
            "-m",
            help="Also say at which of these lengths a model cannot compute it: a preset, a config.json or one such "
            "as 'LSTM-(3,256)', as for capacity.",
            autocompletion=complete_preset,
        ),
    ] = None,
    max_memory: Annotated[
        str | None,
        typer.Option("--max-memory", help=f"Refuse what would need more, such as 16G; {MEMORY} if not given."),
    ] = None,
    max_time: Annotated[float, typer.Option("--max-time", help="Refuse what would take longer, in seconds.")] = 600,
    seed: Annotated[int, typer.Option("--seed", help="Seed of the searches.")] = 0,
    plot: Annotated[Path | None, typer.Option("--plot", help="Also draw it, to this .svg or .png file.")] = None,
    as_json: JsonOption = False,
) -> int:
    """Profile your own function: residual classes, rank, fooling sets, automaton, sparse form, at every length to N."""
    check_picture("--plot", plot)
    # Ranks are found by many products of small matrices, and OpenBLAS's threads spin between them: where other programs
    # hold the cores, two of them took twice the time of one. numpy reads this when it is loaded, which is below.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from separatrix.api import profile
    from separatrix.cli.limits import limited_memory, memory_limit
    from separatrix.cli.progress import progress_bar
    from separatrix.profiles import Limits
    from separatrix.progress import listening

    picture = None if plot is None else plot.absolute()  # the function may go to another folder
    if not 0 < max_time < float("inf"):
        raise SeparatrixError(f"--max-time {max_time} is not a time; give seconds above 0")
    if not 0 <= seed < 2**63:
        raise SeparatrixError(f"--seed {seed} is out of range; give 0 to 2^63 - 1")
    limit = memory_limit(max_memory, MEMORY)
    with progress_bar(f"profiling {escape(target)}", as_json) as show, listening(show), limited_memory(limit):
        found = profile(
            target, length, alphabet, partitions=partition or (), precision=precision, model=model,
            limits=Limits(limit, max_time), seed=seed, announce=_announce,
        )  # fmt: skip
    if picture is not None:
        from separatrix.profiles import profile_record
        from separatrix.site import profile_figure

        write_picture(picture, profile_figure(profile_record(found.found)))
    print_answer(context, found, as_json, arithmetic="integers", seed=seed)
    return 0 if found else 1


def _announce(cost: "Estimate") -> None:
    """Say on standard error what is about to be done, where it takes long enough to be waited for."""
    if cost.seconds >= ANNOUNCED:
        remark(cost.in_words())
