"""Certificates of sparse averaging, local matching and matching by heads: agreement, large sizes, planted faults."""

from dataclasses import replace
from fractions import Fraction
from math import comb
from typing import Any

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from separatrix.certificates import Claim, Verdict, check, replay
from separatrix.certificates.methods._searches import restored
from separatrix.certificates.methods.sparse_averaging import Asked, inner_products
from separatrix.constructions import Options, constructions
from separatrix.networks import CellSets, ExactMatrix, FeedForward, Network, PowerSums, SignRows, WindowSets, evaluate
from separatrix.tasks import draws_from, tasks

METHODS = {"sparse-averaging": "dual-certificates", "match3-local": "window-matching", "match3-heads": "power-sums"}
SMALL: list[tuple[str, int, dict[str, Any]]] = [
    ("sparse-averaging", 2, {"sparsity": 1, "resolution": 3}),
    ("sparse-averaging", 3, {"sparsity": 2, "resolution": 1}),
    ("sparse-averaging", 4, {"sparsity": 2, "resolution": 1}),
    ("sparse-averaging", 4, {"sparsity": 3, "resolution": 2}),
    ("match3-local", 3, {"modulus": 7, "window": 1}),
    ("match3-local", 5, {"modulus": 4, "window": 2}),
    ("match3-local", 2, {"modulus": 2}),
    ("match3-heads", 3, {"modulus": 9}),
    ("match3-heads", 5, {"modulus": 4}),
    ("match3-heads", 2, {"modulus": 2}),
]


def build(name: str, length: int, parameters: dict[str, Any] | None = None, **options: Any) -> tuple[Network, Claim]:
    built = constructions()[name].build(length, Options(parameters=parameters or {}, **options))
    assert isinstance(built.network, Network)
    return built.network, Claim(built.task, length, built.arithmetic)


def both(network: Network, claim: Claim, method: str) -> tuple[Verdict, Verdict]:
    return check(network, claim, method), check(network, claim, "enumeration")


def assert_refuted(network: Network, claim: Claim, method: str) -> None:
    """The method's own counterexample fails when it is run again; the checker refutes as well."""
    verdict = check(network, claim, method)
    assert verdict.refuted, verdict.reason
    assert verdict.counterexample is not None
    shown = replay(network, claim, numpy.array(verdict.counterexample))
    assert not shown["right"]
    assert shown["answers"] != shown["expected"]
    assert check(network, claim).refuted


def with_head(network: Network, layer: int, **fields: Any) -> Network:
    layers: list[Any] = list(network.layers)
    layers[layer] = replace(layers[layer], heads=(replace(layers[layer].heads[0], **fields), *layers[layer].heads[1:]))
    return replace(network, layers=tuple(layers))


def with_layer(network: Network, number: int, **fields: Any) -> Network:
    layers: list[Any] = list(network.layers)
    layers[number] = replace(layers[number], **fields)
    return replace(network, layers=tuple(layers))


def with_dual(network: Network, **fields: Any) -> Network:
    return replace(network, dual_parts=(replace(network.dual_parts[0], **fields),))


def with_part(network: Network, slot: str, **fields: Any) -> Network:
    parts = tuple(replace(part, **fields) if part.slot == slot else part for part in network.embedding)
    return replace(network, embedding=parts)


def entry(matrix: ExactMatrix, row: int, column: int, value: int) -> ExactMatrix:
    numerators = matrix.numerators.copy()
    numerators[row, column] = value
    return ExactMatrix(numerators, matrix.denominator)


def flipped(rule: SignRows, row: int = 0, column: int = 0) -> SignRows:
    generator = rule.generator.copy()
    generator[row, column] ^= 1
    return SignRows(generator)


# -- right networks ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rounding", ["down", "nearest"])
@pytest.mark.parametrize(("name", "length", "parameters"), SMALL)
def test_method_and_enumeration_accept_right_networks(name, length, parameters, rounding):
    network, claim = build(name, length, parameters, rounding=rounding)
    by_argument, by_enumeration = both(network, claim, METHODS[name])
    assert by_argument.valid, by_argument.reason
    assert by_enumeration.valid
    assert int(by_enumeration.inputs_covered) == claim.task.count(length)
    covered = by_argument.inputs_covered
    if name == "sparse-averaging":
        base, _, exponent = covered.rpartition("^")
        subsets, values = base.strip("()").split(")*")
        n, q = subsets.removeprefix("C(").split(",")
        assert (comb(int(n), int(q)) * int(values)) ** int(exponent) == claim.task.count(length)
    else:
        base, _, exponent = covered.partition("^")
        assert int(base) ** int(exponent) == claim.task.count(length)


