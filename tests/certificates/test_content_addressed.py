"""The method for content-addressed layers: it agrees with enumeration, and planted faults are refuted by an input."""

from dataclasses import replace
from fractions import Fraction
from math import factorial, isqrt, perm
from typing import Any

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from separatrix.arithmetic import Balls, FixedPoint
from separatrix.certificates.checker import apply
from separatrix.certificates.meanings.recalls import SymbolContents, VectorContents, recall_of
from separatrix.certificates.methods.content_addressed import METHOD
from separatrix.certificates.methods.enumeration import METHOD as ENUMERATION
from separatrix.certificates.refutations import replay
from separatrix.certificates.verdict import Claim, Verdict
from separatrix.constructions.construction import Built, Options
from separatrix.constructions.theorems.associative_recall import CONSTRUCTION as ASSOCIATIVE_RECALL
from separatrix.constructions.theorems.index_lookup import CONSTRUCTION as INDEX_LOOKUP
from separatrix.constructions.theorems.mqar import CONSTRUCTION as MQAR
from separatrix.constructions.theorems.nearest_neighbour import CONSTRUCTION as NEAREST_NEIGHBOUR
from separatrix.networks import Attention, EmbeddingPart, ExactMatrix, FeedForward, Network, TableRows
from separatrix.networks.store import from_bytes, to_bytes
from separatrix.tasks import tasks

CORNERS = {"points": "hypercube", "dimension": 3}


def claim_of(built: Built) -> Claim:
    return Claim(built.task, built.length, built.arithmetic)


def verdict_of(built: Built, network: Network | None = None) -> Verdict:
    return apply(METHOD, built.network if network is None else network, claim_of(built))


def assert_refuted(built: Built, network: Network | None = None) -> None:
    """A false claim, shown by an input within the promise that the network gets wrong when it is run again."""
    used = built.network if network is None else network
    verdict = verdict_of(built, used)
    assert verdict.refuted, verdict.reason
    tokens = numpy.array(verdict.counterexample)
    assert bool(built.task.admissible(tokens[None], built.length)[0])
    assert not replay(used, claim_of(built), tokens)["right"]


# -- right networks ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("length", "parameters", "covered"),
    [
        (4, {}, "4!/2!*2^2*2!"),
        (16, {"labels": 5}, "16!/8!*5^8*8!"),
        (30, {"keys": 15}, "15!/0!*2^15*15!"),
        (256, {}, "256!/128!*2^128*128!"),
    ],
)
def test_mqar_is_proved_for_all_inputs(length, parameters, covered):
    verdict = verdict_of(MQAR.build(length, Options(parameters=parameters)))
    assert verdict.valid, verdict.reason
    assert verdict.inputs_covered == covered


@pytest.mark.parametrize("length", [2, 3, 10, 64])
def test_associative_recall_is_proved_for_all_inputs(length):
    verdict = verdict_of(ASSOCIATIVE_RECALL.build(length))
    assert verdict.valid, verdict.reason
    assert verdict.inputs_covered == f"{2 * length}!/{length}!*2^{length}*{length}"


@pytest.mark.parametrize(
    ("length", "parameters"),
    [
        (4, CORNERS),
        (16, {"points": "hypercube", "dimension": 8, "margin": "1/2"}),
        (64, {"points": "hypercube", "dimension": 32, "margin": "1/100"}),
        (4, {}),
        (64, {"margin": "1/1000", "dimension": 5}),
        (256, {"margin": "1/100"}),
    ],
)
def test_nearest_neighbour_is_proved_for_all_inputs_with_the_margin(length, parameters):
    verdict = verdict_of(NEAREST_NEIGHBOUR.build(length, Options(parameters=parameters)))
    assert verdict.valid, verdict.reason
    assert "with margin" in verdict.inputs_covered


def test_the_number_of_inputs_is_the_tasks():
    task = tasks()["mqar"]
    assert task.count(12) == perm(12, 6) * factorial(6) * 2**6
    assert recall_of(task, 12).covered == "12!/6!*2^6*6!"


@pytest.mark.parametrize("rounding", ["down", "nearest"])
@pytest.mark.parametrize("scoring", ["softmax", "hard"])
def test_both_roundings_and_hard_attention_are_proved(rounding, scoring):
    assert verdict_of(MQAR.build(16, Options(rounding=rounding, attention=scoring))).valid
    assert verdict_of(NEAREST_NEIGHBOUR.build(16, Options(rounding=rounding, attention=scoring))).valid


def test_a_network_read_back_from_its_file_is_proved():
    built = NEAREST_NEIGHBOUR.build(8)
    again = from_bytes(to_bytes(built.network), "memory")
    assert isinstance(again, Network)
    assert verdict_of(built, again).valid


