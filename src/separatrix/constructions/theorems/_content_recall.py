"""Recall by content in two layers: BHBK24 Theorem 7 and its corollaries (Appendix G.2).

Inputs are points, each followed by its label; some points ask for the label of the earlier point most like them.
Layer 1: the query compares its content with all earlier points and retrieves the sign vector T_s(2j*) that addresses
the label of the best one; a feed-forward turns the average into exact signs. Layer 2: that address finds the label, and
a feed-forward rounds its bits.

Repairs. E5: with unit vectors T the second query must be (1/√k)·T_s; here all codes have entries ±1, so both 1/√k are
in the query as η/k. E6: labels are read by a whole-number step, exactly 0 or 1 (see ``pieces``). E7: a strict causal
mask hides the query from itself, so the addresses stay out of the first layer's scores and near-orthogonality 1/4
suffices instead of γ/100; the width is 2k + d' + 2 with k of a code for N addresses, for every margin γ.

Deviations: a point and its label share one address slot, because the second layer tells them apart by the slot ``kind``
(+1 at points, -1 at labels; the paper's 1 and -2), which saves the paper's third block of k; addresses are linear sign
codes (E1), pair i having row i, so that position p takes row ⌊p/2⌋ by a generator whose first row is zero. The score
gap g is 0.7 · (bits of 3n) > ln 3n over n positions, which leaves more than 3/4 of the weight to the best one, where
the paper takes ln 18N for 9/10; its σ then has slope 4.

Variants that fail and are kept to be refuted: ``query-scale`` is the paper's (1/k)·T_s (E5), ``unmasked`` its
definition without a mask (E7), ``clamped-labels`` its σ on the average of labels (E6). A threshold at 1/2 would forgive
the last one, so it is read exactly, as the paper claims that σ "will produce the desired label": a number that is
neither 0 nor 1 is not a label. ``exact-labels`` is read in the same way and has E6's repair ReLU(2a - ½) - ReLU(2a -
3/2), which is exact at even N, where ½ is a multiple of the step; the whole-number step of ``pieces`` is so at every N.
"""

from abc import abstractmethod
from dataclasses import dataclass, replace
from fractions import Fraction
from math import isqrt
from typing import Literal

import numpy

from separatrix.constructions.construction import Addressing, Construction, Options
from separatrix.constructions.exponents import least_exponent
from separatrix.constructions.pieces import Addresses, Unit, addresses, feed_forward, step_units
from separatrix.networks import (
    Attention,
    EmbeddingPart,
    ExactMatrix,
    FeaturePart,
    FeedForward,
    Head,
    Network,
    Readout,
    SignRows,
    Slots,
    exact,
    identity,
    zeros,
)
from separatrix.tasks import Task


@dataclass(frozen=True)
class Contents:
    """How points are compared: everything in which the three tasks differ.

    ``query_scale`` multiplies the inner product of contents, ``kind_scale`` that of the kinds (labels are pushed down
    by twice as much); ``parts`` fill the slots ``point``, ``kind`` and ``label``; the range N^Kc of the fixed point has
    to be at least ``reach``.
    """

    dimension: int
    label_bits: int
    query_scale: Fraction
    kind_scale: Fraction
    reach: Fraction
    parts: tuple[EmbeddingPart, ...]
    at: Literal["last", "every"]
    feature_parts: tuple[FeaturePart, ...] = ()


