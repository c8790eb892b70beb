"""What would take too long, leave the range or not fit 64 bits is said, and shapes that need more than one change."""

from dataclasses import replace
from fractions import Fraction

import numpy
import pytest

from separatrix.arithmetic import Balls, FixedPoint
from separatrix.certificates import UnsupportedError, check
from separatrix.certificates.methods import (
    _cells,
    _focused,
    _placed_bits,
    _token_scores,
    block_addressed,
    enumeration,
    triple_matching,
)
from separatrix.certificates.methods._bounded_softmax import Group, averages
from separatrix.certificates.methods._boxes import Box, decided, product_range
from separatrix.certificates.methods._focused import kinds_of
from separatrix.networks import (
    ExactMatrix,
    ThirdOrderAttention,
    ThirdOrderHead,
)
from tests.certificates.changes import build, with_dual, with_head
from tests.certificates.refused import (
    AVERAGING,
    LAST,
    LOCAL,
    LOOKUP,
    MATCH2,
    MATCH3,
    MQAR,
    head,
    scored,
)

LIMITS = [
    (("majority", 7, {}), _focused, "LARGEST_SCORES", "position-addressed", "too many to compare with every key"),
    (("equality", 6, {}, "circle"), block_addressed, "LARGEST_TABLE", "block-addressed", "too many values"),
    (MQAR, _cells, "LARGEST_SYMBOLS", "content-addressed", "too many to compare"),
    (MATCH2, _token_scores, "LARGEST_TABLE", "pair-matching", "too many pairs"),
    (MATCH3, triple_matching, "LARGEST_MODULUS", "triple-matching", "beyond 1"),
    (LOCAL, _placed_bits, "MOST_POINTS", "window-matching", "too many sums"),
]


@pytest.mark.parametrize(("start", "module", "limit", "method", "words"), LIMITS)
def test_sizes_beyond_a_limit_are_refused(start, module, limit, method, words, monkeypatch):
    """What would take too long or too much memory is said, not begun."""
    name, length, parameters, *family = start
    network, claim = build(name, length, parameters, **({"family": family[0]} if family else {}))
    assert check(network, claim, method).valid
    monkeypatch.setattr(module, limit, 1)
    verdict = check(network, claim, method)
    assert not verdict.valid
    assert not verdict.refuted
    assert words in verdict.reason


def test_a_query_that_may_match_itself_is_another_task():
    network, claim = build(*LAST)
    other = replace(claim, task=claim.task.with_parameters(exclude_query=False))
    assert "query excluded" in check(network, other, "pair-matching").reason


def test_other_kinds_of_layers_are_left_to_their_methods():
    """A third-order unit that writes nothing, where methods expect plain attention."""
    network, claim = build(*LOOKUP)
    nothing = ExactMatrix(numpy.zeros((1, network.slots.width), dtype=numpy.int64))
    unit = ThirdOrderHead(nothing, nothing, nothing, nothing, nothing, ExactMatrix(nothing.numerators.T.copy()))
    for place in (0, 1):
        layers_ = list(network.layers)
        layers_[place:place] = [ThirdOrderAttention((unit,), residual=True)]
        verdict = check(replace(network, layers=tuple(layers_)), claim, "position-addressed")
        assert not verdict.valid
    alone = replace(network, layers=(ThirdOrderAttention((unit,), residual=True), *network.layers[1:]))
    assert "plain attention" in check(alone, claim, "position-addressed").reason


