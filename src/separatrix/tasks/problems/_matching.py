"""What the element-matching tasks share: residues behind a dummy element, planted groups and near misses.

SHT23 "Pair and Triple Matching": the input is ⊥, z_1, …, z_N with z_i in {1, …, M} and N ≪ M = poly(N). Token 0
is the dummy ⊥, token z the number z; the residue 0 is written as M. The slides fix neither M nor data. By
default M = max(N², 16). Data: positions are put into random groups (pairs or triples) over uniform numbers, and
each group is, with probability 1/3 each, a match (its sum is 0 modulo M), a near miss (its sum is ±1), or left
alone. Answers are always computed from the numbers, so a near miss that matches elsewhere counts as a match.
"""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from separatrix.tasks.arrays import Array, columns, full_like, integers, namespace_of, random_order, take_rows
from separatrix.tasks.draws import Draws
from separatrix.tasks.problems._decision import split_at
from separatrix.tasks.problems._rows import LARGEST_LISTING, check_listing, contained_in_rows, slices
from separatrix.tasks.space import Space, cells, constant
from separatrix.tasks.task import Answers, CommunicationSplit, Row, Split, Task, require
from separatrix.tasks.vocabulary import Symbols, Vocabulary

SMALLEST_DEFAULT_MODULUS = 16
LARGEST_MODULUS = 1 << 32
"""A row number times M stays far below 2^63 for every batch that fits into memory."""


@dataclass(frozen=True, kw_only=True)
class Matching(Task):
    """A matching task; ``modulus`` M, or None for max(N², 16)."""

    modulus: int | None = None
    small: ClassVar[Mapping[str, Any]] = {"modulus": 7}

    def __post_init__(self) -> None:
        require(
            self.modulus is None or 2 <= self.modulus <= LARGEST_MODULUS,
            f"modulus={self.modulus} is out of range; choose 2 to 2^32, or None for max(N², 16)",
        )

    @abstractmethod
    def witness(self, residues: Sequence[int], place: int, modulus: int) -> tuple[int, ...] | None:
        """Return the first partners (counted from 0) that make the number at ``place`` a match, or None."""

    @abstractmethod
    def matches(self, residues: Array, modulus: int) -> Array:
        """Return which numbers (count, N) have partners; bool of the same shape."""

    def modulus_at(self, length: int) -> int:
        """Return the modulus M at this length."""
        return max(length * length, SMALLEST_DEFAULT_MODULUS) if self.modulus is None else self.modulus

    def vocabulary(self, length: int) -> Vocabulary:
        return Vocabulary((Symbols("dummy", 1, texts="⊥"), Symbols("numbers", self.modulus_at(length), first=1)))

    def layout(self, length: int) -> str:
        return f"⊥, then z_1 … z_{length} in 1 … {self.modulus_at(length)}; read at every z_i"

    def positions(self, length: int) -> int:
        return length + 1

    def classes(self, length: int) -> int:
        del length
        return 2

    def solve(self, row: Row, length: int) -> Answers:
        modulus = self.modulus_at(length)
        residues = [number % modulus for number in row[1:]]
        found = [self.witness(residues, place, modulus) for place in range(len(residues))]
        return [None, *(int(partners is not None) for partners in found)]

    def label(self, inputs: Array, length: int) -> tuple[Array, Array]:
        xp = namespace_of(inputs)
        modulus = self.modulus_at(length)
        targets = full_like(inputs, tuple(inputs.shape), 0)
        read = targets == 0
        read[:, :1] = False
        targets[:, 1:] = xp.astype(self.matches(inputs[:, 1:] % modulus, modulus), xp.int64)
        return targets, read

    def space(self, length: int) -> Space:
        check_listing(self.modulus_at(length), "numbers")
        return Space(constant(0) + cells(range(1, self.modulus_at(length) + 1), length))

    def count(self, length: int) -> int:
        # The same number as of the space, without listing all residues.
        self.check_length(length)
        return self.modulus_at(length) ** length

    def listable(self, length: int) -> bool:
        return super().listable(length) and self.modulus_at(length) <= LARGEST_LISTING

    def admissible(self, inputs: Array, length: int) -> Array:
        xp = namespace_of(inputs)
        numbers = inputs[:, 1:]
        return (inputs[:, 0] == 0) & xp.all((numbers >= 1) & (numbers <= self.modulus_at(length)), axis=1)

    def picture(self, row: Row, length: int) -> str:
        modulus = self.modulus_at(length)
        residues = [number % modulus for number in row[1:]]
        lines = [f"modulo {modulus}"]
        for place, number in enumerate(row[1:]):
            partners = self.witness(residues, place, modulus)
            shown = "no match"
            if partners is not None:
                terms = " + ".join(str(row[1 + each]) for each in (place, *partners))
                shown = f"{terms} ≡ 0 (with {', '.join(f'z_{each + 1}' for each in partners)})"
            lines.append(f"z_{place + 1} = {number}: {shown}")
        return "\n".join(lines)


