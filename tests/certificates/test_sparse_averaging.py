"""Certificates of sparse averaging: agreement with enumeration, large sizes, planted faults."""

from dataclasses import replace
from math import comb

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from separatrix.certificates import check
from separatrix.networks import CellSets, ExactMatrix, SignRows, evaluate
from separatrix.tasks import draws_from
from tests.certificates.changes import assert_refuted, build, entry, flipped, with_dual, with_head, with_part

METHOD = "kernel"


@pytest.mark.parametrize("rounding", ["down", "nearest"])
@pytest.mark.parametrize(
    ("length", "parameters"),
    [
        (2, {"sparsity": 1, "resolution": 3}),
        (3, {"sparsity": 2, "resolution": 1}),
        (4, {"sparsity": 2, "resolution": 1}),
        (4, {"sparsity": 3, "resolution": 2}),
    ],
)
def test_method_and_enumeration_accept_right_networks(length, parameters, rounding):
    network, claim = build("sparse-averaging", length, parameters, rounding=rounding)
    by_argument, by_enumeration = check(network, claim, METHOD), check(network, claim, "enumeration")
    assert by_argument.valid, by_argument.reason
    assert by_enumeration.valid
    assert int(by_enumeration.inputs_covered) == claim.task.count(length)
    base, _, exponent = by_argument.inputs_covered.rpartition("^")
    subsets, values = base.strip("()").split(")*")
    n, q = subsets.removeprefix("C(").split(",")
    assert (comb(int(n), int(q)) * int(values)) ** int(exponent) == claim.task.count(length)


@pytest.mark.parametrize(
    ("length", "parameters", "covered"),
    [
        (1024, {"sparsity": 8}, "(C(1024,8)*17)^1024"),
        (300, {"dimension": 2, "resolution": 5}, "(C(300,3)*81)^300"),
        (64, {"sparsity": 64}, "(C(64,64)*17)^64"),
    ],
)
def test_large_sizes_are_certified(length, parameters, covered):
    verdict = check(*build("sparse-averaging", length, parameters))
    assert verdict.valid, verdict.reason
    assert verdict.method == METHOD
    assert verdict.inputs_covered == covered


@pytest.mark.parametrize("rounding", ["down", "nearest"])
@pytest.mark.parametrize("variant", ["repaired", "half"])
@pytest.mark.parametrize(("length", "sparsity"), [(8, 1), (8, 3), (20, 3), (33, 2), (16, 16)])
def test_variants_and_roundings_of_sparse_averaging(length, sparsity, variant, rounding):
    network, claim = build("sparse-averaging", length, {"sparsity": sparsity}, variant=variant, rounding=rounding)
    verdict = check(network, claim)
    assert verdict.valid, verdict.reason


# -- planted faults -----------------------------------------------------------------------------------------------

FAULTY = [(8, {}), (16, {"sparsity": 2}), (12, {"dimension": 2, "resolution": 3})]


@pytest.mark.parametrize(
    ("length", "parameters", "divisor"),
    [(8, {}, 4), (16, {"sparsity": 2}, 2), (12, {"dimension": 2, "resolution": 3}, 2)],
)
def test_a_gain_that_is_too_small(length, parameters, divisor):
    """Half the gain is too little but where all products outside are below 0, as in the simplex code of width 7."""
    network, claim = build("sparse-averaging", length, parameters)
    assert_refuted(with_dual(network, gain=network.dual_parts[0].gain / divisor), claim, METHOD)


@pytest.mark.parametrize(("length", "parameters"), FAULTY)
def test_a_flipped_sign_in_the_keys(length, parameters):
    network, claim = build("sparse-averaging", length, parameters)
    rule = flipped(network.dual_parts[0].rule)
    assert_refuted(with_part(network, "key", rule=rule), claim, METHOD)


def test_a_flipped_sign_in_both_is_another_code():
    """Half the words change at one place; here every set of the new code still has a certificate, with less margin."""
    network, claim = build("sparse-averaging", 32, {"sparsity": 2})
    rule = flipped(network.dual_parts[0].rule)
    changed = with_dual(with_part(network, "key", rule=rule), rule=rule)
    verdict = check(changed, claim, METHOD)
    assert not verdict.refuted
    assert check(with_dual(changed, gain=4 * network.dual_parts[0].gain), claim, METHOD).valid