class TestBounds:
    """Numbers that 64 bits or the fixed point's range would not hold are refused, not wrapped around."""

    def test_more_equal_scores_than_the_range_can_count(self):
        zero = numpy.zeros(1, dtype=numpy.int64)
        group = Group(9, zero, zero, numpy.ones((1, 1), dtype=numpy.int64))
        with pytest.raises(UnsupportedError, match="cuts off"):
            averages([group], FixedPoint(2, 2), "hard", "a row")

    def test_values_beyond_62_bits(self):
        zero = numpy.zeros(1, dtype=numpy.int64)
        group = Group(1, zero, zero, numpy.full((1, 1), 1 << 61, dtype=numpy.int64))
        with pytest.raises(UnsupportedError, match="62 bits"):
            averages([group], FixedPoint(2, 2), "softmax", "a row")

    def test_products_beyond_62_bits(self):
        box = Box(numpy.full((1, 1), 1 << 40, dtype=numpy.int64), numpy.full((1, 1), 1 << 40, dtype=numpy.int64))
        with pytest.raises(UnsupportedError, match="62 bits"):
            product_range(numpy.full((1, 1), 1 << 40, dtype=numpy.int64), box, FixedPoint(2, 50), "a matrix")

    def test_the_largest_of_intervals(self):
        network, claim = build(*LOOKUP)
        network = replace(network, readout=replace(network.readout, decoding="argmax"))
        live = numpy.arange(network.slots.width)
        low = numpy.zeros((1, len(live)), dtype=numpy.int64)
        with pytest.raises(UnsupportedError, match="argmax"):
            decided(network, Box(low, low + 1), live, claim.arithmetic)

    def test_inputs_that_are_not_independent(self):
        network, claim = build(*MQAR)
        with pytest.raises(UnsupportedError, match="independent"):
            kinds_of(claim, network)

    def test_enumeration_passes_over_inputs_that_break_the_promise(self, monkeypatch):
        network, claim = build("nearest-neighbour", 4, {"points": "hypercube", "dimension": 2, "margin": "1"})
        few = 4
        monkeypatch.setattr(enumeration, "CHUNK_NUMBERS", few * network.positions * network.width)
        sizes = [len(examples) for examples in claim.task.enumerate(4, few)]
        assert 0 in sizes, "some chunks hold no input that keeps the promise"
        assert check(network, claim, "enumeration").inputs_covered == str(sum(sizes))


class TestAveragingByOtherAttention:
    """ReLU attention over dual certificates, and codes that are too small for the task."""

    def test_relu_is_covered_where_scores_are_positive(self):
        network, claim = build(*AVERAGING)
        network = with_head(network, 0, scoring="relu")
        assert check(network, claim, "kernel").valid

    def test_relu_with_scores_that_may_not_be_positive_is_not(self):
        network, claim = build(*AVERAGING)
        one = claim.arithmetic.largest
        network = with_dual(with_head(network, 0, scoring="relu"), gain=Fraction(12, one))
        assert not check(network, claim, "kernel").valid

    def test_sets_of_everything_are_searched_as_well(self):
        network, claim = build("sparse-averaging", 3, {"sparsity": 3})
        assert check(network, claim, "kernel").valid
        twice = replace(network.readout, matrix=ExactMatrix(network.readout.matrix.numerators * 2))
        assert check(replace(network, readout=twice), claim, "kernel").refuted

    def test_relu_with_a_small_gain_is_not(self):
        network, claim = build(*AVERAGING)
        dual = replace(network.dual_parts[0], gain=network.dual_parts[0].gain / 10**6)
        network = replace(with_head(network, 0, scoring="relu"), dual_parts=(dual,))
        verdict = check(network, claim, "kernel")
        assert not verdict.valid


REAL = [
    (scored(mask="causal"), "sees itself"),
    (scored(scoring="leftmost"), "softmax or hard"),
    (scored(2, scoring="leftmost"), "softmax or hard"),
    (head("query", "kind", value=-99), "not ahead of all others"),
    (head("query", "found", 2, value=-99), None),
]


@pytest.mark.parametrize(("change", "words"), REAL)
def test_what_is_not_covered_over_the_reals(change, words):
    network, claim = build(*MQAR)
    real = replace(claim, arithmetic=Balls(96))
    assert check(network, real, "content-addressed-reals").valid
    verdict = check(change(network), real, "content-addressed-reals")
    assert not verdict.valid
    assert words is None or words in verdict.reason, verdict.reason
