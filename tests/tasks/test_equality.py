"""The equality family: Appendices F and H.2."""

from collections import Counter
from typing import Any

import pytest

from separatrix.errors import SeparatrixError
from separatrix.tasks import draws_from, tasks
from separatrix.tasks.problems.eq_ncp import EqNcp
from separatrix.tasks.problems.equality import Equality
from tests.tasks.statistics import assert_counts_follow

SEPARATED = ("eq-random", "eq-one", "eq-ncp")


def halves(task: Any, row: Any, length: int) -> tuple[list[int], list[int]]:
    plain = list(task.trim(row, length))
    middle = plain.index(task.symbols)
    return plain[:middle], plain[middle + 1 :]


@pytest.mark.parametrize("name", SEPARATED)
@pytest.mark.parametrize(("length", "lengths"), [(40, range(4, 41, 2)), (24, range(4, 25, 2)), (10, range(2, 11, 2))])
def test_training_lengths_are_uniform_from_a_tenth_in_steps_of_two(name, length, lengths):
    task = tasks()[name]
    batch = task.sample(draws_from(0), 20_000, length, "train")
    used = Counter(int((row != task.padding(length)).sum()) - 1 for row in batch.inputs)
    assert_counts_follow(used, {k: 1 / len(lengths) for k in lengths})


@pytest.mark.parametrize("name", SEPARATED)
def test_evaluation_has_exactly_the_length_and_a_separator_in_the_middle(name):
    task = tasks()[name]
    batch = task.sample(draws_from(1), 200, 30)
    assert (batch.inputs[:, 15] == task.symbols).all()
    assert (batch.inputs != task.padding(30)).all()


def test_the_vocabulary_counts_the_separator_as_the_paper_does():
    assert tasks()["eq-random"].parameters()["vocabulary_size"] == 3
    assert tasks()["eq-one"].parameters()["vocabulary_size"] == 1024
    assert tasks()["eq-ncp"].classes(20) == 1023


def test_eq_random_positive_share_is_exact():
    """Positive with probability 1/2 + 1/2 · 2^(-N/2), since a random second half may be equal by chance."""
    batch = tasks()["eq-random"].sample(draws_from(2), 40_000, 6)
    expected = 0.5 + 0.5 / 8
    assert_counts_follow(Counter(batch.targets[:, -1].tolist()), {1: expected, 0: 1 - expected})


def test_eq_random_negatives_are_uniform_second_halves():
    task = tasks()["eq-random"]
    batch = task.sample(draws_from(3), 60_000, 6)
    pairs = [halves(task, row, 6) for row in batch.inputs]
    difference = Counter(tuple(a ^ b for a, b in zip(first, second, strict=True)) for first, second in pairs)
    expected = dict.fromkeys([(a, b, c) for a in (0, 1) for b in (0, 1) for c in (0, 1)], 0.5 / 8)
    expected[(0, 0, 0)] += 0.5
    assert_counts_follow(difference, expected)


@pytest.mark.parametrize("split", ["train", "eval"])
def test_eq_one_negatives_differ_in_exactly_one_uniform_position(split):
    task, length = tasks()["eq-one"], 20
    batch = task.sample(draws_from(4), 20_000, length, split)
    places: Counter[int] = Counter()
    wrong = 0
    for row, read, target in zip(batch.inputs, batch.read, batch.targets, strict=True):
        first, second = halves(task, row, length)
        differing = [i for i, (a, b) in enumerate(zip(first, second, strict=True)) if a != b]
        label = int(target[read][0])
        wrong += len(differing) != 1 - label
        if len(first) == 10:
            places.update(differing)
    assert wrong == 0
    assert_counts_follow(places, dict.fromkeys(range(10), 1 / 10))
    assert abs(batch.targets.sum() / len(batch) - 0.5) < 0.02


def test_eq_one_changes_to_any_other_symbol_uniformly():
    task = tasks()["eq-one"].with_parameters(vocabulary_size=6)
    batch = task.sample(draws_from(5), 30_000, 2)
    moves = Counter((int(b) - int(a)) % 5 for a, _, b in batch.inputs.tolist())
    assert_counts_follow(moves, {0: 0.5, **dict.fromkeys(range(1, 5), 0.125)})


