"""Balls contain the exact results, decide only what is certain, and leave python-flint's precision alone."""

from decimal import Decimal
from fractions import Fraction

import flint
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from separatrix.arithmetic import ARITHMETIC_NAMES, Balls, FixedPoint, Floating, UndecidedError, arithmetic_named
from separatrix.errors import SeparatrixError, UnknownNameError

BITS = [2, 24, 53, 200]
numbers = st.lists(st.fractions(max_denominator=10**9), min_size=4, max_size=4)


def encloses(arithmetic: Balls, array: np.ndarray, exact: object) -> bool:
    lower, upper = arithmetic.bounds(array)
    expected = np.array(exact, dtype=object)
    return array.shape == expected.shape and bool(np.all(lower <= expected) and np.all(expected <= upper))


@pytest.mark.parametrize("bits", BITS)
@given(numbers, numbers)
@settings(max_examples=20, deadline=None)
def test_results_contain_the_exact_ones(bits, left, right):
    arithmetic = Balls(bits)
    a, b = arithmetic.encode(left), arithmetic.encode(right)
    pairs = list(zip(left, right, strict=True))
    assert encloses(arithmetic, a, left)
    assert encloses(arithmetic, arithmetic.add(a, b), [x + y for x, y in pairs])
    assert encloses(arithmetic, arithmetic.subtract(a, b), [x - y for x, y in pairs])
    assert encloses(arithmetic, arithmetic.multiply(a, b), [x * y for x, y in pairs])
    assert encloses(arithmetic, arithmetic.negate(a), [-x for x in left])
    assert encloses(arithmetic, arithmetic.maximum(a, b), [max(x, y) for x, y in pairs])
    assert encloses(arithmetic, arithmetic.relu(a), [max(x, Fraction(0)) for x in left])
    assert encloses(arithmetic, arithmetic.sum(a), sum(left))
    assert encloses(
        arithmetic, arithmetic.sum(a.reshape(2, 2), axis=0, keepdims=True), [[left[0] + left[2], left[1] + left[3]]]
    )
    assert encloses(arithmetic, arithmetic.max(a), max(left))
    assert encloses(arithmetic, arithmetic.max(a.reshape(2, 2), axis=1), [max(left[:2]), max(left[2:])])
    product = arithmetic.matmul(a.reshape(2, 2), b.reshape(2, 2))
    exact = np.array(left, dtype=object).reshape(2, 2) @ np.array(right, dtype=object).reshape(2, 2)
    assert encloses(arithmetic, product, exact)
    if all(right) and bits > 24:
        assert encloses(arithmetic, arithmetic.divide(a, b), [x / y for x, y in pairs])


@pytest.mark.parametrize("bits", [53, 128])
@given(st.lists(st.fractions(-50, 50, max_denominator=1000), min_size=2, max_size=5))
@settings(max_examples=30, deadline=None)
def test_softmax_contains_the_real_one(bits, scores):
    coarse, fine = Balls(bits), Balls(1000)
    weights = coarse.softmax(coarse.encode(scores))
    # At 1000 bits the plain formula, without subtracting anything, is decided far beyond the coarse radii.
    powers = fine.exp(fine.encode(scores))
    reference = fine.divide(powers, fine.sum(powers))
    assert all(ball.overlaps(point) for ball, point in zip(weights, reference, strict=True))
    lower, upper = coarse.bounds(weights)
    assert (upper - lower).max() < Fraction(1, 2 ** (bits - 12))
    lower, upper = coarse.bounds(coarse.sum(weights))
    assert lower.item() <= 1 <= upper.item()


def test_softmax_masks_leave_entries_out():
    arithmetic = Balls(100)
    scores = arithmetic.encode([[1, 50, 2], [3, 1, 10**9]])
    mask = np.array([[True, False, True], [True, True, False]])
    masked = arithmetic.softmax(scores, where=mask)
    assert masked[0, 1].is_zero() and masked[1, 2].is_zero()
    kept = arithmetic.softmax(scores[0, [0, 2]])
    assert masked[0, 0].overlaps(kept[0]) and masked[0, 2].overlaps(kept[1])
    assert arithmetic.less(masked[1, 1], masked[1, 0]).item()


