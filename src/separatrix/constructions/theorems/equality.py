"""String equality by two layers: BHBK24 Theorem 6 (Appendix F.2).

Layer 1: every position of the second half attends to its partner in the first half and compares; a feed-forward turns
the comparison into an exact mismatch bit. Layer 2: uniform attention averages the mismatch bits at the last position.

Repairs (E2, E3): the paper lets rounding turn softmax weights into 0 and 1, but B.2 rounds down, and its final η is
half of what its derivation asks. Here a feed-forward thresholds, as the paper's own remark after the proof suggests,
and "at least one mismatch" is read off N · average with whole-number weights. The variant ``paper`` keeps the paper's
η = ln N + Kc ln 2N, compares without a threshold, reads at average ≥ 1/N, and is evaluated with weights rounded once:
exactly the inputs with one mismatch fail, and at Kc = 1 all unequal ones. The variant ``paper-appendix-d`` is the same
network with Appendix D's softmax, which rounds small exponentials to 0 first: that alone repairs it (E3).

Deviations: bits are 0 and 1 instead of ±1; the constants 1 and -1/2 in query and key shift all scores alike and are
left out; F.2's d is 3 + 2k, its sum starts at N/2 + 1. The theorem is about bits; larger alphabets are compared bit by
bit, and one more feed-forward makes one mismatch of several.
"""

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal

import numpy

from separatrix.bit_counts import bits_for
from separatrix.constructions.construction import Addressing, Construction, Options
from separatrix.constructions.exponents import exponent_in_words
from separatrix.constructions.pieces import (
    Unit,
    addresses,
    feed_forward,
    more_than,
    step_units,
    sufficient_gain,
    uniform_head,
)
from separatrix.errors import SeparatrixError
from separatrix.networks import (
    Attention,
    EmbeddingPart,
    ExactMatrix,
    FeedForward,
    Head,
    Integers,
    Network,
    Readout,
    Slots,
    TableRows,
    identity,
)
from separatrix.tasks import Equality, Task


