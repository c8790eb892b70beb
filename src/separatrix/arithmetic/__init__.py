"""Numbers: the arithmetics in which a network is evaluated, and sign codes.

:class:`FixedPoint` is the finite precision of BHBK24 Appendix B.2 in integers, :class:`Floating` is what
hardware computes, :class:`Balls` encloses the reals. Each is an :class:`Arithmetic`, so code that takes one
takes all.

>>> from separatrix.arithmetic import arithmetic_named
>>> for name in ("fixed:N=16,Kc=2,down", "bfloat16", "balls:64"):
...     arithmetic = arithmetic_named(name)
...     print(arithmetic.to_float64(arithmetic.softmax(arithmetic.encode([0, 0, 1]))).round(4).tolist())
[0.2109, 0.2109, 0.5742]
[0.2119, 0.2119, 0.5781]
[0.2119, 0.2119, 0.5761]
"""

from separatrix.arithmetic.balls import Balls
from separatrix.arithmetic.fixed_point import FixedPoint
from separatrix.arithmetic.floating import FLOATING_FORMATS, Floating
from separatrix.arithmetic.interface import (
    Arithmetic,
    Axis,
    BooleanArray,
    Products,
    RawArray,
    Rounding,
    Shape,
    UndecidedError,
    Values,
)
from separatrix.arithmetic.naming import ARITHMETIC_NAMES, arithmetic_named

__all__ = [
    "ARITHMETIC_NAMES",
    "FLOATING_FORMATS",
    "Arithmetic",
    "Axis",
    "Balls",
    "BooleanArray",
    "FixedPoint",
    "Floating",
    "Products",
    "RawArray",
    "Rounding",
    "Shape",
    "UndecidedError",
    "Values",
    "arithmetic_named",
]
