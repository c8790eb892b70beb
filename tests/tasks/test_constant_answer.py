"""What a constant answer scores, for every task of the catalog."""

import numpy
import pytest

from separatrix.tasks import draws_from, tasks
from separatrix.tasks.constant_answer import constant_answer, constant_answer_share, constant_score, guessed_answer
from separatrix.tasks.presets import PRESETS


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


@pytest.mark.parametrize("task", [*tasks().values(), *PRESETS.values()], ids=lambda task: task.name)
def test_every_right_answer_is_among_those_that_an_input_offers(task):
    length = 64 if task.name in PRESETS else 12
    drawn = task.sample(draws_from(0), 32, length)
    offered = task.offered(drawn.inputs, length)
    assert (offered is None) == (guessed_answer(task, length, 32) is None)
    for row, read, targets in zip(offered if offered is not None else (), drawn.read, drawn.targets, strict=False):
        assert set(targets[read].tolist()) <= set(row.tolist())


def test_a_guess_is_the_commonest_of_the_offers():
    """Of 8 labels that are 0 or 1 the commoner is right for 4 + E|S_8|/2 of 8, E|S_8| = 35/16."""
    guess = guessed_answer(tasks()["mqar"], 16)
    assert guess is not None
    assert guess.share == pytest.approx((4 + 35 / 32) / 8, abs=0.01)
    alone = guessed_answer(PRESETS["mqar:zoology"], 64)
    assert alone is not None and alone.share == 0.25, "four values, all different"
