"""``separatrix protocol``: run Theorem 2's or Theorem 4's protocol on a network and show every message."""

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
from separatrix.cli.output import JsonOption, console, print_result
from separatrix.cli.protocol_subject import Subject, input_of, subject_named
from separatrix.errors import SeparatrixError
from separatrix.wording import counted

if TYPE_CHECKING:
    from separatrix.communication import Conversation
    from separatrix.networks import Integers

NAME = "protocol"
ORDER = 75
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
    from separatrix.communication import hold_conversation
    from separatrix.networks import RecurrentNetwork

    if arithmetic is not None:
        refuse_given(context, ("rounding",), ROUNDED_ALREADY)
    subject = subject_named(network, length, exponent, rounding, arithmetic, attention, settings or [])
    cells, asked = input_of(subject, text, seed)
    if isinstance(subject.network, RecurrentNetwork) and (version, products, position) != (None, None, None):
        raise SeparatrixError(
            f"--version, --products and --position are for Theorem 4; {network} is recurrent and has Theorem 2's "
            "protocol, which has one version"
        )
    found = hold_conversation(
        subject.network, cells, subject.arithmetic, partition, version=version or "repaired",
        products=products or "rounded", position=asked if position is None else position,  # type: ignore[arg-type]
    )  # fmt: skip
    if as_json:
        drawn = None if text is not None else seed
        print_result(context, {**_plain(subject, cells, found)}, arithmetic=str(subject.arithmetic), seed=drawn)
    else:
        _print(subject, cells, found)
    return 0 if found.equal else 1


def _plain(subject: Subject, cells: "Integers", found: "Conversation") -> dict[str, Any]:
    """Return the conversation as plain data."""
    claim, facts = found.claim, found.one_layer
    what: dict[str, Any] = {
        "version": "one-way", "formula": "m*p",
        "claim": {"formula": "m*p", "m": claim.m, "precision_bits": claim.p, "claimed_bits": claim.bits,
                  "holds": claim.holds},
    }  # fmt: skip
    if facts is not None:
        plan, stated = facts.plan, facts.sufficient
        what = {
            "version": plan.version.name, "about_version": plan.version.about, "products": plan.products,
            "read_position": plan.position, "held_by": plan.holder, "step_bits": plan.step_bits(),
            "formula": "query + maxima + totals + values + answer",
            "claim": {
                **facts.sizes.as_json(),
                "sufficient": {"constant": stated.constant, "when": stated.when, "met": stated.met},
                "told": facts.caveats,
            },
        }  # fmt: skip
    split = found.partition
    return {
        "network": subject.name,
        "length": subject.length,
        "positions": subject.network.positions,
        "arithmetic": str(subject.arithmetic),
        "partition": {"name": split.name, "alice": list(split.alice), "bob": list(split.bob)},
        "input": cells.tolist(),
        "input_text": subject.task.write(cells.tolist(), subject.length) if subject.task else None,
        "theorem": found.theorem,
        **what,
        "bits": found.transcript.total_bits,
        "formula_bits": found.formula_bits,
        "answer": found.answer.tolist(),
        "direct_answer": found.direct.answer.tolist(),
        "equal": found.equal,
        "transcript": found.transcript.as_json(),
    }


def _cells(cells: list[Any]) -> str:
    """Return the input of a network without a task as ``--input`` takes it: numbers, or lists of them."""
    return str(cells) if any(isinstance(cell, list) for cell in cells) else " ".join(map(str, cells))


def _print(subject: Subject, cells: "Integers", found: "Conversation") -> None:
    from rich.markup import escape
    from rich.table import Table

    out = console()
    facts, claim = found.one_layer, found.claim
    kind = "" if facts is None else f", {facts.plan.version.name}"
    out.print(f"[bold]{escape(subject.name)}[/bold], length {subject.length}: {found.theorem}{kind}")
    row: list[Any] = cells.tolist()
    shown = _cells(row) if subject.task is None else subject.task.write(row, subject.length)
    shown = shown if len(shown) <= SHOWN_INPUT else f"{shown[:SHOWN_INPUT]} …"
    out.print(f"input {escape(shown)}", soft_wrap=True)
    held = {"Alice": found.partition.alice, "Bob": found.partition.bob}
    counts = [f"[{COLOURS[who]}]{who}[/] {counted(len(held[who]), 'position')}" for who in COLOURS]
    numbers = f"numbers of {counted(subject.arithmetic.precision_bits, 'bit')}"
    out.print(f"{' and '.join(counts)} ({found.partition.name}), {numbers}")
    table = Table()
    table.add_column("", justify="right", style="dim")
    table.add_column("from")
    table.add_column("what", overflow="fold")
    table.add_column("bits", justify="right")
    table.add_column("sent")
    for message in found.transcript.messages:
        colour = COLOURS[message.sender]
        sent = message.bits if message.length <= SHOWN_BITS else f"{message.bits[:SHOWN_BITS]}…"
        who = f"[{colour}]{message.sender}[/{colour}]"
        table.add_row(str(message.round), who, escape(message.what), str(message.length), f"[{colour}]{sent}[/]")
    out.print(table)
    sizes = f"m = {claim.m}, p = {claim.p}"
    formula = "mp" if facts is None else claim.formula
    if facts is not None:
        sizes += f", N = {facts.sizes.positions}, H = {facts.sizes.heads}"
    total = counted(found.transcript.total_bits, "bit")
    out.print(f"[bold]{total}[/bold], {_within(claim.holds)} the claimed {formula} = {claim.bits} ({sizes})")
    for line in [] if facts is None else facts.caveats:
        out.print(escape(line), soft_wrap=True)
    equal = "[green]equal bit for bit[/green]" if found.equal else "[red]not equal[/red]"
    answer: Any = found.answer.tolist()
    if subject.task is not None:
        answer = subject.task.write_answer(answer if isinstance(answer, int) else tuple(answer), subject.length)
    out.print(f"answer {escape(str(answer))}; protocol and direct evaluation are {equal}")


def _within(holds: bool) -> str:
    return "[green]within[/green]" if holds else "[red]beyond[/red]"
