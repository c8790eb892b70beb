"""Running a network in any arithmetic, vectorised over a batch and streaming over positions.

Memory grows with batch · N · width for the residual stream and with batch · chunk · N for the scores of a chunk of
queries; no N × N matrix is held. ``chunk`` is chosen so that the scores stay below a fixed number of entries.

The order of operations is the papers': project, score, softmax with the maximum subtracted (Appendix D), average the
values, project, add. Each operation rounds as its arithmetic says.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

import numpy
from numpy.typing import NDArray

from separatrix.arithmetic import Arithmetic, FixedPoint, Floating, RawArray
from separatrix.errors import SeparatrixError
from separatrix.networks.decoding import nearest_whole, triple_in_sums
from separatrix.networks.embedding import embed
from separatrix.networks.exact import ExactMatrix, Integers
from separatrix.networks.exact_attention import attend_together, projected
from separatrix.networks.graph import GraphAttention, attend_on_graph, check_graphs
from separatrix.networks.network import Attention, FeedForward, Head, Layer, Network
from separatrix.networks.recurrent import AnyNetwork, RecurrentNetwork, run_recurrent
from separatrix.networks.third_order import ThirdOrderHead, attend_to_pairs
from separatrix.networks.weights import averaged, weights_of

Observer: TypeAlias = Callable[[int, RawArray], None]
"""Receives the number of a head and its weights (batch, queries, keys or pairs), chunk after chunk of queries."""


@dataclass(frozen=True)
class Outputs:
    """Raw readouts (batch, positions read, outputs) and the decoded answers (batch, positions read).

    Answers have a last axis of outputs as well where they are vectors, after the decoding ``round``.
    """

    raw: RawArray
    answers: Integers


def evaluate(network: AnyNetwork, tokens: Integers, arithmetic: Arithmetic, chunk: int | None = None) -> Outputs:
    """Run the network on a batch of inputs: tokens (batch, positions), or graphs (batch, N, N) for a graph network."""
    check_tokens(network, tokens)
    if isinstance(network, RecurrentNetwork):
        raw = run_recurrent(network, tokens, arithmetic)
        return Outputs(raw, decode(network, raw, arithmetic))
    stream = embedded(network, tokens, arithmetic)
    for number, layer in enumerate(network.layers):
        last = number == len(network.layers) - 1 or all(
            isinstance(later, FeedForward) for later in network.layers[number + 1 :]
        )
        # After the last attention only the positions that are read matter.
        only_last = last and network.readout.at == "last" and not isinstance(layer, FeedForward)
        queries = numpy.array([network.positions - 1]) if only_last else None
        graphs = tokens if isinstance(layer, GraphAttention) else None
        stream = run_layer(layer, stream, arithmetic, queries=queries, chunk=chunk, graphs=graphs)
    if network.readout.at == "last":
        stream = stream[:, -1:, :]
    raw = affine(network.readout.matrix, network.readout.bias, stream, arithmetic)
    return Outputs(raw, decode(network, raw, arithmetic))


def check_tokens(network: AnyNetwork, tokens: Integers) -> None:
    """Raise a one-line error unless the tokens fit the network.

    >>> from separatrix.constructions import constructions
    >>> built = constructions()["index-lookup"].build(4)
    >>> check_tokens(built.network, numpy.array([[7, 8, 9]]))
    Traceback (most recent call last):
    separatrix.errors.SeparatrixError: the network reads 5 tokens, not an array of shape (1, 3)
    """
    if isinstance(network, Network) and network.reads_graphs:
        check_graphs(tokens, network.positions)
        return
    if isinstance(network, Network) and network.features:
        if tokens.ndim != 3 or tokens.shape[1:] != (network.positions, network.features):
            raise SeparatrixError(
                f"the network reads {network.positions} cells of {network.features} numbers, "
                f"not an array of shape {tokens.shape}"
            )
        return
    if tokens.ndim != 2 or tokens.shape[1] != network.positions:
        raise SeparatrixError(f"the network reads {network.positions} tokens, not an array of shape {tokens.shape}")
    if tokens.size and (int(tokens.min()) < 0 or int(tokens.max()) >= network.vocabulary):
        raise SeparatrixError(
            f"tokens {int(tokens.min())} to {int(tokens.max())} do not fit the vocabulary 0 to {network.vocabulary - 1}"
        )


def embedded(network: Network, tokens: Integers, arithmetic: Arithmetic) -> RawArray:
    """φ of every token at its position: (batch, positions, d). Vertices of a graph and cells have token 0."""
    cells = tokens
    if network.reads_graphs or network.features:
        tokens = numpy.zeros(tokens.shape[:2], dtype=numpy.int64)
    positions = numpy.broadcast_to(numpy.arange(network.positions, dtype=numpy.int64), tokens.shape)
    stream = embed(network.embedding, network.slots, tokens, positions, arithmetic)
    for part in network.feature_parts:
        place = network.slots.columns(part.slot)
        stream[..., place] = arithmetic.add(stream[..., place], part.rows(cells, arithmetic))
    for part in network.dual_parts:
        place = network.slots.columns(part.slot)
        rows = part.rows(cells, arithmetic)
        stream[..., place] = arithmetic.add(stream[..., place], rows)
    return stream


def run_layer(
    layer: Layer,
    stream: RawArray,
    arithmetic: Arithmetic,
    *,
    queries: Integers | None = None,
    chunk: int | None = None,
    graphs: Integers | None = None,
    observe: Observer | None = None,
) -> RawArray:
    """Return one layer on the residual stream (batch, positions, d); graph attention also needs the graphs.

    ``queries`` are the positions whose outputs (batch, queries, d) an attention layer makes, all if not given;
    ``observe`` is called with the weights as they are made.
    """
    if isinstance(layer, FeedForward):
        hidden = arithmetic.relu(affine(layer.inner, layer.inner_bias, stream, arithmetic))
        result = affine(layer.outer, layer.outer_bias, hidden, arithmetic)
        return arithmetic.add(stream, result) if layer.residual else result
    asked: Integers = numpy.arange(stream.shape[1], dtype=numpy.int64) if queries is None else queries
    if isinstance(layer, Attention) and isinstance(arithmetic, FixedPoint) and observe is None:
        return attend_together(layer, stream, asked, arithmetic, chunk, attention_weights)
    own = stream if queries is None else stream[:, queries, :]
    total = own if layer.residual else arithmetic.zeros(own.shape)
    if isinstance(layer, GraphAttention) and graphs is None:
        raise SeparatrixError("graph attention needs adjacency matrices; evaluate the whole network on them")
    for number, head in enumerate(layer.heads):
        tell = None if observe is None else partial(observe, number)
        if isinstance(head, Head):
            output = attend(head, stream, asked, arithmetic, chunk, tell)
        elif isinstance(head, ThirdOrderHead):
            output = attend_to_pairs(head, stream, asked, arithmetic, chunk, tell)
        else:
            assert graphs is not None
            output = attend_on_graph(head, stream, graphs, asked, arithmetic, chunk, tell)
        total = arithmetic.add(total, output)
    return total


def affine(matrix: ExactMatrix, bias: ExactMatrix, stream: RawArray, arithmetic: Arithmetic) -> RawArray:
    """W x + b on the last axis.

    >>> from separatrix.arithmetic import FixedPoint
    >>> from separatrix.networks import exact
    >>> numbers = FixedPoint(10, 1)
    >>> affine(exact([[2, 1]]), exact([[-1]]), numbers.encode([[1, 3]]), numbers).tolist()
    [[40]]
    """
    exact = isinstance(arithmetic, FixedPoint)
    product = (
        projected(matrix, stream, arithmetic) if exact else arithmetic.matmul(stream, matrix.encoded(arithmetic).T)
    )
    return arithmetic.add(product, bias.encoded(arithmetic)[:, 0])


def attend(
    head: Head,
    stream: RawArray,
    queries: Integers,
    arithmetic: Arithmetic,
    chunk: int | None = None,
    observe: Callable[[RawArray], None] | None = None,
) -> RawArray:
    """Return the output of one head for some positions: (batch, queries, d)."""
    keys = arithmetic.matmul(stream, head.key.encoded(arithmetic).T)
    values = arithmetic.matmul(stream, head.value.encoded(arithmetic).T)

    def weigh(some: Integers) -> RawArray:
        return attention_weights(head, stream, some, arithmetic, keys)

    return averaged(weigh, values, head.output, queries, chunk, arithmetic, observe)


def attention_weights(
    head: Head, stream: RawArray, queries: Integers, arithmetic: Arithmetic, keys: RawArray | None = None
) -> RawArray:
    """Return the weights (batch, queries, positions) that some positions give to all; ``keys`` where they are at
    hand."""
    if keys is None:
        keys = arithmetic.matmul(stream, head.key.encoded(arithmetic).T)
    own = stream[:, queries, :]
    if arithmetic.exact and not isinstance(arithmetic, Floating):
        asked = projected(head.query, own, arithmetic)
    else:
        asked = arithmetic.matmul(own, head.query.encoded(arithmetic).T)
    scores = arithmetic.matmul(asked, numpy.swapaxes(keys, -1, -2))
    return weights_of(head, scores, mask_of(head, queries, stream.shape[1]), arithmetic)


def mask_of(head: Head, queries: Integers, positions: int) -> NDArray[numpy.bool_]:
    """Return which keys each query may see: (queries, positions).

    >>> from separatrix.constructions import constructions
    >>> built = constructions()["index-lookup"].build(4)
    >>> mask_of(built.network.layers[0].heads[0], numpy.array([2]), 4).tolist()
    [[True, True, True, True]]
    """
    key = numpy.arange(positions)[None, :]
    if head.mask == "causal":
        return key <= queries[:, None]
    if head.mask == "strict":
        return key < queries[:, None]
    return numpy.ones((len(queries), positions), dtype=bool)


def decode(network: AnyNetwork, raw: RawArray, arithmetic: Arithmetic) -> Integers:
    """Answers from readouts (…, outputs)."""
    outputs, sums = raw.shape[-1], network.readout.power_sums
    if network.readout.decoding == "round":
        return nearest_whole(raw, arithmetic)
    if sums is not None:
        return triple_in_sums(sums, nearest_whole(raw, arithmetic))
    if network.readout.decoding in ("bits", "exact"):
        one = arithmetic.constant(1, raw.shape)
        bits = arithmetic.less(one, arithmetic.add(raw, raw))
        answers = bits.astype(numpy.int64) @ (1 << numpy.arange(outputs - 1, -1, -1, dtype=numpy.int64))
        if network.readout.decoding == "bits":
            return answers
        exact = arithmetic.equal(raw, one) | arithmetic.equal(raw, arithmetic.zeros(raw.shape))
        return numpy.where(exact.all(axis=-1), answers, -1)
    best = arithmetic.equal(raw, arithmetic.max(raw, axis=-1, keepdims=True))
    return numpy.argmax(best, axis=-1).astype(numpy.int64)
