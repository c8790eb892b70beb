"""``separatrix certify``: prove a theorem's network or a trained run for all inputs, write weights and proof."""

from pathlib import Path
from typing import Annotated

import typer

from separatrix.cli.certify_trained import certify_trained, names_a_run
from separatrix.cli.completion import complete_construction
from separatrix.cli.construction_options import (
    ROUNDED_ALREADY,
    AttentionOption,
    ExponentOption,
    FamilyOption,
    GainOption,
    MaxInnerOption,
    PrecisionOption,
    RoundingOption,
    SettingsOption,
    VariantOption,
    options_from,
    refuse_idle_options,
)
from separatrix.cli.given_options import refuse_given
from separatrix.cli.limits import MaxMemoryOption, limited_memory, memory_limit
from separatrix.cli.output import DetailsOption, JsonOption, print_answer
from separatrix.errors import SeparatrixError

NAME = "certify"
ORDER = 50
EXAMPLE = "separatrix certify index-lookup --length 1024"
OF_CONSTRUCTIONS = (
    "precision", "exponent", "rounding", "arithmetic", "variant", "gain", "attention", "family", "max_inner",
    "settings", "max_memory",
)  # fmt: skip
"""Options that a trained run does not have."""


def command(
    context: typer.Context,
    construction: Annotated[
        str,
        typer.Argument(
            help="Name of a construction; or a trained run by its name, or a folder with its weights.",
            autocompletion=complete_construction,
        ),
    ],
    length: Annotated[
        int | None, typer.Option("--length", "-n", help="Input length N; a trained run's own if not given.")
    ] = None,
    precision: PrecisionOption = None,
    exponent: ExponentOption = None,
    rounding: RoundingOption = "down",
    arithmetic: Annotated[
        str | None,
        typer.Option(
            "--arithmetic", help="'balls' for the real numbers, or a fixed point such as fixed:N=64,Kc=2,down."
        ),
    ] = None,
    variant: VariantOption = "repaired",
    gain: GainOption = None,
    attention: AttentionOption = None,
    family: FamilyOption = None,
    max_inner: MaxInnerOption = "1/4",
    settings: SettingsOption = None,
    max_memory: MaxMemoryOption = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Folder for the two files; certificates/CONSTRUCTION-N if not given."),
    ] = None,
    store: Annotated[
        Path | None, typer.Option("--store", help="A trained run: its store; SEPARATRIX_STORE or runs.sqlite.")
    ] = None,
    nodes: Annotated[
        int, typer.Option("--nodes", help="A trained Transformer: most cases that one proof may have.")
    ] = 64,
    bits: Annotated[
        int | None,
        typer.Option("--bits", help="A trained recurrent run: certify it with its state rounded to so many bits."),
    ] = None,
    details: DetailsOption = False,
    as_json: JsonOption = False,
) -> int:
    """Certify that a network from a theorem, or one that was trained, is correct on every input of a length."""
    if names_a_run(construction):
        refuse_given(context, OF_CONSTRUCTIONS, "is for a construction, not for a trained run; leave it out")
        return certify_trained(context, construction, length, store, nodes, bits, out, as_json)
    from separatrix.api import certify
    from separatrix.cli.interrupts import uninterrupted
    from separatrix.cli.progress import progress_bar
    from separatrix.constructions import constructions
    from separatrix.progress import listening

    refuse_given(context, ("store", "nodes", "bits"), "is for a trained run, not for a construction; leave it out")
    chosen = constructions()[construction]
    if length is None:
        raise SeparatrixError("no length given; write such as --length 64")
    limit = memory_limit(max_memory)
    options = options_from(
        chosen, length, precision=precision, exponent=exponent, rounding=rounding, variant=variant, gain=gain,
        attention=attention, family=family, max_inner=max_inner, settings=settings,
        offers_arithmetic=True,
    )  # fmt: skip
    if arithmetic is not None:
        for option, value in (("--precision", precision), ("--exponent", exponent)):
            if value is not None:
                raise SeparatrixError(f"give one of --arithmetic {arithmetic} and {option} {value}, not both")
        refuse_given(context, ("rounding",), ROUNDED_ALREADY)
    first = f"building {construction} for length {length}"
    with progress_bar(first, as_json) as show, listening(show), limited_memory(limit):
        found = certify(
            construction, length, options, arithmetic=arithmetic,
            out=out or Path("certificates") / f"{construction}-{length}", keep_refutation=out is not None,
            memory=limit, inspect=lambda network: refuse_idle_options(network, options), writing=uninterrupted,
        )  # fmt: skip
    print_answer(context, found, as_json, arithmetic=found.arithmetic, details=details)
    return 0 if found else 1
