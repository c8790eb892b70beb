"""The kernel's arithmetic is the project's fixed point, number by number, and its exponential encloses the real one."""

from collections import Counter
from fractions import Fraction
from random import Random

import numpy
import pytest

from separatrix.arithmetic import arithmetic_named
from separatrix_kernel.numbers import Numbers, exponential
from separatrix_kernel.reading import RefusedError

NAMES = ("fixed:N=2,Kc=1,down", "fixed:N=3,Kc=2,nearest", "fixed:N=10,Kc=3,down", "fixed:N=64,Kc=4,nearest")


def some(numbers: Numbers, random: Random) -> int:
    """A number of the range: near 0, near the ends, or anywhere."""
    return random.choice(
        (random.randint(-9, 9), random.randint(-numbers.limit, numbers.limit), numbers.limit, -numbers.limit)
    )


@pytest.mark.parametrize("name", NAMES)
def test_products_encodings_and_ranges_are_those_of_the_fixed_point(name):
    ours, theirs, random = Numbers(name), arithmetic_named(name), Random(1)
    for _ in range(300):
        a, b = some(ours, random), some(ours, random)
        assert ours.product(a, b) == int(
            theirs.multiply(numpy.array([a], dtype=theirs.dtype), numpy.array([b], dtype=theirs.dtype))[0]
        )
        fraction = Fraction(random.randint(-(1 << 63), 1 << 63), random.randint(1, 1 << 62))
        assert ours.encode(fraction.numerator, fraction.denominator) == int(theirs.encode([fraction])[0])
        low, high = sorted((a, b))
        factor, between = some(ours, random), random.randint(low, high)
        least, greatest = ours.product_range(factor, low, high)
        assert least <= ours.product(factor, between) <= greatest


@pytest.mark.parametrize("name", NAMES)
def test_exponentials_are_rounded_as_the_fixed_point_rounds_them(name):
    ours, theirs, random = Numbers(name), arithmetic_named(name), Random(2)
    values = [
        0,
        -1,
        -ours.limit,
        *[-random.randrange(ours.limit) for _ in range(40)],
        *[-random.randrange(3 * ours.scale) for _ in range(40)],
    ]
    assert [ours.power(value) for value in values] == theirs.exp(numpy.array(values, dtype=theirs.dtype)).tolist()


def test_the_exponential_is_enclosed_next_to_whole_numbers():
    """Just above or below one, where the last unit of the working precision decides how an end is rounded."""
    flint = pytest.importorskip("flint")
    with flint.ctx.workprec(200):
        for whole in range(90, 256):
            for half in (-1, 1):
                # 2^8 · exp(value) is half a unit of the working precision, 2^-28, away from a whole number.
                target = flint.fmpq((whole << 21) + half, 1 << 29)
                value = Fraction(int((flint.arb(target).log() * 2**120).floor().unique_fmpz()), 1 << 120)
                low, high = exponential(value, 8)
                assert low <= whole - (half < 0)
                assert high >= whole + (half > 0)


@pytest.mark.parametrize("bits", [1, 8, 60, 300])
@pytest.mark.parametrize(
    "value", [Fraction(0), Fraction(-1, 3), Fraction(-1), Fraction(-7, 2), Fraction(-50), Fraction(-(10**6))]
)
def test_the_exponential_is_enclosed(value, bits):
    flint = pytest.importorskip("flint")
    low, high = exponential(value, bits)
    with flint.ctx.workprec(2000):
        real = (flint.arb(value.numerator) / flint.arb(value.denominator)).exp() * flint.arb(2) ** bits
        assert flint.arb(low) <= real
        assert real <= flint.arb(high)
    assert high - low <= 2


def test_a_rounding_that_few_bits_leave_open_takes_more(monkeypatch):
    numbers = Numbers("fixed:N=10,Kc=3,down")
    right = numbers.power(-1234)
    monkeypatch.setattr("separatrix_kernel.numbers.SPARE_BITS", -9)
    assert Numbers("fixed:N=10,Kc=3,down").power(-1234) == right


@pytest.mark.parametrize("scoring", ["softmax", "hard", "linear", "relu", "leftmost"])
@pytest.mark.parametrize("name", NAMES)
def test_weights_by_score_are_those_of_the_networks(scoring, name):
    from separatrix.networks.weights import weights_of

    class Scored:
        """A head that only says how it scores."""

        def __init__(self) -> None:
            self.scoring = scoring

    ours, theirs, random = Numbers(name), arithmetic_named(name), Random(3)
    for _ in range(40):
        scores = [some(ours, random) for _ in range(random.randint(1, 6))]
        if scoring == "leftmost":
            scores = list(dict.fromkeys(scores))
        table = ours.weights(scoring, Counter(scores))
        row = numpy.array(scores, dtype=theirs.dtype)[None, None]
        assert [table[score] for score in scores] == weights_of(Scored(), row, numpy.ones((1, 1, 1), bool), theirs)[
            0, 0
        ].tolist()
    assert ours.weights(scoring, {}) == {}


def test_leftmost_attention_refuses_to_guess_the_order_of_keys():
    with pytest.raises(RefusedError):
        Numbers(NAMES[0]).weights("leftmost", {1: 2})


@pytest.mark.parametrize(
    "name",
    [
        "",
        "balls:64",
        "fixed:N=8,Kc=2,down,once",
        "fixed:N=08,Kc=2,down",
        "fixed:N=1,Kc=2,down",
        "fixed:N=8,Kc=999,down\n",
        "fixed:N=999999999999,Kc=999,down",
    ],
)
def test_other_arithmetics_are_refused(name):
    with pytest.raises(RefusedError):
        Numbers(name)
