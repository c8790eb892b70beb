"""Triple matching by one third-order self-attention unit: SHT23 Match3.

The unit scores the pair (j, k) with α cos(2π(z_i + z_j + z_k)/M) and chooses between matches and the pair of the dummy
with itself (see ``_dummy``); pairs of the dummy and a number have score 0, far below, and value 0.

The slides only say that m = O(d_in) is enough. Here m = 4: with θ = 2πz/M and φ = 0, 2π/3, 4π/3,

    cos(θ₁ + θ₂ + θ₃) = 4/3 · Σ_φ cos(θ₁ - φ) cos(θ₂ - φ) cos(θ₃ - φ),

because cos a cos b cos c is a quarter of the sum of cos(±a ± b ± c), and of its four terms only the one with all signs
equal keeps its phase when φ turns. So three products replace the four of the addition theorem, and the fourth dimension
serves the dummy. The three cosines add up to 0, so the stream holds two of them and the weights form the third exactly.

Precision: as for cosines in Match2 (``match2``, E10), ε of order 1/M²; Kc is chosen so that N^Kc ≥ 32 α.
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy

from separatrix.constructions.construction import Construction, Options
from separatrix.constructions.exponents import least_exponent
from separatrix.constructions.theorems._dummy import (
    Scale,
    angle_network,
    circle_scale,
    constant,
    reading_rows,
)
from separatrix.networks import (
    Network,
    Slots,
    ThirdOrderAttention,
    ThirdOrderHead,
    exact,
    identity,
)
from separatrix.tasks import Matching, Task

THIRD_OF_A_TURN = Fraction(1, 3)
WIDTH = 4


@dataclass(frozen=True, kw_only=True)
class TripleMatching(Construction):
    """Width 4, m = 4."""

    name: str = "match3"
    title: str = "Triple matching, third-order attention"
    theorem: str = "SHT23 Match3, third order"
    statement: str = "one third-order unit with m = 4 and precision O(log M + log log N) solves Match3 on every input"
    task_name: str = "match3"
    longest_certified: int | None = 64
    longest_built: int | None = 1 << 10
    how: tuple[str, ...] = (
        "Third-order attention weighs pairs of positions, so its score sees all three numbers at once.",
    )
    deviations: tuple[str, ...] = (
        "three products of cosines instead of the addition theorem's four, so that m = 4 includes the dummy",
        "E10: cosines rounded to 2^-60, and Kc so that N^Kc ≥ 32 α",
    )

    def default_exponent(self, task: Task, length: int) -> int:
        assert isinstance(task, Matching)
        alpha = int(self._scores(task, length, None).match)
        return least_exponent(length, max(32 * alpha, 16 * (length + 1) ** 2))

    def _scores(self, task: Matching, length: int, gain: Fraction | None) -> Scale:
        """Return the scores, with α a multiple of 3 so that 4/3 · α is a whole number."""
        found = circle_scale(length * length, task.modulus_at(length), gain)
        rest = -int(found.match) % 3
        return Scale(found.match + rest, found.dummy + rest)

    def network(self, task: Task, length: int, options: Options) -> Network:
        assert isinstance(task, Matching)
        scores = self._scores(task, length, options.gain)

        def layer(slots: Slots) -> ThirdOrderAttention:
            three = numpy.array([[1, 0], [0, 1], [-1, -1]], dtype=numpy.int64)
            scaled = exact(three * int(scores.match / 3 * 4))
            key = reading_rows(slots, 4, {"angle": (0, exact(three)), "dummy": (3, identity(1))})
            value = slots.reading(1, {"number": identity(1)})
            head = ThirdOrderHead(
                query=reading_rows(slots, 4, {"angle": (0, scaled), "number": (3, constant(scores.dummy))}),
                first_key=key,
                second_key=key,
                first_value=value,
                second_value=value,
                output=slots.writing(1, {"number": identity(1)}),
            )
            return ThirdOrderAttention((head,), residual=False)

        about = f"{self.theorem}, modulus {task.modulus_at(length)}, length {length}"
        return angle_network(task, length, THIRD_OF_A_TURN, layer, about)

    def claimed_width(self, task: Task, length: int, code_width: int) -> int:
        """4, whatever M and N are."""
        del task, length, code_width
        return WIDTH


CONSTRUCTION = TripleMatching()
