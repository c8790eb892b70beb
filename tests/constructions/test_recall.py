"""Theorem 7 and its corollaries, and Lemma 5: the weights against the tasks' own slow solutions."""

from fractions import Fraction
from typing import Any

import numpy
import pytest

from separatrix.certificates.checker import apply
from separatrix.certificates.methods.enumeration import METHOD as ENUMERATION
from separatrix.certificates.methods.position_addressed import METHOD as POSITION_ADDRESSED
from separatrix.certificates.verdict import Claim
from separatrix.constructions.construction import Built, Construction, Options
from separatrix.constructions.pieces import addresses
from separatrix.constructions.theorems.associative_recall import CONSTRUCTION as ASSOCIATIVE_RECALL
from separatrix.constructions.theorems.equality_partition import CONSTRUCTION as EQUALITY_PARTITION
from separatrix.constructions.theorems.mqar import CONSTRUCTION as MQAR
from separatrix.constructions.theorems.nearest_neighbour import CONSTRUCTION as NEAREST_NEIGHBOUR
from separatrix.errors import SeparatrixError
from separatrix.networks import evaluate
from separatrix.tasks import draws_from

CORNERS = {"points": "hypercube", "dimension": 3}
SMALL: list[tuple[Construction, int, dict[str, Any]]] = [
    (MQAR, 2, {}),
    (MQAR, 4, {}),
    (MQAR, 4, {"keys": 3, "labels": 3}),
    (MQAR, 6, {"keys": 3}),
    (ASSOCIATIVE_RECALL, 2, {}),
    (ASSOCIATIVE_RECALL, 3, {}),
    (ASSOCIATIVE_RECALL, 3, {"keys": 3, "labels": 4}),
    (NEAREST_NEIGHBOUR, 2, CORNERS),
    (NEAREST_NEIGHBOUR, 4, {"points": "hypercube", "dimension": 2}),
    (NEAREST_NEIGHBOUR, 4, {"points": "hypercube", "dimension": 3, "margin": "1"}),
    (EQUALITY_PARTITION, 2, {}),
    (EQUALITY_PARTITION, 8, {}),
    (EQUALITY_PARTITION, 6, {"alice": "1,4,6", "answer_one": "unequal"}),
]
LARGE: list[tuple[Construction, int, dict[str, Any]]] = [
    (MQAR, 64, {}),
    (MQAR, 50, {"labels": 5, "keys": 99}),
    (MQAR, 256, {}),
    (ASSOCIATIVE_RECALL, 33, {"labels": 3}),
    (NEAREST_NEIGHBOUR, 32, {"points": "hypercube", "dimension": 20}),
    (NEAREST_NEIGHBOUR, 16, {}),
    (NEAREST_NEIGHBOUR, 64, {"margin": "1/100"}),
    (EQUALITY_PARTITION, 128, {}),
]


def answers(built: Built, inputs: Any) -> list[list[int]]:
    """What the network says where the task asks."""
    given = evaluate(built.network, inputs, built.arithmetic).answers
    if built.network.readout.at == "last":
        return given.tolist()
    asked = [answer is not None for answer in built.task.solve(inputs[0].tolist(), built.length)]
    return given[:, numpy.array(asked)].tolist()


def solutions(built: Built, inputs: Any) -> list[list[int]]:
    solved = [built.task.solve(row, built.length) for row in inputs.tolist()]
    return [[answer for answer in row if answer is not None] for row in solved]


@pytest.mark.parametrize(("construction", "length", "parameters"), SMALL)
def test_every_input_of_a_small_length_is_answered(construction, length, parameters):
    built = construction.build(length, Options(parameters=parameters))
    verdict = apply(ENUMERATION, built.network, Claim(built.task, length, built.arithmetic))
    assert verdict.valid, verdict.reason


@pytest.mark.parametrize(("construction", "length", "parameters"), LARGE)
def test_random_inputs_of_larger_lengths_are_answered(construction, length, parameters):
    built = construction.build(length, Options(parameters=parameters))
    batch = built.task.sample(draws_from(numpy.random.default_rng(5)), 6, length).inputs
    assert answers(built, batch) == solutions(built, batch)


