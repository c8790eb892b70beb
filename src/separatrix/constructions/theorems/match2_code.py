"""Pair matching by one self-attention unit with sign codes: SHT23 Match2, with the repair of erratum E10.

The unit compares T(-z) with T(z'), sign vectors that are equal exactly when z + z' ≡ 0 modulo M, and chooses between
matches and the dummy (see ``_dummy``).

Deviation (E10): the slides score α cos(2π(z + z')/M), whose matches and near misses differ by only 2π²α/M², so that
float32 fails near M ≈ 7000. Sign codes keep all non-matches below γ = 1/4 of a match, with η of order log N instead of
M² log N and any M; the price is m = k + 1 = O(log M) instead of 3, still O(d_in) for numbers given in binary.
"""

from dataclasses import dataclass
from fractions import Fraction

from separatrix.constructions.construction import Construction, Options
from separatrix.constructions.exponents import least_exponent
from separatrix.constructions.pieces import addresses
from separatrix.constructions.theorems._dummy import (
    constant,
    every_position,
    ones,
    partners,
    reading_rows,
    rounding,
    scale_of,
)
from separatrix.networks import Attention, EmbeddingPart, Head, Network, Slots, TableRows, identity
from separatrix.tasks import Matching, Task


@dataclass(frozen=True, kw_only=True)
class PairMatchingByCodes(Construction):
    """Width 2 + 2k with k the width of a sign code for M numbers."""

    name: str = "match2-code"
    title: str = "Pair matching, sign codes"
    theorem: str = "SHT23 Match2"
    statement: str = "one self-attention unit with m = O(log M) and precision O(log N) solves Match2 on every input"
    task_name: str = "match2"
    longest_built: int | None = 1 << 12
    deviations: tuple[str, ...] = ("E10: sign codes T(-z), T(z) instead of cosines",)

    def default_exponent(self, task: Task, length: int) -> int:
        del task
        return least_exponent(length, max(256, 16 * (length + 1)))

    def network(self, task: Task, length: int, options: Options) -> Network:
        assert isinstance(task, Matching)
        modulus = task.modulus_at(length)
        slots, embedding, head = matching_unit(modulus, length, options, found="number")
        return Network(
            slots,
            task.vocabulary(length).size,
            length + 1,
            embedding,
            # Without residuals the stream after the unit holds the average alone.
            (Attention((head,), residual=False), rounding(slots, "number")),
            every_position(slots, "number"),
            about=f"{self.theorem} with sign codes, modulus {modulus}, length {length}",
        )

    def claimed_width(self, task: Task, length: int, code_width: int) -> int:
        """2 + 2k."""
        del task, length
        return 2 + 2 * code_width


def matching_unit(
    modulus: int, length: int, options: Options, found: str, extra: tuple[tuple[str, int], ...] = ()
) -> tuple[Slots, tuple[EmbeddingPart, ...], Head]:
    """Slots, embedding and the unit that writes the share of attention on numbers into the slot ``found``."""
    codes = addresses(modulus, options.max_inner, options.family)
    k = codes.width
    scores = scale_of(length, 1 - codes.max_inner, options.gain)
    slots = Slots((("number", 1), ("dummy", 1), ("asked", k), ("key", k), *extra))
    numbers, everywhere = (1, modulus + 1), (0, length + 1)
    embedding = (
        EmbeddingPart("number", ones(modulus), "token", numbers, everywhere),
        EmbeddingPart("dummy", TableRows(identity(1)), "token", (0, 1), everywhere),
        EmbeddingPart("asked", codes.rule, "token", numbers, everywhere, indices=partners(modulus)),
        EmbeddingPart("key", codes.rule, "token", numbers, everywhere),
    )
    head = Head(
        # A number's own slot is the constant 1 that meets the dummy's key.
        query=reading_rows(
            slots,
            k + 1,
            {"asked": (0, identity(k, Fraction(scores.match, k))), "number": (k, constant(scores.dummy))},
        ),
        key=reading_rows(slots, k + 1, {"key": (0, identity(k)), "dummy": (k, identity(1))}),
        value=slots.reading(1, {"number": identity(1)}),
        output=slots.writing(1, {found: identity(1)}),
    )
    return slots, embedding, head


CONSTRUCTION = PairMatchingByCodes()