@pytest.mark.parametrize("length", [8, 16])
def test_a_code_that_is_too_narrow(length):
    """Only two coordinates: the vectors coincide, and sets have no certificate."""
    network, claim = build("sparse-averaging", length)
    generator = network.dual_parts[0].rule.generator.copy()
    generator[:, 2:] = 0
    rule = SignRows(generator)
    assert_refuted(with_dual(with_part(network, "key", rule=rule), rule=rule), claim, METHOD)


def test_a_code_with_inner_products_above_the_margin():
    """At N = 64 and q = 8 a code for inner products of 1/4 has sets whose certificates exceed 1 outside."""
    narrow, _ = build("sparse-averaging", 64, {"sparsity": 2})
    network, claim = build("sparse-averaging", 64, {"sparsity": 8, "resolution": 1})
    rule = narrow.dual_parts[0].rule
    width = rule.width
    assert width < network.dual_parts[0].rule.width
    padded = SignRows(
        numpy.pad(rule.generator, ((0, 0), (0, network.dual_parts[0].rule.width - width))).astype(numpy.uint8)
    )
    faulty = with_dual(with_part(network, "key", rule=padded), rule=padded)
    verdict = check(faulty, claim, METHOD)
    assert not verdict.valid
    assert "dual certificate" in verdict.reason


@pytest.mark.parametrize(
    ("length", "parameters"), [(8, {}), (16, {"sparsity": 5}), (12, {"dimension": 2, "resolution": 3})]
)
def test_one_digit_is_not_enough(length, parameters):
    network, claim = build("sparse-averaging", length, parameters, exponent=1)
    assert not check(network, claim, METHOD).valid
    assert check(network, claim).refuted


def test_sets_read_from_the_wrong_place():
    network, claim = build("sparse-averaging", 8)
    assert_refuted(with_dual(network, sets=CellSets((0, 3))), claim, METHOD)


@pytest.mark.parametrize("fault", ["readout", "value", "sign"])
def test_faults_after_the_attention(fault):
    network, claim = build("sparse-averaging", 8)
    if fault == "readout":
        readout = replace(network.readout, matrix=entry(network.readout.matrix, 0, 0, 2))
        assert_refuted(replace(network, readout=readout), claim, METHOD)
    elif fault == "value":
        part = network.feature_parts[0]
        doubled = replace(part, matrix=ExactMatrix(part.matrix.numerators * 2))
        assert_refuted(replace(network, feature_parts=(doubled,)), claim, METHOD)
    else:
        negated = ExactMatrix(-network.layers[0].heads[0].query.numerators)  # type: ignore[union-attr]
        assert_refuted(with_head(network, 0, query=negated), claim, METHOD)


@pytest.mark.parametrize("change", [{"mask": "causal"}, {"scoring": "linear"}, {"scoring": "hard"}])
def test_other_attention_is_refuted_by_running(change):
    network, claim = build("sparse-averaging", 8)
    faulty = with_head(network, 0, **change)
    assert not check(faulty, claim, METHOD).valid
    assert check(faulty, claim).refuted


@given(st.integers(0, 2), st.integers(0, 6), st.integers(-2, 2))
@settings(max_examples=25, deadline=None)
def test_no_changed_key_weight_is_ever_accepted_wrongly(row, column, value):
    """Whatever one key weight becomes: a valid verdict means that all inputs that are tried are right."""
    network, claim = build("sparse-averaging", 7, {"sparsity": 2, "resolution": 2})
    key = network.layers[0].heads[0].key  # type: ignore[union-attr]
    start = network.slots.columns("key").start
    changed = with_head(network, 0, key=entry(key, row, start + column, value))
    verdict = check(changed, claim, METHOD)
    if verdict.valid:
        examples = claim.task.sample(draws_from(0), 20, 7)
        answers = evaluate(changed, examples.inputs, claim.arithmetic).answers
        numpy.testing.assert_array_equal(answers, examples.targets)
    else:
        assert key.numerators[row, start + column] != value


# -- networks of one kind are not taken for another ----------------------------------------------------------------


def test_methods_that_do_not_know_numbers_as_answers_refuse_them():
    network, claim = build("index-lookup", 8)
    assert check(network, claim, "position-addressed").valid
    rounded = replace(network, readout=replace(network.readout, decoding="round"))
    assert not check(rounded, claim, "position-addressed").valid
