"""Transformers for Dyck languages on all strings at once: proofs, planted faults, agreement with enumeration."""

from dataclasses import replace
from typing import Any

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from separatrix.certificates import Claim, check
from separatrix.certificates.certificate import check_certificate, write_certificate
from separatrix.constructions import Options, constructions
from separatrix.networks import Attention, ExactMatrix, FeedForward, Network, TableRows
from tests.certificates.changes import assert_refuted, changed, with_layer

EVERY_VARIANT = pytest.mark.parametrize("variant", ["repaired", "lookup"])


def build(length: int, types: int = 2, depth: int = 2, variant: str = "repaired", **more: Any) -> tuple[Network, Claim]:
    options = Options(variant=variant, parameters={"types": types, "depth": depth}, **more)
    built = constructions()["dyck-transformer"].build(length, options)
    assert isinstance(built.network, Network)
    return built.network, Claim(built.task, length, built.arithmetic)


@EVERY_VARIANT
@pytest.mark.parametrize(("types", "depth"), [(1, 1), (2, 1), (2, 2), (3, 2), (2, 3), (3, 3), (2, 5)])
def test_right_networks_are_proved(variant, types, depth):
    for length in (2, 6, 50):
        verdict = check(*build(length, types, depth, variant))
        assert verdict.valid, verdict.reason
        assert verdict.method == "kernel"
        assert verdict.inputs_covered == f"{2 * types}^{length}"


@pytest.mark.parametrize(
    ("types", "depth", "variant", "rounding"),
    [(2, 2, "repaired", "down"), (2, 2, "lookup", "nearest"), (2, 4, "repaired", "nearest")],
)
def test_length_400(types, depth, variant, rounding):
    verdict = check(*build(400, types, depth, variant, rounding=rounding))
    assert verdict.valid, verdict.reason
    assert verdict.inputs_covered == "4^400"


@EVERY_VARIANT
@pytest.mark.parametrize(("types", "depth"), [(1, 2), (2, 2), (2, 3)])
def test_enumeration_agrees(variant, types, depth):
    for length in (2, 4, 6):
        network, claim = build(length, types, depth, variant)
        assert check(network, claim, "enumeration").valid
        assert check(network, claim, "kernel").valid


@EVERY_VARIANT
@pytest.mark.parametrize(("built", "claimed"), [(1, 2), (2, 3), (2, 1), (3, 2)])
def test_another_depth_than_claimed(variant, built, claimed):
    network, _ = build(100, 2, built, variant)
    _, claim = build(100, 2, claimed, variant)
    wrong = assert_refuted(network, claim, "kernel")
    assert claim.task.solve(list(wrong), 100)[-1] == int(built < claimed)


@EVERY_VARIANT
def test_two_types_with_one_code(variant):
    """If both types look alike, only a string with crossed types can show it."""
    network, claim = build(100, 2, 2, variant)
    parts = list(network.embedding)
    for number, part in enumerate(parts):
        if isinstance(part.rule, TableRows) and part.source == "token" and part.rule.width == 2:
            table = part.rule.table.numerators.copy()
            table[1::2] = table[0::2]
            parts[number] = replace(part, rule=TableRows(ExactMatrix(table)))
    wrong = assert_refuted(replace(network, embedding=tuple(parts)), claim, "kernel")
    assert claim.task.solve(list(wrong), 100)[-1] == 0


@pytest.mark.parametrize(
    ("variant", "number", "needed"), [("repaired", 2, [1] * 6), ("lookup", 1, [0, 0, 1]), ("lookup", 3, [1, 1])]
)
def test_which_error_units_are_needed(variant, number, needed):
    """With a lookup, wrong depths show up as mismatches too: two of its units are there for the checker's sake."""
    network, claim = build(6, 2, 2, variant)
    layer = network.layers[number]
    assert isinstance(layer, FeedForward)
    flag = network.slots.columns("flag").start
    found: list[int] = []
    for unit in numpy.nonzero(layer.outer.numerators[flag])[0]:
        broken = with_layer(network, number, outer=changed(layer.outer, flag, int(unit), -1))
        found.append(int(check(broken, claim, "enumeration").refuted))
        verdict = check(broken, claim)
        assert (verdict.valid, verdict.refuted) == (not found[-1], bool(found[-1])), verdict.reason
    assert found == needed