@dataclass(frozen=True, kw_only=True)
class GroupedMatching(Matching):
    """Matching tasks that are sampled by planting groups all over the input and read at every number."""

    @abstractmethod
    def grouping(self, draws: Draws, count: int, length: int) -> tuple[int, Array, Array]:
        """Return the size of a group, the order in which positions are grouped (count, N) and the slot of the order at
        which the first group starts (count, 1)."""

    def generate(self, draws: Draws, count: int, length: int, split: Split) -> Array:
        del split
        modulus = self.modulus_at(length)
        residues = integers(draws.uniform(count, length), 0, modulus)
        size, order, start = self.grouping(draws, count, length)
        # 0, 1: a match; 2, 3: a near miss with sum -1, +1; 4, 5: left alone.
        kind = draws.digits(6, count, length)
        return tokens_of(plant_groups(residues, order, start, kind, size, modulus), modulus)


def plant_groups(residues: Array, order: Array, start: Array, kind: Array, size: int, modulus: int) -> Array:
    """Overwrite the last member of every group so that the group's sum is what ``kind`` (0 … 5) asks for.

    Groups are runs of ``size`` consecutive slots of ``order``, the first one beginning at slot ``start``; the
    slots left over at both ends stay free. All arrays (count, N), ``start`` (count, 1).
    """
    xp = namespace_of(residues)
    slot = columns(residues, residues.shape[1])
    arranged = take_rows(residues, order)
    total = full_like(arranged, tuple(arranged.shape), 0)
    for step in range(1, size):
        total = total + xp.roll(arranged, step, axis=1)
    last = ((slot - start) % size == size - 1) & (slot - start >= size - 1) & (kind < 4)
    miss = xp.where(kind == 2, -1, 0) + xp.where(kind == 3, 1, 0)
    arranged = xp.where(last, (miss - total) % modulus, arranged)
    return take_rows(arranged, xp.argsort(order, axis=1))


def tokens_of(residues: Array, modulus: int) -> Array:
    """Return inputs (count, N + 1) from residues (count, N): the dummy in front, the residue 0 written as M."""
    xp = namespace_of(residues)
    dummy = full_like(residues, (residues.shape[0], 1), 0)
    return xp.concat([dummy, xp.where(residues == 0, modulus, residues)], axis=1)


def shuffled(draws: Draws, count: int, length: int) -> tuple[Array, Array]:
    """Groups from all over the input: a random order of the positions, the first group at its beginning."""
    order = random_order(draws.uniform(count, length))
    return order, full_like(order, (count, 1), 0)


def pair_matches(residues: Array, modulus: int) -> Array:
    """Return which residues (count, N) have their negative in the same row (perhaps themselves)."""
    return contained_in_rows(residues, (modulus - residues) % modulus, modulus)


def triple_matches(residues: Array, modulus: int) -> Array:
    """Return which residues (count, N) complete two residues of their row (perhaps themselves) to 0.

    For every pair (i, j) the missing third is looked up: N² lookups for each row, in chunks of rows and, where
    one row alone is too much, of places i.
    """
    xp = namespace_of(residues)
    count, length = residues.shape
    parts: list[Array] = []
    for rows in slices(count, length * length):
        chunk = residues[rows]
        found: list[Array] = []
        for places in slices(length, length * chunk.shape[0]):
            asked = (modulus - chunk[:, places]) % modulus
            wanted = xp.expand_dims(asked, axis=2) - xp.expand_dims(chunk, axis=1)
            wanted = xp.where(wanted < 0, wanted + modulus, wanted)
            flat = xp.reshape(wanted, (wanted.shape[0], wanted.shape[1] * length))
            hit = xp.reshape(contained_in_rows(chunk, flat, modulus), tuple(wanted.shape))
            found.append(xp.any(hit, axis=2))
        parts.append(xp.concat(found, axis=1))
    return xp.concat(parts, axis=0)


def first_triple(residues: Sequence[int], place: int, modulus: int, partners: range) -> tuple[int, int] | None:
    """Return the first j ≤ k among ``partners`` with z_place + z_j + z_k ≡ 0, or None."""
    present = set(residues[partners.start : partners.stop])
    for second in partners:
        wanted = -(residues[place] + residues[second]) % modulus
        # Most often it is nowhere, which is known at once.
        if wanted in present and wanted in residues[second : partners.stop]:
            return second, residues.index(wanted, second)
    return None


def disjointness_split(length: int) -> CommunicationSplit:
    """Return the reduction of SHT23 from DISJ on n bits, N = 2n + 1: Alice z_1 … z_n, Bob z_{n+1} … z_{2n}.

    The last number is a constant that both know; it is counted among Bob's positions, the dummy among Alice's.
    For even N one number is left over and Bob holds it as well.
    """
    bits = (length - 1) // 2
    note = (
        f"Alice holds z_1 … z_{bits}, Bob the rest; z_{length} is known to both. The slides' encoding needs "
        "the query index excluded, or another constant there, because (N,N,N) always matches (E15)"
    )
    return split_at("DISJ", bits + 1, length + 1, note)
