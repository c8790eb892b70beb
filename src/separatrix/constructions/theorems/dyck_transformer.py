"""Bounded Dyck languages by Transformers with two or three layers, after Yao et al. 2021 (cited in BHBK24 §4.1).

Yao et al. give two networks: one with k + 1 hard-attention layers that *recognises* Dyck-(n,k), and one with two layers
that *generates* it: at every position of a correct prefix it knows the last open bracket. BHBK24 says that two layers
"model" the language. Recognising asks more: the last position must learn of an error anywhere, and a third layer has to
collect them. Variant ``paper`` reads the two-layer network at the last position, and the checker refutes it.

* Depth k ≤ 2, two layers. The level of a bracket follows from its position: brackets open level 1 at odd positions and
  close it at even ones, for level 2 it is the other way round. So the first layer counts both levels apart, uniformly
  over the past; a string is in the language exactly if no count of a coordinate is ever negative, level 1 never
  exceeds one bracket (level 2 none if k = 1), and nothing is open at the end. The second layer collects the errors.
* Any depth, three layers (variant ``lookup``, the default from k = 3 on), following Yao et al.'s generator: the first
  layer computes the depth, the second finds the last bracket of the same level, the third collects the errors. Its
  width does not depend on k: levels are compared by 2·ℓ·ℓ' - ℓ'^2, so that two coordinates are enough.

Exactness: uniform attention over i positions gives count · w with w = 1/i rounded. A second value, 1 at the first
position only, gives w itself, and every threshold compares a count · w with a whole multiple of w. N · w ≥ 1 turns the
result into 0 or something of at least 1, whatever the rounding. Among brackets of one level the latest has the smallest
w, which is what the lookup prefers; w falls strictly from Kc = 2 on.

Deviations: hard attention where Yao et al. scale softmax with the length; whole numbers instead of angles for depths;
types are sets of equal size instead of binary codes (see ``_brackets``).
"""

from dataclasses import dataclass

import numpy

from separatrix.bit_counts import bits_for
from separatrix.constructions.construction import Construction, Options
from separatrix.constructions.exponents import least_exponent
from separatrix.constructions.pieces import Unit, feed_forward
from separatrix.constructions.theorems._brackets import Brackets, brackets_of, check_range
from separatrix.networks import (
    Attention,
    EmbeddingPart,
    ExactMatrix,
    FeedForward,
    Head,
    Integers,
    Network,
    Readout,
    SignRows,
    Slots,
    TableRows,
    exact,
    identity,
    zeros,
)
from separatrix.tasks import Task

Coordinate = tuple[str, int, int]
"""Slot, offset, weight."""


@dataclass(frozen=True, kw_only=True)
class DyckTransformer(Construction):
    """Width 4L + 5 (depth at most 2) or 3L + 9, with L = log n + O(log log n) coordinates for a type of bracket."""

    name: str = "dyck-transformer"
    title: str = "Bounded Dyck, two or three layers"
    theorem: str = "Yao et al. 2021, cited in BHBK24 §4.1"
    statement: str = (
        "a Transformer of width O(log n) recognises Dyck-(n,k), with 2 layers if k <= 2 and with 3 for every k"
    )
    task_name: str = "dyck"
    deviations: tuple[str, ...] = (
        "two layers generate the language; recognition needs the errors collected: a third layer from k = 3 on",
        "with k <= 2 the parity of a position gives its level, and two layers recognise",
        "hard attention for the lookup; whole numbers instead of angles for depths",
    )
    variants: tuple[str, ...] = ("repaired", "lookup", "paper")
    also: tuple[tuple[str, str], ...] = (("variant", "lookup"),)

    def network(self, task: Task, length: int, options: Options) -> Network:
        brackets = brackets_of(task)
        exponent = self.default_exponent(task, length) if options.exponent is None else options.exponent
        check_range(self.name, length, exponent, largest_number(brackets, length))
        about = f"{self.theorem} ({options.variant}), Dyck-({brackets.types},{brackets.depth}), length {length}"
        if options.variant == "repaired" and brackets.depth <= 2:
            return _by_parity(brackets, length, about)
        return _by_lookup(brackets, length, about, collected=options.variant != "paper")

    def default_exponent(self, task: Task, length: int) -> int:
        return least_exponent(length, largest_number(brackets_of(task), length))

    def claimed_width(self, task: Task, length: int, code_width: int) -> int:
        """4L + 5 for depth 1 and 2, 3L + 9 beyond."""
        del length
        return 4 * code_width + 5 if int(task.parameters()["depth"]) <= 2 else 3 * code_width + 9


