"""``separatrix profile``: what a recurrent model and a one-layer Transformer need for a function of your own."""

import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape

from separatrix.bit_counts import PUBLISHED_PRECISION
from separatrix.cli.completion import complete_preset
from separatrix.cli.output import JsonOption, command_line, console, print_json, remark
from separatrix.cli.pictures import check_picture, write_picture
from separatrix.errors import SeparatrixError
from separatrix.wording import counted

if TYPE_CHECKING:
    from fractions import Fraction

    from rich.console import Console

    from separatrix.profiles import Estimate, PartitionProfile, Profile

NAME = "profile"
ORDER = 72
LEFT = ("partition", "model", "needs")
MEMORY = "4G"
ANNOUNCED = 5.0
"""Seconds from which on the cost is said before it is spent."""
MOST_RANKS = 4
"""Ranks of so many values are written out; of more their sum."""
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
    from separatrix.provenance import provenance

    started = time.perf_counter()
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
        from separatrix.site import profile_figure

        write_picture(picture, profile_figure(found.found))
    if as_json:
        record = provenance(command_line(context), arithmetic="integers", seed=seed, started=started)
        print_json({**found.as_dict(), "provenance": record})
    else:
        _print(console(), found.found, found.network)
        if found.model is not None:
            answer = f"\n[bold]{escape(found.model.model)}[/bold]: {escape(found.model.in_words())}"
            console().print(answer, soft_wrap=True)
    return 0 if found else 1


def _announce(cost: "Estimate") -> None:
    """Say on standard error what is about to be done, where it takes long enough to be waited for."""
    if cost.seconds >= ANNOUNCED:
        remark(cost.in_words())


def _print(out: "Console", found: "Profile", network: dict[str, Any] | None) -> None:
    size = f"{found.table.symbols}^{found.length}"
    kind = found.table.kind if found.table.causal else "labelling that looks ahead"
    out.print(f"[bold]{escape(found.name)}[/bold]: {kind}, all {size} inputs over {escape(found.alphabet.in_words())}")
    out.print("\nCuts: residual classes after t symbols (exact)")
    cuts = zip(found.residuals.classes, found.residuals.bits, strict=True)
    _table(
        out, ("t", "classes", "state bits"), [(str(t), str(count), str(bits)) for t, (count, bits) in enumerate(cuts)]
    )
    if found.partitions:
        out.print("\nPartitions: rectangles of each value, and the bits that any deterministic protocol exchanges")
        _table(out, ("partition", "distinct rows × columns", "ranks", "largest fooling set", "bits"),
               [_partition_row(each) for each in found.partitions])  # fmt: skip
    _print_lengths(out, found)
    _print_meaning(out, found, network)


def _table(out: "Console", headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    from rich.table import Table

    table = Table()
    for heading in headings:
        table.add_column(heading, justify="left" if heading in LEFT else "right", overflow="fold")
    for row in rows:
        table.add_row(*row)
    out.print(table)


def _partition_row(each: "PartitionProfile") -> tuple[str, ...]:
    name = f"{each.partition.name}{' (searched)' if each.searched else ''}"
    found = [value.rank_at_least for value in each.bound.values]
    ranks = " + ".join(map(str, found)) if len(found) <= MOST_RANKS else f"{sum(found)} over {len(found)} values"
    return name, f"{each.rows} × {each.columns}", ranks, str(each.bound.best_fooling.size), str(each.bits)


def _print_lengths(out: "Console", found: "Profile") -> None:
    """Every length that was run; a ratio is that of a count to the most at any shorter length."""
    out.print("\nEvery length up to N (classes exact, communication at least)")
    classes, rectangles = found.ratios(lambda each: each.classes), found.ratios(lambda each: each.rectangles)
    rows = [
        (
            str(each.length), str(each.classes), _ratio(classes.get(each.length)), str(each.state_bits),
            "" if each.rectangles is None else f"{each.rectangles}{' †' if each.limited else ''}",
            _ratio(rectangles.get(each.length)),
            "" if each.communication_bits is None else str(each.communication_bits), each.partition or "",
        )
        for each in found.lengths
    ]  # fmt: skip
    _table(out, ("N", "classes", "ratio", "state bits", "rectangles", "ratio", "bits sent", "partition"), rows)
    out.print("ratio: to the most at any shorter length. About lengths beyond N nothing is said.")
    if any(each.limited for each in found.lengths):
        out.print(
            "† counted on a part of the matrix or on groups of values: a limit of this count, not of the function"
        )
    if found.skipped:
        lengths = ", ".join(str(length) for length, _ in found.skipped)
        out.print(f"not defined at N = {lengths}: {escape(found.skipped[0][1])}", soft_wrap=True)


def _ratio(value: "Fraction | None") -> str:
    return "" if value is None else f"{float(value):.3g}"


def _print_meaning(out: "Console", found: "Profile", network: dict[str, Any] | None) -> None:
    from separatrix.table import verdict_in_words

    bits = found.residuals.minimum_state_bits
    rows = [("any recurrent model", f"at least {counted(bits, 'bit')} of state at N = {found.length}")]
    rows.append(("smallest automaton", _automaton_in_words(found)))
    if found.need is not None and found.best is not None:
        limit = "no width is excluded" if found.need.width == 1 else f"one head needs width ≥ {found.need.width}"
        product = f"mH(p + log2 N) ≥ {found.need.bits}/3 for m ≥ 4, by {found.best.partition.name}"
        rows.append(("one attention layer, fixed point", f"{product}; at p = {found.need.precision} {limit}"))
    rows.append(("threshold of sparse features", _sparse_in_words(found)))
    if network is not None:
        size = f"width {network['width']}, heads {network['heads']}, p = {network['precision_bits']}"
        rows.append(("two layers, Theorem 13", f"{size}: {verdict_in_words(network)}"))
    out.print("\nWhat it means")
    _table(out, ("model", "needs"), rows)


def _sparse_in_words(found: "Profile") -> str:
    if found.sparse is not None:
        return found.sparse.in_words()
    if not found.yes_no or found.table.symbols != 2:
        return "sought only for yes-no functions of bits"
    if found.lengths[-1].values == 1:
        return "the function is constant at this N and needs none"
    return "none found with at most N features of up to 3 bits" if found.length > 1 else "sought from N = 2 on"


def _automaton_in_words(found: "Profile") -> str:
    exactly = found.residuals.automaton_states if found.yes_no else found.residuals.states
    here = f"{counted(exactly, 'state')} for exactly N"
    if found.automaton is None:
        return here
    least = "" if found.automaton.exact else "at least "
    return f"{least}{counted(found.automaton.states, 'state')} for all lengths up to N; {here}"
