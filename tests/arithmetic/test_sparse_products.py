"""Products with matrices that are nearly all zeros: the same numbers as one product at a time."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from separatrix.arithmetic import FixedPoint, integers

ARITHMETICS = [FixedPoint(10, 1), FixedPoint(16, 2, "nearest"), FixedPoint(3, 9), FixedPoint(7, 25)]


@settings(max_examples=25, deadline=None)
@given(st.sampled_from(ARITHMETICS), st.integers(0, 2**32 - 1), st.integers(1, 3), st.integers(1, 6), st.integers(1, 9))
def test_sparse_and_dense_products_are_the_same(arithmetic, seed, rows, inner, columns):
    random = np.random.default_rng(seed)
    span = int(arithmetic.largest) * 4
    left = arithmetic.encode([[int(n) for n in row] for row in random.integers(-5, 6, (rows, inner))])
    left = left + random.integers(0, min(span, 2**40), left.shape).astype(left.dtype)
    right = random.integers(-min(span, 2**40), min(span, 2**40), (inner, columns)).astype(left.dtype)
    right[random.random(right.shape) < 0.85] = 0
    left, right = (np.minimum(np.maximum(side, -(span**2) // 16), span**2 // 16) for side in (left, right))
    expected = arithmetic.sum(arithmetic.multiply(left[:, :, None], right[None]), axis=1)
    np.testing.assert_array_equal(arithmetic.matmul(left, right), expected)
    stacked = arithmetic.matmul(np.stack([left, -left]), right)
    np.testing.assert_array_equal(stacked[0], expected)


@pytest.mark.parametrize("arithmetic", ARITHMETICS, ids=str)
def test_a_matrix_of_zeros_gives_zeros(arithmetic):
    left = arithmetic.encode([[3, -1], [2, 5]])
    assert not arithmetic.matmul(left, arithmetic.zeros((2, 3))).any()


MANY = integers.WORTH_A_ROW // (2 * 16)
"""Rows from which on the entries of a sparse matrix are taken one row after the other."""


@settings(max_examples=25, deadline=None)
@given(
    st.integers(0, 2**32 - 1), st.sampled_from([1, 2, 4, MANY]), st.integers(16, 24), st.integers(16, 24),
    st.integers(0, 5),
)  # fmt: skip
def test_whole_numbers_times_a_matrix_of_few_entries_are_exact(seed, rows, inner, columns, entries):
    """Neither way of multiplying whole numbers rounds: both give the product of the integers."""
    draws = np.random.default_rng(seed)
    arithmetic = FixedPoint(7, 5)
    right = np.zeros((inner, columns), dtype=np.int64)
    right[draws.integers(0, inner, entries), draws.integers(0, columns, entries)] = draws.integers(-9, 10, entries)
    left = draws.integers(-40, 41, (2, rows, inner))
    found = arithmetic.matmul(arithmetic.encode(left), arithmetic.encode(right))
    assert found.tolist() == (left @ right * 7**5).tolist()
    # Whole numbers on one side alone are enough.
    halves = arithmetic.matmul(left, arithmetic.encode(right))
    assert halves.tolist() == (left @ right).tolist()
