"""Inputs whose cells are several numbers: the linear part of the embedding, its checks, and its file."""

from dataclasses import replace
from fractions import Fraction

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from separatrix.arithmetic import FixedPoint
from separatrix.constructions.construction import Options
from separatrix.constructions.theorems.mqar import CONSTRUCTION as MQAR
from separatrix.constructions.theorems.nearest_neighbour import CONSTRUCTION as NEAREST_NEIGHBOUR
from separatrix.errors import SeparatrixError
from separatrix.networks import ExactMatrix, FeaturePart, Network, evaluate
from separatrix.networks.store import from_bytes, to_bytes
from separatrix.tasks import draws_from


@given(
    numbers=st.lists(st.integers(-(2**21), 2**21), min_size=2, max_size=2),
    weights=st.lists(st.integers(-9, 9), min_size=2, max_size=2),
    denominator=st.integers(1, 2**20),
)
def test_the_exact_product_is_rounded_once(numbers, weights, denominator):
    arithmetic = FixedPoint(10, 2)
    part = FeaturePart("point", ExactMatrix(numpy.array([weights]), denominator))
    exact = Fraction(sum(a * b for a, b in zip(numbers, weights, strict=True)), denominator)
    got = part.rows(numpy.array([[numbers]]), arithmetic)
    assert got.shape == (1, 1, 1)
    assert got.tolist() == arithmetic.encode([[[exact]]]).tolist()


def test_products_beyond_64_bits_are_exact_too():
    part = FeaturePart("point", ExactMatrix(numpy.array([[2**61, -(2**61)]]), 2**60))
    got = part.rows(numpy.array([[2**30 + 1, 2**30], [2**40, 3], [3, 2**40]]), FixedPoint(10, 2))
    assert got.tolist() == [[200], [100**2], [-(100**2)]]


def test_cells_have_at_least_one_number():
    with pytest.raises(SeparatrixError, match="no numbers"):
        FeaturePart("point", ExactMatrix(numpy.zeros((1, 0), dtype=numpy.int64)))


def test_a_network_with_features_survives_its_file():
    built = NEAREST_NEIGHBOUR.build(6, Options(parameters={"dimension": 4}))
    again = from_bytes(to_bytes(built.network), "memory")
    assert isinstance(again, Network)
    assert again.features == 6
    assert to_bytes(again) == to_bytes(built.network)
    inputs = built.task.sample(draws_from(numpy.random.default_rng(0)), 5, 6).inputs
    expected = evaluate(built.network, inputs, built.arithmetic).raw
    assert (evaluate(again, inputs, built.arithmetic).raw == expected).all()


def test_inputs_of_another_shape_end_in_one_line():
    built = NEAREST_NEIGHBOUR.build(6, Options(parameters={"dimension": 4}))
    with pytest.raises(SeparatrixError, match="11 cells of 6 numbers"):
        evaluate(built.network, numpy.zeros((1, 11), dtype=numpy.int64), built.arithmetic)
    with pytest.raises(SeparatrixError, match="11 cells of 6 numbers"):
        evaluate(built.network, numpy.zeros((1, 11, 5), dtype=numpy.int64), built.arithmetic)


def test_parts_that_do_not_fit_are_named_together():
    network = MQAR.build(4).network
    wrong = FeaturePart("point", ExactMatrix(numpy.zeros((1, 3), dtype=numpy.int64)))
    unknown = FeaturePart("elsewhere", ExactMatrix(numpy.zeros((1, 3), dtype=numpy.int64)))
    with pytest.raises(SeparatrixError, match=r"'point' is .*unknown slot 'elsewhere'.*goes by token"):
        replace(network, feature_parts=(wrong, unknown))


def test_features_count_in_the_size():
    network = NEAREST_NEIGHBOUR.build(6, Options(parameters={"dimension": 4})).network
    without = sum(part.size_bits(16) for part in network.feature_parts)
    assert without == (4 + 1 + 1) * 16
    assert network.size_bits(16) > without
