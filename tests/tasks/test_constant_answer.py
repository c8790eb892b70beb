"""What a constant answer scores, for every task of the catalog."""

import numpy
import pytest

from separatrix.tasks import draws_from, tasks
from separatrix.tasks.constant_answer import constant_answer, constant_answer_share, constant_score


@pytest.mark.parametrize("name", list(tasks()))
def test_a_constant_answer_scores_a_share(name):
    share = constant_answer_share(tasks()[name], 12, examples=512)
    classes = tasks()[name].classes(12)
    assert (1 / classes if classes else 0) <= share <= 1
    assert share == constant_answer_share(tasks()[name], 12, examples=512)


def test_yes_or_no_is_guessed_half_of_the_time_whatever_the_examples():
    """One half of the examples may prefer what the other does not."""
    assert min(constant_answer_share(tasks()["equality"], 8, examples=64, seed=seed) for seed in range(10)) == 0.5


def test_whole_strings_are_not_guessed_by_one_symbol():
    strings = [task for task in tasks().values() if task.scoring == "every position of a string"]
    assert strings
    assert {constant_score(task, 12, 64) for task in strings} == {0.0}
    assert constant_score(tasks()["equality"], 8, 64) >= 0.5


def test_it_is_what_counting_gives_where_one_answer_prevails():
    task = tasks()["index"]
    drawn = task.sample(draws_from(1), 4096, 6)
    ones = float(drawn.targets[drawn.read].mean())
    assert constant_answer_share(task, 6, seed=1) == pytest.approx(max(ones, 1 - ones), abs=0.05)


@pytest.mark.parametrize("name", ["match3", "index-lookup", "dyck"])
def test_its_error_is_what_repeating_shows(name):
    """The questions of one example hang together, so counting them all would promise too much."""
    found = [constant_answer(tasks()[name], 8, examples=400, seed=seed) for seed in range(60)]
    spread = numpy.std([each.share for each in found])
    promised = numpy.mean([each.deviation / each.examples**0.5 for each in found])
    assert 0.5 * spread < promised < 2 * spread
