"""Pair matching by one self-attention unit with cosines: SHT23 Match2 as the slides draw it.

The unit scores α cos(2π(z + z')/M) = α (cos θ cos θ' - sin θ sin θ') with θ = 2πz/M, and chooses between matches and
the dummy (see ``_dummy``): two dimensions for the angle and one for the dummy, m = 3 at any M.

Weights are exact rationals: cosines and sines are the nearest multiples of 2^-60, α is a whole number of order
M² ln N / 18.

Precision (E10): a match and a near miss differ by α · 2π²/M², which is of order ln N, while an error ε in the cosines
costs α ε. So ε must be of order 1/M²: 2 log M bits, where sign codes need none. Floats have 24 and 53 bits, so float32
fails near M ≈ 7000 and float64 near M ≈ 2·10⁸; the fixed point here takes Kc so that N^Kc ≥ 16 α.
"""

from dataclasses import dataclass
from fractions import Fraction

from separatrix.constructions.construction import Construction, Options
from separatrix.constructions.exponents import least_exponent
from separatrix.constructions.theorems._dummy import (
    angle_network,
    circle_scale,
    constant,
    reading_rows,
)
from separatrix.networks import (
    Attention,
    Head,
    Network,
    Slots,
    exact,
    identity,
)
from separatrix.tasks import Matching, Task

QUARTER_TURN = Fraction(1, 4)
STREAM = 4


@dataclass(frozen=True, kw_only=True)
class PairMatchingByCosines(Construction):
    """Width 4: the angle, and one number each for numbers and the dummy; m = 3."""

    name: str = "match2"
    title: str = "Pair matching, cosines"
    theorem: str = "SHT23 Match2"
    statement: str = (
        "one self-attention unit with m = 3 and precision O(log M + log log N) solves Match2 on every input"
    )
    task_name: str = "match2"
    longest_certified: int | None = 64
    longest_built: int | None = 1 << 11
    how: tuple[str, ...] = (
        "Two numbers add up to 0 modulo M exactly if one lies at the mirrored angle of the other on a circle of M "
        "points, so one score with two numbers tells a match; the softmax then falls on it, or on a dummy if there is "
        "none.",
    )
    deviations: tuple[str, ...] = ("E10: cosines rounded to 2^-60, and Kc so that N^Kc ≥ 16 α",)

    def default_exponent(self, task: Task, length: int) -> int:
        assert isinstance(task, Matching)
        alpha = int(circle_scale(length, task.modulus_at(length), None).match)
        return least_exponent(length, max(16 * alpha, 16 * (length + 1)))

    def network(self, task: Task, length: int, options: Options) -> Network:
        assert isinstance(task, Matching)
        modulus = task.modulus_at(length)
        scores = circle_scale(length, modulus, options.gain)

        def layer(slots: Slots) -> Attention:
            turned = exact([[scores.match, 0], [0, -scores.match]])
            head = Head(
                query=reading_rows(slots, 3, {"angle": (0, turned), "number": (2, constant(scores.dummy))}),
                key=reading_rows(slots, 3, {"angle": (0, identity(2)), "dummy": (2, identity(1))}),
                value=slots.reading(1, {"number": identity(1)}),
                output=slots.writing(1, {"number": identity(1)}),
            )
            return Attention((head,), residual=False)

        about = f"{self.theorem} with cosines, modulus {modulus}, length {length}"
        return angle_network(task, length, QUARTER_TURN, layer, about)

    def claimed_width(self, task: Task, length: int, code_width: int) -> int:
        """4, whatever M and N are."""
        del task, length, code_width
        return STREAM


CONSTRUCTION = PairMatchingByCosines()
