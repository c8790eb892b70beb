"""What triple matching and the searches for pairs rest on: bounds of rows of attention, and the tasks' meaning."""

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from separatrix.arithmetic import FixedPoint
from separatrix.certificates.meanings.matchings import MatchingInputs
from separatrix.certificates.methods._bounded_softmax import Group, averages
from separatrix.tasks import tasks


@pytest.mark.parametrize("scoring", ["softmax", "hard", "leftmost"])
@given(data=st.data(), rounding=st.sampled_from(["down", "nearest"]))
@settings(max_examples=30, deadline=None)
def test_averages_of_rows_stay_within_their_bounds(data, rounding, scoring):
    """Rows drawn inside their groups' bounds, averaged by the arithmetic itself."""
    arithmetic = FixedPoint(5, data.draw(st.integers(2, 4)), rounding)
    one, span = arithmetic.largest, 8 * arithmetic.largest
    groups: list[Group] = []
    scores: list[int] = []
    values: list[int] = []
    for _ in range(data.draw(st.integers(1, 3))):
        count = data.draw(st.integers(1, 6))
        high = data.draw(st.integers(-span, span))
        own = [high - data.draw(st.integers(0, 3 * one)) for _ in range(count)]
        low_value, high_value = sorted(data.draw(st.tuples(st.integers(-3, 3), st.integers(-3, 3))))
        best = max(own) - data.draw(st.integers(0, one))
        choices = numpy.array([[low_value], [high_value]])
        groups.append(Group(count, numpy.array([best]), numpy.array([high]), choices))
        scores += own
        values += [data.draw(st.integers(low_value, high_value)) for _ in range(count)]
    row = numpy.array(scores)
    if scoring == "softmax":
        weights = arithmetic.softmax(row)
    else:
        best_ones = (row == row.max()) * one
        if scoring == "leftmost":
            best_ones[numpy.argmax(row) + 1 :] = 0
        weights = arithmetic.divide(best_ones, arithmetic.sum(best_ones))
    average = int(weights @ numpy.array(values))
    box = averages(groups, arithmetic, scoring, "the row")
    assert int(box.low[0, 0]) <= average <= int(box.high[0, 0])


@pytest.mark.parametrize("modulus", [3, 4, 9, 10])
def test_the_checkers_meaning_is_the_tasks(modulus):
    inputs = MatchingInputs(2, modulus)
    partners = inputs.partners() + 1
    task = tasks()["match2"].with_parameters(modulus=modulus)
    for first in inputs.numbers.tolist():
        for second in inputs.numbers.tolist():
            expected = int(second == partners[first - 1] or first == partners[first - 1])
            assert list(task.solve([0, first, second], 2))[1] == expected


def test_the_last_number_may_be_looked_at():
    """match3-last is the question whether one of z_1 … z_{N-1} matches as in match2, z_N included."""
    last, pairs = (tasks()[name].with_parameters(modulus=6) for name in ("match3-last", "match2"))
    for examples in last.enumerate(4):
        for row in examples.inputs.tolist():
            found = [each for each in pairs.solve(row, 4)[1:-1] if each]
            assert last.solve(row, 4)[-1] == int(bool(found))
