"""The matching and cycle constructions: right answers, sizes, and the third-order and graph units behind them."""

from fractions import Fraction
from itertools import product
from typing import Any

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from separatrix.arithmetic import FixedPoint, arithmetic_named
from separatrix.constructions import Built, Options, constructions
from separatrix.constructions.theorems._dummy import (
    TABLE_BITS,
    beside,
    circle_scale,
    cosines,
    exponent_for,
    ones,
    partners,
    scale_of,
)
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
from separatrix.tasks import draws_from

NUMBERS = ("match2-code", "match2", "match3", "match3-last")


def build(name: str, length: int, modulus: int | None = None, **options: Any) -> Built:
    parameters = {} if modulus is None else {"modulus": modulus}
    return constructions()[name].build(length, Options(parameters=parameters, **options))


def network_of(built: Built) -> Network:
    assert isinstance(built.network, Network)
    return built.network


def given_answers(built: Built, inputs: Any) -> list[list[Any]]:
    """What the network answers, in the form of ``solve``: None where nothing is asked."""
    network = network_of(built)
    answers = evaluate(network, inputs, built.arithmetic).answers.tolist()
    found: list[list[Any]] = []
    for row, given_row in zip(inputs.tolist(), answers, strict=True):
        asked = [each is not None for each in built.task.solve(row, built.length)]
        padded = given_row if network.readout.at == "every" else [0] * (len(asked) - 1) + given_row
        found.append([each if wanted else None for each, wanted in zip(padded, asked, strict=True)])
    return found


# -- answers ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rounding", ["down", "nearest"])
@pytest.mark.parametrize(("length", "modulus"), [(2, 3), (2, 4), (3, 5), (3, 8), (4, 3), (4, 6), (5, 3)])
@pytest.mark.parametrize("name", NUMBERS)
def test_every_input_of_a_small_length_is_answered_as_solve_says(name, length, modulus, rounding):
    built = build(name, length, modulus, rounding=rounding)
    seen = 0
    for examples in built.task.enumerate(length):
        expected = [list(built.task.solve(row, length)) for row in examples.inputs.tolist()]
        assert given_answers(built, examples.inputs) == expected
        seen += len(expected)
    assert seen == built.task.count(length)


@pytest.mark.parametrize("length", [3, 4])
def test_every_small_graph_is_answered_as_solve_says(length):
    built = build("directed-3-cycle", length)
    for examples in built.task.enumerate(length):
        expected = [list(built.task.solve(row, length)) for row in examples.inputs.tolist()]
        assert given_answers(built, examples.inputs) == expected


@pytest.mark.parametrize(
    ("name", "length", "modulus"),
    [("match2-code", 200, 1000), ("match2-code", 64, 65536), ("match2", 60, None), ("match3", 32, None),
     ("match3", 20, 1001), ("match3-last", 100, 777), ("directed-3-cycle", 24, None)],
)  # fmt: skip
def test_random_inputs_with_near_misses(name, length, modulus):
    built = build(name, length, modulus)
    examples = built.task.sample(draws_from(numpy.random.default_rng(length)), 8, length)
    answers = evaluate(network_of(built), examples.inputs, built.arithmetic).answers
    if network_of(built).readout.at == "last":
        assert answers[:, 0].tolist() == examples.targets[:, -1].tolist()
        assert set(answers[:, 0].tolist()) == {0, 1}
    else:
        assert answers[examples.read].tolist() == examples.targets[examples.read].tolist()
        assert set(answers[examples.read].tolist()) == {0, 1}


@given(data=st.data(), name=st.sampled_from(("match2-code", "match2")))
@settings(max_examples=25, deadline=None)
def test_rows_of_nothing_but_near_misses(data, name):
    """z among numbers that all miss it by one, with and without one match: the hardest rows there are."""
    length, modulus = 12, 50
    built = build(name, length, modulus)
    z = data.draw(st.integers(1, modulus))
    misses = [data.draw(st.sampled_from((1, -1))) for _ in range(length - 1)]
    others = [(miss - z) % modulus or modulus for miss in misses]
    for row in ([0, z, *others], [0, z, (-z) % modulus or modulus, *others[1:]]):
        assert given_answers(built, numpy.array([row])) == [list(built.task.solve(row, length))]


def test_cosines_run_out_of_float32_and_sign_codes_do_not():
    """Evidence for erratum E10: near misses at M = 2^16, evaluated in floats."""
    length, modulus = 16, 1 << 16
    row = numpy.array([[0, *[7919 * place % modulus + 1 for place in range(1, length + 1)]]])
    row[:, 2::2] = (1 - row[:, 1:-1:2]) % modulus
    expected = [0] * length
    for name, kind, right in (
        ("match2", "float32", False),
        ("match2", "float64", True),
        ("match2-code", "float32", True),
    ):
        built = build(name, length, modulus)
        assert list(built.task.solve(row[0].tolist(), length)) == [None, *expected]
        answers = evaluate(network_of(built), row, arithmetic_named(kind)).answers[0, 1:].tolist()
        assert (answers == expected) == right, (name, kind)


# -- sizes -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*NUMBERS, "directed-3-cycle"])
@pytest.mark.parametrize("length", [3, 4, 17, 64])
def test_claimed_width_is_the_built_one(name, length):
    built = build(name, length)
    network = network_of(built)
    code = network.slots.size("key") if "key" in dict(network.slots.parts) else 0
    assert constructions()[name].claimed_width(built.task, length, code) == network.width
    assert network.heads == 1
    assert network.depth == (2 if name == "match3-last" else 1)


