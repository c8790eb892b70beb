"""Networks just outside what a method covers: each is refused with its reason, and nothing is claimed about it.

A method may only reason about shapes that it has checked. Every row changes one thing of a network that the method
proves, so that one of those checks is all that stands between the network and a wrong proof.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy
import pytest

from separatrix.arithmetic import Balls, FixedPoint
from separatrix.certificates import Claim, UnsupportedError, check
from separatrix.certificates.methods import (
    _cells,
    _focused,
    _placed_bits,
    _token_scores,
    automaton,
    block_addressed,
    enumeration,
    power_sums,
    prefix_flags,
    three_cycle,
    triple_matching,
)
from separatrix.certificates.methods._bounded_softmax import Group, averages
from separatrix.certificates.methods._boxes import Box, decided, product_range
from separatrix.certificates.methods._focused import cells_of
from separatrix.certificates.methods.sparse_averaging import inner_products
from separatrix.constructions import Options, constructions
from separatrix.networks import (
    Attention,
    EmbeddingPart,
    ExactMatrix,
    Network,
    SignRows,
    TableRows,
    ThirdOrderAttention,
    ThirdOrderHead,
)
from tests.certificates.changes import build, changed, with_dual, with_head, with_layer, with_part

Change = Callable[[Network], Network]

LOOKUP = ("index-lookup", 4, {"alphabet": 3})
EQUALITY = ("equality", 6, {})
MQAR = ("mqar", 4, {})
NEAREST = ("nearest-neighbour", 4, {})
MATCH2 = ("match2", 3, {"modulus": 7})
MATCH3 = ("match3", 3, {"modulus": 7})
LAST = ("match3-last", 4, {"modulus": 7})
CYCLE = ("directed-3-cycle", 3, {})
AVERAGING = ("sparse-averaging", 8, {})
LOCAL = ("match3-local", 3, {"modulus": 7, "window": 1})
HEADS = ("match3-heads", 3, {"modulus": 7})
DYCK = ("dyck-transformer", 4, {})


def column(network: Network, slot: str, offset: int = 0) -> int:
    """The place of a coordinate."""
    return network.slots.columns(slot).start + offset


def head(field: str, slot: str, layer: int = 0, row: int = 0, value: int = 1) -> Change:
    """A matrix of the first head of a layer that reads a coordinate more (or, an output, that writes one more)."""

    def change(network: Network) -> Network:
        matrix: ExactMatrix = getattr(network.layers[layer].heads[0], field)  # type: ignore[union-attr]
        place = (column(network, slot), row) if field == "output" else (row, column(network, slot))
        return with_head(network, layer, **{field: changed(matrix, *place, value * matrix.denominator)})

    return change


def feed(layer: int, field: str, slot: str, unit: int = 0, value: int = 1) -> Change:
    """A feed-forward that reads or writes a coordinate more."""

    def change(network: Network) -> Network:
        matrix: ExactMatrix = getattr(network.layers[layer], field)
        place = {"inner": (unit, column(network, slot)), "outer": (column(network, slot), unit)}.get(
            field, (column(network, slot) if field == "outer_bias" else unit, 0)
        )
        return with_layer(network, layer, **{field: changed(matrix, *place, value)})

    return change


def scored(layer: int = 0, **fields: Any) -> Change:
    return lambda network: with_head(network, layer, **fields)


def layered(layer: int, **fields: Any) -> Change:
    return lambda network: with_layer(network, layer, **fields)


def read(**fields: Any) -> Change:
    return lambda network: replace(network, readout=replace(network.readout, **fields))


def readout_bias(network: Network) -> Network:
    return read(bias=changed(network.readout.bias, 0, 0, 1))(network)


def readout_entry(slot: str, value: int = 1) -> Change:
    def change(network: Network) -> Network:
        return read(matrix=changed(network.readout.matrix, 0, column(network, slot), value))(network)

    return change


def part(slot: str, **fields: Any) -> Change:
    return lambda network: with_part(network, slot, **fields)


def more(slot: str, source: str, rows: int, width: int = 1, **ranges: Any) -> Change:
    """One more part of the embedding, a table whose rows differ."""

    def change(network: Network) -> Network:
        table = TableRows(ExactMatrix(numpy.arange(rows * width, dtype=numpy.int64).reshape(rows, width)))
        everything = {"tokens": (0, network.vocabulary), "positions": (0, network.positions)} | ranges
        return replace(network, embedding=(*network.embedding, EmbeddingPart(slot, table, source, **everything)))  # type: ignore[arg-type]

    return change


def doubled_heads(layer: int) -> Change:
    def change(network: Network) -> Network:
        heads = network.layers[layer].heads  # type: ignore[union-attr]
        return with_layer(network, layer, heads=(*heads, heads[0]))

    return change


def layers(choose: Callable[[tuple[Any, ...]], list[Any]]) -> Change:
    return lambda network: replace(network, layers=tuple(choose(network.layers)))


def halved(layer: int, field: str) -> Change:
    """The numbers of a matrix of a head, with twice their denominator."""

    def change(network: Network) -> Network:
        matrix = getattr(network.layers[layer].heads[0], field)  # type: ignore[union-attr]
        return with_head(network, layer, **{field: ExactMatrix(matrix.numerators, 2 * matrix.denominator)})

    return change


def moved_address(network: Network) -> Network:
    """Addresses that follow the token as well."""
    return more("address", "token", network.vocabulary, network.slots.size("address"))(network)


def index_in_the_values(network: Network) -> Network:
    """Values that hold a cell's own index as well."""
    (values,) = network.feature_parts
    return replace(network, feature_parts=(replace(values, matrix=changed(values.matrix, 0, 0, 1)),))


