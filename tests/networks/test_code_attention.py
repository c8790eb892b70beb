"""Attention between rows of one code: the same weights as the plain evaluation, for every query."""

from dataclasses import replace
from fractions import Fraction

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from separatrix.arithmetic import FixedPoint
from separatrix.networks import (
    Attention,
    EmbeddingPart,
    ExactMatrix,
    Head,
    Network,
    Readout,
    SignRows,
    Slots,
    TableRows,
    exact,
    identity,
)
from separatrix.networks.code_attention import code_queries, code_scores
from separatrix.networks.evaluate import embedded, weights_of


def network_of(generator, scales, indices, scoring="softmax", extra=1):
    """A network whose positions ask for the rows ``indices`` of a code, with ``extra`` positions beyond its keys."""
    width, count = generator.shape[1], 1 << generator.shape[0]
    slots = Slots((("asked", width), ("address", width), ("bit", 1)))
    end, rule = count + extra, SignRows(generator)
    diagonal = [[scales[row] if row == column else 0 for column in range(width)] for row in range(width)]
    head = Head(
        query=slots.reading(width, {"asked": exact(diagonal)}),
        key=slots.reading(width, {"address": identity(width)}),
        value=slots.reading(1, {"bit": identity(1)}),
        output=slots.writing(1, {"bit": identity(1)}),
        scoring=scoring,
    )
    embedding = (
        EmbeddingPart("asked", rule, "position", (0, 2), (0, end), indices=indices),
        EmbeddingPart("address", rule, "position", (0, 2), (0, count)),
        EmbeddingPart("bit", TableRows(ExactMatrix(numpy.array([[0], [1]]))), "token", (0, 2), (0, end)),
    )
    readout = Readout(slots.reading(1, {"bit": identity(1)}), ExactMatrix(numpy.array([[0]])), "bits")
    return Network(slots, 2, end, embedding, (Attention((head,)),), readout), head


@st.composite
def codes(draw):
    bits, width = draw(st.integers(1, 4)), draw(st.integers(1, 6))
    seed = draw(st.integers(0, 2**32 - 1))
    random = numpy.random.default_rng(seed)
    generator = random.integers(0, 2, (bits, width)).astype(numpy.uint8)
    scales = [
        Fraction(int(random.integers(1, 10)), int(random.integers(1, 5))) * int(random.choice([-1, 1]))
        for _ in range(width)
    ]
    extra = draw(st.integers(0, 2))
    indices = random.integers(0, 1 << bits, (1 << bits) + extra)
    return generator, scales, indices, extra


@settings(max_examples=25, deadline=None)
@given(
    codes(),
    st.sampled_from(["softmax", "hard", "linear", "relu"]),
    st.sampled_from([FixedPoint(4, 2), FixedPoint(16, 1, "nearest"), FixedPoint(3, 1)]),
)
def test_every_query_has_the_weights_of_the_plain_evaluation(code, scoring, arithmetic):
    generator, scales, indices, extra = code
    network, head = network_of(generator, scales, indices, scoring, extra)
    places = numpy.arange(network.positions)
    found = code_queries(head, network, places, numpy.zeros_like(places))
    assert found is not None
    assert found.asked.tolist() == indices.tolist()
    shared = found.weights(head, network.positions, arithmetic)
    stream = embedded(network, numpy.zeros((1, network.positions), dtype=numpy.int64), arithmetic)
    queries = arithmetic.matmul(stream, head.query.encoded(arithmetic).T)
    keys = arithmetic.matmul(stream, head.key.encoded(arithmetic).T)
    scores = arithmetic.matmul(queries, numpy.swapaxes(keys, -1, -2))
    allowed = numpy.ones((network.positions, network.positions), dtype=bool)
    expected = weights_of(head, scores, allowed, arithmetic)[0]
    for query, row in enumerate(found.asked.tolist()):
        order = numpy.where(places < found.count, row ^ places, places)
        numpy.testing.assert_array_equal(shared[order], expected[query])


GENERATOR = numpy.array([[1, 0, 1], [0, 1, 1]], dtype=numpy.uint8)


def test_scores_are_sums_over_columns():
    generator = numpy.eye(2, dtype=numpy.uint8)
    assert code_scores(generator, numpy.array([5, 7]), numpy.array([-5, -7])).tolist() == [12, 2, -2, -12]


@pytest.mark.parametrize("what", ["mask", "leftmost", "other code", "moved keys", "mixed coordinates", "too large"])
def test_what_is_no_such_attention_is_left_to_the_plain_evaluation(what):
    network, head = network_of(GENERATOR, [Fraction(1)] * 3, numpy.arange(5) % 4)
    asked, address, bit = network.embedding
    if what == "mask":
        head = replace(head, mask="causal")
    elif what == "leftmost":
        head = replace(head, scoring="leftmost")
    elif what == "other code":
        network = replace(network, embedding=(replace(asked, rule=SignRows(GENERATOR[::-1].copy())), address, bit))
    elif what == "moved keys":
        network = replace(network, embedding=(asked, replace(address, positions=(1, 5)), bit))
    elif what == "mixed coordinates":
        numbers = head.query.numerators.copy()
        numbers[0, 1] = 1
        head = replace(head, query=ExactMatrix(numbers))
    places = numpy.arange(5)
    found = code_queries(head, network, places, numpy.zeros_like(places))
    if what == "too large":
        assert found is not None
        huge = replace(
            found, query=ExactMatrix(numpy.full((1, 3), 1 << 61)), key=ExactMatrix(numpy.full((1, 3), 1 << 40))
        )
        assert huge.weights(head, 5, FixedPoint(1 << 30, 1)) is None
    else:
        assert found is None
