"""The papers' Transformer as plain data: embedding, attention layers, ReLU feed-forwards, readout.

BHBK24 §2 (heads concatenated and projected) and SHT23 (heads summed) are the same thing here: every head has its own
output matrix into the residual stream, and the heads' outputs are added. Deviations from the papers' bare definition,
all of which they allow or use: residual connections, masks, other attention next to softmax (see ``weights``).
Third-order and graph attention of SHT23 are layers of their own kinds, in ``third_order`` and ``graph``.
"""

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from separatrix.errors import SeparatrixError
from separatrix.networks.decoding import PowerSums
from separatrix.networks.dual import DualPart
from separatrix.networks.embedding import EmbeddingPart, FeaturePart
from separatrix.networks.exact import ExactMatrix, Shapes, Slots
from separatrix.networks.graph import GRAPH_MATRICES, GraphAttention
from separatrix.networks.third_order import THIRD_ORDER_MATRICES, ThirdOrderAttention
from separatrix.networks.weights import Scoring

Mask: TypeAlias = Literal["none", "causal", "strict"]
Decoding: TypeAlias = Literal["bits", "argmax", "exact", "round", "power-sums"]
HEAD_MATRICES = ("query", "key", "value", "output")
MOST_BITS = 62
"""Bits of an answer at most: answers are numbers of 64 bits with a sign."""
FEED_FORWARD_MATRICES = ("inner", "inner_bias", "outer", "outer_bias")


@dataclass(frozen=True)
class Head:
    """One attention head: query and key (m, d), value (v, d), output (d, v); for ``scoring`` see ``weights``."""

    query: ExactMatrix
    key: ExactMatrix
    value: ExactMatrix
    output: ExactMatrix
    scoring: Scoring = "softmax"
    mask: Mask = "none"

    def expected_shapes(self, width: int) -> Shapes:
        """Return the shapes that fit together, by name, in a residual stream of this width."""
        inner, value = (self.query.shape[0], width), (None, width)
        return {"query": (None, width), "key": inner, "value": value, "output": (width, self.value.shape[0])}


@dataclass(frozen=True)
class Attention:
    """Heads whose outputs are added; with ``residual`` also to the layer's input."""

    heads: tuple[Head, ...]
    residual: bool = True


@dataclass(frozen=True)
class FeedForward:
    """x ↦ W₂ ReLU(W₁ x + b₁) + b₂, with ``residual`` added to x; biases are columns (rows, 1)."""

    inner: ExactMatrix
    inner_bias: ExactMatrix
    outer: ExactMatrix
    outer_bias: ExactMatrix
    residual: bool = True

    def expected_shapes(self, width: int) -> Shapes:
        """Return the shapes that fit together, by name, in a residual stream of this width."""
        units = self.inner.shape[0]
        return {"inner": (None, width), "inner_bias": (units, 1), "outer": (width, units), "outer_bias": (width, 1)}


Layer: TypeAlias = Attention | FeedForward | ThirdOrderAttention | GraphAttention
"""Whatever may be between embedding and readout."""


@dataclass(frozen=True)
class Readout:
    """What is read from the residual stream: W x + b, at the last or at every position.

    ``bits``: output bit r (most significant first) is 1 when coordinate r exceeds 1/2; ``exact``: the same where all
    coordinates are exactly 0 or 1, and -1, which is not an answer, where one is not; ``argmax``: the number of the
    largest coordinate, the smallest number on ties; ``round``: a vector, every coordinate rounded to the nearest whole
    number; ``power-sums``: whether a triple matches, from a residue and power sums (see ``decoding``).
    """

    matrix: ExactMatrix
    bias: ExactMatrix
    decoding: Decoding
    at: Literal["last", "every"] = "last"
    power_sums: PowerSums | None = None

    def __post_init__(self) -> None:
        sums, rows = self.power_sums, self.matrix.shape[0]
        if rows < 1:
            raise SeparatrixError("the readout has no coordinate; give at least one")
        if self.decoding in ("bits", "exact") and rows > MOST_BITS:
            raise SeparatrixError(f"a readout of {rows} bits names answers beyond 64 bits; give at most {MOST_BITS}")
        if (sums is not None) != (self.decoding == "power-sums"):
            raise SeparatrixError(f"power sums go with the decoding power-sums alone, not with {self.decoding}")
        if sums is not None and not 2 <= rows <= sums.prime:
            raise SeparatrixError(f"{rows} coordinates are not a residue and power sums in a field of {sums.prime}")


