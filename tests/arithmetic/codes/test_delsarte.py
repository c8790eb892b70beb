from fractions import Fraction
from math import comb

import pytest

from separatrix.arithmetic.codes import delsarte_width, sign_code
from separatrix.arithmetic.codes.delsarte import SCALE_BITS, allowed_distances, krawtchouk_table, most_words
from separatrix.errors import SeparatrixError

QUARTER = Fraction(1, 4)


def krawtchouk(length, degree, place):
    """The defining sum."""
    return sum((-1) ** s * comb(place, s) * comb(length - place, degree - s) for s in range(degree + 1))


@pytest.mark.parametrize("length", [1, 2, 7, 20, 41])
def test_krawtchouk_values_match_their_definition(length):
    table = krawtchouk_table(length)
    assert table == [[krawtchouk(length, i, j) for j in range(length + 1)] for i in range(length + 1)]


@pytest.mark.parametrize(
    ("count", "width"),
    [(16, 5), (32, 10), (64, 13), (128, 15), (256, 16), (1024, 26), (2048, 32), (4096, 37), (16384, 47)],
)
def test_one_sided_limits(count, width):
    bound = delsarte_width(count)
    assert (bound.width, bound.complete) == (width, True)
    assert [each.width for each in bound.exclusions] == list(range(1, width))


@pytest.mark.parametrize(
    ("count", "max_inner", "two_sided"),
    [
        (16, QUARTER, False),
        (100, QUARTER, False),
        (1024, QUARTER, False),
        (64, QUARTER, True),
        (40, Fraction(1, 3), True),
    ],
)
def test_certificates_hold_with_plain_fractions(count, max_inner, two_sided):
    """Delsarte's argument redone from the definition, nothing shared but the multipliers."""
    bound = delsarte_width(count, max_inner, two_sided)
    certified = 0
    for exclusion in bound.exclusions:
        if not exclusion.multipliers:
            assert 1 << exclusion.width < count
            continue
        length = exclusion.length
        parity = length - exclusion.width
        assert parity in (0, 1)
        coefficients = [
            Fraction(each, (1 << SCALE_BITS) * comb(length, degree))
            for degree, each in enumerate(exclusion.multipliers, start=1)
        ]
        assert all(each >= 0 for each in coefficients)

        def value(place, length=length, coefficients=coefficients):
            return 1 + sum(
                (each * krawtchouk(length, degree, place) for degree, each in enumerate(coefficients, start=1)),
                Fraction(0),
            )

        highest = max(
            (
                value(distance + parity * (distance % 2))
                for distance in range(1, exclusion.width + 1)
                if Fraction(exclusion.width - 2 * distance, exclusion.width) <= max_inner
                and (not two_sided or Fraction(exclusion.width - 2 * distance, exclusion.width) >= -max_inner)
            ),
            default=Fraction(0),
        )
        excess = max(highest, Fraction(0))
        assert excess < 1
        assert (value(0) - excess) / (1 - excess) == exclusion.most_words < count
        certified += 1
    assert certified > 0


@pytest.mark.parametrize("two_sided", [False, True])
@pytest.mark.parametrize("max_inner", [Fraction(1, 2), QUARTER, Fraction(1, 8)])
@pytest.mark.parametrize("count", [2, 5, 16, 17, 60, 256, 1000])
def test_no_code_beats_the_limit(count, max_inner, two_sided):
    assert delsarte_width(count, max_inner, two_sided).width <= sign_code(count, max_inner, two_sided).width


@pytest.mark.parametrize("count", [2, 4, 8, 16, 32, 512, 2048])
def test_these_codes_are_proved_narrowest(count):
    assert sign_code(count).width == delsarte_width(count).width


def test_whether_a_width_works_is_not_monotone():
    """16 vectors: the even words of length 5 and the Hamming code of length 7, but nothing of length 6."""
    exclusion = delsarte_width(17).exclusions[5]
    assert exclusion.width == 6
    assert exclusion.most_words < 16


def test_multipliers_that_prove_nothing_are_refused():
    exclusion = delsarte_width(64).exclusions[-1]
    distances = allowed_distances(exclusion.width, QUARTER, two_sided=False)
    if exclusion.length > exclusion.width:
        distances = sorted({each + each % 2 for each in distances})
    assert most_words(exclusion.length, distances, exclusion.multipliers) == exclusion.most_words
    assert most_words(exclusion.length, distances, exclusion.multipliers[:-1]) is None
    assert most_words(exclusion.length, distances, (-1, *exclusion.multipliers[1:])) is None
    assert most_words(exclusion.length, distances, (0,) * exclusion.length) is None
    shrunk = most_words(exclusion.length, distances, tuple(each * 9 // 10 for each in exclusion.multipliers))
    assert shrunk is None or shrunk > exclusion.most_words


def test_large_counts_are_feasible():
    bound = delsarte_width(1 << 24)
    assert (bound.width, bound.complete) == (101, True)


def test_the_search_for_exclusions_can_be_cut_short():
    bound = delsarte_width(1024, largest=20)
    assert (bound.width, bound.complete, len(bound.exclusions)) == (21, False, 20)


def test_bad_questions_are_refused():
    with pytest.raises(SeparatrixError, match="at least 2"):
        delsarte_width(1)
    with pytest.raises(SeparatrixError, match="max_inner is 2"):
        delsarte_width(16, Fraction(2))
