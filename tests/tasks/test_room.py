"""The shared parts of the room: vocabulary, space, draws, arrays, parameters."""

import math
from collections import Counter
from itertools import combinations

import numpy
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from separatrix.errors import SeparatrixError, UnknownNameError
from separatrix.tasks import Examples, draws_from, tasks
from separatrix.tasks.arrays import distinct_integers, first_true, integers, random_order
from separatrix.tasks.parameters import with_text_parameters
from separatrix.tasks.space import Space, cells, constant, subsets
from separatrix.tasks.vocabulary import Symbols, Vocabulary, alphabet_of
from tests.tasks.statistics import assert_counts_follow


@given(sizes=st.lists(st.integers(0, 80), min_size=1, max_size=4))
def test_every_token_writes_to_a_text_that_reads_back(sizes):
    prefixes = ["a_", "b_", "c_", "d_"]
    groups = tuple(Symbols(f"group {i}", size, prefix=prefixes[i], first=i) for i, size in enumerate(sizes))
    vocabulary = Vocabulary(groups)
    assert vocabulary.size == sum(sizes)
    texts = vocabulary.texts(range(vocabulary.size))
    assert len(set(texts)) == vocabulary.size
    assert [vocabulary.read(text) for text in texts] == list(range(vocabulary.size))


def test_tokens_and_texts_outside_are_refused():
    vocabulary = Vocabulary((alphabet_of(3), Symbols("numbers", 5, prefix="#", first=1)))
    for token in (-1, 8):
        with pytest.raises(SeparatrixError, match=f"token {token}"):
            vocabulary.write(token)
    for text in ("d", "#0", "#6", "#01", "#", "1", ""):
        with pytest.raises(SeparatrixError, match="not a symbol"):
            vocabulary.read(text)
    assert vocabulary.in_words() == "symbols: a b c; numbers: #1 … #5 (5)"


def test_space_counts_and_walks_through_everything_once():
    space = Space(cells((0, 1), 2) + constant(7) + (subsets(4, 2),) + cells((0, 5, 6), 3))
    assert space.count == 4 * 1 * 6 * 27
    rows = numpy.concatenate(list(space.chunks(13)))
    assert rows.shape == (space.count, 2 + 1 + 2 + 3)
    assert len(numpy.unique(rows, axis=0)) == space.count
    numpy.testing.assert_array_equal(space.chunk(100, 105), rows[100:105])


def test_space_refuses_what_it_cannot_walk():
    with pytest.raises(SeparatrixError, match="not among"):
        Space(cells((0, 1), 3)).chunk(0, 9)
    with pytest.raises(SeparatrixError, match="too many to walk"):
        Space(cells((0, 1), 64)).chunk(0, 1)
    assert Space(cells((0, 1), 200)).count == 2**200


@given(st.integers(1, 2**40))
def test_integers_never_reach_the_bound(bound):
    edge = numpy.array([0.0, 1 - 2.0**-53, 0.5])
    drawn = integers(edge, 0, bound)
    assert drawn.min() >= 0
    assert drawn.max() <= bound - 1
    assert drawn[1] == bound - 1 or bound > 2**50


def test_distinct_integers_are_uniform_subsets():
    drawn = distinct_integers(draws_from(0).uniform(60_000, 3), 6)
    expected = {subset: 1 / math.comb(6, 3) for subset in combinations(range(6), 3)}
    assert_counts_follow(Counter(map(tuple, drawn.tolist())), expected)


def test_random_order_is_a_uniform_permutation():
    orders = random_order(draws_from(1).uniform(24_000, 4))
    counts = Counter(map(tuple, orders.tolist()))
    assert len(counts) == 24
    assert_counts_follow(counts, dict.fromkeys(counts, 1 / 24))


def test_first_true_on_both_libraries():
    mask = numpy.array([[False, True, True], [False, False, False], [True, False, True]])
    assert first_true(mask)[:, 0].tolist() == [1, 0, 0]
    assert first_true(torch.from_numpy(mask))[:, 0].tolist() == [1, 0, 0]


def test_draws_refuse_what_is_no_generator():
    for source in ("seed", 1.5, None, True, -1):
        with pytest.raises(SeparatrixError):
            draws_from(source)


def test_examples_refuse_shapes_that_disagree():
    with pytest.raises(SeparatrixError, match="disagree"):
        Examples(numpy.zeros((2, 3)), numpy.zeros((2, 4)), numpy.zeros((2, 3), dtype=bool))


def test_text_parameters_take_the_declared_types():
    changed = with_text_parameters(tasks()["sparse-threshold"], ["features_used=3", "instance=dnf"])
    assert changed.parameters()["features_used"] == 3
    assert with_text_parameters(changed, ["features_used=none"]).parameters()["features_used"] is None
    assert with_text_parameters(tasks()["match3-last"], ["exclude_query=false"]).parameters()["exclude_query"] is False
    assert with_text_parameters(tasks()["nearest-neighbour"], ["margin=1/20"]).parameters()["margin"] == "1/20"


@pytest.mark.parametrize(
    ("task", "text", "message"),
    [
        ("dyck", "depth=two", "whole number"),
        ("match3-last", "exclude_query=maybe", "true or false"),
        ("nearest-neighbour", "margin=1/0", "fraction"),
        ("sparse-threshold", "instance=parity", "parity"),
        ("dyck", "=3", "unknown parameter"),
    ],
)
def test_text_parameters_are_refused_in_one_line(task, text, message):
    with pytest.raises(SeparatrixError, match=message) as caught:
        with_text_parameters(tasks()[task], [text])
    assert "\n" not in str(caught.value)


def test_unknown_parameters_name_the_nearest():
    with pytest.raises(UnknownNameError, match="nearest: depth"):
        tasks()["dyck"].with_parameters(deph=3)