@pytest.mark.parametrize(
    ("name", "length", "parameters", "covered"),
    [("sparse-averaging", 1024, {"sparsity": 8}, "(C(1024,8)*17)^1024"),
     ("sparse-averaging", 300, {"dimension": 2, "resolution": 5}, "(C(300,3)*81)^300"),
     ("sparse-averaging", 64, {"sparsity": 64}, "(C(64,64)*17)^64"),
     ("match3-local", 64, {}, "4096^64"), ("match3-local", 200, {"window": 4, "modulus": 999}, "999^200"),
     ("match3-local", 10, {"window": 50, "modulus": 30}, "30^10"),
     ("match3-heads", 32, {}, "1024^32"), ("match3-heads", 60, {"modulus": 50}, "50^60")],
)  # fmt: skip
def test_large_sizes_are_certified(name, length, parameters, covered):
    network, claim = build(name, length, parameters)
    verdict = check(network, claim)
    assert verdict.valid, verdict.reason
    assert verdict.method == METHODS[name]
    assert verdict.inputs_covered == covered


@pytest.mark.parametrize("rounding", ["down", "nearest"])
@pytest.mark.parametrize("variant", ["repaired", "half"])
@pytest.mark.parametrize(("length", "sparsity"), [(8, 1), (8, 3), (20, 3), (33, 2), (16, 16)])
def test_variants_and_roundings_of_sparse_averaging(length, sparsity, variant, rounding):
    network, claim = build("sparse-averaging", length, {"sparsity": sparsity}, variant=variant, rounding=rounding)
    verdict = check(network, claim)
    assert verdict.valid, verdict.reason


@given(st.integers(1, 3), st.integers(1, 6))
@settings(max_examples=18, deadline=None)
def test_values_are_counted_as_the_task_lists_them(dimension, resolution):
    task = tasks()["sparse-averaging"].with_parameters(sparsity=1, dimension=dimension, resolution=resolution)
    assert Asked(1, 1, dimension, resolution).values == task.count(1)


@pytest.mark.parametrize("count", [2, 5, 8])
def test_inner_products_are_those_of_all_pairs(count):
    network, _ = build("sparse-averaging", 8)
    rule = network.dual_parts[0].rule
    found = inner_products(rule, count).tolist()
    signs = rule.signs(numpy.arange(1 << (count - 1).bit_length()))
    assert found == [int(each) for each in (signs @ signs[0])[1:]]
    pairs = {int(signs[i] @ signs[j]) for i in range(count) for j in range(i)}
    assert pairs <= set(found)


# -- sparse averaging: planted faults ------------------------------------------------------------------------------

FAULTY = [(8, {}), (16, {"sparsity": 2}), (12, {"dimension": 2, "resolution": 3})]


@pytest.mark.parametrize(
    ("length", "parameters", "divisor"),
    [(8, {}, 4), (16, {"sparsity": 2}, 2), (12, {"dimension": 2, "resolution": 3}, 2)],
)
def test_a_gain_that_is_too_small(length, parameters, divisor):
    """Half the gain is too little but where all products outside are below 0, as in the simplex code of width 7."""
    network, claim = build("sparse-averaging", length, parameters)
    assert_refuted(with_dual(network, gain=network.dual_parts[0].gain / divisor), claim, "dual-certificates")


@pytest.mark.parametrize(("length", "parameters"), FAULTY)
def test_a_flipped_sign_in_the_keys(length, parameters):
    network, claim = build("sparse-averaging", length, parameters)
    rule = flipped(network.dual_parts[0].rule)
    assert_refuted(with_part(network, "key", rule=rule), claim, "dual-certificates")


def test_a_flipped_sign_in_both_is_another_code():
    """Half the words change at one place; here every set of the new code still has a certificate, with less margin."""
    network, claim = build("sparse-averaging", 32, {"sparsity": 2})
    rule = flipped(network.dual_parts[0].rule)
    changed = with_dual(with_part(network, "key", rule=rule), rule=rule)
    verdict = check(changed, claim, "dual-certificates")
    assert not verdict.refuted
    assert check(with_dual(changed, gain=4 * network.dual_parts[0].gain), claim, "dual-certificates").valid


@pytest.mark.parametrize("length", [8, 16])
def test_a_code_that_is_too_narrow(length):
    """Only two coordinates: the vectors coincide, and sets have no certificate."""
    network, claim = build("sparse-averaging", length)
    generator = network.dual_parts[0].rule.generator.copy()
    generator[:, 2:] = 0
    rule = SignRows(generator)
    assert_refuted(with_dual(with_part(network, "key", rule=rule), rule=rule), claim, "dual-certificates")


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
    verdict = check(faulty, claim, "dual-certificates")
    assert not verdict.valid
    assert "dual certificate" in verdict.reason


