"""Fixed point against a slow oracle on Fractions that follows the words of BHBK24 B.2 and Appendix D."""

import itertools
import math
from fractions import Fraction

import flint
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from separatrix.arithmetic import FixedPoint
from separatrix.errors import SeparatrixError

# int64 with room to spare; int64 whose products need limbs, up to the last scale whose square is below 2^62;
# Python ints from just above that up to hundreds of bits.
SMALL = [(2, 1), (3, 1), (10, 2), (16, 2), (1024, 2)]
LIMBS = [(1024, 3), (1000, 3), (46340, 2), (2147483647, 1)]
OBJECTS = [(2147483648, 1), (1024, 4), (7, 40), (10**6, 9)]
ARITHMETICS = [
    FixedPoint(length, exponent, rounding)
    for (length, exponent), rounding in itertools.product(SMALL + LIMBS + OBJECTS, ("down", "nearest"))
]
each_arithmetic = pytest.mark.parametrize("arithmetic", ARITHMETICS, ids=str)


class Oracle:
    """B.2 on Fractions, one number at a time."""

    def __init__(self, arithmetic: FixedPoint) -> None:
        self.end = Fraction(arithmetic.length) ** arithmetic.exponent
        self.step = 1 / self.end
        self.down = arithmetic.rounding == "down"

    def snap(self, value: Fraction) -> Fraction:
        steps = value / self.step
        snapped = (math.floor(steps) if self.down else round(steps)) * self.step
        return max(-self.end, min(self.end, snapped))

    def exp(self, value: Fraction) -> Fraction:
        if value > 20 * self.end.numerator.bit_length():  # e^20 > 2, so exp(value) is beyond the range
            return self.end
        if value < -20 * self.end.numerator.bit_length():  # smaller than half a step
            return Fraction(0)
        with flint.ctx.workprec(3000):
            ball = flint.arb(flint.fmpq(value.numerator, value.denominator)).exp()
            lower, upper = (
                Fraction(int(mantissa)) * Fraction(2) ** int(exponent)
                for mantissa, exponent in (ball.lower().man_exp(), ball.upper().man_exp())
            )
        assert self.snap(lower) == self.snap(upper), "3000 bits should decide every rounding here"
        return self.snap(lower)

    def softmax(self, scores: list[Fraction]) -> list[Fraction]:
        largest = max(scores)
        powers = [self.exp(self.snap(score - largest)) for score in scores]
        return [self.snap(power / sum(powers)) for power in powers]

    def dot(self, left: list[Fraction], right: list[Fraction], products: str) -> Fraction:
        terms = [a * b for a, b in zip(left, right, strict=True)]
        return self.snap(sum((self.snap(t) for t in terms) if products == "rounded" else terms, Fraction(0)))


def end_of(arithmetic: FixedPoint) -> int:
    return arithmetic.largest**2


