"""Numbers that arrive as text, read exactly and within bounds, so that a mistyped one ends in a message."""

import re
from fractions import Fraction

from separatrix.errors import SeparatrixError

LONGEST = 40
_FRACTION = re.compile(r"[+-]?(\d+(/\d+)?|\d*\.\d+)")


def parse_fraction(what: str, text: str) -> Fraction:
    """A fraction such as ``1/4`` or ``0.25``, exactly as written; ``what`` names it in the message.

    Exponents (``1e9``) are not taken: a short text with a long exponent would make a number of a billion digits.

    >>> parse_fraction("margin", "0.25")
    Fraction(1, 4)
    """
    if len(text) <= LONGEST and _FRACTION.fullmatch(text.strip()):
        try:
            return Fraction(text.strip())
        except ZeroDivisionError:
            pass
    raise SeparatrixError(f"{what} {text[:LONGEST]!r} is not a fraction; write one such as 1/4 or 0.25")
