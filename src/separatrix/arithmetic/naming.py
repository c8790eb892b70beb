"""Names of arithmetics, as the command line, certificates and records write them.

``str(arithmetic)`` and :func:`arithmetic_named` are inverse to each other.
"""

import re
from typing import cast

from separatrix.arithmetic.balls import Balls
from separatrix.arithmetic.fixed_point import FixedPoint
from separatrix.arithmetic.floating import FLOATING_FORMATS, IN_ORDER, Floating
from separatrix.arithmetic.interface import Arithmetic, Rounding
from separatrix.errors import SeparatrixError, UnknownNameError

ARITHMETIC_NAMES = ("fixed:N=1024,Kc=2,down", "fixed:N=1024,Kc=2,nearest", *FLOATING_FORMATS, IN_ORDER, "balls:128")
"""One name per kind; the numbers in the names of fixed point and balls are free."""

_FIXED = re.compile(r"N=(\d{1,1000}),Kc=(\d{1,9}),(\w+?)(,once)?", re.ASCII)


def arithmetic_named(text: str) -> Arithmetic:
    """Make the arithmetic that a name describes.

    >>> arithmetic_named("fixed:N=1024,Kc=2,down") == FixedPoint(1024, 2, "down")
    True
    >>> str(arithmetic_named("balls:128"))
    'balls:128'
    """
    kind, _, parameters = text.partition(":")
    if text in FLOATING_FORMATS:
        return Floating(text)
    if text == IN_ORDER:
        return Floating("float32", in_order=True)
    if kind == "fixed":
        match = _FIXED.fullmatch(parameters)
        if match is None:
            raise SeparatrixError(f"cannot read {text!r}; write fixed:N=<length>,Kc=<exponent>,down or ...,nearest")
        length, exponent, rounding, once = match.groups()
        rule = "once" if once else "appendix-d"
        return FixedPoint(int(length), int(exponent), cast(Rounding, rounding), rule)
    if kind == "balls":
        if not (parameters.isascii() and parameters.isdecimal() and len(parameters) < 10):
            raise SeparatrixError(f"cannot read {text!r}; write balls:<bits>, e.g. balls:128")
        return Balls(int(parameters))
    raise UnknownNameError("arithmetic", text, ARITHMETIC_NAMES)
