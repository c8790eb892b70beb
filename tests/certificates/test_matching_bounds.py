"""What the matching methods rest on: bounds of rows of attention, scores by difference, the tasks' meaning."""

from dataclasses import replace

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from separatrix.arithmetic import FixedPoint, arithmetic_named
from separatrix.certificates import check
from separatrix.certificates.meanings.matchings import MatchingInputs
from separatrix.certificates.methods._bounded_softmax import Group, averages
from separatrix.certificates.methods._token_scores import match_and_other, token_scores
from separatrix.networks import Attention
from separatrix.tasks import tasks
from tests.certificates.changes import build, with_part


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


@pytest.mark.parametrize("modulus", [5, 16, 37])
def test_scores_by_difference_are_the_scores(modulus):
    network, claim = build("match2-code", 4, {"modulus": modulus})
    arithmetic = claim.arithmetic
    assert isinstance(arithmetic, FixedPoint)
    layer = network.layers[0]
    assert isinstance(layer, Attention)
    head = layer.heads[0]
    inputs = MatchingInputs(4, modulus)
    parts = {part.slot: part for part in network.embedding}
    rows = [
        parts[slot].rule.rows(parts[slot].row_numbers(inputs.numbers, inputs.numbers * 0)[0], arithmetic)
        for slot in ("asked", "key")
    ]
    queries = arithmetic.matmul(rows[0], head.query.encoded(arithmetic)[:, network.slots.columns("asked")].T)
    keys = arithmetic.matmul(rows[1], head.key.encoded(arithmetic)[:, network.slots.columns("key")].T)
    scores = arithmetic.matmul(queries, keys.T)
    by_code = token_scores(head, network, inputs.numbers, arithmetic)
    assert by_code.code is not None
    assert by_code.rows(numpy.arange(modulus)).tolist() == scores.tolist()
    match, other = match_and_other(by_code, inputs.partners())
    place = numpy.arange(modulus)
    assert match.tolist() == scores[place, inputs.partners()].tolist()
    scores[place, inputs.partners()] = scores.min()
    assert (other >= scores.max(axis=1)).all()
    if modulus == 16:
        assert other.tolist() == scores.max(axis=1).tolist()


def test_numbers_without_a_word_are_scored_by_what_they_hold():
    network, claim = build("match2-code", 3, {"modulus": 7})
    layer, numbers = network.layers[0], MatchingInputs(3, 7).numbers
    assert isinstance(layer, Attention)
    assert isinstance(claim.arithmetic, FixedPoint)
    known = token_scores(layer.heads[0], network, numbers, claim.arithmetic)
    # The first number asks for nothing, and every other as the one before it did.
    moved = token_scores(layer.heads[0], with_part(network, "asked", tokens=(2, 8)), numbers, claim.arithmetic)
    assert moved.code is None
    assert moved.rows(numpy.arange(7)).tolist() == [[0] * 7, *known.rows(numpy.arange(6)).tolist()]


def test_what_is_not_covered_is_refused_and_not_decided():
    network, claim = build("match2-code", 3, {"modulus": 5})
    for other, said in (
        (replace(claim, arithmetic=arithmetic_named("float32")), "not a fixed point"),
        (replace(claim, arithmetic=FixedPoint(3, 30)), "62 bits"),
        (replace(claim, arithmetic=FixedPoint(3, 6, softmax_rule="once")), "rounds softmax once"),
        (replace(claim, task=tasks()["match3"].with_parameters(modulus=5)), "covers match2"),
        (replace(claim, length=4), "the network reads"),
    ):
        verdict = check(network, other, "pair-matching")
        assert (verdict.valid, verdict.refuted) == (False, False)
        assert said in verdict.reason
    linear, claim = build("match2-code", 3, {"modulus": 5}, attention="linear")
    verdict = check(linear, claim, "pair-matching")
    assert not verdict.valid
    assert not verdict.refuted
    assert "linear" in verdict.reason
