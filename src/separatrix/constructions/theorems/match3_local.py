"""Local triple matching by sparse averaging: SHT23, Easier variants of Triple Matching, Variant 2.

The slides: "reduce to qSA with q = O(T)". The set of position i is its window, the q = 2T + 1 positions at most T away
(fewer at the ends). The value of position j is an encoding of z_j that survives averaging: q blocks of bits, one block
for each remainder of j modulo q, the block of j's own remainder holding a 1 and the bits of the residue z_j, all other
blocks 0. The positions of a window have different remainders, so the average has 1/|window| or 0 in each coordinate and
is thresholded at 1/(2q). A feed-forward then looks for the triple.

Layers: a feed-forward places the bits into their block (bit AND remainder), attention by dual certificates averages, a
feed-forward restores bits, a last one sums up. For two blocks c ≤ c' and a target t in {0, M, 2M} it computes
f = z_i + r_c + r_c' + A·(blocks missing) - t, which is 0 exactly for a triple of present numbers (A = 2M + 1), and adds
ReLU(f + 1) - 2 ReLU(f) + ReLU(f - 1), which is 1 for f = 0 and 0 for every other whole number. Windows follow from
positions, so the dual certificates are a table, rounded to multiples of 1/2^20.

Deviations: the slides' output map is arbitrary; here it is ReLU layers with explicit weights, O(T²) units. Windows are
cut at the ends of the input, so that sets have from T + 1 to 2T + 1 members. E9 as in ``_averaging``.
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy

from separatrix.arithmetic import FixedPoint
from separatrix.bit_counts import bits_for
from separatrix.constructions.construction import Construction, Options
from separatrix.constructions.exponents import least_exponent
from separatrix.constructions.pieces import Unit, feed_forward, step_units
from separatrix.constructions.theorems._averaging import SetCodes, set_codes, set_gain
from separatrix.errors import SeparatrixError
from separatrix.networks import (
    Attention,
    CellSets,
    DualPart,
    EmbeddingPart,
    ExactMatrix,
    FeedForward,
    Head,
    Network,
    Readout,
    Slots,
    TableRows,
    identity,
    zeros,
)
from separatrix.tasks import Match3Local, Task

STEP_BITS = 20
LARGEST_SEARCH = 1 << 24
"""The most weights of the feed-forward that looks for a triple."""


@dataclass(frozen=True)
class Sizes:
    """What the network's shape follows from: the modulus, the bits of a residue, the largest window."""

    modulus: int
    bits: int
    largest: int

    @property
    def block(self) -> int:
        """Numbers in a block: presence and the bits."""
        return 1 + self.bits


@dataclass(frozen=True, kw_only=True)
class LocalTripleMatching(Construction):
    """Width 2k + (q + 1)(1 + log M) + q + 1, with k the width of a sign code whose sets of q have dual certificates."""

    name: str = "match3-local"
    title: str = "Local triple matching"
    theorem: str = "SHT23 Variant 2"
    statement: str = "one self-attention unit with m = O(T log N) solves Match3 within windows of T, on every input"
    task_name: str = "match3-local"
    longest_built: int | None = 1 << 11
    deviations: tuple[str, ...] = (
        "E9: dual certificates bounded by q/(q + 1) instead of 1/2",
        "the output map is a ReLU network of O(T²) units instead of an arbitrary function",
        "windows are cut at the ends of the input",
    )

    def sizes(self, task: Task, length: int) -> Sizes:
        """Modulus, bits and q at this length."""
        assert isinstance(task, Match3Local)
        modulus = task.modulus_at(length)
        return Sizes(modulus, max(1, bits_for(modulus)), min(2 * task.window + 1, length))

    def default_exponent(self, task: Task, length: int) -> int:
        """Bound what a unit of the search may add up: 12M, and 24M with its weight of 2."""
        sizes = self.sizes(task, length)
        codes = self.codes(sizes, length, Options())
        gain = set_gain(codes, _ratio(sizes, length), Options())
        return least_exponent(length, max(32 * sizes.modulus, 16 * codes.width, 32 * sizes.largest, int(2 * gain)))

    def codes(self, sizes: Sizes, length: int, options: Options) -> SetCodes:
        """Return the keys of the positions 1 … N."""
        return set_codes(length, sizes.largest, options)

    def network(self, task: Task, length: int, options: Options) -> Network:
        assert isinstance(task, Match3Local)
        sizes = self.sizes(task, length)
        q, block, size = sizes.largest, sizes.block, sizes.modulus
        codes = self.codes(sizes, length, options)
        k = codes.width
        slots = Slots((("own", block), ("place", q), ("window", q * block), ("asked", k), ("key", k), ("found", 1)))
        if 9 * q * (q + 1) // 2 * slots.width > LARGEST_SEARCH:
            raise SeparatrixError(
                f"windows of {q} numbers need too many units to compare all pairs; choose a smaller T"
            )
        vocabulary, positions = task.vocabulary(length).size, length + 1
        residues = numpy.arange(1, size + 1)[:, None] % size
        held = numpy.ones((size, block), dtype=numpy.int64)
        numpy.right_shift(residues, numpy.arange(sizes.bits), out=held[:, 1:])
        held &= 1
        remainders = numpy.arange(positions, dtype=numpy.int64) % q
        numbers = (1, positions)
        asked = window_queries(codes, length, task.window, set_gain(codes, _ratio(sizes, length), options))
        embedding = (
            EmbeddingPart("own", TableRows(ExactMatrix(held)), "token", (1, size + 1), (0, positions)),
            EmbeddingPart(
                "place", TableRows(identity(q)), "position", (0, vocabulary), (0, positions), indices=remainders
            ),
            EmbeddingPart("key", codes.rule, "position", (0, vocabulary), numbers),
            EmbeddingPart("asked", TableRows(asked), "position", (0, vocabulary), numbers),
        )
        head = Head(
            query=slots.reading(k, {"asked": identity(k)}),
            key=slots.reading(k, {"key": identity(k)}),
            value=slots.reading(q * block, {"window": identity(q * block)}),
            output=slots.writing(q * block, {"window": identity(q * block)}),
        )
        return Network(
            slots,
            vocabulary,
            positions,
            embedding,
            # The residual adds a position's own bits to its own block once more, which the threshold takes back.
            (_placing(slots, sizes), Attention((head,)), _restoring(slots, sizes), _searching(slots, sizes)),
            Readout(
                slots.reading(1, {"found": identity(1)}), zeros(1, 1), "bits",
                "every",
            ),
            about=f"{self.theorem}, window {task.window}, modulus {size}, length {length}",
        )  # fmt: skip

    def claimed_width(self, task: Task, length: int, code_width: int) -> int:
        """2k + (q + 1)(1 + log M) + q + 1."""
        sizes = self.sizes(task, length)
        return 2 * code_width + (sizes.largest + 1) * sizes.block + sizes.largest + 1