SAME = SignRows(numpy.zeros((2, 2), dtype=numpy.uint8))
"""A code whose rows are all alike."""


def times(factor: int) -> Change:
    """All entries of the first head's query."""

    def change(network: Network) -> Network:
        query: ExactMatrix = network.layers[0].heads[0].query  # type: ignore[union-attr]
        return with_head(network, 0, query=ExactMatrix(query.numerators * factor, query.denominator))

    return change


def gained(factor: int) -> Change:
    """Dual certificates with another gain."""
    return lambda network: with_dual(network, gain=network.dual_parts[0].gain * factor)


def search_times(factor: int) -> Change:
    """A search that reads a multiple of the window's bits."""

    def change(network: Network) -> Network:
        layer: Any = network.layers[3]
        inner = layer.inner.numerators.copy()
        inner[:, network.slots.columns("window")] *= factor
        return with_layer(network, 3, inner=ExactMatrix(inner))

    return change


def valued_dummy(network: Network) -> Network:
    """A dummy that holds what the first number holds."""
    (own,) = (each for each in network.embedding if each.slot == "own")
    table = own.rule.table.numerators  # type: ignore[union-attr]
    rule = TableRows(ExactMatrix(numpy.concatenate([table[:1], table])))
    return with_part(network, "own", tokens=(0, network.vocabulary), rule=rule)


def coordinate_in_the_labels(network: Network) -> Network:
    """Labels that hold a coordinate of the point as well."""
    parts = network.feature_parts
    with_it = [replace(each, matrix=changed(each.matrix, 0, 2, 1)) if each.slot == "label" else each for each in parts]
    return replace(network, feature_parts=tuple(with_it))


def both(*changes: Change) -> Change:
    """Several changes, one after the other."""

    def change(network: Network) -> Network:
        for each in changes:
            network = each(network)
        return network

    return change


