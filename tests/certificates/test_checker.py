"""What every method relies on before it begins: the network reads the task's inputs and is read where the task asks."""

from dataclasses import replace

import numpy
import pytest

from separatrix.arithmetic import FixedPoint
from separatrix.certificates import UnsupportedError, check
from separatrix.certificates.checker import misfit
from separatrix.certificates.methods._boxes import Box, feed_forward
from separatrix.networks import EmbeddingPart, ExactMatrix, FeaturePart, FeedForward, TableRows
from separatrix.networks.evaluate import run_layer
from tests.certificates.changes import build, with_layer, with_part


@pytest.mark.parametrize(
    ("name", "length", "parameters", "slot"),
    [("index-lookup", 4, {"alphabet": 3}, "address"), ("equality", 8, {}, "address"), ("majority", 6, {}, "address")],
)
def test_keys_that_some_tokens_lack_are_not_taken_for_keys_of_the_position(name, length, parameters, slot):
    """A part that follows the position but leaves out a token depends on the token all the same."""
    network, claim = build(name, length, parameters)
    part = next(part for part in network.embedding if part.slot == slot)
    for tokens in ((0, 1), (1, part.tokens[1])):
        broken = with_part(network, slot, tokens=tokens)
        assert not check(broken, claim, "position-addressed").valid
        assert check(broken, claim).refuted == check(broken, claim, "enumeration").refuted


def test_a_query_that_leaks_into_the_answer_is_not_hidden_by_symmetry():
    """Eight interchangeable positions, but the token that asks for the last one adds itself to the symbol."""
    network, claim = build("index-lookup", 8, {"alphabet": 3})
    assert check(network, claim, "position-addressed").valid
    last = network.positions - 1
    leak = EmbeddingPart(
        "symbol", TableRows(ExactMatrix(numpy.array([[0, 1]]))), "token", (10, 11), (last, last + 1)
    )  # fmt: skip
    leaking = with_layer(replace(network, embedding=(*network.embedding, leak)), 0, residual=True)
    assert not check(leaking, claim, "position-addressed").valid
    assert check(leaking, claim).refuted


def test_inputs_of_another_kind_are_never_claimed():
    network, claim = build("equality", 8)
    feature = FeaturePart("bit", ExactMatrix(numpy.array([[1, 0]])))
    cells = replace(
        network, embedding=tuple(p for p in network.embedding if p.source == "position"), feature_parts=(feature,)
    )  # fmt: skip
    small = replace(network, vocabulary=1)
    for other, said in ((cells, "2 numbers"), (small, "1 numbers or tokens, the task has 2")):
        assert said in (misfit(other, claim) or "")
        verdict = check(other, claim)
        assert (verdict.valid, verdict.refuted, verdict.method) == (False, False, "none")
    longer = check(network, replace(claim, length=10))
    assert (longer.valid, longer.refuted) == (False, False)
    assert "reads 8 positions, the task has 10" in longer.reason


def test_one_answer_is_not_enough_where_several_are_asked():
    network, claim = build("match2-code", 3, {"modulus": 4})
    last = replace(network, readout=replace(network.readout, at="last"))
    for method in ("enumeration", "pair-matching", None):
        assert not check(last, claim, method).valid


def test_sums_that_are_cut_off_before_the_residual_are_refused():
    """W₂ h leaves the range by as much as the residual brings back: the total is inside, the evaluation is not."""
    arithmetic = FixedPoint(4, 1)
    inner, outer = ExactMatrix(numpy.array([[-1], [-1]])), ExactMatrix(numpy.array([[1, 1]]))
    layer = FeedForward(inner, ExactMatrix(numpy.array([[0], [0]])), outer, ExactMatrix(numpy.array([[0]])))
    least = numpy.array([[-16]])
    assert run_layer(layer, least[None], arithmetic).tolist() == [[[0]]]
    with pytest.raises(UnsupportedError, match="range"):
        feed_forward(layer, Box(least, least), numpy.array([0]), arithmetic, "the layer")
    half = numpy.array([[-8]])
    after = feed_forward(layer, Box(half, half), numpy.array([0]), arithmetic, "the layer")
    assert after.low.tolist() == after.high.tolist() == run_layer(layer, half[None], arithmetic)[0].tolist() == [[8]]


def test_answers_of_another_form_are_never_claimed():
    """A readout rounded to whole numbers answers with vectors, which most tasks do not ask for, and the other way."""
    for name, length, decoding in (("equality", 6, "round"), ("match2", 3, "round"), ("sparse-averaging", 3, "bits")):
        network, claim = build(name, length)
        verdict = check(replace(network, readout=replace(network.readout, decoding=decoding)), claim)
        assert not verdict.valid
        assert not verdict.refuted
        assert "another form" in verdict.reason
