"""The methods for matching and cycles: they agree with enumeration, and planted faults are shown by failing inputs."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from separatrix.certificates import Claim, Verdict, check, replay
from separatrix.networks import EmbeddingPart, ExactMatrix, Network, SignRows
from tests.certificates.changes import build as build_with
from tests.certificates.changes import entry, with_layer
from tests.certificates.changes import with_head as with_first_head

METHODS = {
    "match2-code": "pair-matching",
    "match2": "pair-matching",
    "match3-last": "pair-matching",
    "match3": "triple-matching",
    "directed-3-cycle": "kernel",
}
SMALL = [
    ("match2-code", 4, 12), ("match2", 5, 7), ("match3-last", 4, 16), ("match3", 3, 11), ("directed-3-cycle", 4, None),
]  # fmt: skip


def build(name: str, length: int, modulus: int | None = None, **options: Any) -> tuple[Network, Claim]:
    return build_with(name, length, {} if modulus is None else {"modulus": modulus}, **options)


def both(name: str, network: Network, claim: Claim) -> tuple[Verdict, Verdict]:
    return check(network, claim, METHODS[name]), check(network, claim, "enumeration")


def assert_refuted(name: str, network: Network, claim: Claim) -> None:
    """The method finds an input that fails when it is run again, and enumeration agrees."""
    by_argument, by_enumeration = both(name, network, claim)
    assert by_enumeration.refuted
    assert by_argument.refuted, by_argument.reason
    assert by_argument.counterexample is not None
    assert not replay(network, claim, numpy.array(by_argument.counterexample))["right"]
    assert check(network, claim).refuted


def with_head(network: Network, **fields: Any) -> Network:
    return with_first_head(network, 0, **fields)


def with_part(network: Network, number: int, **fields: Any) -> Network:
    parts = list(network.embedding)
    parts[number] = replace(parts[number], **fields)
    return replace(network, embedding=tuple(parts))


def part_of(network: Network, slot: str) -> tuple[int, EmbeddingPart]:
    return next((number, part) for number, part in enumerate(network.embedding) if part.slot == slot)


# -- right networks ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("scoring", "rounding"), [("softmax", "down"), ("softmax", "nearest"), ("hard", "down")])
@pytest.mark.parametrize(
    ("name", "length", "modulus"),
    [*SMALL, ("match2-code", 2, 3), ("match2-code", 3, 12), ("match2", 5, 6), ("match3", 2, 40), ("match3", 5, 4),
     ("match3-last", 2, 3), ("match3-last", 3, 50), ("directed-3-cycle", 3, None)],
)  # fmt: skip
def test_both_methods_accept_right_networks(name, length, modulus, rounding, scoring):
    network, claim = build(name, length, modulus, rounding=rounding, attention=scoring)
    by_argument, by_enumeration = both(name, network, claim)
    assert by_argument.valid, by_argument.reason
    assert by_enumeration.valid
    base, _, exponent = by_argument.inputs_covered.partition("^")
    assert int(base) ** int(exponent) == int(by_enumeration.inputs_covered)


@pytest.mark.parametrize(
    ("name", "length", "modulus", "covered"),
    [("match2-code", 1024, 65536, "65536^1024"), ("match2-code", 100, 999, "999^100"),
     ("match2", 100, 2187, "2187^100"), ("match3", 30, 1000, "1000^30"),
     ("match3-last", 1024, 65536, "65536^1023"), ("directed-3-cycle", 8, None, "2^56"),
     ("directed-3-cycle", 40, None, "2^1560")],
)  # fmt: skip
def test_large_sizes_are_certified(name, length, modulus, covered):
    network, claim = build(name, length, modulus)
    verdict = check(network, claim)
    assert verdict.valid, verdict.reason
    assert verdict.method == METHODS[name]
    assert verdict.inputs_covered == covered


# -- planted faults ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "length", "modulus"), SMALL)
def test_halved_gain_is_refuted(name, length, modulus):
    network, _ = build(name, length, modulus)
    layer: Any = network.layers[0]
    if name == "directed-3-cycle":
        scores = layer.heads[0].scores
        gain = Fraction(int(scores.numerators.max()), scores.denominator)
    elif name in ("match2", "match3"):
        query = layer.heads[0].query
        gain = Fraction(int(query.numerators[0].max()), query.denominator) * (Fraction(3, 4) if name == "match3" else 1)
    else:
        query = layer.heads[0].query
        gain = Fraction(int(query.numerators[0].max()), query.denominator) * network.slots.size("key")
    same, claim = build(name, length, modulus, gain=gain)
    assert check(same, claim, METHODS[name]).valid
    assert_refuted(name, *build(name, length, modulus, gain=gain / 2))


@pytest.mark.parametrize(("name", "length", "modulus"), SMALL)
def test_a_moved_bias_is_refuted(name, length, modulus):
    network, claim = build(name, length, modulus)
    for number, layer in enumerate(network.layers):
        if number % 2:
            bias: ExactMatrix = layer.inner_bias  # type: ignore[union-attr]
            for row in (0, 1):
                moved = entry(bias, row, 0, int(bias.numerators[row, 0]) - 4 * bias.denominator)
                if row == 0:
                    assert_refuted(name, with_layer(network, number, inner_bias=moved), claim)
                else:
                    # A wider step is no fault: both methods must agree on whatever it is.
                    verdicts = both(name, with_layer(network, number, inner_bias=moved), claim)
                    assert verdicts[0].valid <= verdicts[1].valid


@pytest.mark.parametrize(("name", "length", "modulus"), SMALL[:4])
def test_a_dropped_dummy_is_refuted(name, length, modulus):
    network, claim = build(name, length, modulus)
    number, part = part_of(network, "dummy")
    layer: Any = network.layers[0]
    head = layer.heads[0]
    dummy = network.slots.columns("dummy").start
    without_key = {
        key: entry(getattr(head, key), head.query.shape[0] - 1, dummy, 0)
        for key in ("key", "first_key", "second_key")
        if hasattr(head, key)
    }
    assert_refuted(name, with_head(network, **without_key), claim)
    with_value = {
        key: entry(getattr(head, key), 0, dummy, 1)
        for key in ("value", "first_value", "second_value")
        if hasattr(head, key)
    }
    assert_refuted(name, with_head(network, **with_value), claim)
    assert part.rule.count == 1
    assert number == 1


@pytest.mark.parametrize(("name", "length", "modulus"), SMALL[:4])
def test_a_changed_weight_is_refuted(name, length, modulus):
    network, claim = build(name, length, modulus)
    layer: Any = network.layers[0]
    query: ExactMatrix = layer.heads[0].query
    column = int(numpy.nonzero(query.numerators[0])[0][0])
    for value in (-int(query.numerators[0, column]), 0, 3 * int(query.numerators[0, column])):
        verdicts = both(name, with_head(network, query=entry(query, 0, column, value)), claim)
        assert verdicts[0].valid <= verdicts[1].valid
        assert verdicts[0].refuted == verdicts[1].refuted or not verdicts[0].refuted
    turned = with_head(network, query=entry(query, 0, column, -int(query.numerators[0, column])))
    assert_refuted(name, turned, claim)


@pytest.mark.parametrize("name", ["match2-code", "match3-last"])
def test_one_flipped_sign_is_refuted(name):
    """In the generator of the keys, and in one number's own vector alone."""
    network, claim = build(name, 4, 16)
    number, part = part_of(network, "key")
    assert isinstance(part.rule, SignRows)
    generator = part.rule.generator.copy()
    generator[0, 0] ^= 1
    assert_refuted(name, with_part(network, number, rule=SignRows(generator)), claim)
    number, part = part_of(network, "asked")
    assert part.indices is not None
    swapped = part.indices.copy()
    swapped[[2, 5]] = swapped[[5, 2]]
    assert_refuted(name, with_part(network, number, indices=swapped), claim)


