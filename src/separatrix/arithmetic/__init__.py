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

from separatrix.facade import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
