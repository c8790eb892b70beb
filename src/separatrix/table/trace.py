"""One input through a network, kept layer by layer: the residual stream after each, and who attends to whom.

The order of operations is that of ``networks.evaluate``, whose parts are used throughout; the tests hold the readouts
against it bit for bit. Memory grows with layers · positions · width, and with positions² for each head of attention to
single positions up to :data:`LARGEST_KEPT` weights in all; others are computed again for the queries that are shown.

Attention to pairs makes positions² weights for every query. Beyond :data:`MOST_PAIRS` of them only some positions are
run, those in ``first`` before others: what a person looks at is there at once, and the rest is not needed for it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Literal, TypeAlias

import numpy
from numpy.typing import NDArray

from separatrix.arithmetic import Arithmetic, RawArray
from separatrix.networks import (
    AnyNetwork,
    Attention,
    FeedForward,
    GraphAttention,
    Integers,
    Layer,
    Network,
    RecurrentCell,
    RecurrentNetwork,
    ThirdOrderAttention,
    affine,
    attention_weights,
    check_tokens,
    decode,
    embedded,
    graph_weights,
    pair_keys,
    pair_weights,
    run_layer,
)

Reals: TypeAlias = NDArray[numpy.float64]
StageKind: TypeAlias = Literal["embedding", "attention", "feed-forward", "state"]
AttentionLayer: TypeAlias = Attention | ThirdOrderAttention | GraphAttention
LARGEST_KEPT = 1 << 21
"""Weights kept while a network runs, so that no map has to be made twice."""
MOST_PAIRS = 1 << 16
"""Weights on pairs that one run makes, unless a single position needs more: a fraction of a second."""


@dataclass(frozen=True)
class Stage:
    """The residual stream after a step as raw numbers: (positions, d), or (rows, d) of the run's ``rows``."""

    title: str
    kind: StageKind
    stream: RawArray


@dataclass(frozen=True, eq=False)
class Trace:
    """A whole run of one input (positions, …): stages in order, raw readouts (positions read, outputs) and answers.

    ``rows`` are the positions that were run to the end, in order: all of them, except beyond :data:`MOST_PAIRS`.
    """

    network: AnyNetwork
    arithmetic: Arithmetic
    cells: Integers
    rows: Integers
    stages: tuple[Stage, ...]
    raw: RawArray
    answers: Integers
    kept: dict[tuple[int, int], list[RawArray]] = field(repr=False)
    """Weights by attention layer and head, in chunks of queries."""

    @property
    def attention_layers(self) -> list[tuple[int, AttentionLayer]]:
        """The attention layers, each with the number of the stage that it reads."""
        return attention_layers(self.network)

    @cached_property
    def _places(self) -> dict[int, int]:
        return {int(position): place for place, position in enumerate(self.rows)}

    def at(self, stage: Stage, position: int) -> RawArray | None:
        """Return the stream of one position after a step; None where it was not run so far."""
        if len(stage.stream) == self.network.positions:
            return stage.stream[position]
        place = self._places.get(position)
        return None if place is None else stage.stream[place]

    def readout(self, position: int) -> tuple[RawArray, Integers] | None:
        """Return the raw readout and the answer at one position; None where nothing is read, or it was not run."""
        if self.network.readout.at == "last":
            return (self.raw[0], self.answers[0]) if position == self.network.positions - 1 else None
        place = self._places.get(position)
        return None if place is None else (self.raw[place], self.answers[place])

    def weights(self, layer: int, head: int, queries: Integers) -> Reals:
        """Return the weights (queries, keys) of a head of an attention layer; only for attention to single
        positions."""
        number, found = self.attention_layers[layer]
        assert isinstance(found, Attention)
        kept = self._kept(layer, head)
        if kept is not None:
            return self.arithmetic.to_float64(kept[queries])
        stream = self.stages[number].stream[None]
        return self.arithmetic.to_float64(attention_weights(found.heads[head], stream, queries, self.arithmetic)[0])

    def pair_weights(self, layer: int, head: int, query: int) -> tuple[Reals, float | None]:
        """Return the weights (N, N) that a query gives to pairs of positions, and to the dummy pair where there is
        one."""
        number, found = self.attention_layers[layer]
        stream, queries, numbers = self.stages[number].stream[None], numpy.array([query]), self.arithmetic
        size = stream.shape[1]
        kept, place = self._kept(layer, head), self._places.get(query)
        raw = None if kept is None or place is None else kept[place]
        if isinstance(found, ThirdOrderAttention):
            if raw is None:
                unit = found.heads[head]
                raw = pair_weights(unit, stream, queries, numbers, pair_keys(unit, stream, numbers))[0, 0]
            return numbers.to_float64(raw).reshape(size, size), None
        assert isinstance(found, GraphAttention)
        if raw is None:
            raw = graph_weights(found.heads[head], self.cells[None], queries, numbers)[0, 0]
        return numbers.to_float64(raw[:-1]).reshape(size, size), float(numbers.to_float64(raw[-1:])[0])

    def _kept(self, layer: int, head: int) -> RawArray | None:
        """Return the weights of a head that were kept, of the positions that were run."""
        kept = self.kept.get((layer, head))
        return None if kept is None else kept[0][0] if len(kept) == 1 else numpy.concatenate(kept, axis=1)[0]


