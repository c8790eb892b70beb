"""Floats against a table of every representable value, and against numpy's own float32 and float64."""

import bisect
import itertools
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from separatrix.arithmetic import FLOATING_FORMATS, Floating
from separatrix.errors import SeparatrixError, UnknownNameError

SHORT = ["bfloat16", "float16", "float8_e4m3fn", "float8_e5m2"]
finite = st.floats(allow_nan=False, allow_infinity=False)


class Table:
    """All non-negative finite values of a short format in order; the index is the bit pattern."""

    def __init__(self, name: str) -> None:
        dtype = Floating(name).dtype
        words = np.arange(2 ** (8 * dtype.itemsize - 1), dtype=f"u{dtype.itemsize}")
        with np.errstate(all="ignore"):
            floats = words.view(dtype).astype(np.float64)
        self.values = [Fraction(v) for v in floats[np.isfinite(floats)].tolist()]
        self.overflow = np.nan if name == "float8_e4m3fn" else np.inf
        # Rounding happens as if the format went on; what lands on this value or beyond has overflowed.
        self.beyond = 2 * self.values[-1] - self.values[-2]

    def nearest(self, value: Fraction) -> float:
        grid = [*self.values, self.beyond]
        size = abs(value)
        above = bisect.bisect_left(grid, size)
        if above == len(grid):
            index = above - 1
        elif grid[above] == size:
            index = above
        else:
            distances = size - grid[above - 1], grid[above] - size
            index = above if distances[1] < distances[0] else above - 1
            if distances[0] == distances[1]:
                index = above if above % 2 == 0 else above - 1
        rounded = self.overflow if index == len(grid) - 1 else float(grid[index])
        return -rounded if value < 0 else rounded


TABLES = {name: Table(name) for name in SHORT}


@pytest.mark.parametrize("name", SHORT)
@given(st.lists(st.one_of(finite, st.fractions(), st.floats(-600, 600), st.integers()), min_size=1, max_size=10))
@settings(max_examples=25, deadline=None)
def test_encoding_rounds_once(name, values):
    arithmetic, table = Floating(name), TABLES[name]
    expected = [table.nearest(Fraction(value)) for value in values]
    np.testing.assert_array_equal(arithmetic.to_float64(arithmetic.encode(values)), expected)
    floats = [float(value) for value in values if abs(value) < 1e300]
    expected = [table.nearest(Fraction(value)) for value in floats]
    np.testing.assert_array_equal(arithmetic.to_float64(arithmetic.encode(np.array(floats))), expected)


