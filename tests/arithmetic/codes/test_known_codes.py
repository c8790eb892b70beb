"""Weight distributions from the literature, and claims that must fail."""

import numpy as np
import pytest

from separatrix.arithmetic.codes import families, sign_code
from separatrix.arithmetic.codes.families.elliptic import affine_points, functions
from separatrix.arithmetic.codes.families.trace import narrow_sense_exponents
from separatrix.arithmetic.codes.weights import linear_distances, weight_distribution

WHOLE = {"constant": 1, "origin": 1}


def distribution(family, **parameters):
    rows, width = families()[family].rows(parameters)
    histogram = weight_distribution(rows, width)
    return {int(weight): int(histogram[weight]) for weight in np.flatnonzero(histogram)}


@pytest.mark.parametrize("variables", range(2, 9))
def test_first_order_reed_muller_has_three_weights(variables):
    length = 1 << variables
    assert distribution("reed-muller", order=1, variables=variables, **WHOLE) == {
        0: 1,
        length // 2: 2 * length - 2,
        length: 1,
    }


def test_second_order_reed_muller_of_length_16():
    assert distribution("reed-muller", order=2, variables=4, **WHOLE) == {
        0: 1,
        4: 140,
        6: 448,
        8: 870,
        10: 448,
        12: 140,
        16: 1,
    }


def test_extended_bch_of_length_32():
    assert distribution("trace", degree=5, exponents=(1, 5), **WHOLE) == {0: 1, 12: 496, 16: 1054, 20: 496, 32: 1}


@pytest.mark.parametrize(
    ("degree", "dimension", "distance"),
    [(5, 11, 12), (6, 16, 24), (7, 22, 48), (8, 21, 112), (8, 29, 96), (9, 28, 224)],
)
def test_the_named_extended_bch_codes_are_listed(degree, dimension, distance):
    assert (distance, dimension) in {(each[0], each[2]) for each in narrow_sense_exponents(degree)}


@pytest.mark.parametrize("degree", range(3, 8))
def test_the_bch_bound_holds_for_every_listed_code(degree):
    for distance, exponents, dimension in narrow_sense_exponents(degree):
        if dimension <= 18:
            rows, width = families()["trace"].rows({"degree": degree, "exponents": exponents, **WHOLE})
            assert len(rows) == dimension
            assert linear_distances(rows, width).smallest >= distance


def test_trace_words_are_traces_of_polynomials():
    from separatrix.arithmetic.codes.binary_field import BinaryField

    field = BinaryField(5)
    rows, _ = families()["trace"].rows({"degree": 5, "exponents": (1, 5), **WHOLE})
    places = [0, *field.powers(31).tolist()]
    for place, row in enumerate(rows[1:]):
        exponent, coefficient = (1, 5)[place // 5], 1 << place % 5
        values = [field.trace(field.multiply(coefficient, field.power(x, exponent))) for x in places]
        assert row == sum(value << position for position, value in enumerate(values))


def test_the_elliptic_code_of_2_to_the_24_words():
    histogram = distribution("elliptic", points=24, pole=6, **WHOLE)
    assert sum(histogram.values()) == 1 << 24
    assert min(weight for weight in histogram if weight) == 72
    assert all(histogram[192 - weight] == number for weight, number in histogram.items())
    assert all(weight % 4 == 0 for weight in histogram)


def test_elliptic_functions_have_no_more_zeros_than_poles():
    from separatrix.arithmetic.codes.families.elliptic import FIELD

    points = affine_points()
    assert len(points) == len(set(points)) == 24
    generator = np.random.default_rng(0)
    for _ in range(300):
        coefficients = generator.integers(0, 16, 6).tolist()
        if any(coefficients):
            values = []
            for x, y in points:
                total = 0
                for (i, j), coefficient in zip(functions(6), coefficients, strict=True):
                    total ^= FIELD.multiply(coefficient, FIELD.multiply(FIELD.power(x, i), FIELD.power(y, j)))
                values.append(total)
            assert values.count(0) <= 6


@pytest.mark.parametrize("count", [1024, 4096])
def test_one_flipped_bit_that_lowers_the_distance_is_noticed(count):
    code = sign_code(count)
    rows = code.rule.rows
    assert linear_distances(rows, code.width).smallest == code.distances.smallest
    noticed = 0
    for row in range(len(rows)):
        for place in range(0, code.width, 5):
            flipped = list(rows)
            flipped[row] ^= 1 << place
            measured = linear_distances(flipped, code.width)
            noticed += measured.smallest < code.distances.smallest
            assert measured.smallest >= code.distances.smallest - 1
    assert noticed > 0