def largest_number(brackets: Brackets, length: int) -> int:
    """Return a bound for every weight, sum and product: thresholds up to (k + 4) w N, scores up to 4 (k + 1)^2; w falls
    strictly with the position only if N^Kc is at least N^2."""
    return max((brackets.depth + 4) * brackets.weight * length + 4 * (brackets.depth + 1) ** 2, length**2)


def _column(values: Integers) -> TableRows:
    return TableRows(ExactMatrix(values.reshape(len(values), -1).copy()))


def _marks(tokens: int, length: int) -> tuple[EmbeddingPart, EmbeddingPart]:
    """Mark the first and the last position."""
    one = _column(numpy.ones((1, 1), dtype=numpy.int64))
    return (
        EmbeddingPart("first", one, "position", (0, tokens), (0, 1)),
        EmbeddingPart("last", one, "position", (0, tokens), (length - 1, length)),
    )


def _averaging(slots: Slots, values: ExactMatrix, output: ExactMatrix) -> Head:
    """Return a head that averages over the past uniformly."""
    nothing = zeros(1, slots.width)
    return Head(nothing, nothing, values, output, mask="causal")


def _collecting(slots: Slots) -> Attention:
    """Return the last layer: the average of all flags, alone in its slot."""
    values, output = slots.reading(1, {"flag": identity(1)}), slots.writing(1, {"flag": identity(1)})
    return Attention((_averaging(slots, values, output),), residual=False)


def _verdict(slots: Slots, scale: int) -> Readout:
    """1 - scale · flag: 1 without any error, at most 0 with one."""
    return Readout(slots.reading(1, {"flag": identity(1, -scale)}), exact([[1]]), "bits")


def _flag(reads: list[Coordinate], bias: int = 0) -> Unit:
    """Return an error: 0 where the sum is at most 0, the sum itself elsewhere."""
    return Unit(tuple(reads), bias, (("flag", 0, 1),))


def _by_parity(brackets: Brackets, length: int, about: str) -> Network:
    bits, weight, tokens = brackets.code_width, brackets.weight, 2 * brackets.types
    slots = Slots(
        (
            ("bracket", bits), ("outer", bits), ("level1", bits), ("level2", bits),
            ("parity", 1), ("first", 1), ("last", 1), ("unit", 1), ("flag", 1),
        )
    )  # fmt: skip
    signed = numpy.concatenate([brackets.code, -brackets.code])
    # (-1)^(lowest bit of the position, counted from 0): +1 at odd positions as the text counts them, from 1.
    alternating = numpy.zeros((max(1, bits_for(length)), 1), dtype=numpy.uint8)
    alternating[0] = 1
    embedding = (
        EmbeddingPart("bracket", _column(signed), "token", (0, tokens), (0, length)),
        EmbeddingPart("parity", SignRows(alternating), "position", (0, tokens), (0, length)),
        *_marks(tokens, length),
    )
    # The part of a bracket that belongs to level 1: opening at odd, closing at even positions.
    split: list[Unit] = []
    for bit in range(bits):
        for sign in (1, -1):
            reads = (("bracket", bit, sign), ("parity", 0, sign))
            split.append(Unit(reads, -1, (("outer", bit, sign),)))
    outer, inner = {"outer": identity(bits)}, {"bracket": identity(bits), "outer": identity(bits, -1)}
    values = numpy.concatenate(
        [slots.reading(bits, outer).numerators, slots.reading(bits, inner).numerators,
         slots.reading(1, {"first": identity(1)}).numerators]
    )  # fmt: skip
    output = numpy.concatenate(
        [slots.writing(bits, {"level1": identity(bits)}).numerators,
         slots.writing(bits, {"level2": identity(bits)}).numerators,
         slots.writing(1, {"unit": identity(1)}).numerators], axis=1,
    )  # fmt: skip
    levels = ("level1", "level2")
    negative = [_flag([(level, bit, -length)]) for level in levels for bit in range(bits)]
    full = "level1" if brackets.depth == 2 else "level2"
    allowed = weight if brackets.depth == 2 else 0
    too_deep = _flag([*[(full, bit, length) for bit in range(bits)], ("unit", 0, -allowed * length)])
    # Counts · w are at most 1 for each coordinate that a prefix may have, so that this unit is 0 before the end.
    everything: list[Coordinate] = [(level, bit, length) for level in levels for bit in range(bits)]
    unclosed = _flag([*everything, ("last", 0, weight * length)], -weight * length)
    return Network(
        slots,
        tokens,
        length,
        embedding,
        (
            feed_forward(slots, split),
            Attention((_averaging(slots, ExactMatrix(values), ExactMatrix(output)),)),
            feed_forward(slots, [*negative, too_deep, unclosed]),
            _collecting(slots),
        ),
        _verdict(slots, length),
        about=about,
    )