@dataclass(frozen=True, kw_only=True)
class ContentRecallConstruction(Construction):
    """Width 2k + d' + 1 + (bits of a label), with k the width of a sign code for one address per pair."""

    theorem: str = "BHBK24 Theorem 7"
    addressing: Addressing | None = "content"
    frontier_power: int = 7
    deviations: tuple[str, ...] = (
        "E5: the second query is η/k times signs",
        "E6: labels are read by a whole-number step",
        "E7: a strict causal mask instead of addresses in the first layer's scores",
        "E1: linear sign codes instead of a random draw",
    )
    variants: tuple[str, ...] = ("repaired", "query-scale", "unmasked", "clamped-labels", "exact-labels")

    @abstractmethod
    def contents(self, task: Task, length: int, gap: Fraction) -> Contents:
        """Points, kinds and labels of this task, scaled so that the best point is ahead of all others by ``gap``."""

    def network(self, task: Task, length: int, options: Options) -> Network:
        positions = task.positions(length)
        gap = options.gain if options.gain is not None else sufficient_gap(positions)
        contents = self.contents(task, length, gap)
        places = self.pair_addresses(positions, options)
        k, bits = places.width, contents.label_bits
        slots = Slots((("point", contents.dimension), ("label", bits), ("kind", 1), ("address", k), ("found", k)))
        # Row ⌊p/2⌋ at position p: the lowest bit of p meets a generator row of zeros.
        by_pair = SignRows(numpy.concatenate([numpy.zeros((1, k), dtype=numpy.uint8), places.signs.generator]))
        vocabulary = task.vocabulary(length).size
        embedding = (*contents.parts, EmbeddingPart("address", by_pair, "position", (0, vocabulary), (0, positions)))
        return Network(
            slots,
            vocabulary,
            positions,
            embedding,
            (
                Attention((_matching(slots, contents, options),)),
                _signs(slots),
                Attention((_fetching(slots, gap / (1 - places.max_inner), options),), residual=False),
                _labels(slots, options),
            ),
            Readout(
                slots.reading(bits, {"label": identity(bits)}),
                zeros(bits, 1),
                "exact" if options.variant in ("clamped-labels", "exact-labels") else "bits",
                contents.at,
            ),
            about=f"{self.theorem} ({options.variant}) for {task.name}, length {length}",
            feature_parts=contents.feature_parts,
        )

    def default_exponent(self, task: Task, length: int) -> int:
        """At least 2, and at short lengths so much more that no score and no feed-forward leaves the range."""
        gap = sufficient_gap(task.positions(length))
        # The feed-forwards stay below 16, the second layer's scores below 3/2 · gap/(1 - 1/4).
        reach = max(Fraction(16), 2 * gap, self.contents(task, length, gap).reach)
        return least_exponent(length, reach)

    def pair_addresses(self, positions: int, options: Options) -> Addresses:
        """Return one address for each pair of neighbouring positions."""
        return addresses((positions + 1) // 2, options.max_inner, options.family)

    def claimed_width(self, task: Task, length: int, code_width: int) -> int:
        """2k + d' + 1 + (bits of a label); the paper has 3k + d' + 2 for one bit."""
        contents = self.contents(task, length, Fraction(1))
        return 2 * code_width + contents.dimension + 1 + contents.label_bits


def sufficient_gap(positions: int) -> Fraction:
    """Return how far the best score has to be ahead: g = 0.7 · (bits of 3n) > ln 3n leaves it e^g/(e^g + n) > 3/4."""
    return Fraction(7 * (3 * positions).bit_length(), 10)


def _matching(slots: Slots, contents: Contents, options: Options) -> Head:
    """Layer 1: compare contents with all earlier positions and average the addresses."""
    k = slots.size("address")
    return Head(
        query=_side_by_side(slots, "point", contents.query_scale, contents.kind_scale),
        key=_side_by_side(slots, "point", Fraction(1), Fraction(1)),
        value=slots.reading(k, {"address": identity(k)}),
        output=slots.writing(k, {"found": identity(k)}),
        mask="none" if options.variant == "unmasked" else "strict",
    )


def _side_by_side(slots: Slots, slot: str, scale: Fraction, kind_scale: Fraction) -> ExactMatrix:
    """Return a matrix whose rows are the scaled coordinates of a slot and, as the last one, the scaled kind."""
    size = slots.size(slot)
    one, kind = exact([[scale]]), exact([[kind_scale]])
    places = numpy.eye(size + 1, dtype=numpy.int64)
    scaled = ExactMatrix(places[:, :size] * one.numerators, one.denominator)
    return slots.reading(
        size + 1, {slot: scaled, "kind": ExactMatrix(places[:, size:] * kind.numerators, kind.denominator)}
    )


def _signs(slots: Slots) -> FeedForward:
    """found ↦ σ(4 · found), exactly ±1 from ±1/4 on: σ(a) = ReLU(a + 1) - ReLU(a - 1) - 1 replaces the average."""
    units: list[Unit] = []
    for place in range(slots.size("found")):
        target = ("found", place)
        for weight, bias, factor in ((4, 1, 1), (4, -1, -1), (1, 0, -1), (-1, 0, 1)):
            units.append(Unit(((*target, weight),), bias, ((*target, factor),)))
    one = Unit((), 1, tuple(("found", place, -1) for place in range(slots.size("found"))))
    return feed_forward(slots, [*units, one])


def _fetching(slots: Slots, gain: Fraction, options: Options) -> Head:
    """Layer 2: the label whose address was found. A label is ahead of the point before it, which has the same address,
    by 2 · gain/2; of every other label by gain · (1 - γ)."""
    k, bits = slots.size("found"), slots.size("label")
    scale = gain / k
    if options.variant == "query-scale":
        # The paper's query (1/k)·T_s against keys T = T_s/√k; ⌊√k⌋ is the choice in its favour.
        scale /= isqrt(k)
    return Head(
        query=_side_by_side(slots, "found", scale, gain / 2),
        key=_side_by_side(slots, "address", Fraction(1), Fraction(-1)),
        value=slots.reading(bits, {"label": identity(bits)}),
        output=slots.writing(bits, {"label": identity(bits)}),
        mask="none" if options.variant == "unmasked" else "strict",
    )


def _labels(slots: Slots, options: Options) -> FeedForward:
    """Averages of labels to labels, bit by bit: by a whole-number step, by the paper's σ or by E6's repair of it."""
    bits = range(slots.size("label"))
    if options.variant == "exact-labels":
        halves = [
            Unit((("label", place, 2),), bias, (("label", place, factor),))
            for place in bits
            for bias, factor in ((-1, 1), (-3, -1))
        ]
        layer = feed_forward(slots, halves, kept=False)
        return replace(layer, inner_bias=ExactMatrix(layer.inner_bias.numerators, 2))
    if options.variant == "clamped-labels":
        units = [Unit((), 1, tuple(("label", place, -1) for place in bits))]
        for place in bits:
            units += [Unit((("label", place, 1),), bias, (("label", place, bias),)) for bias in (1, -1)]
        return feed_forward(slots, units, kept=False)
    return feed_forward(
        slots, [unit for place in bits for unit in step_units([("label", place, 1)], 0, ("label", place))], kept=False
    )
