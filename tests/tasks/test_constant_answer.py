"""What a constant answer scores, for every task of the catalog."""

import pytest

from separatrix.tasks import draws_from, tasks
from separatrix.tasks.constant_answer import constant_answer_share


@pytest.mark.parametrize("name", list(tasks()))
def test_a_constant_answer_scores_a_share(name):
    share = constant_answer_share(tasks()[name], 12, examples=512)
    assert 0 <= share <= 1
    assert share == constant_answer_share(tasks()[name], 12, examples=512)


def test_it_is_what_counting_gives_where_one_answer_prevails():
    task = tasks()["index"]
    drawn = task.sample(draws_from(1), 4096, 6)
    ones = float(drawn.targets[drawn.read].mean())
    assert constant_answer_share(task, 6, seed=1) == pytest.approx(max(ones, 1 - ones), abs=0.05)
