"""The third-order and graph units behind the matching constructions follow their definitions."""

from itertools import product
from typing import Any

import numpy
import pytest

from separatrix.arithmetic import FixedPoint
from separatrix.constructions import constructions
from separatrix.errors import SeparatrixError
from separatrix.networks import (
    EmbeddingPart,
    ExactMatrix,
    GraphAttention,
    GraphHead,
    Network,
    Readout,
    Slots,
    TableRows,
    ThirdOrderAttention,
    ThirdOrderHead,
    evaluate,
)
from separatrix.networks.evaluate import run_layer
from separatrix.networks.store import from_bytes, to_bytes


def random_matrix(generator: numpy.random.Generator, rows: int, columns: int, denominator: int = 1) -> ExactMatrix:
    return ExactMatrix(generator.integers(-3, 4, (rows, columns)), denominator)


def third_order_network(seed: int, scoring: str, at: str = "every") -> Network:
    generator = numpy.random.default_rng(seed)
    slots = Slots((("a", 3),))
    head = ThirdOrderHead(
        random_matrix(generator, 2, 3, 5), random_matrix(generator, 2, 3, 3), random_matrix(generator, 2, 3, 7),
        random_matrix(generator, 2, 3, 2), random_matrix(generator, 2, 3), random_matrix(generator, 3, 2), scoring,
    )  # type: ignore[arg-type] # fmt: skip
    embedding = (EmbeddingPart("a", TableRows(random_matrix(generator, 4, 3, 3)), "token", (0, 4), (0, 4)),)
    readout = Readout(random_matrix(generator, 3, 3), random_matrix(generator, 3, 1), "argmax", at)  # type: ignore[arg-type]
    return Network(slots, 4, 4, embedding, (ThirdOrderAttention((head, head), residual=True),), readout)


def slow_third_order(network: Network, tokens: list[int], arithmetic: FixedPoint) -> list[list[int]]:
    """The definition, one score at a time."""
    layer = network.layers[0]
    assert isinstance(layer, ThirdOrderAttention)
    part = network.embedding[0]
    assert isinstance(part.rule, TableRows)
    x = part.rule.table.encoded(arithmetic)[tokens]

    def dot(left: Any, right: Any) -> Any:
        return arithmetic.sum(arithmetic.multiply(left, right))

    total = x
    for head in layer.heads:

        def project(matrix: ExactMatrix) -> Any:
            return arithmetic.matmul(x, matrix.encoded(arithmetic).T)

        queries, firsts, seconds = project(head.query), project(head.first_key), project(head.second_key)
        left, right = project(head.first_value), project(head.second_value)
        pairs = list(product(range(len(tokens)), repeat=2))
        rows = []
        for query in queries:
            scores = numpy.array([dot(query, arithmetic.multiply(firsts[j], seconds[k])) for j, k in pairs])
            if head.scoring == "softmax":
                weights = arithmetic.softmax(scores)
            elif head.scoring == "hard":
                best = (scores == scores.max()) * arithmetic.largest
                weights = arithmetic.divide(best, arithmetic.sum(best))
            else:
                weights = scores
            values = numpy.array([arithmetic.multiply(left[j], right[k]) for j, k in pairs])
            rows.append([dot(weights, values[:, c]) for c in range(values.shape[1])])
        total = arithmetic.add(total, arithmetic.matmul(numpy.array(rows), head.output.encoded(arithmetic).T))
    return arithmetic.add(
        arithmetic.matmul(total, network.readout.matrix.encoded(arithmetic).T),
        network.readout.bias.encoded(arithmetic)[:, 0],
    ).tolist()


@pytest.mark.parametrize("scoring", ["softmax", "hard", "linear"])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_third_order_attention_follows_its_definition(seed, scoring):
    network, arithmetic = third_order_network(seed, scoring), FixedPoint(7, 3)
    tokens = numpy.random.default_rng(seed).integers(0, 4, (6, 4))
    raw = evaluate(network, tokens, arithmetic).raw
    assert raw.tolist() == [slow_third_order(network, row, arithmetic) for row in tokens.tolist()]
    for chunk in (1, 3):
        assert evaluate(network, tokens, arithmetic, chunk).raw.tolist() == raw.tolist()
    at_the_end = third_order_network(seed, scoring, at="last")
    assert evaluate(at_the_end, tokens, arithmetic).raw.tolist() == raw[:, -1:].tolist()
    assert network.depth == 1
    assert network.heads == 2
    assert to_bytes(from_bytes(to_bytes(network), "stored")) == to_bytes(network)