def _ratio(sizes: Sizes, length: int) -> int:
    """e^g that leaves at most 1/(8q) of the attention to everything outside a window."""
    return 8 * sizes.largest * (length + 1)


def window_queries(codes: SetCodes, length: int, reach: int, gain: Fraction) -> ExactMatrix:
    """γ · w_S for the window S of each position, in multiples of 1/2^20."""
    part, steps = DualPart("asked", codes.rule, CellSets((0, 1)), gain), FixedPoint(2, STEP_BITS)
    windows = [numpy.arange(max(0, place - reach), min(length, place + reach + 1)) for place in range(length)]
    sizes, found = numpy.array([len(each) for each in windows]), numpy.zeros((length, codes.width), dtype=numpy.int64)
    for size in numpy.unique(sizes).tolist():
        places = numpy.flatnonzero(sizes == size)
        found[places] = part.vectors(numpy.stack([windows[place] for place in places.tolist()]), steps)
    return ExactMatrix(found, 1 << STEP_BITS)


def _placing(slots: Slots, sizes: Sizes) -> FeedForward:
    """window[c, b] = own[b] AND place[c] = ReLU(own[b] + place[c] - 1)."""
    return feed_forward(
        slots,
        [
            Unit((("own", b, 1), ("place", c, 1)), -1, (("window", c * sizes.block + b, 1),))
            for c in range(sizes.largest)
            for b in range(sizes.block)
        ],
    )


def _restoring(slots: Slots, sizes: Sizes) -> FeedForward:
    """Averages to bits: 0 up to 1/(4q), 1 from 1/(2q) on."""
    units: list[Unit] = []
    for place in range(slots.size("window")):
        units += step_units([("window", place, sizes.largest)], 0, ("window", place))
    return feed_forward(slots, units, cleared=("window",))


def _searching(slots: Slots, sizes: Sizes) -> FeedForward:
    """Return one bump for each pair of blocks and each multiple of M."""
    missing = 2 * sizes.modulus + 1
    units: list[Unit] = []
    for first in range(sizes.largest):
        for second in range(first, sizes.largest):
            reads = [("own", 1 + b, 1 << b) for b in range(sizes.bits)]
            for c in (first, second):
                start = c * sizes.block
                reads += [("window", start + 1 + b, 1 << b) for b in range(sizes.bits)]
                reads.append(("window", start, -missing))
            for target in (0, sizes.modulus, 2 * sizes.modulus):
                for shift, weight in ((1, 1), (0, -2), (-1, 1)):
                    units.append(Unit(tuple(reads), 2 * missing - target + shift, (("found", 0, weight),)))
    return feed_forward(slots, units)


CONSTRUCTION = LocalTripleMatching()