@EVERY_VARIANT
def test_a_readout_that_overlooks_one_error(variant):
    network, claim = build(100, 2, 2, variant)
    flag = network.slots.columns("flag").start
    weaker = replace(network.readout, matrix=changed(network.readout.matrix, 0, flag, 90))
    verdict = check(replace(network, readout=weaker), claim)
    assert not verdict.valid
    stubborn = replace(network.readout, bias=changed(network.readout.bias, 0, 0, -1))
    assert_refuted(replace(network, readout=stubborn), claim, "kernel")


def test_the_two_layer_generator_is_refuted():
    wrong = assert_refuted(*build(6, 2, 2, "paper"))
    assert build(6)[1].task.solve(list(wrong), 6)[-1] == 0
    assert_refuted(*build(100, 2, 2, "paper"))


def test_a_lookup_of_the_earliest_bracket_is_refuted():
    network, claim = build(8, 2, 2, "lookup")
    layer = network.layers[2]
    assert isinstance(layer, Attention)
    head = layer.heads[0]
    unit = network.slots.columns("unit").start
    backwards = replace(head, key=changed(head.key, 2, unit, 2))
    assert_refuted(with_layer(network, 2, heads=(backwards,)), claim)


@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_no_single_change_is_judged_wrongly(data):
    variant = data.draw(st.sampled_from(["repaired", "lookup"]))
    network, claim = build(data.draw(st.sampled_from([2, 4, 6])), 2, data.draw(st.sampled_from([1, 2, 3])), variant)
    broken = mutated(network, data)
    verdict, truth = check(broken, claim, "kernel"), check(broken, claim, "enumeration")
    if verdict.valid:
        assert truth.valid, "a wrong network was accepted"
    if verdict.refuted:
        assert truth.refuted, "a right network was refuted"


def mutated(network: Network, data: st.DataObject) -> Network:
    """One change: a weight, a mask, a scoring, a residual, the embedding or the readout."""
    by = data.draw(st.sampled_from([-2, -1, 1, 3]))

    def somewhere(matrix: ExactMatrix) -> ExactMatrix:
        row, column = (data.draw(st.integers(0, size - 1)) for size in matrix.shape)
        return changed(matrix, row, column, by)

    kind = data.draw(
        st.sampled_from(["layer", "layer", "layer", "mask", "scoring", "residual", "embedding", "readout"])
    )
    if kind == "readout":
        return replace(network, readout=replace(network.readout, matrix=somewhere(network.readout.matrix)))
    if kind == "embedding":
        tables = [number for number, part in enumerate(network.embedding) if isinstance(part.rule, TableRows)]
        number = data.draw(st.sampled_from(tables))
        part = network.embedding[number]
        assert isinstance(part.rule, TableRows)
        parts = list(network.embedding)
        parts[number] = replace(part, rule=TableRows(somewhere(part.rule.table)))
        return replace(network, embedding=tuple(parts))
    number = data.draw(st.integers(0, len(network.layers) - 1))
    layer = network.layers[number]
    if kind == "residual":
        assert isinstance(layer, Attention | FeedForward)
        return with_layer(network, number, residual=not layer.residual)
    if isinstance(layer, FeedForward):
        field = data.draw(st.sampled_from(["inner", "inner_bias", "outer", "outer_bias"]))
        return with_layer(network, number, **{field: somewhere(getattr(layer, field))})
    assert isinstance(layer, Attention)
    head = layer.heads[0]
    if kind == "mask":
        head = replace(head, mask=data.draw(st.sampled_from(["none", "causal", "strict"])))
    elif kind == "scoring":
        head = replace(head, scoring=data.draw(st.sampled_from(["softmax", "hard", "linear"])))
    else:
        field = data.draw(st.sampled_from(["query", "key", "value", "output"]))
        head = replace(head, **{field: somewhere(getattr(head, field))})
    return with_layer(network, number, heads=(head,))


@EVERY_VARIANT
def test_certificates_of_transformers(variant, tmp_path):
    network, claim = build(40, 2, 2, variant)
    write_certificate(network, claim, check(network, claim), tmp_path, {"construction": "dyck-transformer"})
    assert check_certificate(tmp_path).verdict.valid
