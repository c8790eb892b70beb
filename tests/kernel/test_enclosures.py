"""Where a direction of rounding matters: bounds against exact fractions at ties, next to whole numbers, and below 0."""

import struct
from decimal import ROUND_CEILING, ROUND_FLOOR, Context
from fractions import Fraction
from itertools import product
from math import exp, isqrt, pi, sqrt, tanh
from operator import mul
from random import Random
from types import SimpleNamespace
from typing import Any, cast

import flint
import pytest

from separatrix_kernel import balls, cells
from separatrix_kernel.balls import (
    BITS,
    ONE,
    Balls,
    Linear,
    Packed,
    exponentials,
    fixed,
    gelu,
    norm,
    power_range,
    slack,
)
from separatrix_kernel.boxes import BoxLayer, BoxReadout, affine_range
from separatrix_kernel.cells import ABSOLUTE, balls_of, gated, products, squashed
from separatrix_kernel.content import rounded_sum, weighted_sum
from separatrix_kernel.evaluation import decode, feed_forward, read, sketched
from separatrix_kernel.floats import Floats
from separatrix_kernel.heads import Heads, least_product, turned, turned_sizes
from separatrix_kernel.lookup import Lookup, _distance, _ends, everything
from separatrix_kernel.network import FeedForward, Matrix, Readout
from separatrix_kernel.numbers import Numbers, exponential
from separatrix_kernel.reading import RefusedError
from separatrix_kernel.thresholds import Part, Thresholds
from separatrix_kernel.words import rounded

CLOSE = Context(prec=120)
ROUNDINGS = ("down", "nearest")


def small(rounding: str) -> Numbers:
    """Multiples of 1/8 up to 8."""
    return Numbers(f"fixed:N=2,Kc=3,{rounding}")


def exact(numerator: int, denominator: int, rounding: str) -> int:
    """A quotient rounded; Python rounds ties to even."""
    found = Fraction(numerator, denominator)
    return round(found) if rounding == "nearest" else found.__floor__()


def near_whole(bits: int, whole: int, places: int) -> list[Fraction]:
    """Numbers x such that 2^bits · exp(x) is just below and just above a whole number."""
    logarithm = CLOSE.ln(CLOSE.divide(CLOSE.create_decimal(whole), CLOSE.create_decimal(1 << bits)))
    scaled = CLOSE.multiply(logarithm, CLOSE.create_decimal(1 << places))
    ends = (int(scaled.to_integral_value(rounding)) for rounding in (ROUND_FLOOR, ROUND_CEILING))
    return [Fraction(each, 1 << places) for each in ends]


def real_power(value: Fraction, bits: int) -> Fraction:
    """2^bits · exp(value), right to a hundred digits."""
    ratio = CLOSE.divide(CLOSE.create_decimal(value.numerator), CLOSE.create_decimal(value.denominator))
    return Fraction(CLOSE.exp(ratio)) * (1 << bits)


# -- fixed point ---


@pytest.mark.parametrize("rounding", ROUNDINGS)
def test_quotients_and_products_are_rounded_at_ties_and_below_0_and_cut_off_at_the_ends(rounding):
    numbers = small(rounding)
    for numerator, denominator in product(range(-40, 41), range(1, 9)):
        assert numbers.quotient(numerator, denominator) == exact(numerator, denominator, rounding)
    ends = [-64, -63, -33, -12, -9, -8, -5, -4, -1, 0, 1, 3, 4, 5, 8, 12, 20, 63, 64]
    for left, right in product(ends, ends):
        assert numbers.product(left, right) == max(-64, min(64, exact(left * right, 8, rounding)))
    for left, low, high in product(ends, ends, ends):
        if low <= high:
            assert numbers.product_range(left, low, high) == (
                min(numbers.product(left, each) for each in (low, high)),
                max(numbers.product(left, each) for each in (low, high)),
            )
    assert [numbers.saturate(each) for each in (-66, -65, -64, 0, 64, 65, 66)] == [-64, -64, -64, 0, 64, 64, 64]