def raw_numbers(arithmetic: FixedPoint) -> st.SearchStrategy[int]:
    """Raw numbers of every size, with the ends, the whole numbers and their neighbours often among them."""
    scale, end = arithmetic.largest, end_of(arithmetic)
    special = {sign * v for sign in (1, -1) for v in (0, 1, scale // 2, scale - 1, scale, scale + 1, end - 1, end)}
    sizes = st.integers(0, end.bit_length()).flatmap(lambda bits: st.integers(-(1 << bits), 1 << bits))
    return st.one_of(st.sampled_from(sorted(special)), sizes).map(lambda v: max(-end, min(end, v)))


def raw(arithmetic: FixedPoint, numbers: object) -> np.ndarray:
    return np.array(numbers, dtype=arithmetic.dtype)


def fractions(arithmetic: FixedPoint, numbers: list[int]) -> list[Fraction]:
    return [Fraction(number, arithmetic.largest) for number in numbers]


@each_arithmetic
@given(st.data())
@settings(max_examples=25, deadline=None)
def test_elementwise_operations_match_the_oracle(arithmetic, data):
    oracle = Oracle(arithmetic)
    pairs = data.draw(st.lists(st.tuples(raw_numbers(arithmetic), raw_numbers(arithmetic)), min_size=1, max_size=8))
    left, right = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    a, b = raw(arithmetic, left), raw(arithmetic, right)
    exact = list(zip(fractions(arithmetic, left), fractions(arithmetic, right), strict=True))
    assert arithmetic.decode(arithmetic.add(a, b)).tolist() == [oracle.snap(x + y) for x, y in exact]
    assert arithmetic.decode(arithmetic.subtract(a, b)).tolist() == [oracle.snap(x - y) for x, y in exact]
    assert arithmetic.decode(arithmetic.multiply(a, b)).tolist() == [oracle.snap(x * y) for x, y in exact]
    assert arithmetic.decode(arithmetic.maximum(a, b)).tolist() == [max(x, y) for x, y in exact]
    assert arithmetic.decode(arithmetic.negate(a)).tolist() == [-x for x, _ in exact]
    assert arithmetic.decode(arithmetic.relu(a)).tolist() == [max(x, Fraction(0)) for x, _ in exact]
    assert arithmetic.less(a, b).tolist() == [x < y for x, y in exact]
    assert arithmetic.less_equal(a, b).tolist() == [x <= y for x, y in exact]
    assert arithmetic.equal(a, b).tolist() == [x == y for x, y in exact]
    divisible = [(x, y) for x, y in exact if y]
    quotient = arithmetic.divide(a[b != 0], b[b != 0])
    assert arithmetic.decode(quotient).tolist() == [oracle.snap(x / y) for x, y in divisible]


@each_arithmetic
@given(st.data())
@settings(max_examples=20, deadline=None)
def test_reductions_and_matrix_products_match_the_oracle(arithmetic, data):
    oracle = Oracle(arithmetic)
    rows, inner, columns = (data.draw(st.integers(1, 4)) for _ in range(3))
    sizes = st.lists(raw_numbers(arithmetic), min_size=rows * inner, max_size=rows * inner)
    left = raw(arithmetic, data.draw(sizes)).reshape(rows, inner)
    numbers = st.lists(raw_numbers(arithmetic), min_size=inner * columns, max_size=inner * columns)
    right = raw(arithmetic, data.draw(numbers)).reshape(inner, columns)
    exact_left = [fractions(arithmetic, row) for row in left.tolist()]
    exact_right = [fractions(arithmetic, column) for column in right.T.tolist()]
    for products in ("rounded", "exact"):
        expected = [[oracle.dot(row, column, products) for column in exact_right] for row in exact_left]
        assert arithmetic.decode(arithmetic.matmul(left, right, products=products)).tolist() == expected
    assert arithmetic.decode(arithmetic.sum(left, axis=1)).tolist() == [oracle.snap(sum(r)) for r in exact_left]
    assert arithmetic.decode(arithmetic.sum(left)).item() == oracle.snap(sum(map(sum, exact_left)))
    assert arithmetic.decode(arithmetic.max(left, axis=1)).tolist() == [max(row) for row in exact_left]


@pytest.mark.parametrize("rounding", ["down", "nearest"])
@pytest.mark.parametrize(("length", "exponent"), [(2, 1), (3, 1), (4, 1)])
def test_every_pair_of_a_small_grid(length, exponent, rounding):
    arithmetic = FixedPoint(length, exponent, rounding)
    oracle = Oracle(arithmetic)
    numbers = list(range(-end_of(arithmetic), end_of(arithmetic) + 1))
    assert len(numbers) == arithmetic.number_count == 2 * length ** (2 * exponent) + 1
    column, row = raw(arithmetic, numbers)[:, None], raw(arithmetic, numbers)[None, :]
    exact = fractions(arithmetic, numbers)
    products = arithmetic.decode(arithmetic.multiply(column, row)).tolist()
    assert products == [[oracle.snap(x * y) for y in exact] for x in exact]
    nonzero = row[row != 0][None, :]
    quotients = arithmetic.decode(arithmetic.divide(column, nonzero)).tolist()
    assert quotients == [[oracle.snap(x / y) for y in exact if y] for x in exact]
    sums = arithmetic.decode(arithmetic.add(column, row)).tolist()
    assert sums == [[oracle.snap(x + y) for y in exact] for x in exact]
    assert arithmetic.decode(arithmetic.exp(raw(arithmetic, numbers))).tolist() == [oracle.exp(x) for x in exact]


@each_arithmetic
@given(st.data())
@settings(max_examples=15, deadline=None)
def test_exponential_and_softmax_match_the_oracle(arithmetic, data):
    oracle = Oracle(arithmetic)
    scale = arithmetic.largest
    near = st.integers(-60 * scale, 60 * scale).map(lambda v: max(-end_of(arithmetic), min(end_of(arithmetic), v)))
    scores = data.draw(st.lists(st.one_of(near, raw_numbers(arithmetic)), min_size=1, max_size=6))
    exact = fractions(arithmetic, scores)
    assert arithmetic.decode(arithmetic.exp(raw(arithmetic, scores))).tolist() == [oracle.exp(x) for x in exact]
    assert arithmetic.decode(arithmetic.softmax(raw(arithmetic, scores))).tolist() == oracle.softmax(exact)


@each_arithmetic
def test_exponential_where_its_shortcuts_end(arithmetic):
    oracle, scale, end = Oracle(arithmetic), arithmetic.largest, end_of(arithmetic)
    edges = [math.ceil(sign * scale * math.log(scale * factor)) for sign in (1, -1) for factor in (1, 2)]
    estimates = [-7 * (scale.bit_length() + 1) * scale // 10, 7 * scale.bit_length() * scale // 10]
    numbers = [max(-end, min(end, edge + shift)) for edge in edges + estimates for shift in range(-3, 4)]
    expected = [oracle.exp(x) for x in fractions(arithmetic, numbers)]
    assert arithmetic.decode(arithmetic.exp(raw(arithmetic, numbers))).tolist() == expected


@each_arithmetic
@given(st.data())
@settings(max_examples=20, deadline=None)
def test_encoding_rounds_exact_values(arithmetic, data):
    oracle = Oracle(arithmetic)
    number = st.one_of(
        st.fractions(),
        st.integers(),
        st.integers(-(10**40), 10**40),
        st.floats(allow_nan=False, allow_infinity=False),
    )
    values = data.draw(st.lists(number, min_size=1, max_size=6))
    assert arithmetic.decode(arithmetic.encode(values)).tolist() == [oracle.snap(Fraction(v)) for v in values]
    floats = np.array([float(np.float32(0.1)), -0.1, 1e300, -1e-300])
    assert arithmetic.decode(arithmetic.encode(floats)).tolist() == [oracle.snap(Fraction(v)) for v in floats]
    for integers in ([-3, 0, 7], [-3, 2**40], [True, False]):
        expected = [oracle.snap(Fraction(v)) for v in integers]
        encoded = arithmetic.encode(np.array(integers))
        assert arithmetic.decode(encoded).tolist() == expected
        assert encoded.dtype == arithmetic.dtype


@each_arithmetic
def test_decoding_and_floats(arithmetic):
    numbers = [0, 1, -1, arithmetic.largest, end_of(arithmetic), -end_of(arithmetic), end_of(arithmetic) // 3]
    array = raw(arithmetic, numbers)
    assert arithmetic.encode(arithmetic.decode(array)).tolist() == numbers
    assert arithmetic.to_float64(array).tolist() == [float(x) for x in fractions(arithmetic, numbers)]
    assert arithmetic.to_float64(array).dtype == np.float64


def test_precision_bits_tell_all_numbers_apart():
    # E13: the paper counts N^(2Kc) numbers, there are twice as many and one.
    for arithmetic in ARITHMETICS:
        count = 2 * arithmetic.length ** (2 * arithmetic.exponent) + 1
        assert arithmetic.number_count == count
        assert 2 ** (arithmetic.precision_bits - 1) < count <= 2**arithmetic.precision_bits
    assert FixedPoint(2, 1).precision_bits == 4
    assert FixedPoint(16, 2).precision_bits == 2 * 2 * 4 + 2


def test_dtype_is_int64_while_sums_of_two_fit():
    assert FixedPoint(2147483647, 1).dtype == np.int64
    assert FixedPoint(2147483648, 1).dtype == object


def test_a_weight_below_one_never_becomes_one_when_rounded_down():
    # E2: Theorem 6 says such a weight "will be rounded to 1"; B.2 rounds down.
    for exponent in (1, 2, 3):
        down, nearest = FixedPoint(16, exponent, "down"), FixedPoint(16, exponent, "nearest")
        smallest_power = math.ceil(-down.largest * math.log(down.largest))
        assert down.exp(raw(down, smallest_power)).item() == 1
        assert down.decode(down.softmax(raw(down, [0, smallest_power])))[0] == 1 - down.step
        below_one = Fraction(10**9 - 1, 10**9)
        assert down.decode(down.encode(below_one)).item() == 1 - down.step
        assert nearest.decode(nearest.encode(below_one)).item() == 1


def test_kc_of_one_loses_uniform_attention():
    # E4: with Kc = 1 the weight 1/(N + 1) is 0 under rounding down, with Kc = 2 it is not.
    for length in (2, 16, 1024):
        coarse, fine = FixedPoint(length, 1), FixedPoint(length, 2)
        assert coarse.softmax(coarse.zeros(length + 1)).tolist() == [0] * (length + 1)
        assert coarse.encode(Fraction(1, length + 1)).item() == 0
        weights = fine.decode(fine.softmax(fine.zeros(length + 1)))
        assert all(weight == Fraction(length - 1, length**2) for weight in weights)


def test_softmax_masks_leave_entries_out():
    arithmetic = FixedPoint(10, 3)
    scores = arithmetic.encode([[1, 50, 2], [3, 1, 60]])
    mask = np.array([[True, False, True], [True, True, False]])
    masked = arithmetic.softmax(scores, where=mask)
    kept = arithmetic.softmax(np.array([scores[0, [0, 2]], scores[1, :2]]))
    assert masked[0].tolist() == [kept[0, 0], 0, kept[0, 1]]
    assert masked[1].tolist() == [kept[1, 0], kept[1, 1], 0]
    assert arithmetic.softmax(scores.T, axis=0, where=mask.T).T.tolist() == masked.tolist()
    # A row of the smallest number there is must not be confused with what was left out.
    lowest = arithmetic.constant(-arithmetic.largest, 3)
    assert arithmetic.softmax(lowest, where=np.array([True, True, False])).tolist() == [500, 500, 0]
    with pytest.raises(SeparatrixError, match="leaves a row without any entry; let each row keep"):
        arithmetic.softmax(scores, where=np.array([[True], [False]]))
    with pytest.raises(SeparatrixError, match=r"mask of shape \(4,\) does not broadcast to \(2, 3\)"):
        arithmetic.softmax(scores, where=np.ones(4, dtype=bool))
    with pytest.raises(SeparatrixError, match="at least one entry"):
        arithmetic.softmax(arithmetic.zeros((2, 0)))


def test_operations_broadcast_batch_and_keep_their_arguments():
    arithmetic = FixedPoint(10, 2)
    left = np.arange(24, dtype=np.int64).reshape(2, 1, 3, 4) * 37
    right = np.arange(40, dtype=np.int64).reshape(1, 2, 4, 5) * 41 - 700
    before = left.copy()
    for products in ("rounded", "exact"):
        product = arithmetic.matmul(left, right, products=products)
        assert product.shape == (2, 2, 3, 5)
        for i, j in itertools.product(range(2), range(2)):
            single = arithmetic.matmul(left[i, 0], right[0, j], products=products)
            assert product[i, j].tolist() == single.tolist()
    assert (left == before).all()
    assert arithmetic.matmul(left[..., :0], right[..., :0, :]).tolist() == np.zeros((2, 2, 3, 5)).tolist()
    assert arithmetic.add(left, arithmetic.constant(1)).shape == left.shape
    assert arithmetic.sum(left, axis=(0, 3), keepdims=True).shape == (1, 1, 3, 1)
    assert arithmetic.constant(Fraction(1, 3), (2, 2)).tolist() == [[33, 33], [33, 33]]


@pytest.mark.parametrize("length", [10, 1024**2])
def test_results_without_axes_stay_arrays(length):
    arithmetic = FixedPoint(length, 2)
    one = arithmetic.encode(1)
    results = [one, arithmetic.add(one, one), arithmetic.multiply(one, one), arithmetic.divide(one, one)]
    results += [arithmetic.exp(one), arithmetic.relu(one), arithmetic.max(one), arithmetic.sum(one)]
    assert all(isinstance(result, np.ndarray) and result.dtype == arithmetic.dtype for result in results)
    assert [result.shape for result in results] == [()] * 8


def test_errors_name_the_value_and_the_remedy():
    with pytest.raises(SeparatrixError, match="length N is 1; give an integer of at least 2"):
        FixedPoint(1, 2)
    with pytest.raises(SeparatrixError, match="exponent Kc is 0; give an integer of at least 1"):
        FixedPoint(16, 0)
    with pytest.raises(SeparatrixError, match=r"exponent Kc is 1\.5"):
        FixedPoint(16, 1.5)
    with pytest.raises(SeparatrixError, match=r"needs numbers of more than .* bits; choose a smaller Kc"):
        FixedPoint(10**6, 10**6)
    with pytest.raises(SeparatrixError, match="rounding is 'up'; choose 'down' or 'nearest'"):
        FixedPoint(16, 2, "up")
    arithmetic = FixedPoint(16, 2)
    one = arithmetic.constant(1, (2, 3))
    with pytest.raises(SeparatrixError, match=r"division by zero in fixed:N=16,Kc=2,down; .* raise Kc"):
        arithmetic.divide(one, arithmetic.zeros(3))
    with pytest.raises(SeparatrixError, match=r"got shapes \(2, 3\) and \(2, 3\); add or transpose"):
        arithmetic.matmul(one, one)
    with pytest.raises(SeparatrixError, match=r"leading axes \(2,\) and \(3,\), which do not broadcast"):
        arithmetic.matmul(arithmetic.zeros((2, 1, 1)), arithmetic.zeros((3, 1, 1)))
    with pytest.raises(SeparatrixError, match="products is 'fused'; choose 'rounded' or 'exact'"):
        arithmetic.matmul(one, one.T, products="fused")
    for value in (float("nan"), float("inf")):
        with pytest.raises(SeparatrixError, match="is not a finite number"):
            arithmetic.encode(value)
    for value in ("3", [[1], [1, 2]], None, 1j):
        with pytest.raises(SeparatrixError, match=r"cannot read .* as a number"):
            arithmetic.encode(value)
    with pytest.raises(SeparatrixError, match=r"a constant is one number, got an array of shape \(2,\)"):
        arithmetic.constant([1, 2], 3)


def test_it_says_that_its_results_are_exact_and_prove_something():
    assert FixedPoint(16, 2).exact
    assert FixedPoint(16, 2).rigorous


@each_arithmetic
@given(numerators=st.lists(st.integers(-(2**62), 2**62), max_size=6), denominator=st.integers(-3, 2**63))
@settings(max_examples=20, deadline=None)
def test_ratios_are_rounded_at_once_as_one_by_one(arithmetic, numerators, denominator):
    found = arithmetic.encode_ratios(np.array(numerators, dtype=np.int64), denominator)
    fits = max(map(abs, numerators), default=0) * arithmetic.length**arithmetic.exponent < 2**63
    if denominator <= 0 or denominator >= 2**63 or not fits or arithmetic.dtype == object:
        assert found is None
    else:
        expected = arithmetic.encode([Fraction(each, denominator) for each in numerators])
        assert found is not None
        assert found.tolist() == expected.tolist()
