"""``separatrix protocol``: run Theorem 2's or Theorem 4's protocol on a network and show every message."""

import time
from typing import TYPE_CHECKING, Annotated, Any

import typer

from separatrix.cli.completion import complete_construction
from separatrix.cli.construction_options import (
    ROUNDED_ALREADY,
    AttentionOption,
    ExponentOption,
    RoundingOption,
    SettingsOption,
)
from separatrix.cli.given_options import refuse_given
from separatrix.cli.output import JsonOption, command_line, console, print_json
from separatrix.cli.protocol_subject import Subject, input_of, subject_named
from separatrix.errors import SeparatrixError
from separatrix.wording import counted

if TYPE_CHECKING:
    from separatrix.communication import Partition, Transcript
    from separatrix.networks import Integers, Network, RecurrentNetwork

NAME = "protocol"
ORDER = 74
EXAMPLE = "separatrix protocol index-lookup --length 16 --partition odd-even --version repaired"
COLOURS = {"Alice": "cyan", "Bob": "magenta"}
SHOWN_BITS = 24
SHOWN_INPUT = 200


def command(
    context: typer.Context,
    network: Annotated[
        str,
        typer.Argument(
            help="Name of a construction, or a network file (or its folder).", autocompletion=complete_construction
        ),
    ],
    length: Annotated[int | None, typer.Option("--length", "-n", help="Input length N; a file knows its own.")] = None,
    partition: Annotated[
        str | None,
        typer.Option("--partition", help="Who holds what: odd-even, halves, cut:K, or Alice's positions 0,2,5."),
    ] = None,
    version: Annotated[
        str | None,
        typer.Option("--version", help="Of Theorem 4's protocol: as-written, repaired (default), queries or token."),
    ] = None,
    products: Annotated[
        str | None,
        typer.Option("--products", help="Products inside a matrix product are 'rounded' (default) or 'exact'."),
    ] = None,
    position: Annotated[
        int | None, typer.Option("--position", help="The position that is read, from 0; the last one by default.")
    ] = None,
    text: Annotated[str | None, typer.Option("--input", help="One input, as 'separatrix sample' writes it.")] = None,
    seed: Annotated[int, typer.Option("--seed", "-s", help="A random input, if --input is not given.")] = 0,
    exponent: ExponentOption = None,
    rounding: RoundingOption = "down",
    arithmetic: Annotated[
        str | None, typer.Option("--arithmetic", help="Another arithmetic, such as fixed:N=16,Kc=2,down or float32.")
    ] = None,
    attention: AttentionOption = None,
    settings: SettingsOption = None,
    as_json: JsonOption = False,
) -> int:
    """Let Alice and Bob compute a network's answer by exchanging bits, and count them next to the claim."""
    from separatrix.communication import parse_partition
    from separatrix.networks import RecurrentNetwork
    from separatrix.provenance import provenance

    started = time.perf_counter()
    if arithmetic is not None:
        refuse_given(context, ("rounding",), ROUNDED_ALREADY)
    subject = subject_named(network, length, exponent, rounding, arithmetic, attention, settings or [])
    recurrent = isinstance(subject.network, RecurrentNetwork)
    split = parse_partition(partition or ("halves" if recurrent else "odd-even"), subject.network.positions)
    cells, asked = input_of(subject, text, seed)
    if isinstance(subject.network, RecurrentNetwork):
        if (version, products, position) != (None, None, None):
            raise SeparatrixError(
                f"--version, --products and --position are for Theorem 4; {network} is recurrent and has Theorem 2's "
                "protocol, which has one version"
            )
        result, transcript = _theorem_2(subject, subject.network, cells, split)
    else:
        place = position if position is not None else asked
        result, transcript = _theorem_4(
            subject, subject.network, cells, split, version or "repaired", products or "rounded", place
        )
    result = {
        "network": subject.name,
        "length": subject.length,
        "positions": subject.network.positions,
        "arithmetic": str(subject.arithmetic),
        "partition": {"name": split.name, "alice": list(split.alice), "bob": list(split.bob)},
        "input": cells.tolist(),
        "input_text": subject.task.write(cells.tolist(), subject.length) if subject.task else None,
        **result,
        "transcript": transcript.as_json(),
    }
    if as_json:
        drawn = None if text is not None else seed
        record = provenance(command_line(context), arithmetic=str(subject.arithmetic), seed=drawn, started=started)
        print_json({**result, "provenance": record})
    else:
        _print(subject, result, transcript)
    return 0 if result["equal"] else 1


