"""Raw numbers of the fixed point of BHBK24 B.2, in which the methods compute, and whole numbers among them."""

import numpy
from numpy.typing import NDArray

from separatrix.arithmetic import FixedPoint
from separatrix.certificates.verdict import Claim, UnsupportedError
from separatrix.networks import ExactMatrix

Raw = NDArray[numpy.int64]


def fixed_point(claim: Claim, once: bool = False) -> FixedPoint:
    """Return the claim's arithmetic, if the methods can compute in its integers of up to 62 bits."""
    arithmetic = claim.arithmetic
    if not isinstance(arithmetic, FixedPoint):
        raise UnsupportedError(f"{arithmetic} is not a fixed point; the method computes in its integers")
    if arithmetic.dtype != numpy.int64:
        raise UnsupportedError(f"{arithmetic} needs more than 62 bits; choose a smaller Kc")
    if arithmetic.softmax_rule != "appendix-d" and not once:
        raise UnsupportedError(f"{arithmetic} rounds softmax once; the method covers the rounding of Appendix D")
    return arithmetic


def whole(matrix: ExactMatrix, what: str, unit: int = 1) -> Raw:
    """The entries in units of 1/``unit``, or a refusal that names the matrix."""
    exact = matrix.numerators if unit == 1 else matrix.numerators.astype(object) * unit
    if (exact % matrix.denominator).any():
        raise UnsupportedError(f"{what} has weights that are not whole numbers; the method covers only whole ones")
    exact = exact // matrix.denominator
    if unit > 1 and int(numpy.abs(exact).max(initial=0)) > unit**2:
        raise UnsupportedError(f"{what} may leave the range ±{unit}; a larger Kc keeps it inside")
    return numpy.asarray(exact, dtype=numpy.int64)


def whole_part(raw: Raw, arithmetic: FixedPoint, what: str) -> Raw:
    """Raw numbers as whole ones, or a refusal."""
    if (raw % arithmetic.largest).any():
        raise UnsupportedError(f"{what} are not whole numbers; the method covers only whole ones")
    return raw // arithmetic.largest