@pytest.mark.parametrize(("name", "length", "modulus"), [("match2-code", 40, 500), ("match3-last", 4, 12)])
def test_a_code_above_the_margin_is_refuted(name, length, modulus):
    network, _ = build(name, length, modulus)
    layer: Any = network.layers[0]
    query, width = layer.heads[0].query, network.slots.size("key")
    gain = Fraction(int(query.numerators[0].max()), query.denominator) * width
    narrow, claim = build(name, length, modulus, max_inner=Fraction(3, 5), gain=gain)
    assert narrow.slots.size("key") < width
    verdict = check(narrow, claim, METHODS[name])
    assert verdict.refuted, verdict.reason
    assert not replay(narrow, claim, numpy.array(verdict.counterexample))["right"]


def test_too_few_bits_are_refuted():
    """Kc = 1: the weights of several matches round to nothing, or the scores to the same."""
    for name, length, modulus in SMALL:
        assert check(*build(name, length, modulus, exponent=1)).refuted
    network, claim = build("match2-code", 1024, 4096, exponent=1)
    verdict = check(network, claim)
    assert verdict.refuted
    assert not replay(network, claim, numpy.array(verdict.counterexample))["right"]


def test_the_original_of_variant_1_is_refuted():
    for length, modulus in ((4, 7), (3, 16)):
        assert_refuted("match3-last", *build("match3-last", length, modulus, variant="original"))
    network, claim = build("match3-last", 50, None, variant="original")
    assert check(network, claim).refuted