@pytest.mark.parametrize(
    ("length", "parameters"), [(8, {}), (16, {"sparsity": 5}), (12, {"dimension": 2, "resolution": 3})]
)
def test_one_digit_is_not_enough(length, parameters):
    network, claim = build("sparse-averaging", length, parameters, exponent=1)
    assert not check(network, claim, "dual-certificates").valid
    assert check(network, claim).refuted


def test_sets_read_from_the_wrong_place():
    network, claim = build("sparse-averaging", 8)
    assert_refuted(with_dual(network, sets=CellSets((0, 3))), claim, "dual-certificates")


@pytest.mark.parametrize("fault", ["readout", "value", "sign"])
def test_faults_after_the_attention(fault):
    network, claim = build("sparse-averaging", 8)
    if fault == "readout":
        readout = replace(network.readout, matrix=entry(network.readout.matrix, 0, 0, 2))
        assert_refuted(replace(network, readout=readout), claim, "dual-certificates")
    elif fault == "value":
        part = network.feature_parts[0]
        doubled = replace(part, matrix=ExactMatrix(part.matrix.numerators * 2))
        assert_refuted(replace(network, feature_parts=(doubled,)), claim, "dual-certificates")
    else:
        negated = ExactMatrix(-network.layers[0].heads[0].query.numerators)  # type: ignore[union-attr]
        assert_refuted(with_head(network, 0, query=negated), claim, "dual-certificates")


@pytest.mark.parametrize("change", [{"mask": "causal"}, {"scoring": "linear"}, {"scoring": "hard"}])
def test_other_attention_is_refuted_by_running(change):
    network, claim = build("sparse-averaging", 8)
    faulty = with_head(network, 0, **change)
    assert not check(faulty, claim, "dual-certificates").valid
    assert check(faulty, claim).refuted


@given(st.integers(0, 2), st.integers(0, 6), st.integers(-2, 2))
@settings(max_examples=25, deadline=None)
def test_no_changed_key_weight_is_ever_accepted_wrongly(row, column, value):
    """Whatever one key weight becomes: a valid verdict means that all inputs that are tried are right."""
    network, claim = build("sparse-averaging", 7, {"sparsity": 2, "resolution": 2})
    key = network.layers[0].heads[0].key  # type: ignore[union-attr]
    start = network.slots.columns("key").start
    changed = with_head(network, 0, key=entry(key, row, start + column, value))
    verdict = check(changed, claim, "dual-certificates")
    if verdict.valid:
        examples = claim.task.sample(draws_from(0), 20, 7)
        answers = evaluate(changed, examples.inputs, claim.arithmetic).answers
        numpy.testing.assert_array_equal(answers, examples.targets)
    else:
        assert key.numerators[row, start + column] != value


# -- local matching: planted faults ----------------------------------------------------------------------------------

LOCAL = [(5, {"modulus": 16, "window": 1}), (8, {"modulus": 11, "window": 2}), (20, {"modulus": 50, "window": 2})]


@pytest.mark.parametrize("reach", [-1, 1])
@pytest.mark.parametrize(("length", "parameters"), LOCAL)
def test_a_wrong_window(length, parameters, reach):
    network, claim = build("match3-local", length, parameters)
    sets = WindowSets(parameters["window"] + reach, (1, length + 1))
    assert_refuted(with_dual(network, sets=sets), claim, "window-matching")


@pytest.mark.parametrize(("length", "parameters"), LOCAL)
def test_a_flipped_sign_in_the_keys_of_positions(length, parameters):
    network, claim = build("match3-local", length, parameters)
    faulty = with_part(network, "key", rule=flipped(network.dual_parts[0].rule, 1))
    faulty = with_dual(faulty, gain=network.dual_parts[0].gain * 8)
    assert_refuted(faulty, claim, "window-matching")


@pytest.mark.parametrize(("length", "parameters"), LOCAL)
def test_a_small_gain_lets_other_numbers_in(length, parameters):
    network, claim = build("match3-local", length, parameters)
    faulty = with_dual(network, gain=Fraction(1, 8))
    assert not check(faulty, claim, "window-matching").valid
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
    assert_refuted(with_layer(network, 3, **changed), claim, "window-matching")


@pytest.mark.parametrize(("length", "parameters"), LOCAL)
def test_a_threshold_that_loses_bits(length, parameters):
    network, claim = build("match3-local", length, parameters)
    restoring = network.layers[2]
    assert isinstance(restoring, FeedForward)
    moved = ExactMatrix(4 * restoring.inner_bias.numerators)
    assert_refuted(with_layer(network, 2, inner_bias=moved), claim, "window-matching")


def test_a_table_that_holds_other_residues_is_not_accepted():
    network, claim = build("match3-local", 5, {"modulus": 16})
    part = next(part for part in network.embedding if part.slot == "own")
    table: Any = part.rule
    changed = with_part(network, "own", rule=replace(table, table=entry(table.table, 2, 1, 0)))
    assert not check(changed, claim, "window-matching").valid
    assert check(changed, claim).refuted