@dataclass(frozen=True)
class Network:
    """A Transformer with explicit weights for inputs of ``positions`` tokens below ``vocabulary``.

    With ``feature_parts`` an input has cells of several numbers instead; the other parts then go by position alone.
    ``dual_parts`` embed sets of positions, named by a cell.
    """

    slots: Slots
    vocabulary: int
    positions: int
    embedding: tuple[EmbeddingPart, ...]
    layers: tuple[Layer, ...]
    readout: Readout
    about: str = field(default="", compare=False)
    feature_parts: tuple[FeaturePart, ...] = ()
    dual_parts: tuple[DualPart, ...] = ()

    def __post_init__(self) -> None:
        problems = list(self._problems())
        if problems:
            raise SeparatrixError("the network does not fit together: " + "; ".join(problems))

    def _problems(self) -> list[str]:
        """Return every reason why the shapes do not fit, collected."""
        width = self.slots.width
        found: list[str] = []

        def expect(what: str, matrix: ExactMatrix, rows: int | None, columns: int | None) -> None:
            shape = matrix.shape
            if (rows is not None and shape[0] != rows) or (columns is not None and shape[1] != columns):
                found.append(f"{what} is {shape}, expected ({rows or 'any'}, {columns or 'any'})")

        known = {name for name, _ in self.slots.parts}
        for part in (*self.embedding, *self.feature_parts, *self.dual_parts):
            if part.slot not in known:
                found.append(f"embedding writes the unknown slot {part.slot!r}")
            elif isinstance(part, FeaturePart):
                expect(f"feature part for slot {part.slot!r}", part.matrix, self.slots.size(part.slot), self.features)
            elif part.rule.width != self.slots.size(part.slot):
                found.append(f"embedding rows for slot {part.slot!r} have {part.rule.width} numbers")
            if isinstance(part, DualPart) and part.sets.columns[1] > self.features:
                found.append(f"sets are read from column {part.sets.columns[1]}, cells have {self.features} numbers")
        if self.feature_parts and any(part.source == "token" for part in self.embedding):
            found.append("cells of several numbers are not tokens, but a part of the embedding goes by token")
        for number, layer in enumerate(self.layers):
            units = [layer] if isinstance(layer, FeedForward) else layer.heads
            for place, unit in enumerate(units):
                where = f"layer {number}" if unit is layer else f"layer {number} head {place}"
                for name, shape in unit.expected_shapes(width).items():
                    expect(f"{where} {name}", getattr(unit, name), *shape)
        expect("readout", self.readout.matrix, None, width)
        expect("readout bias", self.readout.bias, self.readout.matrix.shape[0], 1)
        return found

    @property
    def depth(self) -> int:
        """How many attention layers there are: the papers' L."""
        return sum(not isinstance(layer, FeedForward) for layer in self.layers)

    @property
    def heads(self) -> int:
        """The largest number of heads in a layer: the papers' H."""
        return max((len(layer.heads) for layer in self.layers if not isinstance(layer, FeedForward)), default=0)

    @property
    def features(self) -> int:
        """How many numbers a cell of the input has; 0 when it is a token."""
        return self.feature_parts[0].matrix.shape[1] if self.feature_parts else 0

    @property
    def reads_graphs(self) -> bool:
        """Whether inputs are adjacency matrices (count, N, N) instead of tokens (count, positions)."""
        return any(isinstance(layer, GraphAttention) for layer in self.layers)

    @property
    def width(self) -> int:
        """max(m, d) as BHBK24 §2 defines the width."""
        comparing = [layer for layer in self.layers if isinstance(layer, Attention | ThirdOrderAttention)]
        inner = [head.query.shape[0] for layer in comparing for head in layer.heads]
        return max([self.slots.width, *inner])

    def size_bits(self, precision_bits: int) -> int:
        """Return bits that describe the network: every non-zero weight at full precision and the embedding's
        description."""
        matrices = [matrix for layer in self.layers for matrix in matrices_of(layer)]
        weights = sum(matrix.parameters for matrix in [*matrices, self.readout.matrix, self.readout.bias])
        parts = (*self.embedding, *self.feature_parts, *self.dual_parts)
        return weights * precision_bits + sum(part.size_bits(precision_bits) for part in parts)


def matrices_of(layer: Layer) -> list[ExactMatrix]:
    """Return all matrices of a layer."""
    if isinstance(layer, FeedForward):
        return [getattr(layer, name) for name in FEED_FORWARD_MATRICES]
    return [getattr(head, name) for head in layer.heads for name in head_matrices(layer)]


def head_matrices(layer: Attention | ThirdOrderAttention | GraphAttention) -> tuple[str, ...]:
    """Return the names of the matrices of each head of a layer.

    >>> head_matrices(Attention(()))
    ('query', 'key', 'value', 'output')
    """
    if isinstance(layer, Attention):
        return HEAD_MATRICES
    return GRAPH_MATRICES if isinstance(layer, GraphAttention) else THIRD_ORDER_MATRICES
