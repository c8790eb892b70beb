"""The embedding φ(symbol, position) as a sum of parts, each described in few bits.

A part writes one slot, for tokens and positions in given ranges. Its vector is a row of an explicit table or a sign
vector generated from a binary matrix of O(log² N) bits (BHBK24 Lemma 3: vectors are made on demand and never stored).
Which row is taken follows from the token or from the position, directly or through a list of indices. Where the cells
of an input are several numbers instead of a token, feature parts map those linearly (points in BHBK24 Appendix G).
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, TypeAlias

import numpy
from numpy.typing import NDArray

from separatrix.arithmetic import Arithmetic, RawArray, magnitude
from separatrix.bit_counts import bits_for
from separatrix.errors import SeparatrixError
from separatrix.networks.exact import LARGEST_NUMERATOR, ExactMatrix, Integers, Slots

Bits: TypeAlias = NDArray[numpy.uint8]
TABLE_BITS = 8


@dataclass(frozen=True, eq=False)
class TableRows:
    """Row r of an explicit table (rows, width)."""

    table: ExactMatrix

    @property
    def count(self) -> int:
        """How many rows there are."""
        return self.table.shape[0]

    @property
    def width(self) -> int:
        """Numbers in a row."""
        return self.table.shape[1]

    def rows(self, indices: Integers, arithmetic: Arithmetic) -> RawArray:
        """Return the rows in an arithmetic: indices of any shape give (…, width)."""
        asked, places = numpy.unique(indices, return_inverse=True)
        if 2 * len(asked) > self.count:
            return self.table.encoded(arithmetic)[indices]
        # Of a long table, such as one row for each residue, an input names few rows.
        chosen = ExactMatrix(self.table.numerators[asked], self.table.denominator)
        return chosen.encoded(arithmetic)[places.reshape(indices.shape)]

    def size_bits(self, precision_bits: int) -> int:
        """Return every entry at full precision."""
        return self.table.numerators.size * precision_bits


@dataclass(frozen=True, eq=False)
class SignRows:
    """Row r is the sign vector (-1)^(bits of r · generator), bit b of r taking generator row b; (2^b rows)."""

    generator: Bits

    def __post_init__(self) -> None:
        if self.generator.ndim != 2 or self.generator.dtype != numpy.uint8 or self.generator.max(initial=0) > 1:
            raise SeparatrixError("a sign generator is a two-dimensional uint8 array of zeros and ones")

    @property
    def count(self) -> int:
        """How many rows there are: all messages."""
        return 1 << self.generator.shape[0]

    @property
    def width(self) -> int:
        """Signs in a row."""
        return self.generator.shape[1]

    def words(self, indices: Integers) -> Bits:
        """Return the rows as bits, 1 for -1: indices of any shape give (…, width)."""
        word = numpy.zeros((*indices.shape, self.width), dtype=numpy.uint8)
        # A few bits of the row numbers at a time: the words of all their values are a small table.
        for start in range(0, self.generator.shape[0], TABLE_BITS):
            table = _all_words(self.generator[start : start + TABLE_BITS])
            word ^= table[(indices >> start) & (len(table) - 1)]
        return word

    def signs(self, indices: Integers) -> Integers:
        """Return the rows as ±1 in int64: indices of any shape give (…, width)."""
        return (1 - 2 * self.words(indices).view(numpy.int8)).astype(numpy.int64)

    def rows(self, indices: Integers, arithmetic: Arithmetic) -> RawArray:
        """Return the rows in an arithmetic."""
        return arithmetic.encode([1, -1])[self.words(indices)]

    def size_bits(self, precision_bits: int) -> int:
        """Return the generator, one bit an entry."""
        del precision_bits
        return self.generator.size


def _all_words(generator: Bits) -> Bits:
    """Return the bits of all messages (2^b, width) of a generator (b, width)."""
    words = numpy.zeros((1, generator.shape[1]), dtype=numpy.uint8)
    for row in generator:
        words = numpy.concatenate([words, words ^ row])
    return words


RowRule: TypeAlias = TableRows | SignRows


@dataclass(frozen=True, eq=False)
class EmbeddingPart:
    """Adds a row of ``rule`` to ``slot`` wherever token and position are in range.

    The row's number is ``token - first_token`` or ``position - first_position`` by ``source``, passed through
    ``indices`` if those are given. Ranges are half-open and count from 0.
    """

    slot: str
    rule: RowRule
    source: Literal["token", "position"]
    tokens: tuple[int, int]
    positions: tuple[int, int]
    indices: Integers | None = None

    def __post_init__(self) -> None:
        for what, ends in (("tokens", self.tokens), ("positions", self.positions)):
            if not 0 <= ends[0] <= ends[1] < LARGEST_NUMERATOR:
                raise SeparatrixError(
                    f"the part for slot {self.slot!r} has {what} {ends[0]} to {ends[1]}; give a range from 0 on"
                )
        first, last = self.tokens if self.source == "token" else self.positions
        if self.indices is None:
            number, least, most = last - first, 0, last - first - 1
        elif self.indices.ndim != 1:
            raise SeparatrixError(
                f"the indices of the part for slot {self.slot!r} have {self.indices.ndim} axes, not one"
            )
        else:
            number = len(self.indices)
            least, most = (int(side(initial=0)) for side in (self.indices.min, self.indices.max))
        if number < last - first:
            raise SeparatrixError(
                f"the part for slot {self.slot!r} has {number} indices for {last - first} {self.source}s"
            )
        if number and (least < 0 or most >= self.rule.count):
            raise SeparatrixError(
                f"the part for slot {self.slot!r} requires rows {least} to {most}; "
                f"its rule has rows 0 to {self.rule.count - 1}"
            )

    def row_numbers(self, tokens: Integers, positions: Integers) -> tuple[Integers, NDArray[numpy.bool_]]:
        """Row numbers and where this part applies; tokens and positions broadcast against each other."""
        inside = (
            (tokens >= self.tokens[0]) & (tokens < self.tokens[1])
            & (positions >= self.positions[0]) & (positions < self.positions[1])
        )  # fmt: skip
        local = tokens - self.tokens[0] if self.source == "token" else positions - self.positions[0]
        local = numpy.where(inside, local, 0)
        return (local if self.indices is None else self.indices[local]), inside

    def size_bits(self, precision_bits: int) -> int:
        """Return bits of the rule and of the list of indices."""
        listed = 0 if self.indices is None else self.indices.size * max(1, bits_for(self.rule.count))
        return self.rule.size_bits(precision_bits) + listed


@dataclass(frozen=True, eq=False)
class FeaturePart:
    """Adds W·cell to ``slot`` at every position, for inputs whose cells are several numbers; W is (width, numbers).

    Cells may be larger than an arithmetic can represent (coordinates in units of 2^-20), so the product is exact and
    only its result is rounded: these numbers are the input, not an intermediate value of the network.
    """

    slot: str
    matrix: ExactMatrix

    def __post_init__(self) -> None:
        if not self.matrix.shape[1]:
            raise SeparatrixError(f"the part for slot {self.slot!r} reads cells of no numbers; give at least one")

    def rows(self, cells: Integers, arithmetic: Arithmetic) -> RawArray:
        """W·cell in an arithmetic: (…, numbers) gives (…, slot width)."""
        numerators = self.matrix.numerators
        heaviest = max((sum(map(abs, row)) for row in numerators.tolist()), default=0)
        wide = heaviest * magnitude(cells) >= LARGEST_NUMERATOR
        # Python's integers where 64 bits might not hold a sum.
        products = cells.astype(object) @ numerators.astype(object).T if wide else cells @ numerators.T
        values, places = numpy.unique(products, return_inverse=True)
        exact = numpy.array([Fraction(int(value), self.matrix.denominator) for value in values], dtype=object)
        return arithmetic.encode(exact)[places.reshape((*cells.shape[:-1], len(numerators)))]

    def size_bits(self, precision_bits: int) -> int:
        """Return every weight that is not zero at full precision."""
        return self.matrix.parameters * precision_bits


def embed(
    parts: tuple[EmbeddingPart, ...], slots: Slots, tokens: Integers, positions: Integers, arithmetic: Arithmetic
) -> RawArray:
    """φ(token, position) for arrays of tokens and positions of one shape: (…, d) in the arithmetic."""
    stream = arithmetic.zeros((*tokens.shape, slots.width))
    for part in parts:
        numbers, inside = part.row_numbers(tokens, positions)
        place = slots.columns(part.slot)
        rows = part.rule.rows(numbers, arithmetic)
        added = arithmetic.add(stream[..., place], rows)
        everywhere = bool(inside.all())
        stream[..., place] = added if everywhere else numpy.where(inside[..., None], added, stream[..., place])
    return stream
