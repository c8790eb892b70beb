"""Attacks: what is reported fails, small tasks are searched to the end, and odd input spaces are walked."""

import copy

import numpy
import pytest
import torch

from separatrix.errors import SeparatrixError
from separatrix.models.attack import Attack, attack
from separatrix.models.naming import parse_spec
from separatrix.models.task_model import model_for_task
from separatrix.tasks import tasks
from tests.kernel.trained_models import every_input, failing, trained

AGES, ROUNDS = 1e9, 300


def test_what_is_reported_fails_and_is_found_where_there_is_any():
    for steps, seed in ((30, 0), (120, 1), (50, 2)):
        model = trained(3, 4, steps, "TF-(1,8)", seed)
        wrong = failing(model, 3, every_input(3, 4))
        # Rounds, not seconds: a busy machine finds the same.
        search = Attack(model, tasks()["index-lookup"].with_parameters(alphabet=3), 4)
        found = search.run(AGES, most=3, rounds=ROUNDS)
        assert set(found.failing) <= wrong
        assert len(found.failing) == min(3, len(wrong)) or not found.failing
        assert bool(found.failing) == bool(wrong)
        assert (found.least_margin < 0) == bool(wrong)


def test_one_planted_input_among_many_is_found():
    """The bias is moved until only the texts with the least margin fail."""
    model = copy.deepcopy(trained(3, 4, 250, "TF-(1,8)", 0))
    task, inputs = tasks()["index-lookup"].with_parameters(alphabet=3), every_input(3, 4)
    margins = Attack(model, task, 4).margins(inputs.numpy())
    worst = int(margins.argmin())
    answer = int(inputs[worst, inputs[worst, -1] - 3])
    with torch.no_grad():
        model.readout.bias[0, answer] -= float(margins[worst]) + 0.01
    wrong = failing(model, 3, inputs)
    assert 0 < len(wrong) < len(inputs)
    found = Attack(model, task, 4).run(AGES, most=1, rounds=ROUNDS).failing
    assert found and set(found) <= wrong


@pytest.mark.parametrize(
    ("name", "length"), [("dyck", 6), ("associative-recall", 6), ("mqar", 8), ("equality", 6), ("match3", 4)]
)
def test_inputs_are_those_of_the_task(name, length):
    task = tasks()[name]
    model = model_for_task(parse_spec("LSTM-(1,8)"), task, length, seeds=[0])
    search = Attack(model, task, length)
    for rows in (search.starts(), search.changed(search.starts(), 4).reshape(-1, len(search.sizes))):
        assert ((rows >= 0) & (rows < search.sizes)).all()
        inputs = search.inputs(rows)
        allowed = task.admissible(inputs, length)
        assert numpy.isinf(search.margins(inputs)[~allowed]).all()
        # The margin's sign is what a plain run of the model says.
        targets, read = task.label(inputs, length)
        with torch.no_grad():
            answers = model(torch.from_numpy(inputs)[None])[0].argmax(dim=-1).numpy()
        wrong = ((answers != targets) & read).any(axis=1)
        assert numpy.array_equal(search.margins(inputs)[allowed] < 0, wrong[allowed])


def test_what_has_no_classes_is_refused():
    task = tasks()["sparse-averaging"]
    model = model_for_task(parse_spec("TF-(1,8)"), task, 4, seeds=[0])
    with pytest.raises(SeparatrixError, match="classes"):
        attack(model, task, 4, seconds=1)
