"""Triple matching at the last position by two layers: SHT23 Variant 1, corrected (erratum E11).

Layer 1 is the pair-matching unit of ``match2-code``: every position learns whether its number has a partner. A
feed-forward rounds that to a bit and keeps it at the positions 1 … N-1. Layer 2 averages the bits uniformly; a
feed-forward asks whether N + 1 times the average is at least 1/2.

With z_N = 0 the question is whether two of the other numbers add up to 0. Layer 1 may see z_N as well: a number that
matches z_N = 0 is 0 itself and matches itself.

Repair (E11): as stated, with j, k = N allowed, the problem is vacuous, and so is a network that also counts the bit of
position N, which is always 1. The variant ``original`` is that network; it answers 1 on every input.

Deviation (E10): sign codes instead of cosines, as in ``match2-code``.
"""

from dataclasses import dataclass

from separatrix.constructions.construction import Construction, Options
from separatrix.constructions.exponents import least_exponent
from separatrix.constructions.pieces import feed_forward, more_than, step_units, uniform_head
from separatrix.constructions.theorems._dummy import ones
from separatrix.constructions.theorems.match2_code import matching_unit
from separatrix.errors import SeparatrixError
from separatrix.networks import Attention, EmbeddingPart, Network, Readout, identity, zeros
from separatrix.tasks import Match3Last, Task


@dataclass(frozen=True, kw_only=True)
class TripleMatchingAtTheEnd(Construction):
    """Width 5 + 2k with k the width of a sign code for M numbers."""

    name: str = "match3-last"
    title: str = "Triple matching at the last position, two layers"
    theorem: str = "SHT23 Variant 1"
    statement: str = "two layers of one head with m = O(log M) and precision O(log N) solve it on every input"
    task_name: str = "match3-last"
    longest_built: int | None = 1 << 12
    deviations: tuple[str, ...] = (
        "E11: j, k ≠ N",
        "E10: sign codes T(-z), T(z) instead of cosines",
    )
    variants: tuple[str, ...] = ("repaired", "original")

    def default_exponent(self, task: Task, length: int) -> int:
        del task
        return least_exponent(length, max(256, 16 * (length + 1)))

    def network(self, task: Task, length: int, options: Options) -> Network:
        assert isinstance(task, Match3Last)
        if not task.exclude_query:
            raise SeparatrixError(
                "match3-last is built for exclude_query=true; without it every answer is 1 (E11), see variant original"
            )
        modulus = task.modulus_at(length)
        extra = (("found", 1), ("counted", 1), ("match", 1))
        slots, embedding, unit = matching_unit(modulus, length, options, found="found", extra=extra)
        counted = (1, length + 1 if options.variant == "original" else length)
        tokens = (0, modulus + 1)
        # step(found + counted - 1): the step of what was found where it counts, 0 elsewhere.
        gate = step_units([("found", 0, 1), ("counted", 0, 1)], -1, ("match", 0))
        return Network(
            slots,
            task.vocabulary(length).size,
            length + 1,
            (*embedding, EmbeddingPart("counted", ones(length), "position", tokens, counted)),
            (
                Attention((unit,)),
                feed_forward(slots, gate),
                Attention((uniform_head(slots, "match"),), residual=False),
                more_than(slots, "match", length + 1, 0),
            ),
            Readout(slots.reading(1, {"match": identity(1)}), zeros(1, 1), "bits"),
            about=f"{self.theorem} ({options.variant}), modulus {modulus}, length {length}",
        )

    def claimed_width(self, task: Task, length: int, code_width: int) -> int:
        """5 + 2k."""
        del task, length
        return 5 + 2 * code_width


CONSTRUCTION = TripleMatchingAtTheEnd()
