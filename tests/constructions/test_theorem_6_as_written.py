"""Errata E2 and E3: Theorem 6 as written fails on exactly the inputs that the errata name, and why."""

import numpy
import pytest

from separatrix.certificates import Claim, check, replay
from separatrix.constructions import Options, constructions
from separatrix.networks import evaluate


def failures(variant: str, exponent: int, length: int = 8) -> tuple[int, int, int]:
    """Wrong answers in all, wrong ones among inputs with one mismatch, and unequal inputs."""
    built = constructions()["equality"].build(length, Options(variant=variant, exponent=exponent))
    wrong = wrong_with_one = unequal = 0
    for examples in built.task.enumerate(length):
        answers = evaluate(built.network, examples.inputs, built.arithmetic).answers[:, 0]
        bad = answers != examples.targets[:, -1]
        mismatches = (examples.inputs[:, : length // 2] != examples.inputs[:, length // 2 :]).sum(axis=1)
        wrong += int(bad.sum())
        wrong_with_one += int((bad & (mismatches == 1)).sum())
        unequal += int((mismatches > 0).sum())
    return wrong, wrong_with_one, unequal


def test_at_kc_two_exactly_the_inputs_with_one_mismatch_fail():
    wrong, with_one, _ = failures("paper", 2)
    assert wrong == with_one == 2**4 * 4


def test_at_kc_one_every_unequal_input_fails():
    wrong, _, unequal = failures("paper", 1)
    assert wrong == unequal == 2**8 - 2**4


@pytest.mark.parametrize("exponent", [1, 2])
@pytest.mark.parametrize("variant", ["paper-appendix-d", "repaired"])
def test_either_repair_is_enough(variant, exponent):
    assert failures(variant, exponent)[0] == 0


def test_the_checker_refutes_the_original_with_an_input_that_fails():
    built = constructions()["equality"].build(8, Options(variant="paper"))
    claim = Claim(built.task, 8, built.arithmetic)
    verdict = check(built.network, claim)
    assert verdict.refuted
    assert not replay(built.network, claim, numpy.array(verdict.counterexample))["right"]
