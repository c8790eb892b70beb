"""The narrow, wide and Python-int routes of fixed point give the same numbers, and the wide ones are reached.

The Python-int route is itself compared with Fractions in test_fixed_point.py.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from separatrix.arithmetic import FixedPoint, integers, wide_integers
from separatrix.arithmetic.integers import Grid

SCALES = [2, 3, 10, 2**16, 10**6, 2**20, 10**9, 2**30, 2**31 - 1]
LARGE_SCALES = [2**33, 10**12, 2**40 - 1, 2**40, 3**30, 2**55, 2**56 - 1]
ROUNDINGS = ["down", "nearest"]


def numbers_up_to(limit: int) -> st.SearchStrategy[int]:
    sizes = st.integers(0, limit.bit_length()).flatmap(lambda bits: st.integers(-(1 << bits), 1 << bits))
    return sizes.map(lambda value: max(-limit, min(limit, value)))


def columns(data: st.DataObject, limit: int, count: int = 6) -> tuple[np.ndarray, np.ndarray]:
    numbers = st.lists(numbers_up_to(limit), min_size=count, max_size=count)
    return np.array(data.draw(numbers), dtype=np.int64), np.array(data.draw(numbers), dtype=np.int64)


@pytest.mark.parametrize("rounding", ROUNDINGS)
@pytest.mark.parametrize("scale", SCALES)
@given(st.data())
@settings(max_examples=20, deadline=None)
def test_wide_products_and_quotients_equal_those_of_python_ints(scale, rounding, data):
    grid = Grid(scale, scale * scale, rounding)
    left, right = columns(data, grid.limit)
    nearest = rounding == "nearest"
    wide = wide_integers.multiply_rounded(left, right, scale, grid.limit, nearest)
    expected = integers.multiply_rounded(left.astype(object), right.astype(object), grid).tolist()
    assert wide.tolist() == expected
    assert integers.multiply_rounded(left, right, grid).tolist() == expected
    right = np.where(right == 0, 1, right)
    wide = wide_integers.divide_rounded(left, right, scale, grid.limit, nearest)
    expected = integers.divide_rounded(left.astype(object), right.astype(object), grid).tolist()
    assert wide.tolist() == expected
    assert integers.divide_rounded(left, right, grid).tolist() == expected


@pytest.mark.parametrize("rounding", ROUNDINGS)
@pytest.mark.parametrize("scale", SCALES)
@given(st.data())
@settings(max_examples=25, deadline=None)
def test_matrix_products_are_the_same_on_every_route(scale, rounding, data):
    grid = Grid(scale, scale * scale, rounding)
    left, right = (
        array.reshape(shape) for array, shape in zip(columns(data, grid.limit), [(2, 3), (3, 2)], strict=True)
    )
    wide = wide_integers.matmul_rounded(left, right, scale, grid.limit, rounding == "nearest")
    exact = wide_integers.matmul_of_python_ints(left.astype(object), right.astype(object))
    expected = integers.saturate(integers.divide_rounding(exact, scale, rounding), grid.limit).tolist()
    assert wide.tolist() == expected
    assert integers.matmul_rounded_once(left, right, grid).tolist() == expected
    products = integers.multiply_rounded(left.astype(object)[:, :, None], right.astype(object)[None], grid)
    expected = integers.saturate(products.sum(axis=1), grid.limit).tolist()
    assert integers.matmul_of_rounded_products(left, right, grid).tolist() == expected
    assert integers.matmul_of_rounded_products(left.astype(object), right.astype(object), grid).tolist() == expected


@pytest.mark.parametrize("rounding", ROUNDINGS)
@pytest.mark.parametrize("scale", LARGE_SCALES)
@given(st.data())
@settings(max_examples=25, deadline=None)
def test_python_ints_that_fit_take_the_int64_route_with_the_same_result(scale, rounding, data):
    grid = Grid(scale, scale * scale, rounding)
    bound = st.sampled_from([2**20, 2**40, 2**58, 2**61, grid.limit])
    numbers = numbers_up_to(data.draw(bound))
    left, right = (
        np.array(data.draw(st.lists(numbers, min_size=6, max_size=6)), dtype=object).reshape(shape)
        for shape in ((2, 3), (3, 2))
    )
    products = integers.multiply_rounded(left[:, :, None], right[None], grid)
    expected = integers.saturate(products.sum(axis=1), grid.limit).tolist()
    rounded = integers.matmul_of_rounded_products(left, right, grid)
    assert rounded.tolist() == expected
    assert rounded.dtype == object
    exact = (left[:, :, None] * right[None]).sum(axis=1)
    once = integers.matmul_rounded_once(left, right, grid)
    assert once.tolist() == integers.saturate(integers.divide_rounding(exact, scale, rounding), grid.limit).tolist()
    assert all(type(value) is int for value in (*rounded.ravel(), *once.ravel()))


@given(st.data())
@settings(max_examples=25, deadline=None)
def test_long_division_is_exact(data):
    divisor = data.draw(st.integers(0, 61).flatmap(lambda bits: st.integers(1 << bits, (2 << bits) - 1)))
    factor = data.draw(st.integers(0, divisor - 1))
    other = data.draw(st.integers(0, 2**62 - 1))
    words = [np.array([value], dtype=np.uint64) for value in (factor, other, divisor)]
    quotient, remainder = wide_integers.scaled_quotient(*words)
    assert (int(quotient[0]), int(remainder[0])) == divmod(factor * other, divisor)


def test_rounding_at_every_remainder_of_a_product_too_wide_for_a_word():
    # left · right runs through q · scale + r for all r around 0, scale/2 and scale; an off-by-one in either
    # rounding, at either sign, changes one of these.
    scale = 2**20
    right = 2**62 // 7 | 1
    inverse = pow(right, -1, scale)
    for r in (0, 1, scale // 2 - 1, scale // 2, scale // 2 + 1, scale - 1):
        for lift in (0, scale):  # the quotient's parity decides a tie
            left = r * inverse % scale + lift
            product = left * right
            assert product >= integers.WORD or left < 20
            assert product % scale == r
            for sign in (1, -1):
                a, b = np.array([sign * left]), np.array([right])
                down = wide_integers.multiply_rounded(a, b, scale, 2**62, False).item()
                nearest = wide_integers.multiply_rounded(a, b, scale, 2**62, True).item()
                assert down == (sign * product) // scale
                twice = 2 * sign * product - 2 * nearest * scale
                assert abs(twice) < scale or (abs(twice) == scale and nearest % 2 == 0)


@pytest.mark.parametrize("sign", [1, -1])
def test_sums_wider_than_a_word_saturate(sign):
    arithmetic = FixedPoint(2147483647, 1)
    end = arithmetic.largest**2
    ends = np.full((3, 9), sign * end)
    assert integers.magnitude(ends) * 9 >= integers.WORD
    assert arithmetic.sum(ends, axis=1).tolist() == [sign * end] * 3
    ends[:, ::2] *= -1  # five against four
    ends[1, 0] += sign
    assert arithmetic.sum(ends, axis=1).tolist() == [-sign * end, -sign * end + sign, -sign * end]
    balanced = np.concatenate([ends, -ends], axis=1)
    balanced[:, 0] += sign * 5
    assert arithmetic.sum(balanced, axis=1).tolist() == [sign * 5] * 3


def test_joined_halves_beyond_the_largest_limit_stay_beyond_it():
    limit, low = 2**62, np.array([2**31 - 1])
    for high in (2**31, 2**31 + 1, 2**40):
        assert wide_integers.join_clipped(np.array([high]), low, limit).item() == limit
        assert wide_integers.join_clipped(np.array([-high - 2]), low, limit).item() == -limit
    assert wide_integers.join_clipped(np.array([-(2**31)]), low, limit).item() == -limit + 2**31 - 1


@pytest.mark.parametrize("products", ["rounded", "exact"])
def test_matrix_products_wider_than_a_word_saturate_and_cancel(products):
    arithmetic = FixedPoint(2147483647, 1)
    end = arithmetic.largest**2
    row = np.array([[end, -end, end, -end, end - 1, 7]])
    ones = arithmetic.constant(1, (6, 1))
    assert arithmetic.matmul(row, ones, products=products).item() == end
    row[0, 4] = -3
    assert arithmetic.matmul(row, ones, products=products).item() == 4
    assert arithmetic.matmul(np.full((1, 9), -end), arithmetic.constant(3, (9, 1)), products=products).item() == -end


def test_each_product_saturates_before_the_sum_only_when_products_are_rounded():
    arithmetic = FixedPoint(10, 1)
    row, column = arithmetic.encode([[10, 9]]), arithmetic.encode([[10], [-10]])
    # 100 saturates to 10 and −90 to −10; exactly, the sum is 10.
    assert arithmetic.decode(arithmetic.matmul(row, column)).item() == 0
    assert arithmetic.decode(arithmetic.matmul(row, column, products="exact")).item() == 10


def test_long_inner_axes_are_added_in_blocks():
    arithmetic = FixedPoint(10, 2)
    inner = integers.BLOCK + 17
    row = (np.arange(inner, dtype=np.int64) % 100)[None, :]
    column = (np.arange(inner, dtype=np.int64) * 7 % 50)[:, None] - 25
    expected = sum(a * b // 100 for a, b in zip(row[0].tolist(), column[:, 0].tolist(), strict=True))
    assert arithmetic.matmul(row, column).item() == max(expected, -(10**4))
    assert arithmetic.sum(row).item() == 10**4


@pytest.mark.parametrize("rounding", ROUNDINGS)
@pytest.mark.parametrize("exponent", [1, 2, 3, 4, 9])
def test_whole_numbers_are_multiplied_without_rounding(exponent, rounding):
    arithmetic = FixedPoint(1000, exponent, rounding)
    generator = np.random.default_rng(exponent)
    whole = generator.integers(-9, 10, size=(2, 4, 6))
    parts = arithmetic.divide(arithmetic.encode(generator.integers(-99, 100, size=(6, 5))), arithmetic.constant(7))
    exact = whole.astype(object) @ arithmetic.decode(parts)
    for products in ("rounded", "exact"):
        product = arithmetic.matmul(arithmetic.encode(whole), parts, products=products)
        assert arithmetic.decode(product).tolist() == exact.tolist()
        turned = arithmetic.matmul(parts.T, arithmetic.encode(whole).swapaxes(-1, -2), products=products)
        assert turned.swapaxes(-1, -2).tolist() == product.tolist()
    # One product beyond the range: it saturates before the sum.
    largest = arithmetic.constant(arithmetic.largest, (1, 2))
    column = arithmetic.encode([[2], [-1]])
    assert arithmetic.matmul(largest, column).item() == 0
    assert arithmetic.matmul(largest, column, products="exact").item() == arithmetic.largest**2


def test_saturated_sums_do_not_depend_on_the_order():
    arithmetic = FixedPoint(10, 1)
    terms = arithmetic.encode([8, 8, -9])
    assert arithmetic.decode(arithmetic.sum(terms)).item() == 7
    # Left to right, 8 + 8 would already be cut to 10.
    partial = arithmetic.add(terms[0], terms[1])
    assert arithmetic.decode(arithmetic.add(partial, terms[2])).item() == 1


@pytest.mark.parametrize("shape", [(0, 3, 2), (2, 0, 3), (2, 3, 0)])
def test_matrices_of_python_ints_without_entries_have_an_empty_or_zero_product(shape):
    rows, inner, columns = shape
    product = wide_integers.matmul_of_python_ints(
        np.zeros((rows, inner), dtype=object), np.zeros((inner, columns), dtype=object)
    )
    assert product.shape == (rows, columns)
    assert not product.any()


@pytest.mark.parametrize("arithmetic", [FixedPoint(7, 3), FixedPoint(7, 25), FixedPoint(16, 20, "nearest")], ids=str)
def test_exponentials_of_any_shape_in_any_width(arithmetic):
    values = arithmetic.encode([[0, -1, -(10**6)], [1, 10**6, -2]])
    whole = arithmetic.exp(values)
    assert whole.dtype == values.dtype
    assert [arithmetic.exp(value.reshape(())).item() for value in values.reshape(-1, 1)] == whole.reshape(-1).tolist()
    assert whole[0].tolist() == [arithmetic.encode(1).item(), whole[0, 1], 0]
    assert arithmetic.exp(values[:0]).shape == (0, 3)