def _theorem_2(
    subject: Subject, network: "RecurrentNetwork", cells: "Integers", split: "Partition"
) -> "tuple[dict[str, Any], Transcript]":
    from separatrix.communication import recurrent_directly, run_recurrent

    run = run_recurrent(network, cells, subject.arithmetic, split)
    direct = recurrent_directly(run, network, cells, subject.arithmetic)
    assert run.answers is not None
    p = subject.arithmetic.precision_bits
    return {
        "theorem": "BHBK24 Theorem 2",
        "version": "one-way",
        "bits": run.transcript.total_bits,
        "formula": "m*p",
        "formula_bits": run.formula_bits,
        "claim": {"formula": "m*p", "m": network.width, "precision_bits": p, "claimed_bits": run.formula_bits,
                  "holds": run.transcript.total_bits <= run.formula_bits},
        "answer": run.answers[-1].tolist(),
        "direct_answer": direct.answer.tolist(),
        "equal": direct.equal,
    }, run.transcript  # fmt: skip


def _theorem_4(
    subject: Subject, network: "Network", cells: "Integers", split: "Partition", version: str, products: str,
    position: int | None,
) -> "tuple[dict[str, Any], Transcript]":  # fmt: skip
    from separatrix.communication import caveats, compare, condition, one_layer_directly, run_one_layer

    run = run_one_layer(
        network, cells, subject.arithmetic, split, version=version, products=products, position=position  # type: ignore[arg-type]
    )  # fmt: skip
    plan = run.plan
    direct = one_layer_directly(run, cells)
    stated, sizes = condition(plan), compare(plan, run.transcript.total_bits)
    return {
        "theorem": "BHBK24 Theorem 4",
        "version": plan.version.name,
        "about_version": plan.version.about,
        "products": plan.products,
        "read_position": plan.position,
        "held_by": plan.holder,
        "bits": run.transcript.total_bits,
        "formula": "query + maxima + totals + values + answer",
        "formula_bits": plan.formula_bits,
        "step_bits": plan.step_bits(),
        "claim": {
            **sizes.as_json(),
            "sufficient": {"constant": stated.constant, "when": stated.when, "met": stated.met},
            "told": caveats(sizes, stated),
        },
        "answer": run.answer.tolist(),
        "direct_answer": direct.answer.tolist(),
        "equal": direct.equal,
    }, run.transcript


def _cells(cells: list[Any]) -> str:
    """Return the input of a network without a task as ``--input`` takes it: numbers, or lists of them."""
    return str(cells) if any(isinstance(cell, list) for cell in cells) else " ".join(map(str, cells))


def _print(subject: Subject, result: dict[str, Any], transcript: "Transcript") -> None:
    from rich.markup import escape
    from rich.table import Table

    out = console()
    kind = f", {result['version']}" if result["theorem"].endswith("4") else ""
    out.print(f"[bold]{escape(subject.name)}[/bold], length {subject.length}: {result['theorem']}{kind}")
    shown = result["input_text"] or _cells(result["input"])
    shown = shown if len(shown) <= SHOWN_INPUT else f"{shown[:SHOWN_INPUT]} …"
    out.print(f"input {escape(shown)}", soft_wrap=True)
    held = result["partition"]
    counts = [f"[{COLOURS[who]}]{who}[/] {counted(len(held[who.lower()]), 'position')}" for who in COLOURS]
    numbers = f"numbers of {counted(subject.arithmetic.precision_bits, 'bit')}"
    out.print(f"{' and '.join(counts)} ({held['name']}), {numbers}")
    table = Table()
    table.add_column("", justify="right", style="dim")
    table.add_column("from")
    table.add_column("what", overflow="fold")
    table.add_column("bits", justify="right")
    table.add_column("sent")
    for message in transcript.messages:
        colour = COLOURS[message.sender]
        sent = message.bits if message.length <= SHOWN_BITS else f"{message.bits[:SHOWN_BITS]}…"
        who = f"[{colour}]{message.sender}[/{colour}]"
        table.add_row(str(message.round), who, escape(message.what), str(message.length), f"[{colour}]{sent}[/]")
    out.print(table)
    claim = result["claim"]
    p, holds = claim["precision_bits"], "[green]within[/green]" if claim["holds"] else "[red]beyond[/red]"
    formula = "mp" if kind == "" else "3m(p + log N)H"
    sizes = f"m = {claim['m']}, p = {p}"
    sizes += f", N = {claim['positions']}, H = {claim['heads']}" if kind else ""
    out.print(f"[bold]{result['bits']} bits[/bold], {holds} the claimed {formula} = {claim['claimed_bits']} ({sizes})")
    for line in claim.get("told", []):
        shown = escape(line).replace(": within ", ": [green]within[/green] ")
        out.print(shown.replace(": beyond ", ": [red]beyond[/red] "), soft_wrap=True)
    equal = "[green]equal bit for bit[/green]" if result["equal"] else "[red]not equal[/red]"
    answer: Any = result["answer"]
    if subject.task is not None:
        answer = subject.task.write_answer(answer if isinstance(answer, int) else tuple(answer), subject.length)
    out.print(f"answer {escape(str(answer))}; protocol and direct evaluation are {equal}")