@pytest.mark.parametrize("name", SHORT)
def test_values_beside_every_tie_are_rounded_to_the_right_side(name):
    # ml_dtypes itself goes through float32 and loses the last summand.
    arithmetic, table = Floating(name), TABLES[name]
    steps = range(0, len(table.values) - 1, max(1, len(table.values) // 500))
    ties = [(table.values[i] + table.values[i + 1]) / 2 for i in steps] + [(table.values[-1] + table.beyond) / 2]
    for nudge in (Fraction(1, 2**45), Fraction(1, 2**90)):  # within float64's reach, and beyond it
        values = [sign * tie * (1 + shift * nudge) for tie in ties for shift in (-1, 0, 1) for sign in (1, -1)]
        expected = [table.nearest(value) for value in values]
        np.testing.assert_array_equal(arithmetic.to_float64(arithmetic.encode(values)), expected)
        floats = [float(value) for value in values]
        expected = [table.nearest(Fraction(value)) for value in floats]
        np.testing.assert_array_equal(arithmetic.to_float64(arithmetic.encode(np.array(floats))), expected)


@pytest.mark.parametrize("name", SHORT)
@given(st.data())
@settings(max_examples=25, deadline=None)
def test_each_operation_rounds_once(name, data):
    arithmetic, table = Floating(name), TABLES[name]
    index = st.integers(0, len(table.values) - 1)
    number = st.tuples(st.sampled_from([1, -1]), index).map(lambda pair: pair[0] * table.values[pair[1]])
    x, y = data.draw(number), data.draw(number)
    a, b = arithmetic.encode(x), arithmetic.encode(y)
    assert (arithmetic.decode(a).item(), arithmetic.decode(b).item()) == (x, y)
    results = [arithmetic.add(a, b), arithmetic.subtract(a, b), arithmetic.multiply(a, b)]
    expected = [table.nearest(x + y), table.nearest(x - y), table.nearest(x * y)]
    if y:
        results.append(arithmetic.divide(a, b))
        expected.append(table.nearest(x / y))
    results += [arithmetic.maximum(a, b), arithmetic.relu(a), arithmetic.negate(a)]
    expected += [float(max(x, y)), float(max(x, 0)), float(-x)]
    np.testing.assert_array_equal([arithmetic.to_float64(result) for result in results], expected)
    assert all(result.dtype == arithmetic.dtype and result.shape == () for result in results)
    assert (arithmetic.less(a, b), arithmetic.less_equal(a, b), arithmetic.equal(a, b)) == (x < y, x <= y, x == y)


@pytest.mark.parametrize("name", ["float64", "float32"])
def test_long_formats_are_numpys(name):
    arithmetic, dtype = Floating(name), np.dtype(name)
    generator = np.random.default_rng(5)
    # Exponents from the subnormals to overflow.
    left, right = (
        (generator.standard_normal(4000) * 2.0 ** generator.integers(-149, 127, 4000)).astype(dtype) for _ in range(2)
    )
    with np.errstate(all="ignore"):
        for ours, theirs in [
            (arithmetic.add(left, right), left + right),
            (arithmetic.subtract(left, right), left - right),
            (arithmetic.multiply(left, right), left * right),
            (arithmetic.divide(left, right), left / right),
        ]:
            assert ours.dtype == dtype
            np.testing.assert_array_equal(ours, theirs)
    assert arithmetic.encode(Fraction(1, 3)).item() == dtype.type(1 / 3)
    assert arithmetic.encode(10**400).item() == np.inf
    assert arithmetic.encode(-(10**400)).item() == -np.inf


@pytest.mark.parametrize("name", FLOATING_FORMATS)
def test_matrix_products_and_sums_accumulate_in_the_wider_format(name):
    arithmetic = Floating(name)
    accumulator = np.float64 if name == "float64" else np.float32
    generator = np.random.default_rng(7)
    left = arithmetic.encode(generator.standard_normal((2, 3, 4)))
    right = arithmetic.encode(generator.standard_normal((4, 5)))
    with np.errstate(all="ignore"):
        product = left.astype(accumulator) @ right.astype(accumulator)
        total = left.astype(accumulator).sum(axis=1)
    for products in ("rounded", "exact"):
        ours = arithmetic.matmul(left, right, products=products)
        np.testing.assert_array_equal(ours.astype(np.float64), product.astype(arithmetic.dtype).astype(np.float64))
    np.testing.assert_array_equal(
        arithmetic.sum(left, axis=1).astype(np.float64), total.astype(arithmetic.dtype).astype(np.float64)
    )
    assert arithmetic.max(left, axis=(0, 2)).tolist() == left.astype(np.float64).max(axis=(0, 2)).tolist()


def test_accumulating_in_the_format_itself_would_stall():
    arithmetic = Floating("bfloat16")
    ones = arithmetic.constant(1, 1000)
    assert float(arithmetic.sum(ones)) == 1000
    assert float(np.add.accumulate(ones)[-1]) == 256  # what adding in bfloat16 one by one gives


@pytest.mark.parametrize("name", SHORT)
@given(st.lists(st.integers(-40, 40), min_size=1, max_size=6))
@settings(max_examples=30, deadline=None)
def test_softmax_rounds_differences_exponentials_and_quotients(name, scores):
    arithmetic, table = Floating(name), TABLES[name]
    exact = [Fraction(table.nearest(Fraction(score, 4))) for score in scores]
    differences = [table.nearest(score - max(exact)) for score in exact]
    powers = [table.nearest(Fraction(np.exp(difference))) for difference in differences]
    total = float(np.float32(np.sum(np.array(powers, dtype=np.float32))))
    expected = [table.nearest(Fraction(power) / Fraction(total)) for power in powers]
    assert arithmetic.to_float64(arithmetic.softmax(arithmetic.encode(exact))).tolist() == expected


@pytest.mark.parametrize("name", FLOATING_FORMATS)
def test_softmax_masks_leave_entries_out(name):
    arithmetic = Floating(name)
    scores = arithmetic.encode([[1, 50, 2], [3, 1, 60]])
    mask = np.array([[True, False, True], [True, True, False]])
    masked = arithmetic.to_float64(arithmetic.softmax(scores, where=mask))
    kept = arithmetic.to_float64(arithmetic.softmax(np.stack([scores[0, [0, 2]], scores[1, :2]])))
    assert masked.tolist() == [[kept[0, 0], 0, kept[0, 1]], [kept[1, 0], kept[1, 1], 0]]
    assert arithmetic.softmax(scores, where=mask).dtype == arithmetic.dtype


@pytest.mark.parametrize("name", FLOATING_FORMATS)
def test_overflow_and_zero_divisors_give_no_warning(name):
    # pytest turns warnings into errors here.
    arithmetic = Floating(name)
    largest = arithmetic.encode(float(ml_dtypes.finfo(arithmetic.dtype).max))
    over = float(arithmetic.to_float64(arithmetic.add(largest, largest)))
    assert np.isnan(over) if name == "float8_e4m3fn" else over == np.inf
    assert not np.isfinite(arithmetic.to_float64(arithmetic.exp(largest)))
    one, zero = arithmetic.constant(1), arithmetic.zeros(())
    assert not np.isfinite(arithmetic.to_float64(arithmetic.divide(one, zero)))
    assert np.isnan(arithmetic.to_float64(arithmetic.divide(zero, zero)))
    assert not np.isfinite(arithmetic.to_float64(arithmetic.matmul(largest.reshape(1, 1), largest.reshape(1, 1)))).any()
    with pytest.raises(SeparatrixError, match="has no exact value; look for an overflow"):
        arithmetic.decode(arithmetic.divide(one, zero))


def test_properties_and_errors():
    bits = {name: Floating(name).precision_bits for name in FLOATING_FORMATS}
    assert bits == dict(zip(FLOATING_FORMATS, (64, 32, 16, 16, 8, 8), strict=True))
    for name, attribute in itertools.product(FLOATING_FORMATS, ("exact", "rigorous")):
        assert getattr(Floating(name), attribute) is False
    assert "float32" in Floating("bfloat16").description
    with pytest.raises(UnknownNameError, match=r"unknown floating-point format 'float8_e'; nearest: .*float8_e"):
        Floating("float8_e")


def test_arrays_of_the_format_enter_unchanged_and_copied():
    arithmetic = Floating("bfloat16")
    array = arithmetic.encode([1, 2])
    entered = arithmetic.encode(array)
    entered[0] = 5
    assert array.astype(float).tolist() == [1, 2]
    assert arithmetic.encode(np.array([1.5], dtype=ml_dtypes.float8_e5m2)).astype(float).tolist() == [1.5]
    assert Floating("float32").encode(array).tolist() == [1, 2]


@pytest.mark.parametrize("name", ["float16", "float8_e4m3fn", "float8_e5m2"])
def test_softmax_of_scores_further_apart_than_the_range(name):
    arithmetic = Floating(name)
    largest = float(ml_dtypes.finfo(arithmetic.dtype).max)
    weights = arithmetic.to_float64(arithmetic.softmax(arithmetic.encode([largest, -largest])))
    np.testing.assert_array_equal(weights, [np.nan, np.nan] if name == "float8_e4m3fn" else [1, 0])
