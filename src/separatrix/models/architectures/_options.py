"""Options and checks that several architectures share."""

from separatrix.errors import SeparatrixError
from separatrix.models.architecture import Option, Options

POSITIONS = Option(
    "positions", "learned", "what tells positions apart", choices=("learned", "sinusoidal", "rotary", "none")
)
HEADS = Option("heads", 1, "attention heads; must divide the width", minimum=1)
LINEAR_HEADS = Option("heads", 4, "heads; must divide the width", minimum=1)
MASK = Option("mask", "causal", "causal: a query sees no later position; none: it sees all", choices=("causal", "none"))
TAPS = 4
"""Inputs that the short convolution before a state space sees."""


def check_divides(short: str, what: str, number: int, heads: int) -> None:
    """Raise a one-line error unless ``heads`` divides ``number``."""
    if number % heads:
        fitting = [str(each) for each in range(1, min(number, 64) + 1) if number % each == 0]
        raise SeparatrixError(f"heads={heads} does not divide {what} {number} of {short}; choose {', '.join(fitting)}")


def check_heads(short: str, width: int, options: Options) -> None:
    """Raise a one-line error unless the heads divide the width and rotary positions have pairs to turn."""
    heads = options["heads"]
    check_divides(short, "width", width, heads)
    if options.get("positions") == "rotary" and (width // heads) % 2:
        raise SeparatrixError(
            f"positions=rotary turns pairs of numbers, but a head of {short} has {width // heads}; make that even"
        )