# -- what the method says about tasks ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "length", "parameters"),
    [
        ("mqar", 4, {}),
        ("mqar", 6, {"keys": 4, "labels": 3}),
        ("associative-recall", 3, {"keys": 4}),
        ("nearest-neighbour", 4, {"points": "hypercube", "dimension": 2, "margin": "1/3"}),
        ("nearest-neighbour", 4, {"points": "hypercube", "dimension": 3, "margin": "1"}),
    ],
)
def test_descriptions_of_recall_agree_with_solve_on_every_input(name, length, parameters):
    task = tasks()[name].with_parameters(**parameters)
    recall = recall_of(task, length)
    rows = [row for batch in task.enumerate(length) for row in batch.inputs.tolist()]
    assert rows
    for row in rows[:: max(1, len(rows) // 3000)]:
        solved = task.solve(row, length)
        assert [place for place, answer in enumerate(solved) if answer is not None] == list(recall.queries)
        for query in recall.queries:
            before = recall.pairs_before(query)
            if isinstance(recall.contents, SymbolContents):
                meant = [pair for pair in range(before) if row[2 * pair] == row[query]]
                assert len(meant) == 1
                assert solved[query] == row[2 * meant[0] + 1] - recall.contents.keys
            else:
                products = [numpy.dot(row[2 * pair][2:], row[query][2:]) for pair in range(before)]
                best = max(range(before), key=products.__getitem__)
                others = [product for pair, product in enumerate(products) if pair != best]
                assert all(products[best] - other >= recall.contents.ahead for other in others)
                assert solved[query] == row[2 * best + 1][1]
        if isinstance(recall.contents, SymbolContents):
            assert len({row[query] for query in recall.queries}) == len(recall.queries)
            assert len({row[2 * pair] for pair in range(recall.pairs)}) == recall.pairs


@pytest.mark.parametrize("parameters", [{}, {"dimension": 3}, {"points": "hypercube", "dimension": 7}])
def test_norms_and_margins_of_vectors_are_the_tasks(parameters):
    task = tasks()["nearest-neighbour"].with_parameters(**parameters)
    contents = recall_of(task, 8).contents
    assert isinstance(contents, VectorContents)
    scale, d = task.scale, contents.dimension  # type: ignore[attr-defined]
    # The largest norm the promise allows: √d at the corners, R + √d on the sphere.
    largest = d if parameters.get("points") == "hypercube" else scale + d + isqrt(4 * scale * d)
    assert contents.norm**2 >= largest
    assert contents.norm**2 <= largest + 3 * (1 + isqrt(largest) // (1 << 19))
    assert contents.ahead >= Fraction(task.parameters()["margin"]) * scale


# -- agreement with enumeration ------------------------------------------------------------------------------


@settings(max_examples=25, deadline=None)
@given(
    gain=st.fractions(Fraction(1, 10), 6, max_denominator=20),
    exponent=st.integers(1, 4),
    rounding=st.sampled_from(["down", "nearest"]),
    scoring=st.sampled_from(["softmax", "hard", "linear"]),
    variant=st.sampled_from(["repaired", "repaired", "query-scale", "unmasked"]),
    case=st.sampled_from(["mqar", "associative-recall", "nearest-neighbour"]),
)
def test_a_proof_holds_on_every_input_and_a_refutation_on_one(gain, exponent, rounding, scoring, variant, case):
    construction, length, parameters = {
        "mqar": (MQAR, 4, {"keys": 3}),
        "associative-recall": (ASSOCIATIVE_RECALL, 3, {"keys": 4}),
        "nearest-neighbour": (NEAREST_NEIGHBOUR, 4, {"points": "hypercube", "dimension": 2}),
    }[case]
    options: dict[str, Any] = {"gain": gain, "exponent": exponent, "rounding": rounding, "attention": scoring}
    built = construction.build(length, Options(**options, variant=variant, parameters=parameters))
    mine, every = verdict_of(built), apply(ENUMERATION, built.network, claim_of(built))
    assert every.valid != every.refuted
    if mine.valid:
        assert every.valid
    if mine.refuted:
        assert every.refuted


@settings(max_examples=20, deadline=None)
@given(place=st.integers(0, 200), change=st.sampled_from([-4, -2, -1, 1, 2, 4]), which=st.sampled_from([1, 3]))
def test_feed_forwards_with_one_changed_bias_are_never_wrongly_proved(place, change, which):
    built = MQAR.build(4)
    network = moved_bias(built.network, which, place, change)
    mine, every = verdict_of(built, network), apply(ENUMERATION, network, claim_of(built))
    assert not (mine.valid and every.refuted)
    assert not (mine.refuted and every.valid)


# -- mutants -------------------------------------------------------------------------------------------------


def with_head(network: Network, layer: int, **changes: Any) -> Network:
    old = network.layers[layer]
    assert isinstance(old, Attention)
    layers = list(network.layers)
    layers[layer] = replace(old, heads=(replace(old.heads[0], **changes),))
    return replace(network, layers=tuple(layers))


def moved_bias(network: Network, layer: int, unit: int, change: int) -> Network:
    old = network.layers[layer]
    assert isinstance(old, FeedForward)
    bias = old.inner_bias.numerators.copy()
    bias[unit % len(bias), 0] += change
    layers = list(network.layers)
    layers[layer] = replace(old, inner_bias=ExactMatrix(bias))
    return replace(network, layers=tuple(layers))


def with_table(network: Network, slot: str, rows: int, flipped: tuple[int, int]) -> Network:
    """The rows of a part stored as a table, with one sign flipped."""
    parts: list[EmbeddingPart] = []
    for part in network.embedding:
        if part.slot == slot:
            table = part.rule.signs(numpy.arange(rows))  # type: ignore[union-attr]
            table[flipped] *= -1
            part = replace(part, rule=TableRows(ExactMatrix(table)))
        parts.append(part)
    return replace(network, embedding=tuple(parts))


@pytest.mark.parametrize("construction", [MQAR, ASSOCIATIVE_RECALL])
def test_a_halved_gain_is_refuted(construction):
    positions = construction.build(64).network.positions
    half = Fraction(7 * (3 * positions).bit_length(), 20)
    assert verdict_of(construction.build(64, Options(gain=2 * half))).valid
    assert_refuted(construction.build(64, Options(gain=half)))


@pytest.mark.parametrize("length", [16, 256])
def test_a_flipped_sign_in_the_code_of_a_key_is_refuted(length):
    built = MQAR.build(length)
    assert verdict_of(built, with_table(built.network, "point", length, (0, 0))).refuted
    assert_refuted(built, with_table(built.network, "point", length, (length - 1, 2)))


def test_the_papers_query_scale_is_refuted():
    for construction in (MQAR, ASSOCIATIVE_RECALL, NEAREST_NEIGHBOUR):
        assert_refuted(construction.build(64, Options(variant="query-scale")))
    assert_refuted(MQAR.build(256, Options(variant="query-scale")))


def test_a_step_of_one_nth_is_refuted_at_a_small_length():
    built = MQAR.build(4)
    coarse = replace(built, arithmetic=FixedPoint(4, 1))
    assert not verdict_of(coarse).valid
    assert apply(ENUMERATION, built.network, claim_of(coarse)).refuted


@pytest.mark.parametrize("mask", ["causal", "none"])
@pytest.mark.parametrize("construction", [MQAR, NEAREST_NEIGHBOUR])
def test_a_mask_that_shows_the_query_itself_is_refuted(construction, mask):
    built = construction.build(32)
    assert_refuted(built, with_head(built.network, 0, mask=mask))
    assert_refuted(construction.build(32, Options(variant="unmasked")))


def test_a_moved_bias_is_refuted():
    built = MQAR.build(32)
    # The step of a label: ReLU(4a - 1) - ReLU(4a - 2).
    assert_refuted(built, moved_bias(built.network, 3, 0, 2))
    assert_refuted(built, moved_bias(built.network, 3, 0, -2))
    assert_refuted(built, moved_bias(built.network, 3, 1, 2))


def test_linear_attention_is_refuted():
    assert_refuted(MQAR.build(32, Options(attention="linear")))


def test_labels_pushed_up_instead_of_down_are_refuted():
    built = NEAREST_NEIGHBOUR.build(32)
    layer = built.network.layers[0]
    assert isinstance(layer, Attention)
    key = layer.heads[0].key.numerators.copy()
    key[-1] *= -1
    assert_refuted(built, with_head(built.network, 0, key=ExactMatrix(key)))


# -- what it does not cover ----------------------------------------------------------------------------------


def test_other_tasks_arithmetics_and_shapes_are_left_alone():
    lookup, built = INDEX_LOOKUP.build(8), MQAR.build(8)
    cases = [
        (lookup.network, claim_of(lookup), "does not ask"),
        (built.network, Claim(built.task, 8, Balls(64)), "not a fixed point"),
        (built.network, Claim(built.task, 10, FixedPoint(10, 2)), "positions"),
        (replace(built.network, layers=built.network.layers[:2]), claim_of(built), "two such layers"),
        (built.network, Claim(built.task, 8, FixedPoint(8, 2, "down", "once")), "Appendix D"),
    ]
    for network, claim, reason in cases:
        verdict = apply(METHOD, network, claim)
        assert (verdict.valid, verdict.refuted) == (False, False)
        assert reason in verdict.reason


def test_rounding_that_uses_up_the_margin_is_not_proved():
    built = NEAREST_NEIGHBOUR.build(256, Options(exponent=2, parameters={"margin": "1/100000"}))
    assert not verdict_of(built).valid
