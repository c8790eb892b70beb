"""Directed 3-cycles by one higher-order graph self-attention unit: SHT23.

The slides say that such a unit solves the problem efficiently and define none (erratum E12); the definition filled in
is that of ``separatrix.networks.graph``. Here κ(X_ij, X_jk, X_ki) is ABOVE more than the dummy's score where all three
edges are there, and ``below`` less anywhere else (see ``_dummy``). Every pair has value 1, so nothing but κ depends on
the graph or on the vertex.
"""

from dataclasses import dataclass
from fractions import Fraction

from separatrix.constructions.construction import Construction, Options
from separatrix.constructions.exponents import least_exponent
from separatrix.constructions.theorems._dummy import constant, every_position, ones, rounding, scale_of
from separatrix.networks import (
    EmbeddingPart,
    GraphAttention,
    GraphHead,
    Network,
    Slots,
    exact,
    identity,
)
from separatrix.tasks import Task

EDGES = 8


@dataclass(frozen=True, kw_only=True)
class ThreeCycle(Construction):
    """Width 1."""

    name: str = "directed-3-cycle"
    title: str = "Directed 3-cycle, graph attention"
    theorem: str = "SHT23, higher-order graph self-attention unit"
    statement: str = (
        "one higher-order graph self-attention unit of width 1 and precision O(log N) solves it on every graph"
    )
    task_name: str = "directed-3-cycle"
    how: tuple[str, ...] = (
        "A higher-order unit scores the pair (j, k) by the three edges of the cycle through i at once, and width 1 is "
        "enough for it; it is a separate class.",
    )
    deviations: tuple[str, ...] = ("E12: the unit, which the slides leave open, is defined here",)
    minimum_length: int = 3

    def default_exponent(self, task: Task, length: int) -> int:
        del task
        return least_exponent(length, 16 * (length * length + 1))

    def network(self, task: Task, length: int, options: Options) -> Network:
        scores = scale_of(length * length, Fraction(1), options.gain)
        slots = Slots((("one", 1),))
        value = identity(1)
        head = GraphHead(
            scores=exact([[Fraction(0)] * (EDGES - 1) + [scores.match]]),
            dummy=constant(scores.dummy),
            first_value=value,
            second_value=value,
            output=slots.writing(1, {"one": identity(1)}),
        )
        return Network(
            slots,
            task.vocabulary(length).size,
            length,
            (EmbeddingPart("one", ones(length), "position", (0, 2), (0, length)),),
            (GraphAttention((head,), residual=False), rounding(slots, "one")),
            every_position(slots, "one"),
            about=f"{self.theorem}, {length} vertices",
        )

    def claimed_width(self, task: Task, length: int, code_width: int) -> int:
        """1, whatever N is."""
        del task, length, code_width
        return 1


CONSTRUCTION = ThreeCycle()
