"""One input through a network, kept layer by layer: the residual stream after each, and who attends to whom.

The order of operations is that of ``networks.evaluate``, whose parts are used throughout; the tests hold the readouts
against it bit for bit. Memory grows with layers · positions · width, and weights are made for the queries that are
asked for: no positions² matrix of weights is kept.
"""

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy
from numpy.typing import NDArray

from separatrix.arithmetic import Arithmetic, RawArray
from separatrix.networks import (
    AnyNetwork,
    Attention,
    FeedForward,
    GraphAttention,
    GraphHead,
    Head,
    Integers,
    Network,
    RecurrentNetwork,
    ThirdOrderAttention,
    ThirdOrderHead,
)
from separatrix.networks.evaluate import affine, check_tokens, decode, embedded, mask_of, run_layer
from separatrix.networks.graph import patterns_of
from separatrix.networks.recurrent import RecurrentCell
from separatrix.networks.third_order import pair_products
from separatrix.networks.weights import weights_of

Reals: TypeAlias = NDArray[numpy.float64]
StageKind: TypeAlias = Literal["embedding", "attention", "feed-forward", "state"]
AttentionLayer: TypeAlias = Attention | ThirdOrderAttention | GraphAttention
EVERYTHING = numpy.ones((1, 1), dtype=bool)


@dataclass(frozen=True)
class Stage:
    """The residual stream (positions, d) after a step, as raw numbers; the title says which step."""

    title: str
    kind: StageKind
    stream: RawArray


@dataclass(frozen=True, eq=False)
class Trace:
    """A whole run of one input (positions, …): stages in order, raw readouts (positions read, outputs) and answers."""

    network: AnyNetwork
    arithmetic: Arithmetic
    cells: Integers
    stages: tuple[Stage, ...]
    raw: RawArray
    answers: Integers

    @property
    def attention_layers(self) -> list[tuple[int, AttentionLayer]]:
        """The attention layers, each with the number of the stage that it reads."""
        if isinstance(self.network, RecurrentNetwork):
            return []
        return [
            (number, layer) for number, layer in enumerate(self.network.layers) if not isinstance(layer, FeedForward)
        ]

    def weights(self, layer: int, head: int, queries: Integers) -> Reals:
        """The weights (queries, keys) of a head of an attention layer; only for attention to single positions."""
        number, found = self.attention_layers[layer]
        assert isinstance(found, Attention)
        raw = _weights(found.heads[head], self.stages[number].stream, queries, self.arithmetic)
        return self.arithmetic.to_float64(raw)

    def pair_weights(self, layer: int, head: int, query: int) -> tuple[Reals, float | None]:
        """The weights (N, N) that a query gives to pairs of positions, and to the dummy pair where there is one."""
        number, found = self.attention_layers[layer]
        stream = self.stages[number].stream
        if isinstance(found, ThirdOrderAttention):
            raw, dummy = _third_order_weights(found.heads[head], stream, query, self.arithmetic), None
        else:
            assert isinstance(found, GraphAttention)
            every = _graph_weights(found.heads[head], self.cells, query, self.arithmetic)
            raw, dummy = every[:-1], float(self.arithmetic.to_float64(every[-1:])[0])
        size = stream.shape[0]
        return self.arithmetic.to_float64(raw).reshape(size, size), dummy


def trace(network: AnyNetwork, cells: Integers, arithmetic: Arithmetic) -> Trace:
    """Run one input: tokens (positions,), cells (positions, features), or an adjacency matrix (N, N)."""
    check_tokens(network, cells[None])
    if isinstance(network, RecurrentNetwork):
        return _recurrent(network, cells, arithmetic)
    stream = embedded(network, cells[None], arithmetic)
    stages = [Stage("embedding", "embedding", stream[0])]
    counts = {"attention": 0, "feed-forward": 0}
    for layer in network.layers:
        kind: StageKind = "feed-forward" if isinstance(layer, FeedForward) else "attention"
        counts[kind] += 1
        graphs = cells[None] if isinstance(layer, GraphAttention) else None
        stream = run_layer(layer, stream, arithmetic, graphs=graphs)
        stages.append(Stage(f"{kind} {counts[kind]}", kind, stream[0]))
    read = stream[:, -1:, :] if network.readout.at == "last" else stream
    raw = affine(network.readout.matrix, network.readout.bias, read, arithmetic)
    return Trace(network, arithmetic, cells, tuple(stages), raw[0], decode(network, raw, arithmetic)[0])


def _recurrent(network: RecurrentNetwork, cells: Integers, arithmetic: Arithmetic) -> Trace:
    """Two stages: the embedding of each token, and the state after it."""
    cell = RecurrentCell(network, arithmetic)
    states: list[RawArray] = []
    held = cell.initial[None]
    for token in cells.tolist():
        held = cell.step(held, numpy.array([token], dtype=numpy.int64))
        states.append(held[0])
    stream = numpy.stack(states)
    read = stream[-1:] if network.readout.at == "last" else stream
    raw = cell.read(read)
    stages = (
        Stage("token", "embedding", network.embedding.encoded(arithmetic)[cells]),
        Stage("state", "state", stream),
    )
    return Trace(network, arithmetic, cells, stages, raw, decode(network, raw, arithmetic))


def slots_of(network: AnyNetwork, stage: Stage) -> list[tuple[str, slice]]:
    """The named parts of a stage's stream; those of a recurrent network are its state and its token's embedding."""
    if isinstance(network, Network):
        return [(name, network.slots.columns(name)) for name, _ in network.slots.parts]
    return [(stage.title, slice(0, stage.stream.shape[1]))]


def _weights(head: Head, stream: RawArray, queries: Integers, arithmetic: Arithmetic) -> RawArray:
    keys = arithmetic.matmul(stream, head.key.encoded(arithmetic).T)
    asked = arithmetic.matmul(stream[queries], head.query.encoded(arithmetic).T)
    scores = arithmetic.matmul(asked, keys.T)
    return weights_of(head, scores, mask_of(head, queries, len(stream)), arithmetic)


def _third_order_weights(head: ThirdOrderHead, stream: RawArray, query: int, arithmetic: Arithmetic) -> RawArray:
    first = arithmetic.matmul(stream, head.first_key.encoded(arithmetic).T)
    second = arithmetic.matmul(stream, head.second_key.encoded(arithmetic).T)
    asked = arithmetic.matmul(stream[query : query + 1], head.query.encoded(arithmetic).T)
    scores = arithmetic.matmul(asked, pair_products(first, second, arithmetic).T)
    return weights_of(head, scores, EVERYTHING, arithmetic)[0]


def _graph_weights(head: GraphHead, graph: Integers, query: int, arithmetic: Arithmetic) -> RawArray:
    scores = head.scores.encoded(arithmetic)[0][patterns_of(graph[None], query, query + 1)[0]]
    both = numpy.concatenate([scores, head.dummy.encoded(arithmetic)], axis=1)
    return weights_of(head, both, EVERYTHING, arithmetic)[0]
