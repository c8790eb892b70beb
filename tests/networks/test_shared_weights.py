"""Short ways through attention in fixed point give the numbers of the long way, bit for bit."""

from dataclasses import replace
from typing import Any

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from separatrix.arithmetic import FixedPoint
from separatrix.constructions import Options, constructions
from separatrix.errors import SeparatrixError
from separatrix.networks import Attention, Network, evaluate, graph, third_order
from separatrix.networks.evaluate import attend, embedded, run_layer
from separatrix.networks.key_groups import key_groups
from separatrix.networks.weights import SCORINGS, group_average, group_weights, weights_of
from separatrix.tasks import draws_from

ROUNDINGS = ("down", "nearest")


class Head:
    """A head that says how it scores."""

    def __init__(self, scoring: Any) -> None:
        self.scoring = scoring


@pytest.mark.parametrize("scoring", SCORINGS)
@given(data=st.data(), rounding=st.sampled_from(ROUNDINGS), exponent=st.integers(1, 4))
@settings(max_examples=25, deadline=None)
def test_groups_of_keys_weigh_what_the_keys_weigh(data, rounding, exponent, scoring):
    arithmetic = FixedPoint(5, exponent, rounding)
    limit = arithmetic.largest**2
    groups = data.draw(st.integers(1, 4))
    score = st.integers(-limit, limit) | st.integers(-3 * arithmetic.largest, 3 * arithmetic.largest)
    scores = numpy.array(data.draw(st.lists(score, min_size=groups, max_size=groups)), dtype=numpy.int64)
    counts = numpy.array(data.draw(st.lists(st.integers(0, 4), min_size=groups, max_size=groups)), dtype=numpy.int64)
    value = st.integers(-3 * arithmetic.largest, 3 * arithmetic.largest)
    values = numpy.array(data.draw(st.lists(value, min_size=groups, max_size=groups)), dtype=numpy.int64)[:, None]
    keys = numpy.repeat(numpy.arange(groups), counts)
    seen = numpy.ones((1, 1, len(keys)), dtype=bool)
    head = Head(scoring)
    try:
        found = group_weights(head, scores, counts, arithmetic)
    except SeparatrixError as error:
        assert scoring == "leftmost" and "order" in str(error)
        return
    if len(keys):
        long = weights_of(head, scores[keys][None, None], seen, arithmetic)[0]
        assert found[keys].tolist() == long[0].tolist()
        average = group_average(head, scores, counts, values, arithmetic)
        if average is not None:
            assert average.tolist() == arithmetic.matmul(long, values[keys])[0].tolist()
    assert not found[counts == 0].any()


def test_sums_beyond_64_bits_are_refused():
    arithmetic = FixedPoint(5, 12)
    scores = numpy.array([arithmetic.largest**2])
    with pytest.raises(SeparatrixError, match="62 bits"):
        group_weights(Head("relu"), scores, numpy.array([1000]), arithmetic)
    assert group_average(Head("relu"), scores, numpy.array([1000]), scores[:, None], arithmetic) is None


@given(data=st.data())
@settings(max_examples=25, deadline=None)
def test_keys_seen_by_prefixes_are_counted(data):
    rows, keys = data.draw(st.integers(1, 4)), data.draw(st.integers(1, 9))
    scores = numpy.array(data.draw(st.lists(st.integers(0, 2), min_size=rows * keys, max_size=rows * keys)))
    kinds = numpy.array(data.draw(st.lists(st.integers(0, 1), min_size=keys, max_size=keys)))
    ends = numpy.array(data.draw(st.lists(st.integers(0, keys), min_size=1, max_size=5)))
    groups = key_groups(scores.reshape(rows, keys), kinds)
    counts = groups.seen(ends)
    for row in range(rows):
        assert groups.score[row, groups.group[row]].tolist() == scores.reshape(rows, keys)[row].tolist()
        assert groups.kind[groups.group[row]].tolist() == kinds.tolist()
        for place, end in enumerate(ends.tolist()):
            expected = numpy.bincount(groups.group[row, :end], minlength=len(groups.kind))
            assert counts[row, place].tolist() == expected.tolist()


@pytest.mark.parametrize("rounding", ROUNDINGS)
@pytest.mark.parametrize("scoring", SCORINGS)
@pytest.mark.parametrize("name", ["match3", "directed-3-cycle"])
def test_pairs_by_groups_are_the_pairs_one_by_one(name, scoring, rounding, monkeypatch):
    random = numpy.random.default_rng(0)
    for length, exponent in ((9, 1), (9, 3), (20, 2)):
        parameters = {"modulus": 7} if name == "match3" else {}
        built = constructions()[name].build(
            length, Options(attention=scoring, rounding=rounding, exponent=exponent, parameters=parameters)
        )
        if name == "match3":
            inputs = random.integers(1, 3, size=(4, length + 1))
            inputs[:, 0] = 0
        else:
            inputs = (random.random((4, length, length)) < random.random((4, 1, 1))).astype(numpy.int64)
        with monkeypatch.context() as patch:
            patch.setattr(third_order, "attend_to_groups", lambda *_: None)
            patch.setattr(graph, "average_by_patterns", lambda *_: None)
            long = evaluate(built.network, inputs, built.arithmetic)
        assert numpy.array_equal(evaluate(built.network, inputs, built.arithmetic).raw, long.raw)


def test_patterns_are_counted():
    graphs = numpy.random.default_rng(1).integers(0, 2, size=(3, 6, 6))
    vertices = numpy.array([0, 2, 5])
    listed = graph.patterns_of(graphs, vertices)
    expected = (listed[..., None] == numpy.arange(graph.PATTERNS)).sum(axis=2)
    assert graph.pattern_counts(graphs, vertices).tolist() == expected.tolist()


@pytest.mark.parametrize("exponent", [None, 1, 2, 9])
@pytest.mark.parametrize("name", ["equality", "dnf", "mqar", "match2-code", "match3-heads", "sparse-averaging"])
def test_layers_run_together_are_the_heads_one_by_one(name, exponent):
    """Also where sums are cut off at the end of the range, and in Python's integers."""
    built = constructions()[name].build(8, Options(exponent=exponent))
    network, arithmetic = built.network, built.arithmetic
    assert isinstance(network, Network)
    inputs = numpy.asarray(built.task.sample(draws_from(0), 3, 8).inputs)
    stream = embedded(network, inputs, arithmetic)
    for layer in network.layers:
        if isinstance(layer, Attention):
            for several in (layer, replace(layer, heads=layer.heads * 3, residual=not layer.residual)):
                queries = numpy.arange(network.positions)
                total = stream if several.residual else arithmetic.zeros(stream.shape)
                for head in several.heads:
                    total = arithmetic.add(total, attend(head, stream, queries, arithmetic))
                assert numpy.array_equal(run_layer(several, stream, arithmetic), total)
        stream = run_layer(layer, stream, arithmetic)


def test_a_layer_without_heads_adds_nothing():
    built = constructions()["equality"].build(4)
    layer = replace(next(each for each in built.network.layers if isinstance(each, Attention)), heads=())
    stream = built.arithmetic.encode(numpy.arange(6).reshape(1, 3, 2))
    assert (run_layer(layer, stream, built.arithmetic) == (stream if layer.residual else 0 * stream)).all()
