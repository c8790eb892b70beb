"""What is said about lengths that were not run: nothing from too few of them, and never more than is possible."""

import numpy
from hypothesis import given, settings
from hypothesis import strategies as st

from separatrix.bit_counts import bits_for
from separatrix.communication.profile import profile
from separatrix.communication.profile.alphabet import Alphabet
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
    for each in found.extrapolations:
        assert found.communication_growth.best.at(each.length) > each.length // 2 + 1
        assert each.communication_bits == each.communication_at_most == each.length // 2 + 1
        assert "no function needs more" in each.transformer
        assert each.state_bits == each.length // 2 < each.state_at_most


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
