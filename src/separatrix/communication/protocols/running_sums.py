"""The protocol for one attention layer in floating point, executed: Alice has a prefix and passes on her running sums.

BHBK24 Theorem 4 lets each party add up its own positions, which floating point does not allow (E26). Where Alice holds
a prefix and every sum over positions runs in their order, her part of a sum is its partial sum at the cut: one number
of the accumulator. Bob sends the query's token; both send their maxima; Alice passes on the sum of exponentials, Bob
sends the whole one back; Alice passes on the m weighted sums of each head, and Bob ends with the bits that the layer
itself has:

    s + H·(2p + 2a + m·a),

which is at most the s + H·(4a + m·a) of the bound.

A layer is given by tables, because the bound lets everything but the sums be any function: the logit of each token at
each position for each query token, and its values.
"""

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy
from numpy.typing import NDArray

from separatrix.bit_counts import bits_for
from separatrix.communication.protocols.transcript import Outgoing, Speech, Transcript, Wire, converse, faithful
from separatrix.errors import SeparatrixError

Floats: TypeAlias = NDArray[Any]
Integers: TypeAlias = NDArray[numpy.int64]
SUM_BITS = 32
"""Bits a of a running sum: float32 also adds up shorter formats."""


@dataclass(frozen=True)
class FloatLayer:
    """Tables ``logits`` (heads, positions, tokens, query tokens) and ``values`` (heads, positions, tokens, m).

    ``format`` is that of logits, exponentials, weights and values; sums run in float32.
    """

    logits: Floats
    values: Floats
    format: Literal["float32", "float16"] = "float32"

    def __post_init__(self) -> None:
        if self.logits.shape[:3] != self.values.shape[:3] or self.logits.shape[2] != self.logits.shape[3]:
            raise SeparatrixError(
                f"logits {self.logits.shape} and values {self.values.shape} do not belong to the same heads, positions "
                "and tokens"
            )

    @property
    def precision(self) -> int:
        """p."""
        return int(numpy.dtype(self.format).itemsize) * 8

    @property
    def tokens(self) -> int:
        """|Σ|."""
        return int(self.logits.shape[2])

    def claimed_bits(self) -> int:
        """s + H(2p + 2a + ma)."""
        heads, width = self.logits.shape[0], self.values.shape[3]
        return bits_for(self.tokens) + heads * (2 * self.precision + 2 * SUM_BITS + width * SUM_BITS)

    def scored(self, cells: Integers, first: int, query: int) -> Floats:
        """Return the logits (heads, cells) of tokens at the positions from ``first`` on."""
        places = numpy.arange(first, first + len(cells))
        return self.logits[:, places, cells, query].astype(self.format)

    def exponentials(self, logits: Floats, largest: Floats) -> Floats:
        """exp(logit - largest), rounded to the format."""
        return numpy.exp((logits - largest[:, None]).astype(self.format)).astype(self.format)

    def added(self, start: Floats, exponentials: Floats) -> Floats:
        """Return a sum over positions (heads,) that continues from ``start``, one addition after the other."""
        total = start
        for place in range(exponentials.shape[1]):
            total = total + exponentials[:, place].astype(numpy.float32)
        return total

    def weighted(self, start: Floats, exponentials: Floats, whole: Floats, cells: Integers, first: int) -> Floats:
        """Return the weighted sums (heads, m) that continue from ``start``; each weight is divided first."""
        total = start
        for place, token in enumerate(cells.tolist()):
            weight = (exponentials[:, place].astype(numpy.float32) / whole).astype(self.format)
            value = self.values[:, first + place, token].astype(self.format)
            total = total + weight[:, None].astype(numpy.float32) * value.astype(numpy.float32)
        return total

    def evaluate(self, cells: Integers) -> Floats:
        """Return the heads' outputs (heads, m) at the last position, in one piece."""
        heads, width = self.logits.shape[0], self.values.shape[3]
        logits = self.scored(cells, 0, int(cells[-1]))
        exponentials = self.exponentials(logits, logits.max(axis=1))
        whole = self.added(_zeros(heads), exponentials)
        return self.weighted(_zeros(heads, width), exponentials, whole, cells, 0)


@dataclass(frozen=True)
class RunningSumsRun:
    """What was said, and the outputs (heads, m) that Bob came to."""

    transcript: Transcript
    outputs: Floats


class _Alice:
    def __init__(self, layer: FloatLayer, cells: Integers) -> None:
        self.layer, self.cells = layer, cells

    def speech(self) -> "Speech[Floats | None]":
        layer, heads = self.layer, self.layer.logits.shape[0]
        query = int((yield None) or "0", 2)
        logits = layer.scored(self.cells, 0, query)
        mine = logits.max(axis=1)
        theirs = _read((yield Outgoing("maxima", "largest logits", _written(mine))), layer.format)
        exponentials = layer.exponentials(logits, numpy.maximum(mine, theirs))
        handed = layer.added(_zeros(heads), exponentials)
        yield Outgoing("normalising", "running sums of exponentials", _written(handed))
        whole = _read((yield None), "float32")
        sums = layer.weighted(_zeros(heads, layer.values.shape[3]), exponentials, whole, self.cells, 0)
        yield Outgoing("sums", "running weighted sums", _written(sums))
        return None


class _Bob:
    def __init__(self, layer: FloatLayer, cells: Integers, first: int) -> None:
        self.layer, self.cells, self.first = layer, cells, first

    def speech(self) -> "Speech[Floats | None]":
        layer, query = self.layer, int(self.cells[-1])
        bits = bits_for(layer.tokens)
        yield Outgoing("query", "the token that asks", f"{query:0{bits}b}" if bits else "")
        logits = layer.scored(self.cells, self.first, query)
        mine = logits.max(axis=1)
        theirs = _read((yield Outgoing("maxima", "largest logits", _written(mine))), layer.format)
        exponentials = layer.exponentials(logits, numpy.maximum(mine, theirs))
        whole = layer.added(_read((yield None), "float32"), exponentials)
        yield Outgoing("normalising", "whole sums of exponentials", _written(whole))
        handed = _read((yield None), "float32").reshape(layer.logits.shape[0], -1)
        return layer.weighted(handed, exponentials, whole, self.cells, self.first)


def run_running_sums(layer: FloatLayer, cells: Integers, after: int, wire: Wire = faithful) -> RunningSumsRun:
    """Let Alice, who holds the first ``after`` tokens, and Bob compute the layer's output at the last position."""
    if not 1 <= after < len(cells):
        raise SeparatrixError(f"cut:{after} leaves one party nothing; choose 1 to {len(cells) - 1}")
    talk = converse(_Alice(layer, cells[:after]), _Bob(layer, cells[after:], after), wire)
    assert talk.bob is not None
    return RunningSumsRun(talk.transcript, talk.bob)


def _zeros(*shape: int) -> Floats:
    return numpy.zeros(shape, numpy.float32)


def _written(numbers: Floats) -> str:
    """Floats as the bits in which they are stored."""
    return "".join(f"{byte:08b}" for byte in numbers.tobytes())


def _read(bits: str | None, format: str) -> Floats:
    """Return the floats that such bits are."""
    text = bits or ""
    stored = bytes(int(text[place : place + 8], 2) for place in range(0, len(text), 8))
    return numpy.frombuffer(stored, dtype=format).copy()