@pytest.mark.parametrize(("construction", "length", "parameters"), SMALL + LARGE)
def test_the_claimed_width_is_the_built_one(construction, length, parameters):
    built = construction.build(length, Options(parameters=parameters))
    positions = built.task.positions(length)
    count = length if construction is EQUALITY_PARTITION else (positions + 1) // 2
    code = addresses(count, Fraction(1, 4), None)
    assert built.network.width == construction.claimed_width(built.task, length, code.width)


def test_widths_stay_below_the_papers_three_blocks():
    built = MQAR.build(256)
    assert built.network.slots.size("address") == 20
    assert built.network.width == 50 < 3 * 20 + 8 + 2


@pytest.mark.parametrize("scoring", ["softmax", "hard"])
@pytest.mark.parametrize("rounding", ["down", "nearest"])
def test_other_roundings_and_hard_attention_answer_too(scoring, rounding):
    built = MQAR.build(6, Options(attention=scoring, rounding=rounding, parameters={"keys": 3}))
    assert apply(ENUMERATION, built.network, Claim(built.task, 6, built.arithmetic)).valid


@pytest.mark.parametrize("construction", [MQAR, ASSOCIATIVE_RECALL, NEAREST_NEIGHBOUR])
def test_the_originals_of_the_paper_are_kept_as_variants(construction):
    assert construction.variants == ("repaired", "query-scale", "unmasked", "clamped-labels", "exact-labels")
    built = construction.build(64, Options(variant="query-scale"))
    assert "query-scale" in built.network.about


def test_a_third_label_has_no_nearest_neighbour_network():
    with pytest.raises(SeparatrixError, match="two labels as in the paper, not 3"):
        NEAREST_NEIGHBOUR.build(8, Options(parameters={"labels": 3}))


def test_bad_lengths_end_in_one_line():
    for construction, length in ((MQAR, 5), (MQAR, 0), (ASSOCIATIVE_RECALL, 1), (NEAREST_NEIGHBOUR, 7)):
        with pytest.raises(SeparatrixError) as error:
            construction.build(length)
        assert "\n" not in str(error.value)


def test_kc_grows_where_the_margin_needs_it():
    assert NEAREST_NEIGHBOUR.build(256, Options(parameters={"margin": "1/100"})).arithmetic.exponent == 2
    assert NEAREST_NEIGHBOUR.build(256, Options(parameters={"margin": "1/1000"})).arithmetic.exponent == 3
    assert NEAREST_NEIGHBOUR.build(4).arithmetic.exponent > 2
    assert NEAREST_NEIGHBOUR.build(4, Options(exponent=2)).arithmetic.exponent == 2


class TestPartition:
    def test_partners_are_renumbered(self):
        built = EQUALITY_PARTITION.build(6, Options(parameters={"alice": "2,3,6"}))
        part = next(part for part in built.network.embedding if part.slot == "partner")
        assert part.indices is not None
        # Bob holds 1, 4, 5 and compares them with 2, 3, 6; counted from 0.
        assert part.indices.tolist() == [1, 1, 2, 2, 5, 5]

    def test_a_random_partition_is_balanced_and_repeatable(self):
        first, again = EQUALITY_PARTITION.build(40), EQUALITY_PARTITION.build(40)
        assert first.task == again.task
        assert len(str(first.task.parameters()["alice"]).split(",")) == 20
        assert first.task.parameters()["alice"] != ",".join(map(str, range(1, 21)))

    @pytest.mark.parametrize("length", [4, 64, 256])
    def test_it_is_certified_for_all_inputs(self, length):
        built = EQUALITY_PARTITION.build(length)
        verdict = apply(POSITION_ADDRESSED, built.network, Claim(built.task, length, built.arithmetic))
        assert verdict.valid and verdict.inputs_covered == f"2^{length}"

    def test_another_partition_is_refuted(self):
        built = EQUALITY_PARTITION.build(8, Options(parameters={"alice": "1,3,5,7"}))
        other = built.task.with_parameters(alice=None)
        verdict = apply(POSITION_ADDRESSED, built.network, Claim(other, 8, built.arithmetic))
        assert verdict.refuted and verdict.counterexample is not None

    def test_an_unbalanced_partition_ends_in_one_line(self):
        with pytest.raises(SeparatrixError, match="needs 3 of 1 to 6"):
            EQUALITY_PARTITION.build(6, Options(parameters={"alice": "1,2"}))