@dataclass(frozen=True, kw_only=True)
class EqualityConstruction(Construction):
    """Width 1 + 2b + 2k for symbols of b bits, with k the width of a sign code for N addresses: 3 + 2k for bits."""

    name: str = "equality"
    title: str = "String equality, two layers"
    theorem: str = "BHBK24 Theorem 6"
    statement: str = "a 2-layer Transformer of width O(log N) and precision O(log N) computes EQ on every input"
    task_name: str = "equality"
    serves: tuple[tuple[str, str], ...] = (
        ("inequality", "the complement of the answer"),
        ("eq-random", "[SEP] is one more position that nobody attends to"),
        ("eq-one", "[SEP] is one more position, and a symbol is compared bit by bit"),
    )
    addressing: Addressing | None = "position-and-average"
    frontier_power: int = 20
    how: tuple[str, ...] = (
        "With two layers, each position of the second half first fetches the symbol at the same place of the first "
        "half, by nearly orthogonal codes as in index lookup; the second layer averages over all places whether some "
        "pair differs.",
    )
    variants: tuple[str, ...] = ("repaired", "paper", "paper-appendix-d")
    also: tuple[tuple[str, str], ...] = (("family", "circle"),)
    deviations: tuple[str, ...] = (
        "E2, E3: a thresholding feed-forward instead of weights rounded to 1",
        "E1: linear sign codes instead of a random draw",
        "symbols of larger alphabets are compared bit by bit",
    )

    def softmax_rule(self, variant: str) -> Literal["appendix-d", "once"]:
        """F.2 rounds the weights themselves; Appendix D's softmax repairs its proof."""
        return "once" if variant == "paper" else "appendix-d"

    def partners(self, task: Task, length: int) -> Integers:
        """Return the position that each position attends to: its partner in the first half, or itself."""
        assert isinstance(task, Equality)
        first, second = task.halves(length)
        found = numpy.arange(length, dtype=numpy.int64)
        found[second] = first
        return found

    def default_exponent(self, task: Task, length: int) -> int:
        """Return Kc = 1 where Kc = 2 would not fit into machine words: one attention to an address needs no more."""
        del task
        return exponent_in_words(length)

    def network(self, task: Task, length: int, options: Options) -> Network:
        places = addresses(length, options.max_inner, options.family)
        k = places.width
        written = options.variant != "repaired"
        exponent = self.default_exponent(task, length) if options.exponent is None else options.exponent
        own = papers_gain(length, exponent) if written else sufficient_gain(length, places.max_inner)
        gain = options.gain if options.gain is not None else own
        bits, symbols = bits_of(task), int(task.parameters()["alphabet"])
        if written and bits > 1:
            raise SeparatrixError(f"the proof as written is about bits, not {symbols} symbols; set alphabet=2")
        slots = Slots((("bit", bits), ("found", bits), ("mismatch", 1), ("address", k), ("partner", k)))
        everything = ((0, symbols), (0, length))
        written_out = numpy.arange(symbols, dtype=numpy.int64)[:, None] >> numpy.arange(bits) & 1
        embedding = (
            # The paper's own bits are ±1, and its failure is one of those: with 0 and 1 half of it would not show.
            EmbeddingPart(
                "bit", TableRows(ExactMatrix(2 * written_out - 1 if written else written_out)), "token", *everything
            ),
            EmbeddingPart("address", places.rule, "position", *everything),
            EmbeddingPart("partner", places.rule, "position", *everything, indices=self.partners(task, length)),
        )
        comparing = Head(
            query=slots.reading(k, {"partner": identity(k, gain / places.norm)}),
            key=slots.reading(k, {"address": identity(k)}),
            value=slots.reading(bits, {"bit": identity(bits)}),
            output=slots.writing(bits, {"found": identity(bits)}),
        )
        equal_is_one = task.parameters()["answer_one"] == "equal"
        sign = -1 if equal_is_one else 1
        return Network(
            slots,
            task.vocabulary(length).size,
            length,
            embedding,
            (
                Attention((comparing,)),
                *((self._difference(slots),) if written else self._comparisons(slots)),
                Attention((uniform_head(slots, "mismatch"),), residual=False),
                # N · average is the number of mismatches, up to rounding: 0 for none, at least 1/2 for one or more.
                self._at_least(slots, length, exponent) if written else more_than(slots, "mismatch", length, 0),
            ),
            Readout(
                slots.reading(1, {"mismatch": identity(1, sign)}),
                ExactMatrix(numpy.array([[1 if equal_is_one else 0]])),
                "bits",
            ),
            about=f"{self.theorem} ({options.variant}), length {length}",
        )

    def _comparisons(self, slots: Slots) -> tuple[FeedForward, ...]:
        units: list[Unit] = []
        for place in range(slots.size("bit")):
            bit, found = ("bit", place), ("found", place)
            # bit = 0: step(found); bit = 1: step(1 - found). The other one of each pair is switched off by the bit.
            units += step_units([(*found, 1), (*bit, -1)], 0, ("mismatch", 0))
            units += step_units([(*bit, 1), (*found, -1)], 0, ("mismatch", 0))
        if slots.size("bit") == 1:
            return (feed_forward(slots, units),)
        # Several bits may differ: a - ReLU(a - 1) is 1 for every whole number a from 1 on.
        once = Unit((("mismatch", 0, 1),), -1, (("mismatch", 0, -1),))
        return feed_forward(slots, units), feed_forward(slots, [once])

    def _difference(self, slots: Slots) -> FeedForward:
        """Return the paper's comparison: |bit - found| / 2, exact if the softmax weights were 0 and 1."""
        units = [
            Unit((("bit", 0, 1), ("found", 0, -1)), 0, (("mismatch", 0, 1),)),
            Unit((("bit", 0, -1), ("found", 0, 1)), 0, (("mismatch", 0, 1),)),
        ]
        whole = feed_forward(slots, units)
        return replace(whole, outer=ExactMatrix(whole.outer.numerators, 2))

    def _at_least(self, slots: Slots, length: int, exponent: int) -> FeedForward:
        """Return the paper's readout: 1 when average ≥ 1/N, 0 when it is a step below, with slope N^Kc in between."""
        scaled = (("mismatch", 0, length**exponent),)
        below = length ** (exponent - 1)
        units = [Unit(scaled, 1 - below, (("mismatch", 0, 1),)), Unit(scaled, -below, (("mismatch", 0, -1),))]
        return feed_forward(slots, units, kept=False)

    def claimed_width(self, task: Task, length: int, code_width: int) -> int:
        """1 + 2b + 2k."""
        del length
        return 1 + 2 * bits_of(task) + 2 * code_width


def bits_of(task: Task) -> int:
    """Return how many bits tell the symbols apart."""
    return bits_for(int(task.parameters()["alphabet"]))


def papers_gain(length: int, exponent: int) -> Fraction:
    """Return the closing choice of F.2's proof, η = ln N + Kc ln 2N, rounded up to a hundredth."""
    return Fraction(math.ceil(100 * (math.log(length) + exponent * math.log(2 * length))), 100)


CONSTRUCTION = EqualityConstruction()