def test_faults_in_what_is_counted_are_refuted():
    network, claim = build("match3-last", 4, 7)
    number, part = part_of(network, "counted")
    assert part.positions == (1, 4)
    assert_refuted("match3-last", with_part(network, number, positions=(1, 3)), claim)
    assert_refuted("match3-last", with_part(network, number, positions=(0, 4)), claim)
    assert_refuted("match3-last", with_part(network, number, positions=(2, 5)), claim)


@pytest.mark.parametrize("pattern", range(8))
def test_a_wrong_score_of_edges_is_refuted(pattern):
    network, claim = build("directed-3-cycle", 4)
    layer: Any = network.layers[0]
    scores: ExactMatrix = layer.heads[0].scores
    value = 0 if pattern == 7 else int(scores.numerators[0, 7])
    assert_refuted("directed-3-cycle", with_head(network, scores=entry(scores, 0, pattern, value)), claim)


def test_a_wrong_dummy_score_of_graphs_is_refuted():
    network, claim = build("directed-3-cycle", 4)
    layer: Any = network.layers[0]
    dummy: ExactMatrix = layer.heads[0].dummy
    for value in (0, 3 * int(dummy.numerators[0, 0])):
        assert_refuted("directed-3-cycle", with_head(network, dummy=entry(dummy, 0, 0, value)), claim)


def test_faults_at_larger_sizes_are_refuted():
    network, claim = build("match2-code", 256, 10000)
    number, part = part_of(network, "asked")
    assert part.indices is not None
    swapped = part.indices.copy()
    swapped[[1234, 8000]] = swapped[[8000, 1234]]
    verdict = check(with_part(network, number, indices=swapped), claim)
    assert verdict.refuted, verdict.reason
    network, claim = build("match3", 16)
    layer: Any = network.layers[0]
    query: ExactMatrix = layer.heads[0].query
    softer = ExactMatrix(query.numerators // 2, query.denominator)
    assert check(with_head(network, query=softer), claim).refuted


# -- random faults: never a false proof, never a false refutation -------------------------------------------------


@st.composite
def faulty(draw: st.DrawFn) -> tuple[str, Network, Claim]:
    name, length, modulus = draw(
        st.sampled_from([("match2-code", 3, 6), ("match2", 3, 5), ("match3", 2, 6), ("match3-last", 3, 5),
                         ("directed-3-cycle", 3, None)])
    )  # fmt: skip
    network, claim = build(name, length, modulus, exponent=draw(st.sampled_from([None, None, 2, 4])))
    layer: Any = network.layers[0]
    head = layer.heads[0]
    for _ in range(draw(st.integers(1, 2))):
        where = draw(st.sampled_from([key for key, value in vars(head).items() if isinstance(value, ExactMatrix)]))
        matrix: ExactMatrix = getattr(head, where)
        row, column = (draw(st.integers(0, size - 1)) for size in matrix.shape)
        value = int(matrix.numerators[row, column])
        step = max(1, int(numpy.abs(matrix.numerators).max()) // draw(st.sampled_from([1, 4, 20])))
        head = replace(head, **{where: entry(matrix, row, column, value + draw(st.sampled_from([-1, 1])) * step)})
    return name, with_layer(network, 0, heads=(head,)), claim


@given(case=faulty())
@settings(max_examples=50, deadline=None)
def test_verdicts_never_contradict_enumeration(case):
    name, network, claim = case
    by_argument, by_enumeration = both(name, network, claim)
    assert not (by_argument.valid and by_enumeration.refuted), by_argument
    assert not (by_argument.refuted and by_enumeration.valid), by_argument
