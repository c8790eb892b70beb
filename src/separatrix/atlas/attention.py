"""What a constructed network attends to on one input: the attention weights of every layer and head.

The layers run exactly as :func:`separatrix.networks.evaluate` runs them, in the same arithmetic and order; here the
weights are kept instead of being used up chunk by chunk, so inputs must be short: memory grows with N² for each head,
with N³ for attention to pairs, of which only one query's weights are kept.

For a recurrent network, which has no attention, its states after each token are what there is to see.
"""

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy
from numpy.typing import NDArray

from separatrix.arithmetic import Arithmetic, RawArray
from separatrix.networks import AnyNetwork, Attention, GraphAttention, Head, RecurrentNetwork, ThirdOrderAttention
from separatrix.networks.evaluate import check_tokens, embedded, mask_of, run_layer
from separatrix.networks.exact import Integers
from separatrix.networks.graph import GraphHead, patterns_of
from separatrix.networks.recurrent import RecurrentCell
from separatrix.networks.third_order import ThirdOrderHead, pair_products
from separatrix.networks.weights import weights_of

Kind: TypeAlias = Literal["keys", "pairs", "states"]
Weights: TypeAlias = NDArray[numpy.float64]


@dataclass(frozen=True)
class AttentionMap:
    """Weights of one head: rows are queries and columns keys (``keys``); or, for the one ``query``, rows are first and
    columns second elements of the pairs (``pairs``). ``states``: rows are numbers of the state, columns positions.
    """

    kind: Kind
    title: str
    weights: Weights
    query: int | None = None

    def plain(self) -> dict[str, Any]:
        """As data for JSON, weights rounded to five digits."""
        return {
            "kind": self.kind,
            "title": self.title,
            "query": self.query,
            "weights": self.weights.round(5).tolist(),
        }


def attention_maps(network: AnyNetwork, cells: Integers, arithmetic: Arithmetic, query: int) -> list[AttentionMap]:
    """The maps of all layers and heads on one input (positions,) or (positions, features).

    ``query`` is the position whose weights are shown where queries attend to pairs.

    >>> from separatrix.constructions import constructions
    >>> from separatrix.tasks import draws_from
    >>> built = constructions()["index-lookup"].build(4)
    >>> row = built.task.sample(draws_from(0), 1, 4).inputs[0]
    >>> maps = attention_maps(built.network, row, built.arithmetic, 4)
    >>> maps[0].weights[-1].round(2).tolist()
    [0.0, 1.0, 0.0, 0.0, 0.0]
    """
    check_tokens(network, cells[None])
    if isinstance(network, RecurrentNetwork):
        return [_states(network, cells, arithmetic)]
    stream = embedded(network, cells[None], arithmetic)
    found: list[AttentionMap] = []
    number = 0
    for layer in network.layers:
        graphs = cells[None] if isinstance(layer, GraphAttention) else None
        if isinstance(layer, Attention | ThirdOrderAttention | GraphAttention):
            number += 1
            found += _layer_maps(layer, number, network.depth, stream, arithmetic, query, graphs)
        stream = run_layer(layer, stream, arithmetic, graphs=graphs)
    return found


def _layer_maps(
    layer: Attention | ThirdOrderAttention | GraphAttention,
    number: int,
    depth: int,
    stream: RawArray,
    arithmetic: Arithmetic,
    query: int,
    graphs: Integers | None,
) -> list[AttentionMap]:
    found: list[AttentionMap] = []
    for place, head in enumerate(layer.heads, start=1):
        names = [f"layer {number}"] if depth > 1 else []
        names += [f"head {place}"] if len(layer.heads) > 1 else []
        title = ", ".join(names)
        if isinstance(head, Head):
            found.append(AttentionMap("keys", title, _keys(head, stream, arithmetic)))
        elif isinstance(head, ThirdOrderHead):
            found.append(AttentionMap("pairs", title, _pairs(head, stream, arithmetic, query), query))
        else:
            assert graphs is not None
            found.append(AttentionMap("pairs", title, _graph_pairs(head, graphs, arithmetic, query), query))
    return found


def _keys(head: Head, stream: RawArray, arithmetic: Arithmetic) -> Weights:
    """(queries, keys)."""
    positions = stream.shape[1]
    queries = arithmetic.matmul(stream, head.query.encoded(arithmetic).T)
    keys = arithmetic.matmul(stream, head.key.encoded(arithmetic).T)
    scores = arithmetic.matmul(queries, numpy.swapaxes(keys, -1, -2))
    allowed = mask_of(head, numpy.arange(positions, dtype=numpy.int64), positions)
    return arithmetic.to_float64(weights_of(head, scores, allowed, arithmetic))[0]


def _pairs(head: ThirdOrderHead, stream: RawArray, arithmetic: Arithmetic, query: int) -> Weights:
    """(first elements, second elements) for one query."""
    positions = stream.shape[1]
    projected = [arithmetic.matmul(stream, each.encoded(arithmetic).T) for each in (head.first_key, head.second_key)]
    keys = pair_products(projected[0], projected[1], arithmetic)
    asking = arithmetic.matmul(stream[:, query : query + 1], head.query.encoded(arithmetic).T)
    scores = arithmetic.matmul(asking, numpy.swapaxes(keys, -1, -2))
    weights = weights_of(head, scores, numpy.ones((1, 1), dtype=bool), arithmetic)
    return arithmetic.to_float64(weights)[0, 0].reshape(positions, positions)


def _graph_pairs(head: GraphHead, graphs: Integers, arithmetic: Arithmetic, query: int) -> Weights:
    """(first vertices, second vertices) for one vertex; the dummy pair's weight is what is missing to 1."""
    vertices = graphs.shape[1]
    scores = head.scores.encoded(arithmetic)[0][patterns_of(graphs, query, query + 1)]
    dummy = numpy.broadcast_to(head.dummy.encoded(arithmetic), (*scores.shape[:2], 1))
    both = numpy.concatenate([scores, dummy], axis=2)
    weights = weights_of(head, both, numpy.ones((1, 1), dtype=bool), arithmetic)
    return arithmetic.to_float64(weights)[0, 0, :-1].reshape(vertices, vertices)


def _states(network: RecurrentNetwork, cells: Integers, arithmetic: Arithmetic) -> AttentionMap:
    """(numbers of the state, positions), after each token."""
    cell = RecurrentCell(network, arithmetic)
    state = numpy.broadcast_to(cell.initial, (1, network.width))
    found: list[RawArray] = []
    for token in cells:
        state = cell.step(state, numpy.array([token], dtype=numpy.int64))
        found.append(state[0])
    return AttentionMap("states", "state", arithmetic.to_float64(numpy.stack(found, axis=1)))
