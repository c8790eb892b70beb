"""Local triple matching: as triple matching, but j and k lie within T places of i.

SHT23 "Easier variants of Triple Matching", Variant 2: j, k in [i - T, i + T], here cut to [1, N]; they may equal
i or each other. Data: as in ``_matching.py``, but every triple lies inside a window: the line is cut, at a random
shift, into stretches of 3·⌊(T+1)/3⌋ places, within which all places see each other, and each stretch is
divided into triples at random. For T = 1 no three places see each other; a stretch then has three places and
only its middle one can match. About 0.33 of the positions match for T = 2 at N = 64.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from separatrix.tasks.arrays import Array, columns, full_like, integers, namespace_of
from separatrix.tasks.draws import Draws
from separatrix.tasks.problems._decision import split_at
from separatrix.tasks.problems._matching import GroupedMatching, first_triple, triple_matches
from separatrix.tasks.task import CommunicationSplit, check_alphabet


@dataclass(frozen=True, kw_only=True)
class Match3Local(GroupedMatching):
    """Triple matching within a window of T = ``window`` places to either side."""

    name: str = "match3-local"
    title: str = "Local triple matching"
    source: str = "SHT23, Easier variants of Triple Matching, Variant 2"
    question: str = "For each number: are there two numbers within T places that add up with it to 0 modulo M?"
    window: int = 2
    small: ClassVar[Mapping[str, Any]] = {"modulus": 7, "window": 1}

    def __post_init__(self) -> None:
        super().__post_init__()
        check_alphabet("window", self.window, 1)

    def specification(self, length: int) -> dict[str, Any]:
        modulus = self.modulus_at(length)
        return {
            "inputs": [{"count": 1, "tokens": [0, 1]}, {"count": length, "tokens": [1, modulus + 1]}],
            "answer": {
                "kind": "nearby-sums", "window": [1, length + 1], "modulus": modulus, "terms": 3,
                "reach": self.window,
            },
        }  # fmt: skip

    def layout(self, length: int) -> str:
        return f"{super().layout(length)}; partners at most {self.window} places away"

    def witness(self, residues: Sequence[int], place: int, modulus: int) -> tuple[int, ...] | None:
        near = range(max(0, place - self.window), min(len(residues), place + self.window + 1))
        return first_triple(residues, place, modulus, near)

    def work(self, length: int) -> int:
        """Return the cost of an example: every pair within a window is compared."""
        return length * min(self.window, length) ** 2

    def matches(self, residues: Array, modulus: int) -> Array:
        xp = namespace_of(residues)
        count, length = residues.shape
        if self.window >= length - 1:
            return triple_matches(residues, modulus)
        reach = self.window
        # -1 marks places beyond the ends.
        edge = full_like(residues, (count, reach), -1)
        padded = xp.concat([edge, residues, edge], axis=1)
        shifted = [padded[:, offset : offset + length] for offset in range(2 * reach + 1)]
        found = residues < 0
        for second, left in enumerate(shifted):
            missing = (2 * modulus - residues - left) % modulus
            for right in shifted[second:]:
                # `missing` is never -1, so only `left` needs a check of its own.
                found = found | ((right == missing) & (left >= 0))
        return found

    def grouping(self, draws: Draws, count: int, length: int) -> tuple[int, Array, Array]:
        stretch = 3 * max(1, (self.window + 1) // 3)
        shift = integers(draws.uniform(count, 1), 0, stretch)
        within = draws.uniform(count, length)
        xp = namespace_of(within)
        # Sorting by the number of the stretch first shuffles places inside their stretches only. A sum that is
        # rounded up to the next stretch ties at worst with that stretch's places, which are further right.
        number = (columns(shift, length) - shift) // stretch + 1
        order = xp.argsort(xp.astype(number, xp.float64) + within, axis=1, stable=True)
        return 3, order, shift % 3

    def communication(self, length: int) -> CommunicationSplit:
        note = (
            "the papers carry no lower bound: local triple matching reduces to sparse averaging with "
            "q = O(T) (SHT23); the split into halves is only a convention"
        )
        return split_at("none", length // 2 + 1, length + 1, note)


TASK = Match3Local()