def test_eq_ncp_asks_for_a_copy_from_the_separator_on():
    task = EqNcp(vocabulary_size=5)
    assert task.solve([1, 2, 3, 4, 1, 2, 3], 6) == [None, None, None, 1, 2, 3, None]
    batch = task.sample(draws_from(6), 300, 20, "train")
    for number, row in enumerate(batch.inputs):
        first, second = halves(task, row, 20)
        assert first == second
        asked = [answer for answer in task.answers(batch, number, 20) if answer is not None]
        assert asked == first


@pytest.mark.parametrize("name", ["equality", "inequality"])
def test_plain_equality_is_balanced_with_uniform_numbers_of_differences(name):
    task, length = tasks()[name], 12
    batch = task.sample(draws_from(7), 30_000, length)
    differing = (batch.inputs[:, :6] != batch.inputs[:, 6:]).sum(axis=1)
    assert_counts_follow(Counter(differing.tolist()), {0: 0.5, **dict.fromkeys(range(1, 7), 0.5 / 6)})
    answer_for_equal = 1 if name == "equality" else 0
    assert (batch.targets[:, -1][differing == 0] == answer_for_equal).all()
    assert (batch.targets[:, -1][differing > 0] == 1 - answer_for_equal).all()


def test_inequality_is_the_complement_on_every_input():
    for one, two in zip(tasks()["equality"].enumerate(8), tasks()["inequality"].enumerate(8), strict=True):
        assert (one.inputs == two.inputs).all()
        assert (one.targets[:, -1] + two.targets[:, -1] == 1).all()


def test_bad_parameters_and_lengths():
    with pytest.raises(SeparatrixError, match="alphabet=1"):
        Equality(alphabet=1)
    with pytest.raises(SeparatrixError, match="answer_one='maybe'"):
        Equality(answer_one="maybe")  # type: ignore[arg-type]
    with pytest.raises(SeparatrixError, match="vocabulary_size=2"):
        tasks()["eq-one"].with_parameters(vocabulary_size=2)
    with pytest.raises(SeparatrixError, match="divisible by 2, not 9"):
        tasks()["eq-ncp"].sample(draws_from(0), 1, 9)


class TestPartition:
    """Lemma 5: equality over any balanced partition."""

    def test_positions_of_the_first_half_are_named(self):
        task = Equality(alice="6, 1,4")
        assert task.alice == "1,4,6"
        assert task.halves(6) == ([0, 3, 5], [1, 2, 4])
        assert task.solve([0, 0, 1, 1, 1, 1], 6)[-1] == 1
        assert task.solve([0, 0, 1, 0, 1, 1], 6)[-1] == 0

    def test_the_first_half_is_the_default(self):
        named, plain = Equality(alice="1,2,3"), Equality()
        inputs = plain.sample(draws_from(4), 500, 6).inputs
        assert (named.decide(inputs, 6) == plain.decide(inputs, 6)).all()
        assert (named.sample(draws_from(4), 500, 6).inputs == inputs).all()

    def test_samples_are_equal_half_of_the_time(self):
        batch = Equality(alice="2,3,5,8").sample(draws_from(5), 20_000, 8)
        assert_counts_follow(Counter(batch.targets[:, -1].tolist()), {0: 0.5, 1: 0.5})

    def test_the_parties_hold_their_parts(self):
        split = Equality(alice="2,3").communication(4)
        assert (split.alice, split.bob) == ((1, 2), (0, 3))

    def test_the_picture_draws_the_halves_above_each_other(self):
        assert Equality(alice="2,3").picture([1, 0, 1, 1], 4).splitlines()[:2] == ["0 1", "1 1"]

    @pytest.mark.parametrize("alice", ["", "1,x", "0,1", "2,2"])
    def test_bad_positions_end_in_one_line(self, alice):
        with pytest.raises(SeparatrixError) as error:
            Equality(alice=alice)
        assert "\n" not in str(error.value)

    @pytest.mark.parametrize("alice", ["1,2", "1,2,7", "1,2,3,4"])
    def test_unbalanced_partitions_are_refused(self, alice):
        with pytest.raises(SeparatrixError, match="needs 3 of 1 to 6"):
            Equality(alice=alice).check_length(6)
