"""Triple matching at the last position: z_N = 0, and only the Nth output is read.

SHT23 "Easier variants of Triple Matching", Variant 1, the hard instances of the one-layer bound. As stated it is
vacuous (erratum E11): j = k = N gives z_N + z_N + z_N = 0 for every input. So j and k other than N are required;
``exclude_query=False`` keeps the original, which answers 1 everywhere. The number 0 is written as M. j = k is
allowed, so M and M/2 match themselves.

Data: half of the inputs match. An input without a match uses one of r and -r for every residue r, never 0 or
M/2, and its numbers are paired at random: a third of the pairs are planted near misses with sum +1, a third with
sum -1, a third free. An input with a match is made from such an input by giving one random number the negative
of another one.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from separatrix.tasks.arrays import (
    Array,
    columns,
    full_like,
    integers,
    namespace_of,
    take_rows,
)
from separatrix.tasks.draws import Draws
from separatrix.tasks.problems._matching import (
    Matching,
    disjointness_split,
    first_triple,
    pair_matches,
    plant_groups,
    shuffled,
    tokens_of,
)
from separatrix.tasks.problems._rows import check_listing, find_in_rows
from separatrix.tasks.space import Space, cells, constant
from separatrix.tasks.task import Answers, CommunicationSplit, Row, Split, require


@dataclass(frozen=True, kw_only=True)
class Match3Last(Matching):
    """Triple matching of z_N = 0 with two others; ``exclude_query=False`` is the vacuous original."""

    name: str = "match3-last"
    title: str = "Triple matching at the last position"
    source: str = "SHT23, Easier variants of Triple Matching, Variant 1 (corrected, E11)"
    question: str = "The last number is 0: do two of the other numbers add up to 0 modulo M?"
    promise: str = "the last number is 0"
    drawn: str = "inputs with at most one planted match"
    minimum_length: int = 2
    exclude_query: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        require(
            self.modulus is None or self.modulus >= 3,
            f"modulus={self.modulus} is too small; below 3 every number matches itself, choose 3 or more",
        )

    def layout(self, length: int) -> str:
        modulus = self.modulus_at(length)
        return f"⊥, then z_1 … z_{length - 1} in 1 … {modulus} and z_{length} = {modulus} (0); read at z_{length}"

    def specification(self, length: int) -> dict[str, Any] | None:
        # z_N is 0, so the question is about pairs among the others; with the query included every answer is 1 (E11).
        modulus = self.modulus_at(length)
        numbers = {"count": length - 1, "tokens": [1, modulus + 1]}
        return {
            "inputs": [{"count": 1, "tokens": [0, 1]}, numbers, {"count": 1, "tokens": [modulus, modulus + 1]}],
            "answer": {"kind": "sums", "window": [1, length], "modulus": modulus, "terms": 2, "asked": "any"},
        } if self.exclude_query else None  # fmt: skip

    def witness(self, residues: Sequence[int], place: int, modulus: int) -> tuple[int, ...] | None:
        others = len(residues) - 1 if self.exclude_query else len(residues)
        return first_triple(residues, place, modulus, range(others))

    def solve(self, row: Row, length: int) -> Answers:
        modulus = self.modulus_at(length)
        residues = [number % modulus for number in row[1:]]
        unread: Answers = [None] * (len(row) - 1)
        return [*unread, int(self.witness(residues, len(residues) - 1, modulus) is not None)]

    def matches(self, residues: Array, modulus: int) -> Array:
        xp = namespace_of(residues)
        others = residues[:, :-1] if self.exclude_query else residues
        found = xp.any(pair_matches(others, modulus), axis=1, keepdims=True)
        return found & (columns(residues, residues.shape[1]) == residues.shape[1] - 1)

    def work(self, length: int) -> int:
        """Return the cost of an example: every pair of numbers is looked up."""
        return length**2

    def label(self, inputs: Array, length: int) -> tuple[Array, Array]:
        targets, read = super().label(inputs, length)
        read[:, :-1] = False
        return targets, read

    def generate(self, draws: Draws, count: int, length: int, split: Split) -> Array:
        del split
        modulus, width = self.modulus_at(length), length - 1
        free = unmatched(draws, integers(draws.uniform(count, width), 0, modulus), modulus)
        xp = namespace_of(free)
        order, start = shuffled(draws, count, width)
        # Kinds of plant_groups: 2 and 3 are the near misses, 4 is left alone.
        near = plant_groups(free, order, start, draws.digits(3, count, width) + 2, 2, modulus)
        residues = unmatched(draws, near, modulus)
        # The plant: one number becomes the negative of another, or 0 where there is no other.
        place = integers(draws.uniform(count, 1), 0, width)
        step = integers(draws.uniform(count, 1), 1, max(width, 2))
        negative = (modulus - take_rows(residues, (place + step) % width)) % modulus
        planted = negative if width > 1 else full_like(negative, (count, 1), 0)
        chosen = (columns(residues, width) == place) & (draws.uniform(count, 1) < 0.5)
        residues = xp.where(chosen, planted, residues)
        return tokens_of(xp.concat([residues, full_like(residues, (count, 1), 0)], axis=1), modulus)

    def space(self, length: int) -> Space:
        modulus = self.modulus_at(length)
        check_listing(modulus, "numbers")
        return Space(constant(0) + cells(range(1, modulus + 1), length - 1) + constant(modulus))

    def count(self, length: int) -> int:
        self.check_length(length)
        return self.modulus_at(length) ** (length - 1)

    def admissible(self, inputs: Array, length: int) -> Array:
        return super().admissible(inputs, length) & (inputs[:, -1] == self.modulus_at(length))

    def communication(self, length: int) -> CommunicationSplit:
        return disjointness_split(length)

    def picture(self, row: Row, length: int) -> str:
        modulus = self.modulus_at(length)
        partners = self.witness([number % modulus for number in row[1:]], length - 1, modulus)
        shown = "no two numbers add up to 0"
        if partners is not None:
            first, second = partners
            shown = f"z_{first + 1} + z_{second + 1} = {row[1 + first]} + {row[1 + second]} ≡ 0"
        return f"{self.write(row, length)}\nmodulo {modulus}: {shown}"


def unmatched(draws: Draws, residues: Array, modulus: int) -> Array:
    """Return the rows (count, n) changed so that no two entries, nor one twice, add up to 0 modulo M.

    Residues 0 and M/2 are drawn again among the others; then all entries equal to r or -r take the sign of the
    first of them. Rows without a match stay as they are.
    """
    xp = namespace_of(residues)
    classes = (modulus - 1) // 2
    fresh = integers(draws.uniform(*residues.shape), 0, 2 * classes)
    fresh = xp.where(fresh < classes, fresh + 1, fresh - 2 * classes) % modulus
    residues = xp.where(residues * 2 % modulus == 0, fresh, residues)
    size = xp.minimum(residues, modulus - residues)
    order = xp.argsort(size, axis=1, stable=True)
    first = find_in_rows(take_rows(size, order), size, modulus)
    return take_rows(residues, take_rows(order, first))


TASK = Match3Last()
