"""Triple matching: for which z_i are there z_j and z_k with z_i + z_j + z_k ≡ 0 modulo M?

SHT23 "Triple Matching" (Match3), literally: j and k range over all of [N] and may equal i or each other. Data:
see ``_matching.py``. With M = N² a position that is in no planted triple still matches with probability about
1 - e^(-1/2), so that 0.6 of all positions match at any N; a larger modulus brings the share down to 1/3.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from separatrix.tasks.arrays import Array
from separatrix.tasks.draws import Draws
from separatrix.tasks.problems._matching import (
    GroupedMatching,
    disjointness_split,
    first_triple,
    shuffled,
    triple_matches,
)
from separatrix.tasks.task import CommunicationSplit


@dataclass(frozen=True, kw_only=True)
class Match3(GroupedMatching):
    """Triple matching at every position."""

    name: str = "match3"
    title: str = "Triple matching"
    source: str = "SHT23, Pair and Triple Matching"
    question: str = "For each number: are there two numbers in the list that add up with it to 0 modulo M?"

    def specification(self, length: int) -> dict[str, Any]:
        modulus = self.modulus_at(length)
        return {
            "inputs": [{"count": 1, "tokens": [0, 1]}, {"count": length, "tokens": [1, modulus + 1]}],
            "answer": {"kind": "sums", "window": [1, length + 1], "modulus": modulus, "terms": 3, "asked": "each"},
        }

    def witness(self, residues: Sequence[int], place: int, modulus: int) -> tuple[int, ...] | None:
        return first_triple(residues, place, modulus, range(len(residues)))

    def work(self, length: int) -> int:
        """Return the cost of an example: every pair of numbers is looked up."""
        return length**2

    def matches(self, residues: Array, modulus: int) -> Array:
        return triple_matches(residues, modulus)

    def grouping(self, draws: Draws, count: int, length: int) -> tuple[int, Array, Array]:
        return 3, *shuffled(draws, count, length)

    def communication(self, length: int) -> CommunicationSplit:
        return disjointness_split(length)


TASK = Match3()
