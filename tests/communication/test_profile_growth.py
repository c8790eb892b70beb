"""What is said about lengths that were not run: nothing from too few of them, and never more than is possible."""

import re
from fractions import Fraction
from itertools import accumulate

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from separatrix.bit_counts import bits_for
from separatrix.communication.capacity import capacity, describe
from separatrix.communication.profile import profile
from separatrix.communication.profile.alphabet import Alphabet
from separatrix.communication.profile.exact_counts import exact_count
from separatrix.communication.profile.excluded import exclusion
from separatrix.communication.profile.growth import fit_growth
from separatrix.communication.profile.partitions import examine_all
from separatrix.communication.profile.residuals import residual_classes
from separatrix.communication.profile.table import Table
from separatrix.communication.profile.words import most_communication_bits, most_state_bits


def test_too_few_rises_name_no_growth():
    """Three lengths above 0 bits lie near a logarithm and near a line; a bad fit names nothing either."""
    three = fit_growth([2, 3, 4, 5, 6], [1, 1, 7, 10, 12])
    assert (three.law, three.rises, three.best) == ("unknown", 3, None)
    assert "it rises at 3 lengths" in three.untold
    assert fit_growth([1, 2, 3, 4, 5, 6], [1, 2, 4, 8, 16, 32]).law == "linear"
    jump = fit_growth([2, 3, 4, 5, 6, 7], [1, 1, 8, 10, 12, 14])
    assert (jump.law, jump.rises) == ("unknown", 4)
    assert "fits" in jump.untold

    def repeats_in_the_first_half(x):
        return len(set(x[: len(x) // 2])) < len(x) // 2

    found = profile("repeats", repeats_in_the_first_half, 6, Alphabet(1, grows=True))
    assert (found.state_growth.law, found.communication_growth.law) == ("unknown", "unknown")
    assert all(each.state_bits is each.communication_bits is None for each in found.extrapolations)
    assert all("excluded" not in each.transformer for each in found.extrapolations)


def test_no_extrapolation_passes_what_is_possible():
    """The rectangles of the inner product of two halves are 2^(N/2 + 1) - 1, whose fit is steeper than N/2."""

    def inner(x):
        return sum(a * b for a, b in zip(x[: len(x) // 2], x[len(x) // 2 :], strict=False)) % 2

    found = profile("inner", inner, 10)
    assert found.communication_growth.best is not None
    assert found.communication_growth.best.b > 0.5  # so that the fit alone would mislead
    assert found.communication_growth.exact == "2^(N/2 + 1) − 1"
    assert found.communication_growth.fitted == (4, 6, 8, 10)
    assert found.state_growth.exact == "2^(N/2)"
    for each in found.extrapolations:
        assert found.communication_growth.best.at(each.length) > each.length // 2 + 1
        assert each.communication_bits == each.communication_at_most == each.length // 2 + 1
        assert "no function needs more" in each.transformer
        assert each.state_bits == each.length // 2 < each.state_at_most


def text(x):
    return "".join(map(str, x))


def heights(x):
    return list(accumulate((1 - 2 * bit for bit in x), initial=0))


@pytest.mark.parametrize(
    ("law", "function"),
    [
        # Up to every other length the first two are what an automaton accepts that is too small for the next.
        ("logarithmic", lambda x: sum(x[0::2]) == sum(x[1::2])),
        (None, lambda x: min(heights(x)) == heights(x)[-1] == 0),
        ("constant", lambda x: sum(x) % 2),
        ("constant", lambda x: sum(x) % 3 == 0),
        ("constant", lambda x: "101" in text(x)),
        ("constant", lambda x: re.fullmatch("(01)*", text(x)) is not None),
        ("constant", lambda x: text(x).count("01") == text(x).count("10")),
        ("constant", lambda x: len(x) >= 3 and x[-3] == 1),
    ],
)
def test_a_counter_up_to_a_length_is_no_constant(law, function):
    for length in (11, 12):
        found = profile("f", function, length)
        named = found.state_growth.law
        assert named == law if law else named != "constant", length
        bits = found.extrapolations[-1].state_bits
        assert bits is None or (bits < 4 if law == "constant" else bits > 15)


def test_a_model_is_held_against_the_growth_that_goes_on():
    """Four bits of state are too few for a counter at some length, whether N is even or odd."""
    small = capacity(describe({"model_type": "gru", "hidden_size": 1}), precision=4)
    firsts = {
        exclusion(profile("f", lambda x: sum(x[0::2]) == sum(x[1::2]), length), small).first for length in (11, 12)
    }
    assert firsts == {30}
    assert exclusion(profile("f", lambda x: sum(x) % 3 == 0, 12), small).first is None


def test_a_stack_of_windows_is_held_against_its_reach():
    """Three windows of four reach twelve positions back; of eight symbols that are run the first matters."""

    def windows(count):
        layers = [{"kind": "local-attention", "heads": 8, "head_width": 64, "window": 4, "count": count}]
        return capacity(describe({"model_type": "layers", "layers": layers}), only=())

    told = exclusion(profile("ends", lambda x: x[0] == x[-1], 8), windows(3))
    assert (told.first, told.exact, told.needs, told.has, told.quantity) == (14, False, 13, 12, "positions back")
    assert "from about N = 14 on" in told.in_words()
    told = exclusion(profile("ends", lambda x: x[0] == x[-1], 8), windows(1))
    assert (told.first, told.exact, told.needs, told.has) == (6, True, 5, 4)
    assert exclusion(profile("second", lambda x: x[1:2] == x[-1:], 8), windows(1)).first == 7
    assert exclusion(profile("last", lambda x: x[-1], 8), windows(1)).first is None
    assert exclusion(profile("none", lambda x: 0, 8), windows(1)).first is None


def evaluated(formula, length):
    """The formula as Python reads it, in fractions."""
    whole = re.sub(r"(\d+)", r"Fraction(\1)", formula.replace("·", "*").replace("−", "-").replace("^", "**"))
    return eval(whole, {"Fraction": Fraction, "N": Fraction(length)})


@given(
    st.integers(0, 9), st.integers(1, 4), st.integers(4, 6), st.integers(1, 3), st.integers(1, 40), st.integers(-9, 9)
)
def test_exact_formulas_give_the_counts(first, distance, size, ratio, factor, constant):
    """Counts of both kinds are found again, and one that is changed is not."""
    lengths = [first + distance * place for place in range(size)]
    counts = [constant + factor * (place if ratio == 1 else ratio**place) for place in range(size)]
    formula = exact_count(lengths, counts)
    assert formula is not None
    assert [evaluated(formula, length) for length in lengths] == counts
    for place in range(size):
        broken = [count + (number == place) for number, count in enumerate(counts)]
        other = exact_count(lengths, broken)
        assert other is None or [evaluated(other, length) for length in lengths] == broken
    assert exact_count(lengths[:3], counts[:3]) is None
    assert exact_count([*lengths[:-1], lengths[-1] + 1], counts) is None


def test_a_level_is_no_lower_than_what_was_counted_at_lengths_with_more_values():
    """Five values at even lengths and one at odd ones: what the last length has is not the most."""
    found = profile("f", lambda x: sum(x) % 5 if len(x) % 2 == 0 else 0, 9)
    most = max(each.rectangles or 1 for each in found.lengths)
    assert most == 25 and found.lengths[-1].values == 1
    assert found.communication_growth.best is not None
    assert 2**found.communication_growth.best.a >= most


def test_what_follows_no_formula_has_none_and_a_constant_is_not_fitted():
    squares = fit_growth(range(1, 13), [n * n for n in range(1, 13)])
    assert squares.best is not None and squares.exact is None and squares.fitted
    assert fit_growth(range(1, 13), [2, 2, 2, 2, 3, 4, 5, 5, 5, 5, 5, 5]).fitted == ()
    assert exact_count([1, 2, 3, 4], [5, 5, 5, 5]) is None


@settings(max_examples=40)
@given(st.integers(1, 4), st.integers(1, 3), st.integers(1, 4), st.integers(0, 2**32))
def test_no_function_passes_what_is_called_possible(length, symbols, values, seed):
    """Held against the classes and the rectangles of random functions."""
    last = numpy.random.default_rng(seed).integers(0, values, symbols**length).astype(numpy.uint8)
    values = len(numpy.unique(last))
    table = Table(length, symbols, "decision", last)
    most = max(residual_classes(table).bits)
    assert most <= most_state_bits(length, symbols, values) <= most_state_bits(length, symbols, None)
    whole = most_communication_bits(length, symbols, None)
    assert most_communication_bits(length, symbols, values) <= whole == bits_for(symbols**length)
    for found in examine_all(table, [], 0):
        assert found.bits <= most_communication_bits(length, symbols, values)


def test_lengths_at_which_a_function_is_constant_show_no_level():
    # Palindromes, asked for at prime lengths: 2^⌊N/2⌋ classes at 2, 3, 5, 7 and 11, and one class in between.
    primes = (2, 3, 5, 7, 11, 13)
    classes = [2 ** (length // 2) if length in primes else 1 for length in range(1, 14)]
    assert fit_growth(range(1, 11), classes[:10]).law == "unknown"
    assert fit_growth(range(1, 14), classes).law == "linear"
    # A maximum that the first lengths reach and all later ones stay below is one; so is one that is reached again.
    assert fit_growth(range(1, 9), [1, 2, 1, 1, 1, 1, 1, 1]).law == "constant"
    assert fit_growth(range(1, 9), [1, 2, 1, 6, 1, 6, 1, 6]).law == "constant"


def test_one_feature_of_all_bits_is_not_continued():
    parity = profile("parity", lambda x: sum(x) % 2, 3)
    assert parity.sparse is not None
    assert parity.sparse.sparsity == 3
    assert all("Theorem 13" not in each.transformer for each in parity.extrapolations)
    halves = profile("halves", lambda x: x[: len(x) // 2] == x[len(x) // 2 :], 8)
    assert all("where it is such a threshold too" in each.transformer for each in halves.extrapolations)


def test_a_constant_function_needs_nothing_and_excludes_nothing():
    for each in profile("one", lambda x: True, 6).extrapolations:
        assert (each.lstm, each.ssm) == (
            "about 0 state bits, no width is excluded",
            "about 0 state bits, no state size is excluded",
        )
        assert each.transformer == "one layer: about 0 bits, no width is excluded"
