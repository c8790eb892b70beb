"""The embedding of a set: γ · w_S, the dual certificate of the sign vectors of S (SHT23, q-Sparse Averaging).

In SHT23's model the element-wise input map φ is an arbitrary function. What it computes is stored here as data: a sign
rule, a gain, and which numbers of a cell are its set. The
certificate itself is the least-norm one, computed in exact rational numbers and rounded once, as part of the input. A
set whose sign vectors are linearly dependent has none and gets 0. Where sets follow from positions, a table does.
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy

from separatrix.arithmetic import Arithmetic, RawArray, distinct, dual_multiples
from separatrix.errors import SeparatrixError
from separatrix.networks.embedding import SignRows
from separatrix.networks.exact import LARGEST_NUMERATOR, ExactMatrix, Integers


@dataclass(frozen=True)
class CellSets:
    """The set of a cell: its numbers ``columns`` (half-open, from 0), minus ``first``, are numbers of sign vectors."""

    columns: tuple[int, int]
    first: int = 1

    def members(self, cells: Integers) -> Integers:
        """Return numbers of sign vectors (batch, positions, q)."""
        return cells[..., self.columns[0] : self.columns[1]] - self.first


@dataclass(frozen=True, eq=False)
class DualPart:
    """Adds ``gain`` · w_S to ``slot`` at every position, S given by ``sets`` and its sign vectors by ``rule``."""

    slot: str
    rule: SignRows
    sets: CellSets
    gain: Fraction

    def __post_init__(self) -> None:
        if max(abs(self.gain.numerator), self.gain.denominator) >= LARGEST_NUMERATOR:
            raise SeparatrixError("the gain of a dual certificate needs more than 62 bits; choose a simpler fraction")
        low, high = self.sets.columns
        if not 0 <= low < high:
            raise SeparatrixError(f"the sets of slot {self.slot!r} have the range {low} to {high}, which is empty")

    def rows(self, cells: Integers, arithmetic: Arithmetic) -> RawArray:
        """Return the vectors in an arithmetic: (batch, positions, slot width)."""
        members = self.sets.members(cells)
        if members.size and not 0 <= int(members.min()) <= int(members.max()) < self.rule.count:
            raise SeparatrixError(f"a cell names a number outside 0 to {self.rule.count - 1} for slot {self.slot!r}")
        flat = members.reshape(-1, members.shape[-1])
        if not len(flat):
            return arithmetic.zeros((*cells.shape[:2], self.rule.width))
        different, places = distinct(flat)
        return self.vectors(different, arithmetic)[places.reshape(cells.shape[:2])]

    def vectors(self, sets: Integers, arithmetic: Arithmetic) -> RawArray:
        """gain · w_S for sets (n, q) of numbers of sign vectors, each coordinate rounded once: (n, slot width)."""
        signs = self.rule.signs(sets)
        grams = numpy.einsum("sik,sjk->sij", signs, signs)
        # Sets whose sign vectors have the same inner products have the same multiples of them.
        different, which = distinct(grams.reshape(len(sets), -1))
        found = [dual_multiples(gram.reshape(grams.shape[1:])) for gram in different]
        rows = arithmetic.zeros((len(sets), self.rule.width))
        for number, (multiples, denominator) in enumerate(found):
            places, below = which == number, self.gain.denominator * denominator
            above = [self.gain.numerator * each for each in multiples]
            if max(below, sum(map(abs, above))) < LARGEST_NUMERATOR:
                totals = numpy.einsum("i,sik->sk", numpy.array(above, dtype=numpy.int64), signs[places])
                rows[places] = ExactMatrix(totals, below).encoded(arithmetic)
            else:
                exact = numpy.array(above, dtype=object) @ signs[places].astype(object)
                fractions = [Fraction(each, below) for each in exact.reshape(-1).tolist()]
                rows[places] = arithmetic.encode(numpy.array(fractions)).reshape(exact.shape)
        return rows

    def size_bits(self, precision_bits: int) -> int:
        """Return the generator, and the gain and the three numbers of the sets at full precision each."""
        return self.rule.size_bits(precision_bits) + 4 * precision_bits