def _by_lookup(brackets: Brackets, length: int, about: str, collected: bool) -> Network:
    bits, tokens = brackets.code_width, 2 * brackets.types
    slots = Slots(
        (
            ("open", bits), ("close", bits), ("found", bits), ("opening", 1), ("closing", 1), ("first", 1), ("last", 1),
            ("depth", 1), ("unit", 1), ("level", 1), ("square", 1), ("flag", 1),
        )
    )  # fmt: skip
    opens, closes = (0, brackets.types), (brackets.types, tokens)
    one = numpy.ones((brackets.types, 1), dtype=numpy.int64)
    embedding = (
        EmbeddingPart("open", _column(brackets.code), "token", opens, (0, length)),
        EmbeddingPart("opening", _column(one), "token", opens, (0, length)),
        EmbeddingPart("close", _column(brackets.code), "token", closes, (0, length)),
        EmbeddingPart("closing", _column(one), "token", closes, (0, length)),
        *_marks(tokens, length),
    )
    way = slots.reading(2, {"opening": exact([[1], [0]]), "closing": exact([[-1], [0]]), "first": exact([[0], [1]])})
    counted = slots.writing(2, {"depth": exact([[1, 0]]), "unit": exact([[0, 1]])})
    # Query (2ℓ, 1, 1) and key (ℓ, -ℓ^2, -w): the same level scores highest by at least 1, then the latest bracket.
    query = {"level": exact([[2], [0], [0]]), "opening": exact([[0], [1], [1]]), "closing": exact([[0], [1], [1]])}
    key = {"level": exact([[1], [0], [0]]), "square": exact([[0], [-1], [0]]), "unit": exact([[0], [0], [-1]])}
    lookup = Head(
        slots.reading(3, query),
        slots.reading(3, key),
        slots.reading(bits, {"open": identity(bits)}),
        slots.writing(bits, {"found": identity(bits)}),
        scoring="hard",
        mask="strict",
    )
    mismatches = [_flag([("close", bit, 1), ("found", bit, -1)]) for bit in range(bits)]
    layers: list[Attention | FeedForward] = [
        Attention((_averaging(slots, way, counted),)),
        feed_forward(slots, _levels(brackets.depth, length)),
        Attention((lookup,)),
        feed_forward(slots, mismatches),
    ]
    if collected:
        layers.append(_collecting(slots))
    verdict = _verdict(slots, length if collected else 1)
    return Network(slots, tokens, length, embedding, tuple(layers), verdict, about=about)


def _levels(depth: int, length: int) -> list[Unit]:
    """Return the level ℓ of a bracket and its square, and errors in the depth c, from c · w and w.

    ℓ is c for an opening and c + 1 for a closing bracket. [ℓ ≥ j] = ReLU(z) - ReLU(z - 1) with z = N (c + 1 - j) w for
    an opening bracket, z = N (c + 2 - j) w for a closing one, both at most 2N and switched off for the other kind by
    -2N. ℓ is the sum of these over j and ℓ^2 the sum of 2j - 1 times them.
    """
    units: list[Unit] = []
    for level in range(1, depth + 1):
        for other, shift in (("closing", 1), ("opening", 2)):
            reads = (("depth", 0, length), ("unit", 0, (shift - level) * length), (other, 0, -2 * length))
            units += [
                Unit(reads, -step, (("level", 0, sign), ("square", 0, sign * (2 * level - 1))))
                for step, sign in ((0, 1), (1, -1))
            ]
    # The lookup would notice these two errors as well, the second one later in the string: beyond k all levels look
    # like k, and a bracket of level k then finds a closing one. Flagged at once they keep the checker's search short.
    units.append(_flag([("depth", 0, -length)]))
    units.append(_flag([("depth", 0, length), ("unit", 0, -depth * length)]))
    units.append(_flag([("depth", 0, length), ("last", 0, length)], -length))
    return units


CONSTRUCTION = DyckTransformer()
