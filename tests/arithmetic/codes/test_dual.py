"""Dual certificates: exact in every size, least norm, and the bound outside a set."""

from fractions import Fraction

import numpy as np
import pytest
from flint import fmpq, fmpq_mat
from hypothesis import given, settings
from hypothesis import strategies as st

from separatrix.arithmetic.codes.dual import dual_multiples, outside_bound


def dual_certificate(signs):
    """The vector for rows of ±1 (q, k), as k Fractions."""
    multiples, denominator = dual_multiples(signs @ signs.T)
    totals = np.array(multiples, dtype=object) @ signs.astype(object)
    return np.array([Fraction(int(each), denominator) for each in totals], dtype=object)


@pytest.mark.parametrize(("size", "width"), [(1, 1), (3, 8), (8, 16), (30, 64)])
def test_every_row_is_met_with_one_and_no_shorter_vector_does_that(size, width):
    signs = 2 * np.random.default_rng(size).integers(0, 2, (size, width)) - 1
    found = dual_certificate(signs)
    assert [sum(int(sign) * each for sign, each in zip(row, found, strict=True)) for row in signs] == [1] * size
    # Of all such vectors the shortest is the one in the span of the rows.
    span = fmpq_mat(size, width, [fmpq(int(each)) for each in signs.ravel()])
    taller = fmpq_mat(size + 1, width, [*span.entries(), *(fmpq(each.numerator, each.denominator) for each in found)])
    assert taller.rank() == span.rank() == size


def test_multiples_beyond_a_word_are_exact():
    """Thirty rows have a determinant of some 150 bits."""
    signs = 2 * np.random.default_rng(30).integers(0, 2, (30, 64)) - 1
    assert dual_multiples(signs @ signs.T)[1].bit_length() > 64
    assert (signs.astype(object) @ dual_certificate(signs) == 1).all()


@given(st.lists(st.integers(-24, 24), min_size=3, max_size=12), st.integers(1, 3))
@settings(max_examples=25, deadline=None)
def test_the_bound_outside_a_set_is_below_one_or_not_given(totals, sparsity):
    products = [Fraction(each, 24) for each in totals]
    largest = sorted(max(each, Fraction(0)) for each in products)[-sparsity:]
    smallest = sorted(products)[: sparsity - 1]
    least, most = sum(max(-each, Fraction(0)) for each in smallest), sum(largest)
    found = outside_bound(totals, 24, sparsity)
    if most + least >= 1:
        assert found is None
    else:
        assert found == most / (1 - least) < 1


def test_rows_that_depend_on_each_other_have_no_certificate():
    assert dual_certificate(np.array([[1, 1], [-1, -1]])).tolist() == [0, 0]
    assert dual_certificate(np.zeros((0, 3), dtype=np.int64)).tolist() == [0, 0, 0]
