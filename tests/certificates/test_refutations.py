"""Which inputs are run against a claim: what is suspected, and few of long networks; never what the task rules out."""

import numpy
import pytest

from separatrix.certificates import replay
from separatrix.certificates.refutations import FEW, MOST_TRIED, first_failure, random_inputs, refutation
from separatrix.certificates.verdict import SuspicionError
from tests.certificates.changes import build


def test_an_input_that_breaks_the_promise_refutes_nothing():
    network, claim = build("mqar", 4, gain=0)
    wrong = next(each for each in random_inputs(claim) if not replay(network, claim, each)["right"])
    broken = numpy.full_like(wrong, -1)
    assert not claim.task.admissible(broken[None], claim.length).any()
    assert first_failure(network, claim, [broken]) is None
    assert first_failure(network, claim, [broken, wrong]) == tuple(wrong.tolist())


def test_the_slow_solution_has_the_last_word(monkeypatch):
    network, claim = build("index-lookup", 4, {"alphabet": 3})
    quick = type(claim.task).label

    def mistaken(task, inputs, length):
        targets, read = quick(task, inputs, length)
        return (targets + 1) % 3, read

    monkeypatch.setattr(type(claim.task), "label", mistaken)
    assert first_failure(network, claim, random_inputs(claim)) is None


@pytest.mark.parametrize(("length", "most"), [(64, MOST_TRIED), (200, FEW)])
def test_few_random_inputs_of_a_long_network_are_run(length, most):
    network, claim = build("index-lookup", length, gain=0)
    found = refutation("position-addressed", network, claim, SuspicionError("nothing is looked up"))
    assert found is not None
    assert not replay(network, claim, numpy.array(found))["right"]
    network, claim = build("index-lookup", length)
    tried: set[bytes] = set()
    assert refutation("position-addressed", network, claim, SuspicionError("no reason"), tried) is None
    assert len(tried) == most


def test_long_networks_of_pairs_are_not_run_at_random():
    network, claim = build("match3", 130)
    tried: set[bytes] = set()
    assert refutation("triple-matching", network, claim, SuspicionError("no reason"), tried) is None
    assert not tried
