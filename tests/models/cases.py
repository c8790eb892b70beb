"""What the tests of models share: small and larger instances of every construction, and random networks."""

from functools import cache

import numpy

from separatrix.constructions import Built, Options, constructions
from separatrix.errors import SeparatrixError
from separatrix.networks import (
    Attention,
    EmbeddingPart,
    ExactMatrix,
    FeedForward,
    GraphAttention,
    GraphHead,
    Head,
    Network,
    Readout,
    Slots,
    TableRows,
    ThirdOrderAttention,
    ThirdOrderHead,
)
from separatrix.tasks import tasks

# torch adds up in an order of its own, which is another machine for those that are about floats.
NAMES = [name for name, each in constructions().items() if each.arithmetic_kind == "fixed"]
LARGEST_SPACE = 5_000


@cache
def small(name: str) -> Built:
    """The construction at the largest length up to 6 whose inputs can all be tried."""
    options = Options(parameters=dict(tasks()[constructions()[name].task_name].small))
    walkable = []
    for length in range(constructions()[name].minimum_length, 7):
        try:
            built = constructions()[name].build(length, options)
            if built.task.space(length).count <= LARGEST_SPACE:
                walkable.append(built)
        except SeparatrixError:
            continue
    assert walkable, f"{name} has too many inputs at every length; give its task parameters in small"
    return walkable[-1]


@cache
def larger(name: str) -> Built:
    """The construction at the length nearest to 24 that it has, with its own parameters."""
    for length in sorted(range(constructions()[name].minimum_length, 49), key=lambda each: abs(each - 24)):
        try:
            return constructions()[name].build(length)
        except SeparatrixError:
            continue
    raise AssertionError(f"{name} builds at no length below 49")


def asked(built: Built, read: numpy.ndarray) -> numpy.ndarray:
    """The positions (batch, positions read) at which answers count."""
    return read if built.network.readout.at == "every" else numpy.ones((len(read), 1), dtype=bool)


def random_network(kind: str, scoring: str, mask: str, residual: bool, decoding: str = "argmax") -> Network:
    """A network with small random weights: one attention of a kind and a feed-forward, tokens below 5, 6 positions."""
    draws = numpy.random.default_rng(3)
    slots = Slots((("symbol", 3), ("place", 2)))
    width, inner = slots.width, 2

    def matrix(rows: int, columns: int) -> ExactMatrix:
        return ExactMatrix(draws.integers(-6, 7, (rows, columns)), 7)

    ranges = ((0, 5), (0, 6))
    embedding = (
        EmbeddingPart("symbol", TableRows(matrix(5, 3)), "token", *ranges),
        EmbeddingPart("symbol", TableRows(matrix(3, 3)), "token", (1, 4), (2, 5)),
        EmbeddingPart("place", TableRows(matrix(2, 2)), "position", *ranges, numpy.array([0, 1, 1, 0, 1, 0])),
    )
    reads = [matrix(inner, width) for _ in range(5)]
    outputs = matrix(width, inner), matrix(width, inner)
    if kind == "attention":
        heads = tuple(Head(*reads[:3], output, scoring=scoring, mask=mask) for output in outputs)
        layer = Attention(heads, residual)
    elif kind == "third-order":
        layer = ThirdOrderAttention((ThirdOrderHead(*reads, outputs[0], scoring=scoring),), residual)
    else:
        head = GraphHead(matrix(1, 8), matrix(1, 1), *reads[:2], outputs[0], scoring=scoring)
        layer = GraphAttention((head,), residual)
    feed_forward = FeedForward(matrix(4, width), matrix(4, 1), matrix(width, 4), matrix(width, 1), residual)
    readout = Readout(matrix(3, width), matrix(3, 1), decoding, "every")
    return Network(slots, 5, 6, embedding, (layer, feed_forward), readout)


def random_inputs(network: Network, count: int = 9) -> numpy.ndarray:
    """Inputs of a random network."""
    draws = numpy.random.default_rng(4)
    if network.reads_graphs:
        return draws.integers(0, 2, (count, network.positions, network.positions))
    return draws.integers(0, network.vocabulary, (count, network.positions))