@pytest.mark.parametrize("bits", [1, 4, 9, 16])
def test_an_exponential_next_to_a_whole_number_is_enclosed(bits):
    wholes = {*range(1, min(1 << bits, 24)), (1 << bits) - 1}
    for whole, places in product(sorted(wholes), (bits + 8, bits + 20, bits + 40, bits + 70)):
        for value in near_whole(bits, whole, places):
            if value <= 0:
                low, high = exponential(value, bits)
                assert low <= real_power(value, bits) <= high
                assert high - low <= 2


@pytest.mark.parametrize("rounding", ROUNDINGS)
@pytest.mark.parametrize(
    ("row", "starts"),
    [
        (((0, 8), (1, -8), (2, 3), (3, -5)), (-3, 0, 2)),
        (((0, 64), (1, -64)), (-64, -9, -8, 6, 7, 20)),
        (((0, 8), (1, 8)), (-64, -32, 30, 60)),
        ((), (0,)),
    ],
)
def test_sums_over_boxes_are_reached(rounding, row, starts):
    numbers = small(rounding)
    for low in product(starts, repeat=len(row)):
        box = tuple((each, each + 2) for each in low)
        points = list(product(*[range(a, b + 1) for a, b in box]))
        for bias in (-64, -7, 0, 60):
            products = [[numbers.quotient(weight * vector[place], 8) for place, weight in row] for vector in points]
            values = [numbers.saturate(sum(map(numbers.saturate, each))) + bias for each in products]
            plain = [number for each in products for number in (*each, sum(each), sum(each) + bias)]
            least, greatest, free = affine_range(row, bias, box, numbers)
            assert (least, greatest) == (numbers.saturate(min(values)), numbers.saturate(max(values)))
            assert free == all(-64 <= each <= 64 for each in plain)


@pytest.mark.parametrize("rounding", ROUNDINGS)
@pytest.mark.parametrize("residual", [True, False])
def test_layers_hold_what_is_computed_also_where_it_is_saturated(rounding, residual):
    numbers, random, same = small(rounding), Random(1), 0
    for _ in range(500):
        entries = [random.choice((-64, -8, -3, 0, 5, 8, 64)) for _ in range(4)]
        inner = Matrix((((0, entries[0]),), ((0, entries[1]),)), 1)
        outer = Matrix((((0, entries[2]), (1, entries[3])),), 2)
        bias = [random.choice((-64, -60, -9, 0, 3, 60, 64)) for _ in range(3)]
        layer, low = FeedForward(inner, bias[:2], outer, bias[2:], residual), random.randint(-64, 60)
        high = low + random.choice((0, 1, 4))
        ((least, greatest),) = BoxLayer(layer, [0], [0], numbers)(((low, high),))
        values = [feed_forward(layer, [x], numbers)[0] for x in range(low, high + 1)]
        assert least <= min(values) and max(values) <= greatest
        same += (least, greatest) == (min(values), max(values))
    assert same > 400


def test_readouts_of_boxes_are_those_of_all_their_points():
    numbers, decided, kinds = small("down"), 0, ("bits", "argmax", "exact")
    for kind, rows in product(kinds, ([[8]], [[8], [-8]], [[8], [8], [4]], [[0], [8]])):
        matrix = Matrix(tuple(tuple((0, each) for each in row if each) for row in rows), 1)
        for bias in product((-4, 0, 8), repeat=len(rows)):
            found, point = Readout(matrix, list(bias), kind, "last"), None
            for low, size in product(range(-9, 10), (0, 1, 3)):
                answer = BoxReadout(found, [0], numbers)(((low, low + size),))
                every = {decode(found, read(found, [x], numbers), numbers) for x in range(low, low + size + 1)}
                point = every == {answer}
                assert point or answer is None
                assert point or size
                decided += point and size > 0
    assert decided > 400


@pytest.mark.parametrize("rounding", ROUNDINGS)
def test_affine_units_are_bounded_by_whole_numbers(rounding):
    """ReLU(w x + b) - ReLU(w x + c) with w not whole, so that the bounds are not whole before they are rounded."""
    numbers, sharp = small(rounding), 0
    for weight, outer in product((3, 5, 8, -3), (8, 3, -3)):
        inner = Matrix((((0, weight),), ((0, weight),)), 1)
        layer = FeedForward(inner, [40, 30], Matrix((((0, outer), (1, -outer)),), 2), [1], False)
        for low, size in product(range(-4, 5), (0, 1, 4)):
            ((least, greatest),) = BoxLayer(layer, [0], [0], numbers)(((low, low + size),))
            values = []
            for x in range(low, low + size + 1):
                units = [max(0, numbers.product(weight, x) + bias) for bias in (40, 30)]
                values.append(numbers.product(outer, units[0]) + numbers.product(-outer, units[1]) + 1)
            assert least <= min(values) and max(values) <= greatest
            sharp += least == min(values) and greatest == max(values)
    assert sharp > 100