def test_comparisons_answer_only_what_is_certain():
    arithmetic = Balls(64)
    third = arithmetic.encode(Fraction(1, 3))
    nearby = arithmetic.encode(Fraction(1, 3) + Fraction(1, 2**40))
    assert arithmetic.less(third, nearby).item() is True
    assert arithmetic.less(nearby, third).item() is False
    assert arithmetic.less_equal(third, nearby).item() is True
    assert arithmetic.less_equal(nearby, third).item() is False
    assert arithmetic.equal(third, nearby).item() is False
    half = arithmetic.encode(Fraction(1, 2))
    assert arithmetic.equal(half, half).item() is True
    assert arithmetic.less_equal(half, half).item() is True
    assert arithmetic.less(half, half).item() is False
    for compare in (arithmetic.less, arithmetic.less_equal, arithmetic.equal):
        with pytest.raises(UndecidedError, match=r"cannot decide \w+ at 64 bits: .* raise the bits, e\.g\. balls:128"):
            compare(np.array([half[()], third[()]]), third)
    # More bits decide what fewer could not.
    close = Fraction(1, 3) + Fraction(1, 2**100)
    with pytest.raises(UndecidedError):
        arithmetic.less(third, arithmetic.encode(close))
    finer = Balls(128)
    assert finer.less(finer.encode(Fraction(1, 3)), finer.encode(close)).item() is True


def test_division_by_what_is_or_may_be_zero():
    arithmetic = Balls(53)
    one = arithmetic.constant(1)
    with pytest.raises(SeparatrixError, match="division by zero in balls:53"):
        arithmetic.divide(one, arithmetic.zeros(2))
    may_be_zero = arithmetic.subtract(arithmetic.encode(Fraction(1, 3)), arithmetic.encode(Fraction(1, 3)))
    with pytest.raises(UndecidedError, match="cannot decide equal at 53 bits"):
        arithmetic.divide(one, may_be_zero)


def test_exact_balls_decode_and_others_refuse():
    arithmetic = Balls(53)
    values = [Fraction(3, 8), Fraction(-5), Fraction(0), Fraction(2) ** 100]
    assert arithmetic.decode(arithmetic.encode(values)).tolist() == values
    assert arithmetic.to_float64(arithmetic.encode([0.375, Fraction(1, 3)])).tolist() == [0.375, 1 / 3]
    with pytest.raises(SeparatrixError, match="is not one number; use bounds or to_float64"):
        arithmetic.decode(arithmetic.encode([1, Fraction(1, 3)]))


def test_the_global_precision_is_put_back():
    before = flint.ctx.prec
    arithmetic = Balls(777)
    values = arithmetic.encode([[1, 2], [3, Fraction(1, 3)]])
    arithmetic.matmul(values, arithmetic.softmax(values))
    FixedPoint(1000, 5).exp(FixedPoint(1000, 5).encode([1, 2]))
    assert flint.ctx.prec == before
    with pytest.raises(TypeError):
        arithmetic.add(values, np.array(["not a ball"], dtype=object))
    assert flint.ctx.prec == before


def test_stacks_of_matrices_and_empty_inner_axes():
    arithmetic = Balls(64)
    left = arithmetic.encode(np.arange(12).reshape(2, 1, 2, 3))
    right = arithmetic.encode(np.arange(18).reshape(3, 3, 2))
    product = arithmetic.matmul(left, right)
    expected = np.arange(12).reshape(2, 1, 2, 3) @ np.arange(18).reshape(3, 3, 2)
    assert arithmetic.decode(product).tolist() == expected.tolist()
    empty = arithmetic.matmul(left[..., :0], right[..., :0, :])
    assert arithmetic.decode(empty).tolist() == np.zeros((2, 3, 2, 2)).tolist()
    assert arithmetic.decode(arithmetic.sum(arithmetic.zeros((2, 0)), axis=1)).tolist() == [0, 0]
    with pytest.raises(SeparatrixError, match="matmul takes"):
        arithmetic.matmul(left, left)


