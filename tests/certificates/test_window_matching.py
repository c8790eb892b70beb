"""Certificates of local triple matching: agreement with enumeration, large sizes, planted faults."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy
import pytest

from separatrix.certificates import check
from separatrix.certificates.meanings.matchings import MatchingInputs
from separatrix.certificates.methods.window_matching import Examination
from separatrix.constructions import Options
from separatrix.constructions.theorems._averaging import set_gain
from separatrix.constructions.theorems.match3_local import CONSTRUCTION, window_queries
from separatrix.networks import ExactMatrix, FeedForward, Network, TableRows
from tests.certificates.changes import assert_refuted, build, entry, flipped, with_layer, with_part

METHOD = "window-matching"


@pytest.mark.parametrize("rounding", ["down", "nearest"])
@pytest.mark.parametrize(
    ("length", "parameters"),
    [(3, {"modulus": 7, "window": 1}), (5, {"modulus": 4, "window": 2}), (2, {"modulus": 2})],
)
def test_method_and_enumeration_accept_right_networks(length, parameters, rounding):
    network, claim = build("match3-local", length, parameters, rounding=rounding)
    by_argument, by_enumeration = check(network, claim, METHOD), check(network, claim, "enumeration")
    assert by_argument.valid, by_argument.reason
    assert by_enumeration.valid
    base, _, exponent = by_argument.inputs_covered.partition("^")
    assert int(base) ** int(exponent) == int(by_enumeration.inputs_covered) == claim.task.count(length)


@pytest.mark.parametrize(
    ("length", "parameters", "covered"),
    [
        (64, {}, "4096^64"),
        (200, {"window": 4, "modulus": 999}, "999^200"),
        (10, {"window": 50, "modulus": 30}, "30^10"),
    ],
)
def test_large_sizes_are_certified(length, parameters, covered):
    verdict = check(*build("match3-local", length, parameters))
    assert verdict.valid, verdict.reason
    assert verdict.method == METHOD
    assert verdict.inputs_covered == covered


# -- planted faults -----------------------------------------------------------------------------------------------

LOCAL = [(5, {"modulus": 16, "window": 1}), (8, {"modulus": 11, "window": 2}), (20, {"modulus": 50, "window": 2})]


def with_windows(network: Network, length: int, claim: Any, reach: int, times: int | Fraction = 1) -> Network:
    """The queries of other windows, or of another size."""
    sizes = CONSTRUCTION.sizes(claim.task, length)
    codes = CONSTRUCTION.codes(sizes, length, Options())
    gain = set_gain(codes, 8 * sizes.largest * (length + 1), Options()) * times
    return with_part(network, "asked", rule=TableRows(window_queries(codes, length, reach, gain)))


@pytest.mark.parametrize("reach", [-1, 1])
@pytest.mark.parametrize(("length", "parameters"), LOCAL)
def test_a_wrong_window(length, parameters, reach):
    network, claim = build("match3-local", length, parameters)
    assert_refuted(with_windows(network, length, claim, parameters["window"] + reach), claim, METHOD)


@pytest.mark.parametrize(("length", "parameters"), LOCAL)
def test_a_flipped_sign_in_the_keys_of_positions(length, parameters):
    network, claim = build("match3-local", length, parameters)
    key: Any = next(part.rule for part in network.embedding if part.slot == "key")
    faulty = with_part(network, "key", rule=flipped(key, 1))
    assert_refuted(with_windows(faulty, length, claim, parameters["window"], 8), claim, METHOD)


@pytest.mark.parametrize(("length", "parameters"), LOCAL)
def test_a_small_gain_lets_other_numbers_in(length, parameters):
    network, claim = build("match3-local", length, parameters)
    faulty = with_windows(network, length, claim, parameters["window"], Fraction(1, 64))
    assert not check(faulty, claim, METHOD).valid
    assert check(faulty, claim).refuted


@pytest.mark.parametrize("fault", ["bias", "weight", "pair", "target"])
@pytest.mark.parametrize(("length", "parameters"), LOCAL)
def test_faults_in_the_search(length, parameters, fault):
    network, claim = build("match3-local", length, parameters)
    search = network.layers[3]
    assert isinstance(search, FeedForward)
    found = network.slots.columns("found").start
    if fault == "bias":
        changed: dict[str, Any] = {"inner_bias": ExactMatrix(search.inner_bias.numerators + 1)}
    elif fault == "weight":
        changed = {"outer": ExactMatrix(-search.outer.numerators)}
    elif fault == "pair":
        # The first nine units compare one class with itself.
        outer = search.outer.numerators.copy()
        outer[found, 9:18] = 0
        changed = {"outer": ExactMatrix(outer)}
    else:
        outer = search.outer.numerators.copy()
        for first in range(3, outer.shape[1], 9):
            outer[found, first : first + 3] = 0
        changed = {"outer": ExactMatrix(outer)}
    assert_refuted(with_layer(network, 3, **changed), claim, METHOD)


@pytest.mark.parametrize(("length", "parameters"), LOCAL)
def test_a_threshold_that_loses_bits(length, parameters):
    network, claim = build("match3-local", length, parameters)
    restoring = network.layers[2]
    assert isinstance(restoring, FeedForward)
    moved = ExactMatrix(4 * restoring.inner_bias.numerators)
    assert_refuted(with_layer(network, 2, inner_bias=moved), claim, METHOD)


def test_a_table_that_holds_other_residues_is_not_accepted():
    network, claim = build("match3-local", 5, {"modulus": 16})
    part = next(part for part in network.embedding if part.slot == "own")
    table: Any = part.rule
    changed = with_part(network, "own", rule=replace(table, table=entry(table.table, 2, 1, 0)))
    assert not check(changed, claim, METHOD).valid
    assert check(changed, claim).refuted


@pytest.mark.parametrize(("low", "high", "valid"), [(0, 6, True), (0, 7, False), (6, 6, True)])
def test_bits_are_restored_exactly_on_whole_intervals(low, high, valid):
    """x ↦ step(x) with the edges 1/4 and 1/2 of 25: 6 is the last raw number that becomes 0, 13 the first 1."""
    network, claim = build("match3-local", 5, {"modulus": 4, "window": 1}, exponent=2)
    # A window of three: averages are compared with 1/12 and 1/6, so step(x) is had from a third of the weights.
    restoring = network.layers[2]
    assert isinstance(restoring, FeedForward)
    inner = restoring.inner.numerators.copy()
    inner[restoring.inner_bias.numerators[:, 0] < 0] //= 3
    thirds = with_layer(network, 2, inner=ExactMatrix(inner))
    arithmetic: Any = claim.arithmetic
    examination = Examination(thirds, MatchingInputs(5, 4), arithmetic)
    assert examination.restored(numpy.array([low, 13]), numpy.array([high, 30])) == valid
    assert not examination.restored(numpy.array([0, 12]), numpy.array([6, 30]))
