"""What a constructed network attends to on one input: the attention weights of every layer and head, for figures.

The weights are those of a :mod:`separatrix.table.trace`. For a recurrent network, which has no attention, its states
after each token are what there is to see.
"""

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy

from separatrix.arithmetic import Arithmetic
from separatrix.networks import AnyNetwork, Attention, Integers, RecurrentNetwork
from separatrix.table.trace import Reals, trace

Kind: TypeAlias = Literal["keys", "pairs", "states"]


@dataclass(frozen=True)
class AttentionMap:
    """Weights of one head: rows are queries and columns keys (``keys``); or, for the one ``query``, rows are first and
    columns second elements of the pairs (``pairs``). ``states``: rows are numbers of the state, columns positions.
    """

    kind: Kind
    title: str
    weights: Reals
    query: int | None = None


def attention_maps(network: AnyNetwork, cells: Integers, arithmetic: Arithmetic, query: int) -> list[AttentionMap]:
    """Return the maps of all layers and heads on one input (positions,) or (positions, features).

    ``query`` is the position whose weights are shown where queries attend to pairs; the weight of a dummy pair is what
    is missing to 1.
    """
    run = trace(network, cells, arithmetic, [query])
    if isinstance(network, RecurrentNetwork):
        return [AttentionMap("states", "state", arithmetic.to_float64(run.stages[-1].stream).T)]
    every = numpy.arange(network.positions)
    found: list[AttentionMap] = []
    for place, (_, layer) in enumerate(run.attention_layers):
        for head in range(len(layer.heads)):
            names = [f"layer {place + 1}"] if network.depth > 1 else []
            names += [f"head {head + 1}"] if len(layer.heads) > 1 else []
            title = ", ".join(names)
            if isinstance(layer, Attention):
                found.append(AttentionMap("keys", title, run.weights(place, head, every)))
            else:
                found.append(AttentionMap("pairs", title, run.pair_weights(place, head, query)[0], query))
    return found