REFUSED = [
    # position-addressed
    (LOOKUP, doubled_heads(0), "position-addressed", "one head"),
    (LOOKUP, layers(lambda given: [*given, Attention((), True)]), "position-addressed", "one attention layer"),
    (EQUALITY, layers(lambda given: [*given, given[2]]), "position-addressed", "two for counts"),
    (EQUALITY, both(head("query", "address", 2), head("key", "address", 2)), "position-addressed", "uniform attention"),
    (MQAR, lambda network: network, "position-addressed", "no description"),
    # content-addressed
    (MQAR, head("query", "address"), "content-addressed", "scores depend on positions"),
    (MQAR, head("query", "kind", value=-9), "content-addressed", None),
    (MQAR, part("point", positions=(0, 5)), "content-addressed", "depends on cell and position"),
    (MQAR, moved_address, "content-addressed", "filled by token and position"),
    (MQAR, head("value", "address", 2), "content-addressed", "what the method does not follow"),
    (MQAR, head("key", "point", 2), "content-addressed", "keys depend on contents"),
    (MQAR, feed(1, "inner", "point"), "content-addressed", "its own content or position"),
    (MQAR, head("value", "point"), "content-addressed", "values of the first layer depend on contents"),
    (NEAREST, more("label", "position", 7), "content-addressed", "filled by cell and position"),
    (NEAREST, head("query", "label"), "content-addressed", None),
    (NEAREST, head("query", "point", row=1), "content-addressed", None),
    (NEAREST, feed(1, "inner", "point"), "content-addressed", "reads the coordinates of points"),
    (NEAREST, head("key", "point", 2), "content-addressed", "what the method does not follow"),
    (NEAREST, both(coordinate_in_the_labels, head("query", "label")), "content-addressed", "one slot of coordinates"),
    (MQAR, both(part("point", rule=SAME), scored(scoring="leftmost")), "content-addressed", "stands alone"),
    # pair-matching
    (MATCH2, scored(mask="causal"), "pair-matching", "unmasked attention head"),
    (MATCH2, layered(0, residual=True), "pair-matching", "without residual"),
    (MATCH2, layers(lambda given: [*given, given[0]]), "pair-matching", None),
    (LAST, layers(lambda given: given[:2]), "pair-matching", "two attention layers"),
    (LAST, feed(1, "inner", "key"), "pair-matching", "keeps a token"),
    (LAST, scored(2, scoring="linear"), "pair-matching", None),
    (LAST, head("query", "number", 2), "pair-matching", None),
    (LAST, layers(lambda given: [*given, given[2]]), "pair-matching", "after the second attention layer"),
    # triple-matching
    (MATCH3, times(0), "triple-matching", "no query meets a key"),
    (MATCH3, times(1 << 4), "triple-matching", "scores may leave the range"),
    (MATCH3, times(1 << 10), "triple-matching", "cut off"),
    (MATCH3, times(1 << 50), "triple-matching", "exceed 62 bits before rounding"),
    (MATCH3, head("query", "angle", value=1 << 58), "triple-matching", "keys times weights exceed 62 bits"),
    (MATCH3, read(at="last"), "triple-matching", "every position"),
    (MATCH3, layered(0, residual=True), "triple-matching", "without residual"),
    (MATCH3, halved(0, "query"), "triple-matching", None),
    # three-cycle
    (CYCLE, layered(0, residual=True), "three-cycle", "one graph unit"),
    (CYCLE, read(at="last"), "three-cycle", "every vertex"),
    (CYCLE, layers(lambda given: [given[0], given[0], given[1]]), "three-cycle", None),
    # dual-certificates
    (AVERAGING, layered(0, residual=True), "dual-certificates", "without residual"),
    (AVERAGING, head("query", "key"), "dual-certificates", "one dual certificate"),
    (AVERAGING, head("key", "value"), "dual-certificates", None),
    (AVERAGING, more("key", "position", 8, 7), "dual-certificates", "one dual certificate"),
    (AVERAGING, part("key", indices=numpy.arange(8)), "dual-certificates", "follow the positions"),
    (AVERAGING, part("key", tokens=(1, 8)), "dual-certificates", "every position has"),
    (AVERAGING, halved(0, "query"), "dual-certificates", "not a whole number"),
    (AVERAGING, head("value", "key"), "dual-certificates", "from one slot"),
    (AVERAGING, index_in_the_values, "dual-certificates", "the index and the set"),
    (AVERAGING, gained(10**4), "dual-certificates", "the end of the range"),
    # window-matching
    (LOCAL, layers(lambda given: given[:3]), "window-matching", "two feed-forwards"),
    (LOCAL, layered(0, residual=False), "window-matching", "residuals everywhere"),
    (LOCAL, scored(1, mask="causal"), "window-matching", "without a mask"),
    (LOCAL, read(at="last"), "window-matching", "every position"),
    (LOCAL, halved(1, "output"), "window-matching", "whole"),
    (LOCAL, head("output", "window", 1, row=3), "window-matching", "in their own places"),
    (LOCAL, part("place", tokens=(0, 7)), "window-matching", "depends on token and position"),
    (LOCAL, head("query", "own", 1), "window-matching", "depends on tokens"),
    (LOCAL, more("window", "position", 4, 12), "window-matching", "by the first feed-forward alone"),
    (LOCAL, head("query", "found", 1), "window-matching", "more than positions"),
    (LOCAL, feed(0, "outer", "found"), "window-matching", "write averaged coordinates alone"),
    (LOCAL, readout_entry("place"), "window-matching", "before the last feed-forward"),
    (LOCAL, feed(0, "outer_bias", "window"), "window-matching", None),
    (LOCAL, feed(0, "outer", "window", 5), "window-matching", None),
    (LOCAL, feed(2, "inner", "own"), "window-matching", "mixes coordinates"),
    (LOCAL, readout_bias, "window-matching", "without a constant"),
    (LOCAL, readout_entry("found", -2), "window-matching", "one coordinate"),
    (LOCAL, feed(3, "inner", "place"), "window-matching", "neither the own number nor the window"),
    (LOCAL, feed(3, "inner", "window", value=1), "window-matching", None),
    (LOCAL, feed(3, "inner", "window", value=-2), "window-matching", None),
    (LOCAL, feed(3, "inner", "window", 30, -1), "window-matching", "does not add two numbers of the window"),
    (LOCAL, feed(3, "inner", "window", 0, 10**6), "window-matching", "may leave the range"),
    (LOCAL, search_times(-1), "window-matching", "subtracts"),
    (LOCAL, valued_dummy, "window-matching", "the dummy has a value"),
    (LOCAL, part("place", indices=numpy.array([0, 1, 1, 2])), "window-matching", "share their coordinates"),
    # power-sums
    (HEADS, readout_bias, "power-sums", "without a constant"),
    (HEADS, scored(scoring="linear"), "power-sums", None),
    (HEADS, both(head("query", "own"), head("key", "own")), "power-sums", "uniform attention"),
    (HEADS, head("output", "own"), "power-sums", "the own residue and the sums alone"),
    (HEADS, scored(mask="causal"), "power-sums", "without a mask"),
    # prefix-flags
    (DYCK, read(at="every"), "prefix-flags", "last position"),
    (DYCK, layers(lambda given: [*given[:-1]]), "prefix-flags", "two or three attention layers"),
    (DYCK, head("value", "bracket", 3), "prefix-flags", "one coordinate"),
    (DYCK, more("flag", "token", 4), "prefix-flags", "writes the flag"),
    (DYCK, halved(1, "value"), "prefix-flags", "not whole numbers"),
]  # fmt: skip


