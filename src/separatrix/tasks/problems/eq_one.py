"""Eq-one: string equality where a negative differs from the first half in exactly one position.

BHBK24 Appendix H.2 (ii): |Σ| = 1024; with probability 1/2 the second half repeats the first, otherwise one symbol,
at a uniform position, is changed to another one, uniform among the rest.
"""

from dataclasses import dataclass

from separatrix.tasks.arrays import Array, columns, integers, namespace_of
from separatrix.tasks.draws import Draws
from separatrix.tasks.problems._separated_equality import SeparatedDecision, coin


@dataclass(frozen=True, kw_only=True)
class EqOne(SeparatedDecision):
    """Equality against second halves with one changed symbol."""

    name: str = "eq-one"
    title: str = "Equality, one mismatch"
    source: str = "BHBK24 Appendix H.2 (ii)"
    question: str = "Is the string after the separator the same as before it? (negatives differ in one symbol)"

    def second_half(self, draws: Draws, first: Array, halves: Array) -> Array:
        xp = namespace_of(first)
        count, width = first.shape
        position = integers(draws.uniform(count, 1), 0, halves)
        shift = integers(draws.uniform(count, 1), 1, self.symbols) * coin(draws, count)
        changed = first + shift * xp.astype(columns(first, width) == position, xp.int64)
        return changed - self.symbols * xp.astype(changed >= self.symbols, xp.int64)


TASK = EqOne()
