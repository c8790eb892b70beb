"""The check next to every conversation: a run that differs from the network in one number or one answer is reported."""

from dataclasses import replace

import numpy
import pytest

from separatrix.communication.partition import odd_even, parse_partition
from separatrix.communication.protocols import (
    one_layer_directly,
    recurrent_directly,
    run_one_layer,
    run_recurrent,
)
from separatrix.constructions import constructions
from separatrix.tasks import draws_from
from separatrix.tasks.arrays import to_numpy


@pytest.mark.parametrize("cut", ["cut:0", "halves", "cut:7"])
def test_a_recurrent_run_is_compared_number_by_number(cut):
    built = constructions()["dyck-dfa"].build(8)
    tokens = to_numpy(built.task.sample(draws_from(0), 1, 8).inputs)[0]
    run = run_recurrent(built.network, tokens, built.arithmetic, parse_partition(cut, built.network.positions))
    direct = recurrent_directly(run, built.network, tokens, built.arithmetic)
    assert direct.equal and direct.answer.tolist() == run.answers[-1].tolist()
    assert not recurrent_directly(replace(run, raw=run.raw + 1), built.network, tokens, built.arithmetic).equal


def test_a_one_layer_run_is_compared_in_its_numbers_and_in_both_answers():
    built = constructions()["index-lookup"].build(8)
    cells = to_numpy(built.task.sample(draws_from(0), 1, 8).inputs)[0]
    run = run_one_layer(built.network, cells, built.arithmetic, odd_even(built.network.positions))
    direct = one_layer_directly(run, cells)
    assert direct.equal and direct.answer.tolist() == run.answer.tolist()
    for who in ("alice", "bob"):
        wrong = replace(getattr(run, who), answer=numpy.asarray(run.answer) + 1)
        assert not one_layer_directly(replace(run, **{who: wrong}), cells).equal
    holder = "alice" if run.plan.holder == "Alice" else "bob"
    changed = replace(getattr(run, holder), raw=run.raw + 1)
    assert not one_layer_directly(replace(run, **{holder: changed}), cells).equal