@pytest.mark.parametrize(("start", "change", "method", "words"), REFUSED)
def test_what_a_method_does_not_cover_it_does_not_claim(start, change, method, words):
    network, claim = build(*start)
    assert method == "position-addressed" or check(network, claim, method).valid
    verdict = check(change(network), claim, method)
    assert not verdict.valid
    assert words is None or words in verdict.reason, verdict.reason
    if not verdict.refuted:
        assert verdict.inputs_covered == "0"


LIMITS = [
    (("majority", 7, {}), _focused, "LARGEST_SCORES", "position-addressed", "too many to compare with every key"),
    (("equality", 6, {}, "circle"), block_addressed, "LARGEST_TABLE", "block-addressed", "too many values"),
    (MQAR, _cells, "LARGEST_SYMBOLS", "content-addressed", "too many to compare"),
    (MATCH2, _token_scores, "LARGEST_TABLE", "pair-matching", "too many pairs"),
    (MATCH3, triple_matching, "LARGEST_MODULUS", "triple-matching", "beyond 1"),
    (LOCAL, _placed_bits, "MOST_POINTS", "window-matching", "too many sums"),
    (HEADS, power_sums, "LARGEST_STREAM", "power-sums", "too large for the method"),
    (DYCK, prefix_flags, "LARGEST_STATES", "prefix-flags", "different prefixes"),
    (DYCK, prefix_flags, "LARGEST_SUMS", "prefix-flags", "different counts"),
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


LOOKUPS = [
    (head("key", "open", 2, row=2), "mixes what depends on the position"),
    (head("key", "open", 2, value=40), "the end of the range"),
    (head("query", "open", 2, row=2), "the position can outweigh"),
    (head("query", "open", 2, row=2, value=-1), "later positions"),
    (scored(2, scoring="softmax"), "one hard head"),
]


@pytest.mark.parametrize(("change", "words"), LOOKUPS)
def test_lookups_that_the_method_does_not_follow(change, words):
    network, claim = build(*DYCK, variant="lookup")
    assert check(network, claim, "prefix-flags").valid
    verdict = check(change(network), claim, "prefix-flags")
    assert not verdict.valid
    assert words in verdict.reason


def test_lookups_with_too_many_classes(monkeypatch):
    network, claim = build(*DYCK, variant="lookup")
    monkeypatch.setattr(prefix_flags, "LARGEST_SUMS", 4)
    assert "8 classes" in check(network, claim, "prefix-flags").reason


def test_a_query_that_may_match_itself_is_another_task():
    network, claim = build(*LAST)
    other = replace(claim, task=claim.task.with_parameters(exclude_query=False))
    assert "query excluded" in check(network, other, "pair-matching").reason


def test_other_kinds_of_layers_are_left_to_their_methods():
    """A third-order unit that writes nothing, where methods expect plain attention."""
    for start, method in ((LOOKUP, "position-addressed"), (DYCK, "prefix-flags")):
        network, claim = build(*start)
        nothing = ExactMatrix(numpy.zeros((1, network.slots.width), dtype=numpy.int64))
        unit = ThirdOrderHead(nothing, nothing, nothing, nothing, nothing, ExactMatrix(nothing.numerators.T.copy()))
        for place in (0, 1):
            layers_ = list(network.layers)
            layers_[place:place] = [ThirdOrderAttention((unit,), residual=True)]
            verdict = check(replace(network, layers=tuple(layers_)), claim, method)
            assert not verdict.valid
        alone = replace(network, layers=(ThirdOrderAttention((unit,), residual=True), *network.layers[1:]))
        assert "plain attention" in check(alone, claim, method).reason


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
            cells_of(claim, network)

    def test_a_code_with_too_few_vectors(self):
        with pytest.raises(UnsupportedError, match="2 vectors, 5 are needed"):
            inner_products(SignRows(numpy.ones((1, 3), dtype=numpy.uint8)), 5)

    def test_enumeration_passes_over_inputs_that_break_the_promise(self, monkeypatch):
        monkeypatch.setattr(enumeration, "CHUNK_NUMBERS", 1)
        network, claim = build("mqar", 4)
        assert check(network, claim, "enumeration").inputs_covered == str(claim.task.count(4))


class TestAutomata:
    """Networks that are right for a shallower language than claimed: they have fewer states than it."""

    @pytest.fixture
    def shallow(self):
        built = constructions()["dyck-dfa"].build(8, Options(parameters={"depth": 1}))
        return built.network, Claim(built.task.with_parameters(depth=3), 8, built.arithmetic)

    def test_too_many_pairs(self, shallow, monkeypatch):
        monkeypatch.setattr(automaton, "LARGEST_STATES", 6)
        verdict = check(*shallow, "automaton")
        assert not verdict.valid
        assert "pairs of states" in verdict.reason

    def test_a_history_that_is_too_long(self, shallow, monkeypatch):
        assert check(*shallow, "automaton").refuted
        monkeypatch.setattr(automaton, "LARGEST_HISTORY", 1)
        verdict = check(*shallow, "automaton")
        assert not verdict.valid
        assert "too long" in verdict.reason


class TestGraphs:
    """Attention that is not a softmax, on every number of pairs with all three edges."""

    @pytest.mark.parametrize("scoring", ["linear", "relu"])
    def test_scores_of_zero_give_no_weight(self, scoring):
        network, claim = build(*CYCLE)
        network = with_head(network, 0, scoring=scoring)
        assert check(network, claim, "three-cycle").valid
        assert check(network, claim, "enumeration").valid

    @pytest.mark.parametrize("scoring", ["linear", "relu"])
    def test_a_dummy_with_all_the_weight_is_refuted(self, scoring):
        network, claim = build(*CYCLE)
        layer: Any = network.layers[0]
        network = with_head(network, 0, scoring=scoring, scores=changed(layer.heads[0].scores, 0, 7, -99))
        verdict = check(network, claim, "three-cycle")
        assert verdict.refuted

    def test_several_scores_and_many_vertices_are_not_covered(self, monkeypatch):
        network, claim = build(*CYCLE)
        layer: Any = network.layers[0]
        network = with_head(network, 0, scoring="linear")
        uneven = with_head(network, 0, scores=changed(layer.heads[0].scores, 0, 3, 1))
        assert "two scores" in check(uneven, claim, "three-cycle").reason
        monkeypatch.setattr(three_cycle, "LARGEST_TABLE", 1)
        assert "few vertices" in check(network, claim, "three-cycle").reason

    def test_only_feed_forwards_may_follow(self):
        network, claim = build(*CYCLE)
        network = with_head(network, 0, scoring="linear")
        network = replace(network, layers=(*network.layers, network.layers[0]))
        verdict = check(network, claim, "three-cycle")
        assert not verdict.valid
        assert "feed-forwards" in verdict.reason


class TestAveragingByOtherAttention:
    """ReLU attention over dual certificates, and codes that are too small for the task."""

    def test_relu_is_covered_where_scores_are_positive(self):
        network, claim = build(*AVERAGING)
        network = with_head(network, 0, scoring="relu")
        assert check(network, claim, "dual-certificates").valid

    def test_relu_with_a_small_gain_is_not(self):
        network, claim = build(*AVERAGING)
        dual = replace(network.dual_parts[0], gain=network.dual_parts[0].gain / 10**6)
        network = replace(with_head(network, 0, scoring="relu"), dual_parts=(dual,))
        verdict = check(network, claim, "dual-certificates")
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
