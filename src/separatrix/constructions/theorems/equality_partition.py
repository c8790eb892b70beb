"""Equality over any balanced partition of the positions: BHBK24 Lemma 5 (Appendix F.4).

The network is that of Theorem 6 with renumbered positions: each position of the second half carries the address of its
partner, wherever that is (``equality.py``). So the communication argument of Theorem 4 cannot bound two layers: for
every partition there is a small network for which Alice and Bob need N/2 bits. The partition is the task's parameter
``alice``; where none is given, one is drawn from the construction's seed.
"""

import random
from dataclasses import dataclass, replace

from separatrix.constructions.construction import Built, Options
from separatrix.constructions.theorems.equality import EqualityConstruction
from separatrix.errors import SeparatrixError

LARGEST_DRAWN = 1 << 24


@dataclass(frozen=True, kw_only=True)
class EqualityPartitionConstruction(EqualityConstruction):
    """Width 3 + 2k, as for the first and the second half."""

    name: str = "equality-partition"
    title: str = "Equality over any partition, two layers"
    frontier_power: int = 16
    longest_built: int | None = 1 << 19
    how: tuple[str, ...] = ()
    theorem: str = "BHBK24 Lemma 5"
    statement: str = "for every balanced partition a 2-layer Transformer of width O(log N) compares the two parts"
    variants: tuple[str, ...] = ("repaired",)
    seed: int = 0

    def build(self, length: int, options: Options | None = None) -> Built:
        """Return the network for the partition asked for, or for a random one."""
        chosen = options or Options()
        if "alice" not in chosen.parameters and length >= self.minimum_length:
            if length > LARGEST_DRAWN:
                raise SeparatrixError(
                    f"a random partition of {length} positions is too long; choose at most {LARGEST_DRAWN}"
                )
            chosen = replace(chosen, parameters={**chosen.parameters, "alice": self.random_partition(length)})
        return super().build(length, chosen)

    def random_partition(self, length: int) -> str:
        """Half of the positions, drawn from the seed and the length."""
        drawn = random.Random(f"{self.seed}, {length}").sample(range(1, length + 1), length // 2)
        return ",".join(str(place) for place in sorted(drawn))


CONSTRUCTION = EqualityPartitionConstruction()
