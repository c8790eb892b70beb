"""Scores as exact fractions, and the weight that the best one keeps over the reals."""

from fractions import Fraction

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from separatrix.arithmetic import Balls, FixedPoint
from separatrix.constructions import Options, constructions
from separatrix.errors import SeparatrixError
from separatrix.networks import ExactMatrix
from separatrix.networks.evaluate import embedded, weights_of
from separatrix.networks.exact_scores import Exact, best_weight, exact_rows, exact_scores, product


def first_head(name, length, **options):
    network = constructions()[name].build(length, Options(**options)).network
    return network, network.layers[0].heads[0]


@pytest.mark.parametrize(
    ("name", "length", "family"), [("equality", 12, None), ("equality", 8, "circle"), ("cnf", 6, None)]
)
def test_rows_and_scores_are_the_exact_ones(name, length, family):
    network, head = first_head(name, length, family=family)
    places = numpy.arange(network.positions)
    balls = Balls(200)
    stream = embedded(network, numpy.zeros((1, network.positions), dtype=numpy.int64), balls)[0]
    rows = exact_rows(head.query, network, numpy.zeros_like(places), places)
    low, high = balls.bounds(balls.matmul(stream, head.query.encoded(balls).T))
    for row, below, above in zip(rows.numerators.ravel().tolist(), low.ravel(), high.ravel(), strict=True):
        assert below <= Fraction(row, rows.denominator) <= above
    scores, code = exact_scores(head, network, places, numpy.zeros_like(places))
    assert code is None
    keys = exact_rows(head.key, network, numpy.zeros_like(places), places)
    expected = product(rows, Exact(keys.numerators.T, keys.denominator))
    assert [Fraction(n, scores.denominator) for n in scores.numerators.ravel().tolist()] == [
        Fraction(n, expected.denominator) for n in expected.numerators.ravel().tolist()
    ]


@pytest.mark.parametrize("scoring", ["softmax", "hard"])
def test_the_bound_is_below_the_real_weight_and_close(scoring):
    network, head = first_head("equality", 16, attention=scoring, gain=Fraction(6))
    places = numpy.arange(16)
    scores, code = exact_scores(head, network, places, numpy.zeros_like(places))
    assert code is not None
    best, weight = best_weight(scores, scoring, 1 << 30)
    balls = Balls(128)
    full = balls.encode([[Fraction(n, scores.denominator) for n in scores.numerators[0].tolist()]])
    real = balls.bounds(weights_of(head, full[None], numpy.ones((1, 16), dtype=bool), balls)[0, 0, int(best[0])])
    assert Fraction(int(weight[0]), 1 << 30) <= real[0].item()
    assert Fraction(int(weight[0]), 1 << 30) > real[1].item() * Fraction(99, 100)


def test_equal_scores_share_the_weight_of_hard_attention():
    best, weight = best_weight(Exact(numpy.array([[3, 5, 5], [9, 1, 2]]), 7), "hard", 12)
    assert best.tolist() == [1, 0]
    assert weight.tolist() == [6, 12]


def test_products_beyond_64_bits_are_exact():
    huge = Exact(numpy.array([[1 << 40, 3]]), 5)
    result = product(huge, Exact(numpy.array([[1 << 40], [1]]), 7))
    assert result.numerators.tolist() == [[(1 << 80) + 3]]
    assert result.denominator == 35


def test_other_attention_is_refused():
    with pytest.raises(SeparatrixError, match="linear"):
        best_weight(Exact(numpy.array([[1, 2]]), 1), "linear", 10)


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.integers(-(2**61), 2**61), min_size=1, max_size=6),
    st.integers(1, 2**40),
    st.sampled_from([FixedPoint(10, 1), FixedPoint(16, 2, "nearest"), FixedPoint(3, 5), FixedPoint(7, 30)]),
)
def test_matrices_are_encoded_as_their_fractions_are(numerators, denominator, arithmetic):
    matrix = ExactMatrix(numpy.array([numerators]), denominator)
    expected = arithmetic.encode([[Fraction(each, denominator) for each in numerators]])
    numpy.testing.assert_array_equal(matrix.encoded(arithmetic), expected)
