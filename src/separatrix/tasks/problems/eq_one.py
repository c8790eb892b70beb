"""Eq-one: string equality where a negative differs from the first half in exactly one position.

BHBK24 Appendix H.2 (ii): |Σ| = 1024; with probability 1/2 the second half repeats the first, otherwise one symbol,
at a uniform position, is changed to another one, uniform among the rest.

That is a promise: an input whose halves differ in more places is not asked about. It matters, because the sums of the
halves decide what is left (the paper remarks on the shortcut), with ⌈log2 |Σ'|⌉ bits of state at any length; the bounds
for total equality say nothing about this task.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from separatrix.tasks.arrays import Array, columns, integers, namespace_of
from separatrix.tasks.draws import Draws
from separatrix.tasks.problems._halves import halves_of
from separatrix.tasks.problems._separated_equality import SeparatedDecision, coin


@dataclass(frozen=True, kw_only=True)
class EqOne(SeparatedDecision):
    """Equality against second halves with one changed symbol."""

    name: str = "eq-one"
    title: str = "Equality, one mismatch"
    source: str = "BHBK24 Appendix H.2 (ii)"
    question: str = "Is the string after the separator the same as before it? (negatives differ in one symbol)"
    promise: str = "the halves are equal or differ in exactly one symbol"
    small: ClassVar[Mapping[str, Any]] = {"vocabulary_size": 4}

    def admissible(self, inputs: Array, length: int) -> Array:
        xp = namespace_of(inputs)
        first, second, inside, _ = halves_of(inputs, length, self.padding(length))
        return xp.sum(xp.astype((first != second) & inside, xp.int64), axis=1) <= 1

    def second_half(self, draws: Draws, first: Array, halves: Array) -> Array:
        xp = namespace_of(first)
        count, width = first.shape
        position = integers(draws.uniform(count, 1), 0, halves)
        shift = integers(draws.uniform(count, 1), 1, self.symbols) * coin(draws, count)
        changed = first + shift * xp.astype(columns(first, width) == position, xp.int64)
        return changed - self.symbols * xp.astype(changed >= self.symbols, xp.int64)


TASK = EqOne()
