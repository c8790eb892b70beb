"""``separatrix protocol``: run Theorem 2's or Theorem 4's protocol on a network and show every message."""

from typing import Annotated

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
from separatrix.cli.output import JsonOption, print_answer
from separatrix.cli.protocol_subject import input_of, subject_named
from separatrix.errors import SeparatrixError

NAME = "protocol"
ORDER = 75
EXAMPLE = "separatrix protocol index-lookup --length 16 --partition odd-even --version repaired"


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
    from separatrix.api import Conversed
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
    drawn = None if text is not None else seed
    answer = Conversed(subject, cells, found)
    print_answer(context, answer, as_json, arithmetic=str(subject.arithmetic), seed=drawn)
    return 0 if answer else 1