@pytest.mark.parametrize(("low", "high", "valid"), [(0, 6, True), (0, 7, False), (6, 6, True)])
def test_bits_are_restored_exactly_on_whole_intervals(low, high, valid):
    """x ↦ step(x) with the edges 1/4 and 1/2 of 25: 6 is the last raw number that becomes 0, 13 the first 1."""
    network, claim = build("match3-local", 5, {"modulus": 4, "window": 1}, exponent=2)
    inner = ExactMatrix(numpy.array([[4], [4], [1]]))
    bias = ExactMatrix(numpy.array([[-1], [-2], [0]]))
    outer = ExactMatrix(numpy.array([[1, -1, -1]]))
    layer = FeedForward(inner, bias, outer, ExactMatrix(numpy.zeros((1, 1), dtype=numpy.int64)))
    columns = numpy.array([0])
    assert network.positions == 6
    arithmetic: Any = claim.arithmetic
    assert (restored(layer, columns, ((low, high), (13, 30)), arithmetic) is None) == valid
    assert restored(layer, columns, ((0, 6), (12, 30)), arithmetic) is not None


# -- heads: planted faults -------------------------------------------------------------------------------------------

HEADS = [(4, {"modulus": 6}), (5, {"modulus": 16}), (12, {})]


@pytest.mark.parametrize(("length", "parameters"), HEADS)
def test_one_changed_power(length, parameters):
    network, claim = build("match3-heads", length, parameters)
    part = next(part for part in network.embedding if part.slot == "powers")
    table: Any = part.rule
    changed = entry(table.table, 2, 1, int(table.table.numerators[2, 1]) + 1)
    assert_refuted(with_part(network, "powers", rule=replace(table, table=changed)), claim, "power-sums")


@pytest.mark.parametrize(("length", "parameters"), HEADS)
def test_one_changed_weight_of_the_readout(length, parameters):
    network, claim = build("match3-heads", length, parameters)
    column = network.slots.columns("sums").start
    matrix = entry(network.readout.matrix, 1, column, length)
    assert_refuted(replace(network, readout=replace(network.readout, matrix=matrix)), claim, "power-sums")


@pytest.mark.parametrize(("length", "modulus"), [(20, 13), (30, 7), (16, 8)])
def test_too_few_digits_for_the_sums(length, modulus):
    """N^3 leaves a remainder of N when divided by N + 1, N^4 one of 1."""
    network, claim = build("match3-heads", length, {"modulus": modulus}, exponent=3)
    assert_refuted(network, claim, "power-sums")
    assert check(*build("match3-heads", length, {"modulus": modulus}, exponent=4)).valid


def test_sums_beyond_the_range_are_refuted_by_running():
    network, claim = build("match3-heads", 12, exponent=2)
    assert "range" in check(network, claim, "power-sums").reason
    assert check(network, claim).refuted


@pytest.mark.parametrize(("length", "parameters"), HEADS)
def test_a_decoding_for_another_modulus(length, parameters):
    network, claim = build("match3-heads", length, parameters)
    sums = network.readout.power_sums
    assert sums is not None
    readout = replace(network.readout, power_sums=PowerSums(sums.modulus - 1, sums.prime))
    assert_refuted(replace(network, readout=readout), claim, "power-sums")


def test_a_mask_is_not_covered_and_refuted_by_running():
    network, claim = build("match3-heads", 5)
    layer: Any = network.layers[0]
    masked = with_layer(network, 0, heads=tuple(replace(head, mask="causal") for head in layer.heads))
    assert not check(masked, claim, "power-sums").valid
    assert check(masked, claim).refuted


# -- networks of one kind are not taken for another ----------------------------------------------------------------


def test_methods_that_do_not_know_sets_refuse_them():
    """A dual certificate added to a slot that a lookup reads: the method that overlooks it must not decide."""
    built = constructions()["index-lookup"].build(8)
    network, claim = built.network, Claim(built.task, 8, built.arithmetic)
    assert isinstance(network, Network)
    assert check(network, claim, "position-addressed").valid
    donor, _ = build("match3-local", 8)
    rule = next(part.rule for part in network.embedding if part.slot == "address")
    assert isinstance(rule, SignRows)
    part = replace(donor.dual_parts[0], slot="address", rule=rule, sets=WindowSets(1, (0, 8)), gain=Fraction(50))
    verdict = check(replace(network, dual_parts=(part,)), claim, "position-addressed")
    assert not verdict.valid
    assert "dual certificates" in verdict.reason
    rounded = replace(network, readout=replace(network.readout, decoding="round"))
    assert not check(rounded, claim, "position-addressed").valid
