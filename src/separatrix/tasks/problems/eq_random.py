"""Eq-random: string equality where a negative is a fresh random second half.

BHBK24 Appendix H.2 (i): Σ = {0, 1, [SEP]}; with probability 1/2 the second half repeats the first, otherwise it is
drawn uniformly and the label is whatever it is.
"""

from dataclasses import dataclass

from separatrix.tasks.arrays import Array
from separatrix.tasks.draws import Draws
from separatrix.tasks.problems._separated_equality import SeparatedDecision, coin


@dataclass(frozen=True, kw_only=True)
class EqRandom(SeparatedDecision):
    """Equality against random second halves."""

    name: str = "eq-random"
    title: str = "Equality, random negatives"
    source: str = "BHBK24 Appendix H.2 (i)"
    question: str = "Is the string after the separator the same as before it? (negatives are random strings)"
    vocabulary_size: int = 3

    def second_half(self, draws: Draws, first: Array, halves: Array) -> Array:
        del halves
        other = draws.digits(self.symbols, *first.shape)
        return first + coin(draws, first.shape[0]) * (other - first)


TASK = EqRandom()
