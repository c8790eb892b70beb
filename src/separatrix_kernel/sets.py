"""Sets of positions: what a network embeds of them, and specifications about them, as data.

SHT23 embeds a set S of positions by its *dual certificate*: of all vectors whose inner product with each sign vector
u_i, i ∈ S, is 1, the one of least norm. With the Gram matrix G_ij = ⟨u_i, u_j⟩ of S it is w = Σ x_i u_i, G x = (1 … 1).
If G has no inverse, the set is embedded as 0. All of this is exact; each coordinate of α·w is rounded once.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import comb, gcd, isqrt, lcm
from random import Random
from typing import TYPE_CHECKING, Any

from separatrix_kernel.network import LARGEST_DENOMINATOR, Signs
from separatrix_kernel.reading import fields, integer, interval, items, require, text
from separatrix_kernel.specification import MOST_POSITIONS, MOST_TOKENS, Form, Inputs

if TYPE_CHECKING:
    from separatrix_kernel.network import Reader
    from separatrix_kernel.numbers import Numbers

MOST_VALUES = 1 << 22
MOST_DIMENSION = 16
FRACTION_STEPS = 16


def multiples(gram: list[list[int]]) -> list[Fraction]:
    """x with G x = (1 … 1) for a Gram matrix G; zeros where G has no inverse.

    Elimination in whole numbers, place by place: rows are multiplied, subtracted, and divided by what all their numbers
    share. Up to such factors, what is left of a Gram matrix below and right of a place is one again, of the vectors'
    parts that are orthogonal to those before. So where the place itself is 0, a vector depends on those before it, and
    G has no inverse.
    """
    rows = [[*row, 1] for row in gram]
    for place, own in enumerate(rows):
        if not own[place]:
            return [Fraction(0)] * len(rows)
        for other, row in enumerate(rows):
            if other != place:
                left = [a * own[place] - row[place] * b for a, b in zip(row, own, strict=True)]
                shared = gcd(*left) or 1
                rows[other] = [each // shared for each in left]
    return [Fraction(row[-1], row[place]) for place, row in enumerate(rows)]


@dataclass(frozen=True)
class Dual:
    """Adds ``gain`` · w to the stream from ``start`` on, for the set that is in the ``columns`` of a cell.

    These numbers, minus ``first``, are numbers of sign vectors.
    """

    start: int
    signs: Signs
    gain: Fraction
    columns: tuple[int, int]
    first: int

    @property
    def width(self) -> int:
        """How many coordinates it writes."""
        return self.signs.width

    def of(self, cell: Sequence[int], numbers: "Numbers") -> list[int]:
        """What it adds for a cell."""
        members, width = [each - self.first for each in cell[slice(*self.columns)]], self.width
        numbers.work.spend(len(members) * (FRACTION_STEPS * len(members) ** 2 + width))
        known = all(0 <= each < 1 << len(self.signs.words) for each in members)
        require(known, "a cell names a position without a sign vector")
        words = [self.signs.word(each) for each in members]
        found = multiples([[width - 2 * (one ^ other).bit_count() for other in words] for one in words])
        bottom = lcm(*[each.denominator for each in found])
        tops = [each.numerator * (bottom // each.denominator) * self.gain.numerator for each in found]
        bottom *= self.gain.denominator
        shifts = range(width - 1, -1, -1)
        sums = [sum(-x if word >> bit & 1 else x for x, word in zip(tops, words, strict=True)) for bit in shifts]
        return [numbers.encode(each, bottom) for each in sums]


def read_dual(reader: "Reader", value: Any, what: str, places: dict[str, tuple[int, int]], cell_size: int) -> Dual:
    """A part that reads the sets of cells of so many numbers."""
    found = fields(value, what, ["slot", "generator", "gain", "sets", "range", "number"])
    start, width = places[text(found["slot"], f"the slot of {what}", places)]
    text(found["sets"], f"where the sets of {what} are", ["cell"])
    signs = reader.signs(found["generator"], f"the generator of {what}", width)
    top, bottom = items(found["gain"], f"the gain of {what}", 2)
    most, name = LARGEST_DENOMINATOR, f"the gain of {what}"
    gain = Fraction(integer(top, name, -most, most), integer(bottom, name, 1, most))
    columns = interval(found["range"], f"the range of {what}", cell_size)
    require(columns[0] < columns[1], f"the range of {what} is empty")
    return Dual(start, signs, gain, columns, integer(found["number"], f"the first number of {what}", -most, most))


@dataclass(frozen=True)
class NamedSums(Form):
    """Each of N = ``positions`` cells names q = ``named`` of them and holds a vector of ``dimension`` whole numbers
    whose norm is at most R = ``norm``; the answer to a cell is the sum of the vectors of the cells that it names.

    Tokens are first the positions that cells name, from 0 on, cell by cell, then the coordinates, cell by cell, token t
    being t - R. The network reads cells (i, i_1 … i_q, v) with positions numbered from 1. Promised: the positions that
    a cell names ascend, and norms are at most R.
    """

    positions: int
    named: int
    dimension: int
    norm: int
    file = "sets"

    @property
    def cell_size(self) -> int:
        """The cell's number, its set and its vector."""
        return 1 + self.named + self.dimension

    @property
    def asked(self) -> int:
        """An answer for each cell."""
        return self.positions

    @property
    def rounded(self) -> int:
        """A sum has as many numbers as a vector."""
        return self.dimension

    @property
    def everywhere(self) -> bool:
        """The network is read at every position."""
        return True

    def held(self, inputs: Inputs) -> Inputs:
        """Every cell has token 0."""
        del inputs
        return Inputs([range(1)] * self.positions, [(self.positions, range(1))])

    def _told(self, tokens: Sequence[int]) -> list[tuple[Sequence[int], list[int]]]:
        """The set and the vector of each cell."""
        q, d, end = self.named, self.dimension, self.positions * self.named
        values = [token - self.norm for token in tokens[end:]]
        return [(tokens[i * q : i * q + q], values[i * d : i * d + d]) for i in range(self.positions)]

    def cells(self, tokens: Sequence[int]) -> list[list[int]]:
        """The cells of an input."""
        told = enumerate(self._told(tokens), 1)
        return [[number, *(each + 1 for each in members), *vector] for number, (members, vector) in told]

    def right(self, tokens: Sequence[int]) -> list[int]:
        """The right answers, number by number."""
        told = self._told(tokens)
        return [sum(told[i][1][axis] for i in members) for members, _ in told for axis in range(self.dimension)]

    def admits(self, tokens: Sequence[int]) -> bool:
        """Whether sets ascend and vectors are short enough."""
        return all(
            all(one < other for one, other in pairwise(members)) and sum(v * v for v in vector) <= self.norm**2
            for members, vector in self._told(tokens)
        )

    @property
    def values(self) -> int:
        """How many vectors there are, counted coordinate by coordinate by the square of the norm so far."""
        count = Counter({0: 1})
        for _ in range(self.dimension):
            longer = Counter[int]()
            for square, number in count.items():
                reach = isqrt(self.norm**2 - square)
                for each in range(-reach, reach + 1):
                    longer[square + each * each] += number
            count = longer
        return count.total()

    def count(self, inputs: Inputs) -> int:
        """Sets and vectors, for each cell."""
        del inputs
        return (comb(self.positions, self.named) * self.values) ** self.positions

    def covered(self, inputs: Inputs) -> str:
        """How that number comes about."""
        del inputs
        return f"(C({self.positions},{self.named})*{self.values})^{self.positions}"

    def draw(self, inputs: Inputs, random: Random) -> tuple[int, ...]:
        """A random input."""
        del inputs
        named = (sorted(random.sample(range(self.positions), self.named)) for _ in range(self.positions))
        members = [each for some in named for each in some]
        for _ in range(self.positions):
            left = self.norm**2
            for _ in range(self.dimension):
                each = random.randint(-isqrt(left), isqrt(left))
                left -= each * each
                members.append(each + self.norm)
        return tuple(members)

    def words(self) -> str:
        """For people."""
        return (
            f"for each of {self.positions} cells the sum of the vectors of the {self.named} cells that it names; "
            f"{self.dimension} whole numbers a vector; promised: a cell names different ones, in ascending order, and "
            f"the norm of each vector is at most {self.norm}"
        )


def read_named_sums(value: Any, inputs: Inputs) -> NamedSums:
    """The right answers that a claim about sums of named vectors states."""
    found = fields(value, "the named sums", ["kind", "cells", "named", "dimension", "norm"])
    positions = integer(found["cells"], "the number of cells", 1, MOST_POSITIONS)
    named = integer(found["named"], "how many cells are named", 1, positions)
    dimension = integer(found["dimension"], "the dimension", 1, MOST_DIMENSION)
    norm = integer(found["norm"], "the largest norm", 1, MOST_TOKENS)
    require((2 * norm + 1) ** dimension <= MOST_VALUES, f"there are more than {MOST_VALUES} vectors in a cell")
    tokens, end = inputs.tokens, positions * named
    fits = len(tokens) == end + positions * dimension and {*tokens[:end]} == {range(positions)}
    fits = fits and {*tokens[end:]} == {range(2 * norm + 1)}
    require(fits, "the inputs are not the positions that cells name, then the coordinates, each from token 0 on")
    return NamedSums(positions, named, dimension, norm)
