"""Index lookup and INDEX: Appendix H.1 to the letter."""

from collections import Counter

import numpy
import pytest

from separatrix.errors import SeparatrixError
from separatrix.tasks import draws_from, tasks
from separatrix.tasks.problems.index_lookup import IndexLookup
from tests.tasks.statistics import assert_counts_follow

TASK = tasks()["index-lookup"]


def test_training_lengths_are_uniform_from_ten_to_the_length():
    length = 30
    batch = TASK.sample(draws_from(0), 40_000, length, "train")
    lengths = batch.read.argmax(axis=1)
    assert_counts_follow(Counter(lengths.tolist()), dict.fromkeys(range(10, 31), 1 / 21))


def test_positions_are_uniform_given_the_length():
    length = 12
    batch = TASK.sample(draws_from(1), 40_000, length, "train")
    ends = batch.read.argmax(axis=1)
    for k in (10, 11, 12):
        asked = batch.inputs[ends == k, k] - 64 + 1
        assert_counts_follow(Counter(asked.tolist()), dict.fromkeys(range(1, k + 1), 1 / k))


def test_symbols_are_uniform_and_evaluation_has_exactly_the_length():
    batch = TASK.sample(draws_from(2), 4000, 40)
    symbols = batch.inputs[:, :-1]
    assert symbols.max() < 64
    assert (batch.read.argmax(axis=1) == 40).all()
    assert_counts_follow(Counter(symbols.reshape(-1).tolist()), dict.fromkeys(range(64), 1 / 64))


@pytest.mark.parametrize("alphabet", [2, 3, 5, 64, 100, 1023])
def test_packed_digits_are_uniform_and_uncorrelated_across_places(alphabet):
    drawn = draws_from(3).digits(alphabet, 3000, 31)
    assert drawn.shape == (3000, 31)
    assert_counts_follow(Counter(drawn.reshape(-1).tolist()), dict.fromkeys(range(alphabet), 1 / alphabet))
    # Digits that come from one uniform number are some columns apart; their parities must be independent.
    parity = drawn % 2
    share = parity.mean()
    for shift in range(1, 31):
        both = float((parity[:, shift:] * parity[:, :-shift]).mean())
        assert abs(both - share * share) < 0.02


def test_short_lengths_train_at_their_own_length():
    batch = TASK.sample(draws_from(4), 50, 5, "train")
    assert (batch.read.argmax(axis=1) == 5).all()


def test_index_is_index_lookup_over_bits():
    task = tasks()["index"]
    assert isinstance(task, IndexLookup)
    assert task.solve([0, 1, 1, 2 + 1], 3) == [None, None, None, 1]
    assert task.solve([0, 1, 1, 2 + 0], 3) == [None, None, None, 0]


def test_picture_points_at_the_symbol():
    row = TASK.read("a b c @2", 3)
    assert TASK.picture(row, 3).splitlines()[1:] == ["  ^", "symbol 2 is b"]


def test_unknown_symbol_is_refused():
    with pytest.raises(SeparatrixError, match="'@9' is not a symbol"):
        TASK.read("a b @9", 2)
    with pytest.raises(SeparatrixError, match="alphabet=1 is out of range"):
        IndexLookup(alphabet=1)


def test_a_wrong_label_is_noticed():
    batch = TASK.sample(draws_from(5), 20, 10)
    broken = numpy.array(batch.targets)
    broken[3, -1] = (broken[3, -1] + 1) % 64
    rows = [TASK.trim(row, 10) for row in batch.inputs]
    differing = [r for r, row in enumerate(rows) if TASK.solve(row, 10)[-1] != broken[r, -1]]
    assert differing == [3]
