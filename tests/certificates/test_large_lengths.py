"""Lengths that must certify on a small machine, and faults that are seen at the same lengths."""

from dataclasses import replace
from fractions import Fraction

import pytest

from separatrix.arithmetic import Balls
from separatrix.certificates import Claim, SuspicionError, check, methods
from separatrix.constructions import Options, constructions
from separatrix.networks import SignRows


def build(name, length, **options):
    built = constructions()[name].build(length, Options(**options))
    return built.network, Claim(built.task, built.length, built.arithmetic)


@pytest.mark.parametrize(
    ("name", "power", "covered"), [("index-lookup", 20, "64^1048576*1048576"), ("equality", 16, "2^65536")]
)
def test_long_inputs_are_certified(name, power, covered):
    """With no option but the length, as a user asks."""
    network, claim = build(name, 2**power)
    verdict = check(network, claim)
    assert verdict.valid, verdict.reason
    assert verdict.inputs_covered == covered


def test_long_inputs_are_certified_over_the_reals():
    network, claim = build("equality", 2**14)
    assert check(network, replace(claim, arithmetic=Balls(128))).valid


@pytest.mark.parametrize("name", ["index-lookup", "equality"])
def test_a_halved_gain_is_seen_at_long_lengths(name):
    network, claim = build(name, 2**14, gain=Fraction(5), exponent=1)
    with pytest.raises(SuspicionError):
        methods()["position-addressed"].prove(network, claim)


def test_a_flipped_column_of_one_code_is_seen():
    """Queries and keys are then rows of different codes, and some query looks elsewhere."""
    network, claim = build("index-lookup", 64)
    asked = network.embedding[1]
    generator = asked.rule.generator.copy()
    generator[3] ^= 1
    broken = replace(
        network, embedding=(network.embedding[0], replace(asked, rule=SignRows(generator)), network.embedding[2])
    )
    verdict = check(broken, claim)
    assert verdict.refuted
