"""Options about models that several verbs have."""

from typing import Annotated

import typer

from separatrix.bit_counts import OWN_PRECISION
from separatrix.cli.completion import complete_numbers

PRECISION_HELP = (
    "Bits of every number that the model passes on; left out: for each part of its state those that its config and the "
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
