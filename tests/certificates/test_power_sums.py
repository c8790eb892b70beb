"""Certificates of matching by many heads: agreement with enumeration, large sizes, planted faults."""

from dataclasses import replace
from typing import Any

import numpy
import pytest

from separatrix.certificates import check
from separatrix.certificates.refutations import searches
from separatrix.networks import PowerSums
from tests.certificates.changes import assert_refuted, build, entry, with_layer, with_part

METHOD = "power-sums"


@pytest.mark.parametrize("rounding", ["down", "nearest"])
@pytest.mark.parametrize(("length", "parameters"), [(3, {"modulus": 9}), (5, {"modulus": 4}), (2, {"modulus": 2})])
def test_method_and_enumeration_accept_right_networks(length, parameters, rounding):
    network, claim = build("match3-heads", length, parameters, rounding=rounding)
    by_argument, by_enumeration = check(network, claim, METHOD), check(network, claim, "enumeration")
    assert by_argument.valid, by_argument.reason
    assert by_enumeration.valid
    base, _, exponent = by_argument.inputs_covered.partition("^")
    assert int(base) ** int(exponent) == int(by_enumeration.inputs_covered) == claim.task.count(length)


@pytest.mark.parametrize(("length", "parameters", "covered"), [(32, {}, "1024^32"), (60, {"modulus": 50}, "50^60")])
def test_large_sizes_are_certified(length, parameters, covered):
    verdict = check(*build("match3-heads", length, parameters))
    assert verdict.valid, verdict.reason
    assert verdict.method == METHOD
    assert verdict.inputs_covered == covered


# -- planted faults -----------------------------------------------------------------------------------------------

HEADS = [(4, {"modulus": 6}), (5, {"modulus": 16}), (12, {})]


@pytest.mark.parametrize(("length", "parameters"), HEADS)
def test_one_changed_power(length, parameters):
    network, claim = build("match3-heads", length, parameters)
    part = next(part for part in network.embedding if part.slot == "powers")
    table: Any = part.rule
    changed = entry(table.table, 2, 1, int(table.table.numerators[2, 1]) + 1)
    assert_refuted(with_part(network, "powers", rule=replace(table, table=changed)), claim, METHOD)


@pytest.mark.parametrize(("length", "parameters"), HEADS)
def test_one_changed_weight_of_the_readout(length, parameters):
    network, claim = build("match3-heads", length, parameters)
    column = network.slots.columns("sums").start
    matrix = entry(network.readout.matrix, 1, column, length)
    assert_refuted(replace(network, readout=replace(network.readout, matrix=matrix)), claim, METHOD)


@pytest.mark.parametrize(("length", "modulus"), [(20, 13), (30, 7), (16, 8)])
def test_too_few_digits_for_the_sums(length, modulus):
    """N^3 leaves a remainder of N when divided by N + 1, N^4 one of 1."""
    network, claim = build("match3-heads", length, {"modulus": modulus}, exponent=3)
    assert_refuted(network, claim, METHOD)
    assert check(*build("match3-heads", length, {"modulus": modulus}, exponent=4)).valid


def test_sums_beyond_the_range_are_refuted_by_running():
    network, claim = build("match3-heads", 12, exponent=2)
    assert "range" in check(network, claim, METHOD).reason
    assert check(network, claim).refuted


@pytest.mark.parametrize(("length", "parameters"), HEADS)
def test_a_decoding_for_another_modulus(length, parameters):
    network, claim = build("match3-heads", length, parameters)
    sums = network.readout.power_sums
    assert sums is not None
    readout = replace(network.readout, power_sums=PowerSums(sums.modulus - 1, sums.prime))
    assert_refuted(replace(network, readout=readout), claim, METHOD)


def test_a_mask_is_not_covered_and_refuted_by_running():
    network, claim = build("match3-heads", 5)
    layer: Any = network.layers[0]
    masked = with_layer(network, 0, heads=tuple(replace(head, mask="causal") for head in layer.heads))
    assert not check(masked, claim, METHOD).valid
    assert check(masked, claim).refuted


@pytest.mark.parametrize("modulus", [2, 7])
def test_what_the_search_proposes_are_inputs_of_the_task(modulus):
    network, claim = build("match3-heads", 3, {"modulus": modulus})
    proposed = numpy.array(list(searches()[METHOD].inputs(network, claim, numbers=[1, modulus])))
    assert claim.task.admissible(proposed, claim.length).all()
    assert {(0, 1, 1, 1), (0, modulus, modulus, modulus)} <= {tuple(row) for row in proposed.tolist()}
