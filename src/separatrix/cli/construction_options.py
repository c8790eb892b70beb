"""How verbs describe a construction: the options that ``certify`` and ``export`` share, and what they mean together."""

from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any

import typer

from separatrix.cli.completion import complete_construction
from separatrix.errors import SeparatrixError, UnknownNameError
from separatrix.text_numbers import parse_fraction

if TYPE_CHECKING:
    from separatrix.arithmetic import Rounding
    from separatrix.constructions import Construction, Options
    from separatrix.networks import AnyNetwork

ConstructionArgument = Annotated[
    str, typer.Argument(help="Name of a construction.", autocompletion=complete_construction)
]
LengthOption = Annotated[int, typer.Option("--length", "-n", help="Input length N.")]
PrecisionOption = Annotated[
    int | None, typer.Option("--precision", "-p", help="Bits of one number, instead of --exponent.")
]
ExponentOption = Annotated[
    int | None, typer.Option("--exponent", help="The constant Kc; the theorem default if not given.")
]
RoundingOption = Annotated[str, typer.Option("--rounding", help="'down' as the paper has it, or 'nearest'.")]
VariantOption = Annotated[str, typer.Option("--variant", help="Which version of the proof.")]
GainOption = Annotated[str | None, typer.Option("--gain", help="A score scale η instead of the theorem's.")]
AttentionOption = Annotated[
    str | None,
    typer.Option(
        "--attention", help="Another attention in every head, such as hard or linear; the theorem's if not given."
    ),
]
FamilyOption = Annotated[
    str | None, typer.Option("--family", help="Addresses from one family of sign codes, or 'circle'.")
]
MaxInnerOption = Annotated[
    str, typer.Option("--max-inner", help="The largest inner product of two addresses, a fraction.")
]
ROUNDED_ALREADY = "changes nothing next to --arithmetic; write it there, such as fixed:N=64,Kc=2,nearest"
"""Why a rounding is refused next to an arithmetic by name."""
SettingsOption = Annotated[list[str] | None, typer.Option("--set", help="A parameter of the task, NAME=VALUE.")]


def rounding_named(text: str) -> "Rounding":
    """Return the rounding that is meant; an unknown one raises."""
    if text == "down" or text == "nearest":
        return text
    raise SeparatrixError(f"--rounding {text} is unknown; choose down or nearest")


def options_from(
    construction: "Construction", length: int, *, precision: int | None = None, exponent: int | None = None,
    rounding: str = "down", variant: str = "repaired", gain: str | None = None, attention: str | None = None,
    family: str | None = None, max_inner: str = "1/4", settings: list[str] | None = None,
    offers_arithmetic: bool = False,
) -> "Options":  # fmt: skip
    """Return what a construction is asked to build; whatever does not make sense ends in one line."""
    from separatrix.api import exponent_for_bits
    from separatrix.cli.verb_precision import note_unused_bits
    from separatrix.constructions import Options
    from separatrix.networks import SCORINGS
    from separatrix.tasks import tasks, with_text_parameters

    if precision is not None and exponent is not None:
        raise SeparatrixError(f"give one of --precision {precision} and --exponent {exponent}, not both")
    task = tasks()[construction.task_name]
    construction.check_length(task, length)
    if precision is not None:
        exponent = exponent_for_bits(task.name, length, precision)
        note_unused_bits(length, precision, exponent, rounding if offers_arithmetic else None)
    rounded = rounding_named(rounding)
    if attention is not None and attention not in SCORINGS:
        raise UnknownNameError("attention", attention, SCORINGS)
    inner = parse_fraction("--max-inner", max_inner)
    if not 0 < inner < 1:
        raise SeparatrixError(f"--max-inner {inner} is out of range; choose a fraction above 0 and below 1")
    changed, own = with_text_parameters(task, settings or []).parameters(), task.parameters()
    parameters: dict[str, Any] = {name: value for name, value in changed.items() if value != own[name]}
    scale: Fraction | None = None if gain is None else parse_fraction("--gain", gain)
    return Options(
        exponent=exponent, rounding=rounded, variant=variant, gain=scale, attention=attention, family=family,
        max_inner=inner, parameters=parameters,
    )  # fmt: skip


def refuse_idle_options(network: "AnyNetwork", options: "Options") -> None:
    """Refuse what is about scores and addresses of attention where a network has none: it would change nothing."""
    from separatrix.constructions import Options
    from separatrix.networks import Attention, RecurrentNetwork

    recurrent = isinstance(network, RecurrentNetwork)
    if not recurrent:
        layers = [layer for layer in network.layers if isinstance(layer, Attention)]
        if not layers or any(head.query.parameters for layer in layers for head in layer.heads):
            return
    kind = "a recurrent network" if recurrent else "uniform attention"
    usual = Options()
    for option, given, own, what in (
        ("--gain", options.gain, usual.gain, "scores"),
        ("--family", options.family, usual.family, "addresses"),
        ("--max-inner", options.max_inner, usual.max_inner, "addresses"),
    ):
        if given != own:
            raise SeparatrixError(f"{option} {given} changes nothing: {kind} has no {what}; leave it out")
