"""Upper bounds of sums of exponentials, and rows that differ."""

from fractions import Fraction

import numpy
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from separatrix.arithmetic import Balls
from separatrix.arithmetic.distinct import distinct
from separatrix.arithmetic.real_softmax import DEEPEST, STEPS, UNIT, exponentials, least_weight, sum_of_powers


def test_the_table_is_above_the_exponentials_and_falls():
    table = exponentials()
    balls = Balls(128)
    for place in (0, 1, 7, 256, 1000, 5000):
        _, upper = balls.bounds(balls.exp(balls.encode(Fraction(-place, STEPS))))
        assert upper.item() < Fraction(int(table[place]), UNIT) <= upper.item() + Fraction(2, UNIT)
    assert (numpy.diff(table) <= 0).all()
    assert len(table) == STEPS * DEEPEST + 1


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(0, 10**7), min_size=1, max_size=8), st.integers(1, 10**5))
def test_sums_are_bounded_from_above_and_close(gaps, denominator):
    balls = Balls(128)
    exact = balls.sum(balls.exp(balls.encode([Fraction(-gap, denominator) for gap in gaps])))
    lower, upper = (side.item() for side in balls.bounds(exact))
    for kind in (numpy.int64, object):
        bound = Fraction(int(sum_of_powers(numpy.array(gaps, dtype=kind), denominator)), UNIT)
        assert upper <= bound
        assert bound <= lower * Fraction(101, 100) + Fraction(len(gaps) * 2, UNIT)


def test_large_gaps_do_not_overflow():
    assert int(sum_of_powers(numpy.array([1 << 61]), 1)) == int(exponentials()[-1])


@given(st.integers(0, 1 << 50), st.integers(1, 1 << 30))
def test_weights_are_rounded_down(rest, one):
    weight = int(least_weight(numpy.array([rest]), one)[0])
    assert Fraction(weight, one) <= Fraction(UNIT, UNIT + rest) < Fraction(weight + 1, one)


@settings(max_examples=25, deadline=None)
@given(arrays.arrays(numpy.int64, arrays.array_shapes(min_dims=2, max_dims=2, max_side=8), elements=st.integers(-3, 3)))
def test_distinct_rows_are_those_of_numpy(rows):
    found, which = distinct(rows)
    expected, places = numpy.unique(rows, axis=0, return_inverse=True)
    numpy.testing.assert_array_equal(found, expected)
    numpy.testing.assert_array_equal(which, places.reshape(-1))


def test_distinct_rows_of_many_large_columns():
    rows = numpy.random.default_rng(0).integers(0, 2**40, (300, 9))
    rows[7] = rows[11]
    found, which = distinct(rows)
    numpy.testing.assert_array_equal(found[which], rows)
    assert len(found) == 299