@pytest.mark.parametrize("scoring", ["softmax", "hard", "linear"])
def test_graph_attention_follows_its_definition(scoring):
    generator, size, arithmetic = numpy.random.default_rng(3), 4, FixedPoint(7, 3)
    head = GraphHead(
        random_matrix(generator, 1, 8, 2), random_matrix(generator, 1, 1, 2), random_matrix(generator, 2, 2),
        random_matrix(generator, 2, 2), random_matrix(generator, 2, 2), scoring,
    )  # type: ignore[arg-type] # fmt: skip
    table = random_matrix(generator, size, 2)
    embedding = (EmbeddingPart("a", TableRows(table), "position", (0, 2), (0, size)),)
    readout = Readout(random_matrix(generator, 2, 2), random_matrix(generator, 2, 1), "argmax", "every")
    network = Network(Slots((("a", 2),)), 2, size, embedding, (GraphAttention((head,), residual=True),), readout)
    graphs = generator.integers(0, 2, (5, size, size))
    outputs = evaluate(network, graphs, arithmetic)
    assert evaluate(network, graphs, arithmetic, chunk=1).raw.tolist() == outputs.raw.tolist()
    x = table.encoded(arithmetic)
    left, right = (arithmetic.matmul(x, each.encoded(arithmetic).T) for each in (head.first_value, head.second_value))
    pairs = list(product(range(size), repeat=2))
    values = numpy.array([*[arithmetic.multiply(left[j], right[k]) for j, k in pairs], [0, 0]])
    scores_of = head.scores.encoded(arithmetic)[0]
    for graph, found in zip(graphs, outputs.raw, strict=True):
        rows = []
        for i in range(size):
            scores = numpy.array(
                [*[scores_of[4 * graph[i, j] + 2 * graph[j, k] + graph[k, i]] for j, k in pairs],
                 head.dummy.encoded(arithmetic)[0, 0]]
            )  # fmt: skip
            if scoring == "softmax":
                weights = arithmetic.softmax(scores)
            elif scoring == "hard":
                best = (scores == scores.max()) * arithmetic.largest
                weights = arithmetic.divide(best, arithmetic.sum(best))
            else:
                weights = scores
            rows.append(arithmetic.matmul(weights[None, :], values)[0])
        stream = arithmetic.add(x, arithmetic.matmul(numpy.array(rows), head.output.encoded(arithmetic).T))
        read = arithmetic.matmul(stream, readout.matrix.encoded(arithmetic).T)
        assert found.tolist() == arithmetic.add(read, readout.bias.encoded(arithmetic)[:, 0]).tolist()
    assert to_bytes(from_bytes(to_bytes(network), "stored")) == to_bytes(network)


def test_units_that_do_not_fit_are_refused():
    network = third_order_network(0, "softmax")
    layer = network.layers[0]
    assert isinstance(layer, ThirdOrderAttention)
    wrong = ThirdOrderHead(*[random_matrix(numpy.random.default_rng(0), 2, 2) for _ in range(6)])
    with pytest.raises(SeparatrixError, match="layer 0 head 0 query"):
        Network(network.slots, 4, 4, network.embedding, (ThirdOrderAttention((wrong,)),), network.readout)
    graph = constructions()["directed-3-cycle"].build(4).network
    assert isinstance(graph, Network)
    for inputs, said in (
        (numpy.zeros((2, 4), dtype=numpy.int64), "adjacency matrices of 4 vertices"),
        (numpy.full((2, 4, 4), 2), "zeros and ones"),
    ):
        with pytest.raises(SeparatrixError, match=said):
            evaluate(graph, inputs, FixedPoint(4, 5))
    with pytest.raises(SeparatrixError, match="needs adjacency matrices"):
        run_layer(graph.layers[0], numpy.zeros((1, 4, 1), dtype=numpy.int64), FixedPoint(4, 5))