def attention_layers(network: AnyNetwork) -> list[tuple[int, AttentionLayer]]:
    """Return the attention layers of a network, each with its number among all layers."""
    if isinstance(network, RecurrentNetwork):
        return []
    return [(number, layer) for number, layer in enumerate(network.layers) if not isinstance(layer, FeedForward)]


def rows_to_run(network: AnyNetwork, first: Sequence[int]) -> Integers:
    """Return the positions that a run takes to its end: all, or as many as fit, those in ``first`` before others."""
    positions = network.positions
    layers = [layer for _, layer in attention_layers(network)]
    everything = numpy.arange(positions)
    # Where a later layer attends, every position is needed; attention to single positions is cheap.
    if len(layers) != 1 or isinstance(layers[0], Attention):
        return everything
    most = max(1, MOST_PAIRS // (positions**2 * len(layers[0].heads)))
    if most >= positions:
        return everything
    read = [positions - 1] if network.readout.at == "last" else []
    return numpy.array(sorted(list(dict.fromkeys([*read, *first, *everything.tolist()]))[:most]))


def trace(network: AnyNetwork, cells: Integers, arithmetic: Arithmetic, first: Sequence[int] = ()) -> Trace:
    """Run one input: tokens (positions,), cells (positions, features), or an adjacency matrix (N, N).

    ``first`` are positions that matter most, for networks that attend to pairs and are too long to be run whole.
    """
    check_tokens(network, cells[None])
    if isinstance(network, RecurrentNetwork):
        return _recurrent(network, cells, arithmetic)
    rows = rows_to_run(network, first)
    stream = embedded(network, cells[None], arithmetic)
    stages = [Stage("embedding", "embedding", stream[0])]
    counts = {"attention": 0, "feed-forward": 0}
    kept: dict[tuple[int, int], list[RawArray]] = {}
    room = LARGEST_KEPT
    for layer in network.layers:
        kind: StageKind = "feed-forward" if isinstance(layer, FeedForward) else "attention"
        graphs = cells[None] if isinstance(layer, GraphAttention) else None
        queries = rows if isinstance(layer, ThirdOrderAttention | GraphAttention) else None
        needed = _weights_made(layer, len(rows), network.positions)
        observe = partial(_keep, kept, counts["attention"]) if 0 < needed <= room else None
        room -= needed if observe else 0
        stream = run_layer(layer, stream, arithmetic, queries=queries, graphs=graphs, observe=observe)
        counts[kind] += 1
        stages.append(Stage(f"{kind} {counts[kind]}", kind, stream[0]))
    # Where only some positions were run, the last one is among them and comes last.
    read = stream[:, -1:, :] if network.readout.at == "last" else stream
    raw = affine(network.readout.matrix, network.readout.bias, read, arithmetic)
    answers = decode(network, raw, arithmetic)[0]
    return Trace(network, arithmetic, cells, rows, tuple(stages), raw[0], answers, kept)


def _weights_made(layer: Layer, rows: int, positions: int) -> int:
    """Return how many weights a layer makes."""
    if isinstance(layer, FeedForward):
        return 0
    return len(layer.heads) * (positions**2 if isinstance(layer, Attention) else rows * (positions**2 + 1))


def _keep(kept: dict[tuple[int, int], list[RawArray]], layer: int, head: int, weights: RawArray) -> None:
    kept.setdefault((layer, head), []).append(weights)


def _recurrent(network: RecurrentNetwork, cells: Integers, arithmetic: Arithmetic) -> Trace:
    """Return two stages: the embedding of each token, and the state after it."""
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
    rows = numpy.arange(network.positions)
    return Trace(network, arithmetic, cells, rows, stages, raw, decode(network, raw, arithmetic), {})


def slots_of(network: AnyNetwork, stage: Stage) -> list[tuple[str, slice]]:
    """Return the named parts of a stage's stream; those of a recurrent network are its state and its token's
    embedding."""
    if isinstance(network, Network):
        return [(name, network.slots.columns(name)) for name, _ in network.slots.parts]
    return [(stage.title, slice(0, stage.stream.shape[1]))]
