"""Running a network in any arithmetic, vectorised over a batch and streaming over positions.

Memory grows with batch · N · width for the residual stream and with batch · chunk · N for the scores of a chunk of
queries; no N × N matrix is held. ``chunk`` is chosen so that the scores stay below a fixed number of entries.

The order of operations is the papers': project, score, softmax with the maximum subtracted (Appendix D), average the
values, project, add. Each operation rounds as its arithmetic says.
"""

from dataclasses import dataclass

import numpy
from numpy.typing import NDArray

from separatrix.arithmetic import Arithmetic, RawArray
from separatrix.errors import SeparatrixError
from separatrix.networks.embedding import embed
from separatrix.networks.exact import ExactMatrix, Integers
from separatrix.networks.network import Attention, FeedForward, Head, Network

LARGEST_SCORES = 1 << 22


@dataclass(frozen=True)
class Outputs:
    """Raw readouts (batch, positions read, outputs) and the decoded answers (batch, positions read)."""

    raw: RawArray
    answers: Integers


def evaluate(network: Network, tokens: Integers, arithmetic: Arithmetic, chunk: int | None = None) -> Outputs:
    """Run the network on a batch of inputs (batch, positions)."""
    check_tokens(network, tokens)
    stream = embedded(network, tokens, arithmetic)
    for number, layer in enumerate(network.layers):
        last = number == len(network.layers) - 1 or all(
            isinstance(later, FeedForward) for later in network.layers[number + 1 :]
        )
        # After the last attention only the positions that are read matter.
        only_last = last and network.readout.at == "last" and isinstance(layer, Attention)
        stream = run_layer(layer, stream, arithmetic, only_last=only_last, chunk=chunk)
    if network.readout.at == "last":
        stream = stream[:, -1:, :]
    raw = affine(network.readout.matrix, network.readout.bias, stream, arithmetic)
    return Outputs(raw, decode(network, raw, arithmetic))


def check_tokens(network: Network, tokens: Integers) -> None:
    """Raise a one-line error unless the tokens fit the network."""
    if tokens.ndim != 2 or tokens.shape[1] != network.positions:
        raise SeparatrixError(f"the network reads {network.positions} tokens, not an array of shape {tokens.shape}")
    if tokens.size and (int(tokens.min()) < 0 or int(tokens.max()) >= network.vocabulary):
        raise SeparatrixError(
            f"tokens {int(tokens.min())} to {int(tokens.max())} do not fit the vocabulary 0 to {network.vocabulary - 1}"
        )


def embedded(network: Network, tokens: Integers, arithmetic: Arithmetic) -> RawArray:
    """φ of every token at its position: (batch, positions, d)."""
    positions = numpy.broadcast_to(numpy.arange(network.positions, dtype=numpy.int64), tokens.shape)
    return embed(network.embedding, network.slots, tokens, positions, arithmetic)


def run_layer(
    layer: Attention | FeedForward,
    stream: RawArray,
    arithmetic: Arithmetic,
    *,
    only_last: bool = False,
    chunk: int | None = None,
) -> RawArray:
    """One layer on the residual stream (batch, positions, d)."""
    if isinstance(layer, FeedForward):
        hidden = arithmetic.relu(affine(layer.inner, layer.inner_bias, stream, arithmetic))
        result = affine(layer.outer, layer.outer_bias, hidden, arithmetic)
        return arithmetic.add(stream, result) if layer.residual else result
    queries = stream[:, -1:, :] if only_last else stream
    first = stream.shape[1] - queries.shape[1]
    total = queries if layer.residual else arithmetic.zeros(queries.shape)
    for head in layer.heads:
        total = arithmetic.add(total, attend(head, stream, first, arithmetic, chunk))
    return total


def affine(matrix: ExactMatrix, bias: ExactMatrix, stream: RawArray, arithmetic: Arithmetic) -> RawArray:
    """W x + b on the last axis."""
    product = arithmetic.matmul(stream, matrix.encoded(arithmetic).T)
    return arithmetic.add(product, bias.encoded(arithmetic)[:, 0])


def attend(head: Head, stream: RawArray, first: int, arithmetic: Arithmetic, chunk: int | None = None) -> RawArray:
    """The output of one head for the queries from position ``first`` on: (batch, queries, d)."""
    batch, positions, _ = stream.shape
    keys = arithmetic.matmul(stream, head.key.encoded(arithmetic).T)
    values = arithmetic.matmul(stream, head.value.encoded(arithmetic).T)
    size = chunk or max(1, LARGEST_SCORES // max(1, batch * positions))
    pieces: list[RawArray] = []
    for start in range(first, positions, size):
        stop = min(start + size, positions)
        queries = arithmetic.matmul(stream[:, start:stop, :], head.query.encoded(arithmetic).T)
        scores = arithmetic.matmul(queries, numpy.swapaxes(keys, -1, -2))
        allowed = mask_of(head, numpy.arange(start, stop), positions)
        averaged = arithmetic.matmul(weights_of(head, scores, allowed, arithmetic), values)
        pieces.append(arithmetic.matmul(averaged, head.output.encoded(arithmetic).T))
    return numpy.concatenate(pieces, axis=1)


def mask_of(head: Head, queries: Integers, positions: int) -> NDArray[numpy.bool_]:
    """Which keys each query may see: (queries, positions)."""
    key = numpy.arange(positions)[None, :]
    if head.mask == "causal":
        return key <= queries[:, None]
    if head.mask == "strict":
        return key < queries[:, None]
    return numpy.ones((len(queries), positions), dtype=bool)


def weights_of(head: Head, scores: RawArray, allowed: NDArray[numpy.bool_], arithmetic: Arithmetic) -> RawArray:
    """Attention weights (batch, queries, keys); a query that may see no key gives all keys weight 0."""
    allowed = numpy.broadcast_to(allowed, scores.shape)
    seeing = allowed.any(axis=-1, keepdims=True)
    if head.scoring == "linear":
        return numpy.where(allowed, scores, arithmetic.zeros(scores.shape))
    # Rows without a visible key would have no maximum: let them see everything and blank them afterwards.
    visible = allowed | ~seeing
    if head.scoring == "softmax":
        weights = arithmetic.softmax(scores, where=visible)
    else:
        lowest = arithmetic.negate(arithmetic.max(arithmetic.maximum(scores, arithmetic.negate(scores)), keepdims=True))
        shown = numpy.where(visible, scores, numpy.broadcast_to(lowest, scores.shape))
        best = arithmetic.equal(shown, arithmetic.max(shown, axis=-1, keepdims=True)) & visible
        ones = numpy.where(best, arithmetic.constant(1, scores.shape), arithmetic.zeros(scores.shape))
        weights = arithmetic.divide(ones, arithmetic.sum(ones, axis=-1, keepdims=True))
    return numpy.where(seeing, weights, arithmetic.zeros(scores.shape))


def decode(network: Network, raw: RawArray, arithmetic: Arithmetic) -> Integers:
    """Answers from readouts (…, outputs)."""
    outputs = raw.shape[-1]
    if network.readout.decoding == "bits":
        half = arithmetic.encode([1])
        doubled = arithmetic.add(raw, raw)
        bits = arithmetic.less(numpy.broadcast_to(half, doubled.shape), doubled)
        return bits.astype(numpy.int64) @ (1 << numpy.arange(outputs - 1, -1, -1, dtype=numpy.int64))
    best = arithmetic.equal(raw, arithmetic.max(raw, axis=-1, keepdims=True))
    return numpy.argmax(best, axis=-1).astype(numpy.int64)