def test_properties_and_errors():
    arithmetic = Balls(128)
    assert (arithmetic.precision_bits, arithmetic.exact, arithmetic.rigorous) == (128, False, True)
    assert "128" in arithmetic.description
    for bits in (1, -3, 2.5, True):
        with pytest.raises(SeparatrixError, match=r"ball precision is .*; give an integer of at least 2"):
            Balls(bits)


@pytest.mark.parametrize("name", ARITHMETIC_NAMES)
def test_names_round_trip(name):
    arithmetic = arithmetic_named(name)
    assert str(arithmetic) == arithmetic.name == name
    assert arithmetic_named(str(arithmetic)) == arithmetic
    assert arithmetic.precision_bits > 0
    assert len(arithmetic.description.splitlines()) == 1


@given(st.integers(2, 10**9), st.integers(1, 50), st.sampled_from(["down", "nearest"]), st.integers(2, 10**6))
@settings(max_examples=25, deadline=None)
def test_every_arithmetic_is_named_uniquely(length, exponent, rounding, bits):
    for arithmetic in (FixedPoint(length, exponent, rounding), Balls(bits)):
        assert arithmetic_named(str(arithmetic)) == arithmetic


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("float31", "unknown arithmetic 'float31'; nearest: float32"),
        ("xyz", "unknown arithmetic 'xyz'; known: balls:128, .*float64"),
        ("", "unknown arithmetic ''"),
        ("float32:16", "unknown arithmetic 'float32:16'; nearest: float32"),
    ],
)
def test_unknown_names(text, message):
    with pytest.raises(UnknownNameError, match=message):
        arithmetic_named(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("fixed:N=16,Kc=2", "cannot read 'fixed:N=16,Kc=2'; write fixed:N=<length>,Kc=<exponent>,down"),
        ("fixed:N=16,Kc=2,up", "rounding is 'up'; choose 'down' or 'nearest'"),
        ("fixed:N=1,Kc=2,down", "length N is 1; give an integer of at least 2"),
        ("balls:", "cannot read 'balls:'; write balls:<bits>"),
        ("balls:１２", "cannot read 'balls:１２'; write balls:<bits>"),
        ("balls:1", "ball precision is 1; give an integer of at least 2"),
    ],
)
def test_names_with_bad_parameters(text, message):
    with pytest.raises(SeparatrixError, match=message):
        arithmetic_named(text)


@pytest.mark.parametrize("name", ARITHMETIC_NAMES)
def test_one_program_runs_in_every_arithmetic(name):
    arithmetic = arithmetic_named(name)
    scores = arithmetic.matmul(arithmetic.encode([[1, 0.5], [0, -1]]), arithmetic.encode([[2, 0], [0, 2]]))
    weights = arithmetic.softmax(scores, where=np.tri(2, dtype=bool))
    result = arithmetic.relu(arithmetic.matmul(weights, arithmetic.encode([[1, -1], [0.5, 3]])))
    expected = [[1, 0], [(1 + 0.5 * np.exp(-2)) / (1 + np.exp(-2)), 0]]
    tolerance = 0.1 if "8_" in name else 0.01
    np.testing.assert_allclose(arithmetic.to_float64(result), expected, atol=tolerance)


def test_every_kind_of_number_enters_exactly():
    values = [True, 3, np.int32(3), np.bool_(True), Fraction(1, 4), 0.25, np.float32(0.25), np.longdouble(0.25)]
    values += [Decimal("0.25"), flint.fmpz(3), flint.fmpq(1, 4), Floating("bfloat16").encode(0.25)[()]]
    expected = [1, 3, 3, 1, *[Fraction(1, 4)] * 5, 3, *[Fraction(1, 4)] * 2]
    for arithmetic in (FixedPoint(1024, 4), FixedPoint(16, 1), Balls(53), Floating("float16")):
        assert arithmetic.decode(arithmetic.encode(values)).tolist() == expected
    # numpy alone would turn the large integer next to a float into a float.
    assert FixedPoint(2, 70).encode([0.5, 2**60 + 1]).tolist() == [2**69, (2**60 + 1) * 2**70]
    unsigned = np.array([2**64 - 1], dtype=np.uint64)
    assert FixedPoint(2, 70).encode(unsigned).tolist() == [(2**64 - 1) * 2**70]
