"""Models as they are named on the command line: a published one, a config.json, or one of this package's own."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from separatrix.bit_counts import OWN_PRECISION
from separatrix.cli.completion import complete_numbers
from separatrix.errors import SeparatrixError

if TYPE_CHECKING:
    from separatrix.capacities import ModelDescription

PRECISION_HELP = (
    "Bits of every number that the model hands on; left out: for each part of its state those that its config and the "
    f"code that runs it give; {OWN_PRECISION} for this package's own."
)
ArithmeticOption = Annotated[
    str | None,
    typer.Option(
        "--arithmetic",
        help="What the model computes in: fixed (a sum is rounded once, down or to nearest), exact, or one that rounds "
        "after every addition: float64, float32, bfloat16, float16, float8_e4m3fn, float8_e5m2. Left out: the "
        "floating point of a model's numbers; for a class of models, such as rnn, fixed, as the theorems have it.",
        autocompletion=complete_numbers,
    ),
]
"""The arithmetic of a model, the same wherever a verdict is about one."""


def described(text: str, precision: int | None = None) -> "ModelDescription":
    """The model that a text names; of this package's own with states counted in numbers of so many bits."""
    own = text.endswith(")") and not Path(text).exists()
    if own:
        from separatrix.models import description, parse_spec

        bits = OWN_PRECISION if precision is None else precision
        # A precision that is out of range is refused by who computes with it.
        return description(parse_spec(text), max(1, bits))
    if ":" in text and not Path(text).exists():
        raise SeparatrixError(f"{text!r} names a module of your own without its sizes; write '{text}-(1,64)'")
    from separatrix.capacities import describe

    return describe(text)


def check_task(text: str) -> None:
    """Refuse the name of a function where a task is asked for, and say which command takes it."""
    if ":" in text:
        raise SeparatrixError(
            f"{text!r} names a function, not a task; what any function needs is said by  separatrix profile {text} "
            "--length 12  (and with --model MODEL, from which N on a model cannot compute it)"
        )
