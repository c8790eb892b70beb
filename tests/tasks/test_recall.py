"""Associative recall and MQAR: their data, their lookup and their limits."""

import math
from collections import Counter
from itertools import permutations

import numpy
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from separatrix.errors import SeparatrixError
from separatrix.tasks import draws_from, tasks
from separatrix.tasks.problems._recall import look_up
from separatrix.tasks.problems._rows import decode_arrangements, distinct_values
from tests.tasks.statistics import assert_counts_follow

RECALL = tasks()["associative-recall"]
MQAR = tasks()["mqar"]


def assert_uniform(outcomes: list[list[int]], expected: set[tuple[int, ...]]) -> None:
    """Every expected outcome is about equally frequent, and there is no other."""
    assert_counts_follow(Counter(tuple(each) for each in outcomes), dict.fromkeys(expected, 1 / len(expected)))


@pytest.mark.parametrize("bound", [4, 13])
def test_distinct_values_are_uniform_arrangements(bound: int) -> None:
    # 13 > 4·3 takes the way with redrawing, 4 the shuffle.
    values = distinct_values(draws_from(bound), 20_000, 3, bound)
    assert_uniform(values.tolist(), set(permutations(range(bound), 3)))


def test_distinct_values_of_a_huge_range_never_repeat() -> None:
    values = distinct_values(draws_from(1), 50, 200, 10**6)
    ascending = numpy.sort(values, axis=1)
    assert (ascending[:, 1:] > ascending[:, :-1]).all()
    assert values.max() > 9 * 10**5


def test_codes_decode_to_every_arrangement_once() -> None:
    codes = numpy.array([[a, b, c] for a in range(5) for b in range(4) for c in range(3)])
    decoded = [tuple(row) for row in decode_arrangements(codes).tolist()]
    assert decoded == sorted(permutations(range(5), 3))


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 2**32), rows=st.integers(1, 6), size=st.integers(1, 30), spare=st.sampled_from([0, 7, 10**6])
)
def test_look_up_equals_dictionaries(seed: int, rows: int, size: int, spare: int) -> None:
    generator = numpy.random.default_rng(seed)
    bound = size + spare
    keys = distinct_values(draws_from(seed), rows, size, bound)
    values = generator.integers(0, 9, (rows, size))
    queries = numpy.take_along_axis(keys, generator.integers(0, size, (rows, 5)), axis=1)
    expected = [
        [dict(zip(k, v, strict=True))[query] for query in q]
        for k, v, q in zip(keys.tolist(), values.tolist(), queries.tolist(), strict=True)
    ]
    assert look_up(keys, values, queries, bound).tolist() == expected
    on_torch = look_up(*(torch.from_numpy(each) for each in (keys, values, queries)), bound)
    assert on_torch.tolist() == expected


def test_recall_query_and_labels_are_uniform() -> None:
    inputs = RECALL.sample(draws_from(5), 30_000, 3).inputs
    place = (inputs[:, 0:6:2] == inputs[:, 6:]).argmax(axis=1)
    labels = inputs[:, 1:6:2] - 6
    outcomes = [[p, *row] for p, row in zip(place.tolist(), labels.tolist(), strict=True)]
    everything = {(p, a, b, c) for p in range(3) for a in range(2) for b in range(2) for c in range(2)}
    assert_uniform(outcomes, everything)
    assert_uniform(inputs[:, 0:6:2].tolist(), set(permutations(range(6), 3)))


def test_mqar_queries_are_uniform_permutations_of_the_keys() -> None:
    inputs = MQAR.sample(draws_from(6), 24_000, 8).inputs
    keys, queries = inputs[:, 0:8:2], inputs[:, 8:]
    order = (queries[:, :, None] == keys[:, None, :]).argmax(axis=2)
    assert_uniform(order.tolist(), set(permutations(range(4))))
    assert MQAR.admissible(inputs, 8).all()


def test_examples_from_the_definition() -> None:
    row = RECALL.read("k4 1 k0 0 k7 1 k2 0 k7", 4)
    assert RECALL.solve(row, 4) == [None] * 8 + [1]
    row = MQAR.read("k3 0 k1 1 k1 k3", 4)
    assert MQAR.solve(row, 4) == [None] * 4 + [1, 0]
    assert "k1 -> 1" in MQAR.picture(row, 4)


def test_promise_rejects_repeated_keys_and_strange_queries() -> None:
    rows = [RECALL.read(text, 2) for text in ("k0 0 k1 1 k1", "k0 0 k0 1 k0", "k0 0 k1 1 k2")]
    assert RECALL.admissible(numpy.array(rows), 2).tolist() == [True, False, False]
    rows = [MQAR.read(text, 4) for text in ("k0 0 k1 1 k1 k0", "k0 0 k0 1 k0 k0", "k0 0 k1 1 k1 k1")]
    assert MQAR.admissible(numpy.array(rows), 4).tolist() == [True, False, False]


def test_counts_by_formula() -> None:
    assert RECALL.count(3) == 6 * 5 * 4 * 2**3 * 3
    assert MQAR.count(6) == 6 * 5 * 4 * 6 * 2**3
    # Large lengths are counted without being listed.
    assert RECALL.count(64) == math.perm(128, 64) * 2**64 * 64
    assert MQAR.describe(64)["inputs"] == str(MQAR.count(64))
    for task in (RECALL, MQAR):
        assert task.count(6) == task.space(6).count
        many = task.with_parameters(keys=2**31)
        assert many.describe(6)["inputs"] is None
        with pytest.raises(SeparatrixError, match="choices of keys are too many to list"):
            many.space(6)


@pytest.mark.parametrize(
    ("name", "parameters", "text"),
    [
        ("associative-recall", {"keys": 0}, "keys=0"),
        ("associative-recall", {"labels": 1}, "labels=1"),
        ("mqar", {"keys": -4}, "keys=-4"),
        ("mqar", {"labels": 0}, "labels=0"),
    ],
)
def test_bad_parameters(name: str, parameters: dict[str, int], text: str) -> None:
    with pytest.raises(SeparatrixError, match=text) as caught:
        tasks()[name].with_parameters(**parameters)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("name", "needed"), [("associative-recall", 8), ("mqar", 4)])
def test_too_few_keys_for_the_length(name: str, needed: int) -> None:
    task = tasks()[name].with_parameters(keys=3)
    with pytest.raises(SeparatrixError, match=f"{needed} distinct keys cannot come from keys=3"):
        task.sample(draws_from(0), 1, 8)
    assert len(task.with_parameters(keys=needed).sample(draws_from(0), 4, 8)) == 4


def test_many_labels_and_keys() -> None:
    task = MQAR.with_parameters(keys=10**6, labels=1000)
    examples = task.sample(draws_from(3), 20, 40)
    for row in range(20):
        plain = task.trim(examples.inputs[row], 40)
        assert [answer for answer in task.solve(plain, 40) if answer is not None] == examples.targets[row, 40:].tolist()
    assert examples.targets.max() > 900
