"""Attention that averages over a set of positions: what sparse averaging and its reductions share (SHT23, qSA).

Keys are sign vectors u_j, queries α·w_S with the least-norm dual certificate w_S (see ``arithmetic.codes.dual``), so
that scores are α on S and at most c·α elsewhere. With g = α(1 - c) all positions outside S together have at most
N·e^(-g)/q of the attention.

Deviation (E9): the slides ask for c = 1/2, which for the least-norm certificate takes inner products of at most
1/(3q - 1) on both sides; 1/(2q) is enough for c = q/(q + 1), with a gain of (q + 1)·g instead of 2g. That is a code of
a quarter of the width at N = 1024 and q = 8.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy

from separatrix.arithmetic import outside_bound
from separatrix.constructions.construction import Options
from separatrix.constructions.pieces import addresses
from separatrix.errors import SeparatrixError
from separatrix.networks import SignRows


@dataclass(frozen=True)
class SetCodes:
    """Sign vectors for positions, and the largest score outside a set, where scores inside are 1."""

    rule: SignRows
    outside: Fraction

    @property
    def width(self) -> int:
        """The slides' k."""
        return self.rule.width


def set_codes(count: int, sparsity: int, options: Options, largest_outside: Fraction | None = None) -> SetCodes:
    """Return the narrowest linear sign code all of whose sets of ``sparsity`` vectors have a dual certificate.

    ``largest_outside`` is the c to keep, q/(q + 1) by default: inner products μ give c = qμ/(1 - (q - 1)μ).
    """
    bound = Fraction(sparsity, sparsity + 1) if largest_outside is None else largest_outside
    max_inner = min(options.max_inner, bound / (sparsity + bound * (sparsity - 1)))
    rule = addresses(count, max_inner, options.family, two_sided=True).signs
    words = numpy.arange(1, rule.count, dtype=numpy.int64)
    outside = outside_bound(rule.signs(words).sum(axis=1).tolist(), rule.width, sparsity)
    if outside is None:
        raise SeparatrixError(f"the code of width {rule.width} has no dual certificates for {sparsity} vectors")
    return SetCodes(rule, outside)


def set_gain(codes: SetCodes, ratio: int, options: Options) -> Fraction:
    """α with e^(α(1 - c)) ≥ ``ratio``, from ln x < 0.7 · (bits of x), rounded up to a multiple of 1/16."""
    if options.gain is not None:
        return options.gain
    return Fraction(math.ceil(16 * Fraction(7 * ratio.bit_length(), 10) / (1 - codes.outside)), 16)