@pytest.mark.parametrize("rounding", ROUNDINGS)
def test_sums_of_weights_times_values_are_bounded_by_their_lemma(rounding):
    numbers = small(rounding)
    for low, count, divisor in product(range(-9, 10), range(4), (1, 3, 4)):
        found = rounded_sum(low, low + 1, divisor, count, numbers)
        if rounding == "down":
            assert found == (low // divisor - max(0, count - 1), (low + 1) // divisor)
        else:
            assert found == (low // divisor - count // 2, (low + 1) // divisor + -(-count // 2))
    # Whole values are multiplied exactly: 8 · 1 = 8 and -8 · 2 = -16, in eighths.
    assert weighted_sum([((-8, 8, True), (-3, 3, False))], [(1, 2, 1)], numbers)[0] == (-2, 2)
    for light, heavy, least, greatest in product(range(4), range(4), (-5, 0, 3), (3, 6)):
        if light <= heavy:
            (ends,) = weighted_sum([((8 * least, 8 * greatest, True),)], [(light, heavy, 1)], numbers)
            every = [weight * value for weight in range(light, heavy + 1) for value in range(least, greatest + 1)]
            assert ends == (numbers.saturate(min(every)), numbers.saturate(max(every)))


def test_floats_are_the_nearest_ones_with_ties_to_even():
    floats, random = Floats(), Random(2)
    numbers = [float(random.getrandbits(random.randint(1, 52))) * 2.0 ** random.randint(-149, 70) for _ in range(300)]
    numbers += [2.0**24 + 1, 2.0**24 + 3, 2.0**25 + 2, 2.0**25 + 6, 2.0**-149, 2.0**-150, 3 * 2.0**-150, 1 - 2.0**-25]
    # Next to the smallest number with 24 significant bits: a quarter above one float, of which 2^24 is not the nearest.
    numbers.append((4 * (2**24 - 1) + 1) * 2.0**-151)
    for number in (*numbers, *[-each for each in numbers], 0.0):
        (single,) = struct.unpack("f", struct.pack("f", number))
        found = floats.nearest(int(Fraction(number) * 2**1000), 2**851)
        assert Fraction(found, 1 << 149) == Fraction(single)
        if single == number:
            assert floats.encode(*number.as_integer_ratio()) == found
        else:
            with pytest.raises(RefusedError):
                floats.encode(*number.as_integer_ratio())
    largest = ((1 << 24) - 1) << 253
    assert floats.nearest(largest) == largest
    for number in (1 << 277, largest + (1 << 252), -(1 << 277)):
        with pytest.raises(RefusedError):
            floats.nearest(number)


def test_exact_answers_are_zeros_and_ones():
    numbers, matrix = small("down"), Matrix(((), ()), 1)
    read_out = Readout(matrix, [0, 0], "exact", "last")
    for raw, answer in (([8, 0], 2), ([8, 8], 3), ([8, 4], None), ([4, 8], None), ([4, 4], None), ([0, 16], None)):
        assert decode(read_out, raw, numbers) == answer


def test_sketches_are_the_numbers_that_were_summed_up():
    for held in product(range(4), repeat=3):
        sums = tuple(sum(each**power for each in held) % 5 for power in (1, 2, 3))
        assert sketched(sums, 4, 5) == set(held)


# -- balls ---


def test_float32s_slack_is_at_least_its_bound():
    unit = Fraction(1, 1 << balls.ROUNDOFF_BITS)
    for terms, size in product((1, 2, 7, 100, balls.MOST_TERMS), (0, 1, 5, (1 << 24) - 1, 1 << 24, 1 << 60)):
        assert slack(terms, size) >= terms * unit / (1 - terms * unit) * size
    with pytest.raises(RefusedError):
        slack(balls.MOST_TERMS + 1, 0)


def test_packed_products_are_rounded_down_on_both_ways():
    for size in (1, ONE, 1 << 62, 1 << 102, 1 << 103, 1 << 110):
        columns = [[size + 1, 3], [-size - 1, -3], [0, 1]]
        for vector in ([1, 1], [-1, 2], [0, -1], [ONE + 1, 5]):
            right = [(a * vector[0] + b * vector[1]) // ONE for a, b in columns]
            assert Packed(columns).floors(vector) == right
    for entry in (1 << 102, (1 << 102) - 1):
        assert Packed([[entry, entry], [0, 1]]).floors([1, 1]) == [entry >> (BITS - 1), 0]
        assert Packed([[-entry, -entry], [0, 1]]).floors([1, 1]) == [-2 * entry >> BITS, 0]


def test_a_norm_whose_deviation_may_vanish_is_refused():
    assert norm(Balls([-ONE, ONE], [0, 0]), Fraction(1, 1 << 60)).deviation == ONE
    for x in (Balls([0, 0], [0, 0]), Balls([-ONE, ONE], [ONE, ONE])):
        with pytest.raises(RefusedError):
            norm(x, Fraction(1, 1 << 60))


def test_weights_are_read_within_half_a_unit():
    for value in (0.0, 2.0**-41, 2.0**-40, -(2.0**-41), 0.1, -255.9, 256.0, -256.0):
        assert abs(Fraction(value) * ONE - fixed(value)) <= Fraction(1, 2)
    for value in (256.00003, -256.00003, float("inf"), float("nan")):
        with pytest.raises(RefusedError):
            fixed(value)


def test_powers_next_to_whole_numbers_of_units_are_enclosed():
    for whole in (*range(1, 200), (1 << 20) - 1, (1 << 39) + 1, ONE - 1):
        for near in near_whole(BITS, whole, BITS):
            if near <= 0:
                low, high = exponentials(int(-near * ONE))
                assert low <= real_power(near, BITS) <= high
                assert high - low <= 4
    for value, error in ((0, 0), (0, 5), (-3, 5), (-5, 5), (-ONE, ONE // 4), (0, ONE // 2 - 1), (-3, 1)):
        low, high = power_range(value, error)
        assert low <= real_power(Fraction(value - error, ONE), BITS) - (value != 0 or error != 0) * Fraction(1, 2)
        assert high >= real_power(Fraction(value + error, ONE), BITS) + Fraction(1, 2)
    for value, error in ((0, ONE // 2), (ONE, 0)):
        with pytest.raises(RefusedError):
            power_range(value, error)


def test_the_logistic_function_next_to_whole_numbers_of_units_is_enclosed():
    for value in (*range(-4, 5), 27 * ONE, -27 * ONE, -28 * ONE + 1, 70 * ONE, -70 * ONE):
        low, high = squashed(value)
        power = real_power(Fraction(-abs(value), ONE), BITS)
        real = ONE * ONE / (ONE + power) if value >= 0 else ONE * power / (ONE + power)
        assert low <= real <= high <= low + 8
    for whole in range(1, 40):
        # σ(x) = k/2^40 for x = log(k/(2^40 - k)).
        ratio = CLOSE.ln(CLOSE.divide(CLOSE.create_decimal(whole), CLOSE.create_decimal(ONE - whole)))
        centre = int(CLOSE.multiply(ratio, CLOSE.create_decimal(ONE)))
        for value in (centre - 1, centre, centre + 1):
            power = real_power(Fraction(value, ONE), BITS)
            low, high = squashed(value)
            assert low <= ONE * power / (ONE + power) <= high


def test_products_of_ranges_hold_at_their_ends():
    ends = (-ONE - 1, -ONE, -3, -1, 0, 1, 2, ONE - 1, ONE, ONE + 1)
    ranges = [(a, b) for a in ends for b in ends if a <= b]
    for left, right in product(ranges, ranges):
        low, high = products(left, right)
        corners = [Fraction(a * b, ONE) for a, b in product(left, right)]
        assert low == min(corners).__floor__()
        assert max(corners) <= high <= max(corners) + 1


def test_balls_hold_both_ends_of_a_range():
    ranges = [(low, low + size) for low in range(-3, 4) for size in range(5)]
    for (low, high), centre, radius in zip(ranges, *balls_of(ranges), strict=True):
        assert centre - radius <= low <= high <= centre + radius <= high + 1


def test_gated_numbers_hold_what_their_ends_give():
    """n + z(h - n) with the ends of z, n and h, before float32 adds its errors."""
    random = Random(3)
    for _ in range(200):
        parts = [sorted((random.randint(-3 * ONE, 3 * ONE), random.randint(-3 * ONE, 3 * ONE))) for _ in range(4)]
        hidden = (-ONE // 2, random.randint(-ONE // 2, ONE))
        reset, update, given, kept = (cast("Any", tuple(each)) for each in parts)
        low, high = gated(3, reset, update, given, kept, hidden)
        values = []
        for r, z, g, k, h in product(reset, update, given, kept, hidden):
            share, gate = (1 / (1 + exp(-each / ONE)) for each in (r, z))
            inner = tanh((g + share * k) / ONE)
            values.append((1 - gate) * inner * ONE + gate * h)
        # What float32 adds is larger than what a double loses.
        assert low + ABSOLUTE // 2 <= min(values) and max(values) <= high - ABSOLUTE // 2
        assert high - low <= max(values) - min(values) + 40 * ABSOLUTE


def test_turned_vectors_hold_the_exact_ones():
    random = Random(5)
    for _ in range(100):
        x = Balls([random.randint(-9, 9) * random.choice((1, ONE)) for _ in range(4)], [random.randint(0, 5)] * 4)
        cosine, sine = ([random.choice((-ONE, -1, 0, 1, ONE // 3, ONE)) for _ in range(2)] for _ in range(2))
        found = turned(x, cosine, sine)
        sizes = turned_sizes([abs(c) for c in x.centres], cosine, sine)
        # Cosine and sine are known within half a unit.
        halves = (Fraction(-1, 2), Fraction(1, 2))
        for signs, by in product(product((-1, 1), repeat=4), product(halves, repeat=2)):
            ends = [c + sign * r for c, r, sign in zip(*x, signs, strict=True)]
            turns = [(c + by[0], s + by[1]) for c, s in zip(cosine, sine, strict=True)]
            pairs = list(zip(ends[:2], ends[2:], turns, strict=True))
            real = [(a * c - b * s) / ONE for a, b, (c, s) in pairs] + [(b * c + a * s) / ONE for a, b, (c, s) in pairs]
            assert all(abs(value - c) <= r for value, c, r in zip(real, *found, strict=True))
        pairs = list(zip(x.centres[:2], x.centres[2:], cosine, sine, strict=True))
        plain = [abs(a * c) + abs(b * s) for a, b, c, s in pairs] + [abs(b * c) + abs(a * s) for a, b, c, s in pairs]
        assert all(size * ONE >= each for size, each in zip(sizes, plain, strict=True))


def head(powers: Any, own: Any, values: Any, itself: int) -> Any:
    """As much of a model as forms of one head need."""
    return SimpleNamespace(
        powers=lambda p, head: (powers, own), values=lambda head, form: values, own_value=lambda p, head, form: itself
    )


def test_what_the_question_adds_and_boxes_are_rounded_outwards():
    for form, added in product((-ONE, -3, -1, 0, 1, 2, ONE), (-ONE - 1, -1, 0, 1, ONE // 2)):
        model = SimpleNamespace(question=lambda p, added=added: SimpleNamespace(added=[[added]]))
        assert Heads.own_value(cast("Any", model), 0, 0, [form]) == (form * added) // ONE
    for low, size, radius in product(range(-3, 4), range(4), range(3)):
        found = SimpleNamespace(base=SimpleNamespace(radii=[radius]), seen_base=SimpleNamespace(radii=[0, radius]))
        model = SimpleNamespace(question=lambda p, found=found: found, width=1)
        box = Heads.boxed(cast("Any", model), 0, [low, low], [low + size, low + size])
        (centre,), (spread,) = box.y
        assert centre - spread <= low - radius and low + size + radius <= centre + spread
        assert box.forms == [(low - radius, low + size + radius)]
        assert box.reach**2 >= spread**2


def test_products_with_powers_are_the_least():
    for low, size, value in product(range(3), range(3), range(-2, 3)):
        assert least_product((low, low + size), value) == min(low * value, (low + size) * value)


def test_a_stated_bound_holds_exactly_up_to_the_least_average():
    """Against all choices of symbols, and of powers within their ends."""
    random, tight = Random(8), 0
    for _ in range(150):
        places = random.randint(1, 3)
        powers = [[(low := random.randint(0, 4), low + random.randint(0, 1)) for _ in range(2)] for _ in range(places)]
        own = (low := random.randint(1, 3), low + random.randint(0, 1))
        values = [[random.randint(-6, 6) for _ in range(2)] for _ in range(places)]
        itself, sets = random.randint(-6, 6), [random.choice(([0], [1], [0, 1])) for _ in range(places)]
        least = min(
            Fraction(sum(e * v for e, v in keys), sum(e for e, _ in keys))
            for symbols in product(*sets)
            for ends in product(own, *[powers[j][s] for j, s in enumerate(symbols)])
            for keys in [[*zip(ends, [itself, *[values[j][s] for j, s in enumerate(symbols)]], strict=True)]]
        )
        model = head(powers, own, values, itself)
        for stated in range(-8, 8):
            if stated <= least:
                Lookup.verify(model, 0, 0, sets, [], stated)
                tight += stated == least
            else:
                with pytest.raises(RefusedError):
                    Lookup.verify(model, 0, 0, sets, [], stated)
    assert tight > 10


def test_parts_of_a_sum_are_rounded_down():
    for term, least in ((-3, -2), (3, 1), (-4, -2), (-1, -1)):
        assert Part([([0], [1], 2)], 1, 1, 2, 2).least([[0, term]]) == least
    assert Part([([0, 1], [2, 3], 1)], 1, 1, 1, 1).least([[0, 1, 5, -3]]) == -3
    assert Part([([0, 1], [2, 3], 1)], 0, 0, 1, 1).least([[4, 1, 5, -3]]) == 1


@pytest.mark.parametrize("bits", [1, 2, 3, 16])
def test_states_are_rounded_to_the_level_above_their_floor(bits):
    most, step = (1 << bits) - 1, ONE >> (bits - 1)
    for whole, more in product((-most - 1, -2, -1, 0, 1, most), (-1, 0, 1)):
        value = whole * step + more
        assert rounded(value, bits) == min(max(2 * Fraction(value, step).__floor__() + 1, -most), most)


def test_averages_over_counts_are_bounded_from_below():
    """Against all inputs of a part and all powers within their ends; close where sums are exact."""
    random, close = Random(9), 0
    for number in range(300):
        places, wide = random.randint(1, 3), number % 2
        groups, size = [], 1 << random.choice((0, 12))
        for _ in range(places):
            apart = random.randint(0, 2)
            groups.append(([0], [1], apart) if apart else ([0, 1], [], 0))
        powers = [
            [(low := random.randint(1, 4), low + wide * random.randint(0, 1)) for _ in range(2)] for _ in range(places)
        ]
        own = (low := random.randint(1, 3), low + wide * random.randint(0, 1))
        values = [[random.randint(-6, 6) * size for _ in range(2)] for _ in range(places)]
        itself, room = random.randint(-6, 6) * size, sum(each[2] for each in groups)
        fewest = random.randint(0, room)
        part = Part(groups, fewest, random.randint(fewest, room), room, 2)
        averages, totals = [], []
        for symbols in product((0, 1), repeat=places):
            if fewest <= sum(g[2] for g, s in zip(groups, symbols, strict=True) if s in g[1]) <= part.most:
                for ends in product(own, *[powers[j][s] for j, s in enumerate(symbols)]):
                    held = [itself, *[values[j][s] for j, s in enumerate(symbols)]]
                    averages.append(Fraction(sum(e * v for e, v in zip(ends, held, strict=True)), sum(ends)))
                    totals.append(sum(ends))
        if not averages:
            continue
        model = head(powers, own, values, itself)
        sums = Thresholds.sums(model, 0, 0, part)
        assert sums[0] <= min(totals) and max(totals) <= sums[1]
        shares = Thresholds.shares(cast("Any", SimpleNamespace(powers=model.powers, alphabet=2)), 0, 0, part)
        assert all(each >= 0 for row in (*shares[0], [shares[1]]) for each in row)
        bound = Thresholds.lowest(model, part, (powers, own), sums, shares, values, itself)
        assert bound <= min(averages)
        close += bound >= min(averages) - 1
        assert bound >= min(itself, *map(min, values))
    assert close > 60


def test_a_deviation_that_is_known_helps_and_one_below_0_says_nothing():
    x, epsilon = Balls([-ONE, 0, 2 * ONE], [ONE // 4] * 3), Fraction(1, 1000)
    plain = norm(x, epsilon)
    assert norm(x, epsilon, None, -9 * ONE) == plain
    assert plain.least < norm(x, epsilon, None, ONE).least == ONE
    for reach in (ONE // 16, 9 * ONE):
        assert norm(x, epsilon, reach).least >= plain.least


def test_normed_vectors_hold_the_exact_ones_where_the_deviation_shrinks():
    """Two coordinates move inwards, so that two others, which are known, become larger when they are normed."""
    known, moved, radius = 0.3, 1.0, 0.4
    centres = [known, -known, moved, -moved, *[0.0] * 124]
    radii = [0, 0, *[int(radius * ONE)] * 2, *[0] * 124]
    found = norm(Balls([int(each * ONE) for each in centres], radii), Fraction(1, 10**6), isqrt(2 * radii[2] ** 2) + 1)
    for inwards in (-1, 1):
        there = [known, -known, moved - inwards * radius, inwards * radius - moved, *[0.0] * 124]
        deviation = sqrt(sum(each**2 for each in there) / 128 + 1e-6)
        for x, c, r in zip(there, *found.balls, strict=True):
            assert abs(x / deviation * ONE - c) <= r


def test_gelu_is_near_its_tangent():
    for centre, radius in ((0, ONE), (-ONE, ONE // 2), (2 * ONE, ONE), (17 * ONE, ONE), (-17 * ONE, ONE)):
        bend = gelu(centre, radius)
        assert bend.low < 0 < bend.high
        for x in (centre - radius, centre, centre + radius):
            z = x / ONE
            value = z / 2 * (1 + tanh(sqrt(2 / pi) * (z + 0.044715 * z**3)))
            line = bend.value + bend.slope * (x - centre) // ONE
            assert line + bend.low <= value * ONE <= line + bend.high


def test_keys_without_weight_are_refused():
    part = Part([([0], [1], 1)], 0, 1, 1, 1)
    with pytest.raises(RefusedError):
        Thresholds.sums(head([[(0, 1), (1, 1)]], (0, 1), [], 0), 0, 0, part)


def test_contexts_and_ends():
    assert _ends([[1, 5], [3, 2], [2, 2]]) == ([1, 2], [3, 5])
    assert everything(2, 3, 1, 0) == [[0, 1], [0], [0, 1]]
    assert [cells.size(each) for each in ((-5, 3), (3, 5), (-2, -1))] == [5, 5, 2]


def test_distances_are_at_least_the_real_ones():
    for a, b in product(range(-5, 6), range(-5, 6)):
        assert _distance([a, 0], [0, b]) ** 2 >= a * a + b * b
        assert _distance([a, 0], [0, b]) <= isqrt(a * a + b * b) + 1


def roundings(count: int) -> Fraction:
    """γ of so many roundings."""
    return Fraction(count, (1 << 24) - count)


def real(value: Fraction | int) -> flint.arb:
    """A rational number in many digits."""
    value = Fraction(value)
    return flint.arb(value.numerator) / value.denominator


def vector_of(random: Random, width: int) -> Balls:
    """Balls of one size, small or large, of which some are points."""
    size, radius = ONE * random.choice((1, 8)), random.choice((1, 1 << 12, 1 << 24, 1 << 34))
    return Balls(
        [random.randint(-size, size) for _ in range(width)],
        [random.choice((0, random.randint(0, radius))) for _ in range(width)],
    )


def test_radii_of_a_map_are_at_least_the_sum_of_all_errors():
    """Weights and biases known within half a unit, the spread of the input, and the roundings of float32."""
    random = Random(2)
    for _ in range(400):
        inputs, outputs = random.randint(1, 5), random.randint(1, 3)
        size = ONE * random.choice((1, 256)) // random.choice((1, 1 << 20, 1 << 38))
        weight = [[random.randint(-size, size) for _ in range(outputs)] for _ in range(inputs)]
        bias = [random.randint(-ONE, ONE) for _ in range(outputs)]
        x = vector_of(random, inputs)
        balls, noise = Linear(weight, bias).apply(x)
        far = [abs(c) + r for c, r in zip(x.centres, x.radii, strict=True)]
        for place in range(outputs):
            column = [Fraction(2 * abs(row[place]) + 1, 2 * ONE) for row in weight]
            centre = Fraction(sum(c * row[place] for c, row in zip(x.centres, weight, strict=True)), ONE) + bias[place]
            spread = sum(map(mul, x.radii, column))
            products = sum(map(mul, far, column))
            own = Fraction(sum(far), 2 * ONE) + Fraction(1, 2) + roundings(inputs + 2) * products
            own += roundings(inputs + 2) * (abs(bias[place]) + Fraction(1, 2)) + abs(centre - balls.centres[place])
            assert noise[place] >= own - abs(centre - balls.centres[place])
            assert balls.radii[place] >= own + spread


def test_radii_of_a_norm_are_at_least_the_sum_of_all_errors():
    random, seen = Random(3), 0
    for _ in range(500):
        width = random.randint(2, 6)
        x = vector_of(random, width)
        epsilon = Fraction(1, random.choice((10, 1000, 100_000)))
        mean, spread = Fraction(sum(x.centres), width), Fraction(sum(x.radii), width)
        centred = [c - mean for c in x.centres]
        small = epsilon * ONE * ONE
        variance = Fraction(sum(each * each for each in centred), width) + small
        apart = (2 * sum(map(mul, map(abs, centred), x.radii)) + sum(map(mul, x.radii, x.radii))) / width
        far = [abs(c) + r for c, r in zip(x.centres, x.radii, strict=True)]
        wrong = 4 * roundings(width + 4) * Fraction(sum(map(mul, far, far)), width) + 4 * small / (1 << 24)
        length = sum(each * each for each in x.radii)
        reach = random.choice((None, isqrt(length) + 1))
        try:
            found = norm(x, epsilon, reach)
        except RefusedError:
            continue
        if reach is not None:
            apart = min(apart, Fraction(length, width) + 2 * Fraction(isqrt(int(length * (variance - small) / width))))
        lower = max(variance - apart, small)
        sigma, least, most = real(variance).sqrt(), real(lower).sqrt(), real(variance + apart).sqrt()
        assert found.least <= least and real(variance + apart + wrong).sqrt() <= found.most
        assert abs(found.deviation - sigma) <= 2
        if lower <= wrong:
            continue
        seen += 1
        shaken = real(lower - wrong).sqrt()
        mean_error = roundings(width + 2) * Fraction(sum(far), width)
        for place in range(width):
            own = real(mean_error + Fraction(32, 1 << 24) * (far[place] + abs(mean) + spread)) * ONE / shaken
            own += real(abs(centred[place]) + x.radii[place]) * (ONE / shaken - ONE / least)
            middle = real(centred[place]) * ONE / sigma
            ends = (ONE / least - ONE / sigma), (ONE / sigma - ONE / most)
            caused = (
                real(abs(centred[place])) * max(ends, key=float)
                + real(x.radii[place] + (width * spread - 2 * x.radii[place]) / width) * ONE / least
            )
            off = abs(middle - found.balls.centres[place])
            assert not found.balls.radii[place] < own + caused + off
            assert not found.noise[place] < own
    assert seen > 200


def test_bends_of_gelu_are_at_least_as_wide_as_all_errors():
    random = Random(4)
    for _ in range(500):
        centre = random.randint(-1, 1) * random.choice((0, 1, ONE // 7, 3 * ONE, 20 * ONE)) + random.randint(-99, 99)
        radius = random.choice((0, 1, random.randint(0, 1 << 20), random.randint(0, ONE)))
        found, square = gelu(centre, radius), Fraction(radius * radius, ONE)
        wrong = Fraction(16 * (abs(centre) + radius), 1 << 24) + Fraction(8 * abs(centre) + (1 << 14) * radius, ONE) + 1
        assert -found.low >= 7 * square / 128 + wrong
        assert found.high >= 103 * square / 256 + wrong
        if abs(centre) > 18 * ONE:
            assert (found.value, found.slope) == ((centre, ONE) if centre > 0 else (0, 0))
