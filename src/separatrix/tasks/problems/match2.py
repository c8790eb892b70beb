"""Pair matching: for which z_i is there a z_j with z_i + z_j ≡ 0 modulo M?

SHT23 "Pair Matching" (Match2), literally: j ranges over all of [N] and may equal i, so M and M/2 match
themselves. Data: see ``_matching.py``; about one third of the positions match (0.34 at N = 64).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from separatrix.tasks.arrays import Array
from separatrix.tasks.draws import Draws
from separatrix.tasks.problems._decision import split_at
from separatrix.tasks.problems._matching import GroupedMatching, pair_matches, shuffled
from separatrix.tasks.task import CommunicationSplit


@dataclass(frozen=True, kw_only=True)
class Match2(GroupedMatching):
    """Pair matching at every position."""

    name: str = "match2"
    title: str = "Pair matching"
    source: str = "SHT23, Pair and Triple Matching"
    question: str = "For each number: is there a number in the list that adds up with it to 0 modulo M?"

    def specification(self, length: int) -> dict[str, Any]:
        modulus = self.modulus_at(length)
        return {
            "inputs": [{"count": 1, "tokens": [0, 1]}, {"count": length, "tokens": [1, modulus + 1]}],
            "answer": {"kind": "sums", "window": [1, length + 1], "modulus": modulus, "terms": 2, "asked": "each"},
        }

    def witness(self, residues: Sequence[int], place: int, modulus: int) -> tuple[int, ...] | None:
        for second, residue in enumerate(residues):
            if (residues[place] + residue) % modulus == 0:
                return (second,)
        return None

    def matches(self, residues: Array, modulus: int) -> Array:
        return pair_matches(residues, modulus)

    def grouping(self, draws: Draws, count: int, length: int) -> tuple[int, Array, Array]:
        return 2, *shuffled(draws, count, length)

    def communication(self, length: int) -> CommunicationSplit:
        note = (
            "the papers carry no lower bound for pair matching: one self-attention unit of width O(d_in) "
            "solves it (SHT23); the split into halves is only a convention"
        )
        return split_at("none", length // 2 + 1, length + 1, note)


TASK = Match2()