@pytest.mark.parametrize(("name", "inner"), [("match2", 3), ("match3", 4)])
def test_the_inner_dimension_does_not_grow(name, inner):
    for length in (4, 16, 64):
        layer = network_of(build(name, length)).layers[0]
        assert layer.heads[0].query.shape[0] == inner


def test_sign_codes_at_the_size_of_the_erratum():
    network = network_of(build("match2-code", 1024, 65536))
    head = network.layers[0].heads[0]
    assert head.query.shape[0] == 65
    gain = Fraction(int(head.query.numerators[0].max()), head.query.denominator) * 64
    assert 14 < gain < 17


def test_precision_of_codes_stays_and_of_cosines_grows_with_the_modulus():
    bits = {
        name: [build(name, 8, m).arithmetic.precision_bits for m in (64, 4096)] for name in ("match2", "match2-code")
    }
    assert bits["match2-code"][0] == bits["match2-code"][1]
    assert bits["match2"][1] >= bits["match2"][0] + 18


def test_original_variant_answers_one_everywhere():
    built = build("match3-last", 4, 7, variant="original")
    for examples in built.task.enumerate(4):
        assert evaluate(network_of(built), examples.inputs, built.arithmetic).answers.all()


def test_bad_requests_end_in_one_line():
    for name, options in (
        ("match3-last", Options(parameters={"exclude_query": False})),
        ("match2", Options(variant="original")),
        ("match2-code", Options(family="no-such-family")),
        ("match2-code", Options(parameters={"modulus": 1})),
    ):
        with pytest.raises(SeparatrixError) as caught:
            constructions()[name].build(4, options)
        assert "\n" not in str(caught.value)
    with pytest.raises(SeparatrixError, match="starts at length 3"):
        constructions()["directed-3-cycle"].build(2)


# -- pieces ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("modulus", [2, 3, 4, 7, 12, 360])
def test_cosines_are_the_nearest_multiples(modulus):
    """Against mathematics that needs no cosine: symmetry, known values, the circle and the three-phase sum."""
    one = 1 << TABLE_BITS
    cos, sin = (cosines(modulus, turns).numerators[:, 0].tolist() for turns in (Fraction(0), Fraction(1, 4)))
    third = cosines(modulus, Fraction(1, 3)).numerators[:, 0].tolist()
    last = cosines(modulus, Fraction(2, 3)).numerators[:, 0].tolist()
    assert cos[-1] == one
    assert sin[-1] == 0
    for place in range(modulus - 1):
        assert cos[place] == cos[modulus - 2 - place]
        assert sin[place] == -sin[modulus - 2 - place]
    for c, s, t, u in zip(cos, sin, third, last, strict=True):
        assert abs(c * c + s * s - one * one) <= 2 * one
        assert abs(c + t + u) <= 2
    if modulus % 4 == 0:
        assert cos[modulus // 4 - 1] == 0
        assert sin[modulus // 4 - 1] == one
    if modulus % 6 == 0:
        assert 2 * cos[modulus // 6 - 1] == one


@given(modulus=st.integers(2, 400))
def test_partners_add_up_to_zero(modulus):
    rows = partners(modulus)
    for number, row in enumerate(rows.tolist(), start=1):
        assert 0 <= row < modulus
        assert (number + row + 1) % modulus == 0


@given(entries=st.integers(1, 1 << 40), fall=st.fractions(Fraction(1, 1000), 1))
def test_scores_leave_room_on_both_sides(entries, fall):
    scores = scale_of(entries, fall, None)
    other = scores.match * (1 - fall)
    assert scores.match - scores.dummy == 2
    # e^x ≥ 2^(10x/7) · 2^(-1) is more than enough room to compare with 3 · entries in whole numbers.
    assert 2 ** int((scores.dummy - other) * 10 / 7) >= entries
    half = scale_of(entries, fall, scores.match / 2)
    assert half.match - half.dummy == 1


@given(entries=st.integers(1, 10**6), modulus=st.integers(2, 10**6))
def test_circle_scores_are_whole(entries, modulus):
    scores = circle_scale(entries, modulus, None)
    assert scores.match.denominator == scores.dummy.denominator == 1
    assert scores.match - scores.dummy == 2


def test_small_pieces():
    assert exponent_for(2, 256) == 8
    assert exponent_for(1024, 5) == 2
    rows = ones(5).rows(numpy.arange(5), FixedPoint(4, 2))
    assert rows.tolist() == [[16]] * 5
    with pytest.raises(SeparatrixError, match="different denominators"):
        beside(ExactMatrix(numpy.array([[1]])), ExactMatrix(numpy.array([[1]]), 2))


# -- the units ---------------------------------------------------------------------------------------------------


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
    graph = network_of(build("directed-3-cycle", 4))
    for inputs, said in (
        (numpy.zeros((2, 4), dtype=numpy.int64), "adjacency matrices of 4 vertices"),
        (numpy.full((2, 4, 4), 2), "zeros and ones"),
    ):
        with pytest.raises(SeparatrixError, match=said):
            evaluate(graph, inputs, FixedPoint(4, 5))
    with pytest.raises(SeparatrixError, match="needs adjacency matrices"):
        run_layer(graph.layers[0], numpy.zeros((1, 4, 1), dtype=numpy.int64), FixedPoint(4, 5))
