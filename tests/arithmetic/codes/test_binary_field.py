import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from separatrix.arithmetic.codes.binary_field import (
    BinaryField,
    cyclotomic_coset,
    independent_rows,
    prime_factors,
    primitive_polynomial,
)
from separatrix.errors import SeparatrixError


def naive_product(left, right, degree):
    """Schoolbook multiplication of coefficient lists, then division by the modulus from the top."""
    coefficients = [0] * (2 * degree)
    for i in range(degree):
        for j in range(degree):
            coefficients[i + j] ^= (left >> i & 1) & (right >> j & 1)
    modulus = primitive_polynomial(degree)
    for top in range(2 * degree - 1, degree - 1, -1):
        if coefficients[top]:
            for place in range(degree + 1):
                coefficients[top - degree + place] ^= modulus >> place & 1
    return sum(bit << place for place, bit in enumerate(coefficients))


@given(st.integers(2, 24), st.data())
def test_products_match_schoolbook_polynomials(degree, data):
    field = BinaryField(degree)
    left, right = (data.draw(st.integers(0, field.order)) for _ in range(2))
    product = naive_product(left, right, degree)
    assert field.multiply(left, right) == product
    assert field.scale(np.array([left, right], dtype=np.uint64), right).tolist() == [
        product,
        naive_product(right, right, degree),
    ]


@pytest.mark.parametrize("degree", range(1, 13))
def test_the_generator_reaches_every_nonzero_element(degree):
    field = BinaryField(degree)
    powers = field.powers(field.order)
    assert sorted(powers.tolist()) == list(range(1, field.size))
    assert [field.power(field.generator, place) for place in range(min(40, field.order))] == powers[:40].tolist()


@pytest.mark.parametrize("degree", range(1, 11))
def test_the_trace_is_balanced_and_its_mask_agrees(degree):
    field = BinaryField(degree)
    traces = [field.trace(element) for element in range(field.size)]
    assert set(traces) == {0, 1} and sum(traces) == field.size // 2
    mask = field.trace_mask
    assert traces == [(element & mask).bit_count() % 2 for element in range(field.size)]


@given(st.integers(1, 100_000))
def test_factors_match_trial_division(number):
    factors = prime_factors(number)
    assert all(number % each == 0 for each in factors)
    rest = number
    for each in factors:
        while rest % each == 0:
            rest //= each
    assert rest == 1


def test_cosets_partition_the_exponents():
    cosets = {cyclotomic_coset(each, 63) for each in range(63)}
    assert sorted(member for coset in cosets for member in coset) == list(range(63))


@given(st.lists(st.integers(0, 255), max_size=10))
def test_independent_rows_span_the_same_and_are_independent(rows):
    def span(vectors):
        words = {0}
        for vector in vectors:
            words |= {word ^ vector for word in words}
        return words

    kept = independent_rows(rows)
    assert span(kept) == span(rows)
    assert len(span(kept)) == 1 << len(kept)


def test_a_field_too_large_is_refused():
    with pytest.raises(SeparatrixError, match="field degree 29"):
        primitive_polynomial(29)
