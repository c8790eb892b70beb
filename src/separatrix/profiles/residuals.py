"""Residual classes: how many prefixes a model that reads from left to right must distinguish, for every cut, exactly.

Two prefixes of length t are equivalent when every suffix gives them the same answers; by BHBK24 Theorem 2 (and by
Myhill and Nerode) the state after t symbols must distinguish the classes, so it needs ⌈log2 classes⌉ bits, and a model
whose update may depend on t needs no more. Classes are the distinct rows of the communication matrix at cut t.

They are counted from the end: the class of a prefix is the tuple of the classes of its A extensions, so the table of
A^N values is folded N times, each time A-fold smaller, and no matrix is built. Numbers of tuples come from a direct
table where the tuples are few and from a sort otherwise.

A labelling that is causal is answered on the way: the class of a prefix is then what follows from it alone. One that is
not is answered after the last symbol, so the class also carries all labels of the prefix.
"""

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy
from numpy.typing import NDArray

from separatrix.bit_counts import bits_for
from separatrix.communication import Integers
from separatrix.profiles.table import Table

WholeNumbers: TypeAlias = NDArray[numpy.integer[Any]]
DIRECT = 1 << 22
"""Keys below this are numbered by a table of that size."""


@dataclass(frozen=True)
class Residuals:
    """``classes[t]``: the number of residual classes of prefixes of length t, t = 0 … N.

    ``dead[t]``: whether some prefix of length t has the answer 0 after every suffix.
    """

    classes: tuple[int, ...]
    dead: tuple[bool, ...]

    @property
    def bits(self) -> tuple[int, ...]:
        """The exact least number of state bits after t symbols."""
        return tuple(bits_for(count) for count in self.classes)

    @property
    def most(self) -> int:
        """The largest number of classes over all cuts."""
        return max(self.classes)

    @property
    def minimum_state_bits(self) -> int:
        """What every recurrent model needs, and one whose update may depend on the step number needs no more."""
        return bits_for(self.most)

    @property
    def bits_before_the_last(self) -> int:
        """What must be known of all symbols but the last, of which the answer may be a function as well."""
        return bits_for(max(self.classes[:-1]))

    @property
    def hardest_cut(self) -> int:
        """The first cut with the most classes."""
        return self.classes.index(self.most)

    @property
    def states(self) -> int:
        """States of the smallest layered machine."""
        return sum(self.classes)

    @property
    def automaton_states(self) -> int:
        """States of the smallest complete DFA that accepts exactly the inputs of length N with value 1.

        Layers share no state but the dead one, which is always there: nothing longer than N is accepted.
        """
        return sum(self.classes) - sum(self.dead) + 1


def residual_classes(table: Table) -> Residuals:
    """Count the classes of every cut; memory is about ten bytes for each of the A^(N−1) pairs of the first fold."""
    online = table.kind == "labelling" and table.causal
    ids: WholeNumbers = table.last if table.kind == "decision" else numpy.zeros(1, dtype=numpy.uint8)
    if table.whole is not None:
        ids = table.whole
    if online:
        # After the last symbol nothing is left to say, so all prefixes are equivalent.
        ids = numpy.zeros(int(table.symbols**table.length), dtype=numpy.uint8)
    ids, count, zero = renumbered(ids, int(ids.max()) + 1, 0)
    classes, dead = [count], [zero is not None]
    for place in range(table.length - 1, -1, -1):
        if online:
            labels = table.labels[place]
            size = int(labels.max()) + 1
            ids, count, _ = renumbered(labels.astype(numpy.int64) * count + ids, size * count, None)
            zero = None
        ids, count, zero = folded(ids, count, table.symbols, zero)
        classes.append(count)
        dead.append(zero is not None)
    no_dead = table.kind == "labelling"
    return Residuals(tuple(classes[::-1]), tuple(not no_dead and each for each in dead[::-1]))


def folded(ids: WholeNumbers, count: int, symbols: int, zero: int | None) -> tuple[Integers, int, int | None]:
    """Return the classes of prefixes one symbol shorter: numbers, how many, and the one whose extensions are all
    ``zero``."""
    children = ids.reshape(-1, symbols)
    keys, size, dead = children[:, 0].astype(numpy.int64), count, zero
    for symbol in range(1, symbols):
        combined = keys * count + children[:, symbol]
        dead = None if dead is None or zero is None else dead * count + zero
        keys, size, dead = renumbered(combined, size * count, dead)
    return keys, size, dead


def renumbered(keys: WholeNumbers, bound: int, marked: int | None) -> tuple[Integers, int, int | None]:
    """Return keys 0 … bound − 1 as numbers 0 … count − 1 in the same order; ``marked`` is a key to follow, if it
    occurs."""
    if bound <= DIRECT:
        present = numpy.zeros(bound, dtype=bool)
        present[keys] = True
        found = numpy.flatnonzero(present)
        numbers = numpy.cumsum(present, dtype=numpy.int64)
        numbers -= 1
        ids = numbers[keys]
    else:
        found, ids = numpy.unique(keys, return_inverse=True)
    place = None
    if marked is not None:
        near = int(numpy.searchsorted(found, marked))
        place = near if near < len(found) and int(found[near]) == marked else None
    return ids, len(found), place
