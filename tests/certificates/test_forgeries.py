"""Wrong networks made to be accepted: each once was *valid*, and none of them may be again.

Every forgery is wrong on an input that the slow evaluation (``tools.mutants.slow_evaluation``) runs, or cannot be made
any more. The last net of random inputs is taken away here, so that each hole is closed by itself.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy
import pytest
from tools.mutants.slow_evaluation import Slow, right_on

from separatrix.arithmetic import Balls, FixedPoint
from separatrix.certificates import Claim, check, checker, methods, refutations
from separatrix.errors import SeparatrixError
from separatrix.networks import (
    Attention,
    EmbeddingPart,
    ExactMatrix,
    FeedForward,
    Head,
    Network,
    TableRows,
    evaluate,
    exact,
)
from separatrix.networks.embedding import FeaturePart
from separatrix.networks.exact import Slots, identity, zeros
from separatrix.networks.network import Readout
from separatrix.tasks import draws_from, tasks
from separatrix.tasks.problems.index_lookup import IndexLookup
from separatrix.tasks.problems.sparse_threshold import SparseThreshold
from tests.certificates.changes import build, entry, with_head, with_layer, with_part

Forged = tuple[Network, Claim, list[Any] | None]
"""A network, what is claimed, and an input that it gets wrong where one must be given."""


def lookup_of(
    scores: list[list[int]], values: list[list[int]], *, arithmetic: Any, scoring: Any = "linear", readout: Any = None
) -> tuple[Network, Claim]:
    """Index lookup over two symbols by one head: ``scores`` of each query at each key, ``values`` of each token."""
    length, positions = len(scores), len(scores) + 1
    width = len(values[0])
    slots = Slots((("key", length), ("ask", length), ("value", width), ("out", width)))
    tokens = tasks()["index-lookup"].with_parameters(alphabet=2).vocabulary(length).size
    ask = [[0] * length] * 2 + [[int(i == j) for j in range(length)] for i in range(length)]
    parts = (
        EmbeddingPart("key", TableRows(exact([list(each) for each in zip(*scores, strict=True)])), "position",
                      (0, tokens), (0, positions)),
        EmbeddingPart("ask", TableRows(exact(ask)), "token", (0, len(ask)), (0, positions)),
        EmbeddingPart("value", TableRows(exact(values)), "token", (0, len(values)), (0, positions)),
    )  # fmt: skip
    head = Head(
        slots.reading(length, {"ask": identity(length)}),
        slots.reading(length, {"key": identity(length)}),
        slots.reading(width, {"value": identity(width)}),
        slots.writing(width, {"out": identity(width)}),
        scoring=scoring,
    )
    matrix, bias = readout or ([[1] + [0] * (width - 1)], [[0]])
    read = Readout(slots.reading(1, {"out": exact(matrix)}), exact(bias), "bits")
    network = Network(slots, tokens, positions, parts, (Attention((head,), residual=False),), read)
    return network, Claim(tasks()["index-lookup"].with_parameters(alphabet=2), length, arithmetic)


def products_that_are_cut_off() -> Forged:
    """Linear attention: S and 2·S at the focus, S taken away at the query itself; 2·S is cut off at S before that."""
    one = 64
    scores = [[one if i == j else 0 for j in range(3)] + [-one] for i in range(3)]
    network, claim = lookup_of(scores, [[1], [2], [1], [1], [1]], arithmetic=FixedPoint(64, 1))
    return network, claim, [1, 1, 1, 2]


def products_beyond_64_bits() -> Forged:
    """Linear attention: sixteen weights of 2^60 raw add up to 2^64, which 64 bits take for 0."""
    one = 2**30
    scores = [[1 if i == j else -one for j in range(17)] + [0] for i in range(17)]
    values = [[0], [1], *[[0]] * 17]
    network, claim = lookup_of(scores, values, arithmetic=FixedPoint(2**30, 1))
    return network, claim, [1] * 17 + [2]


def relu_weights_beyond_one() -> Forged:
    """ReLU attention whose sum of scores is cut off: 17 keys of weight 1, and values whose sum is 2^64 raw."""
    one = 2**30
    scores = [[one if i == j else one - 1 for j in range(17)] + [0] for i in range(17)]
    values = [[0], [one], *[[0]] * 17]
    network, claim = lookup_of(scores, values, arithmetic=FixedPoint(2**30, 1), scoring="relu", readout=([[1]], [[0]]))
    return network, claim, [0] + [1] * 16 + [2]


def least_word() -> Forged:
    """A weight of -2^63, whose absolute value numpy gives as -2^63."""
    network, claim = build("equality", 6)
    inner = network.layers[1].inner  # type: ignore[union-attr]
    return with_layer(network, 1, inner=entry(inner, 0, 9, -(2**63))), claim, [1, 1, 0, 0, 0, 1]


def graph_that_reads_cells() -> Forged:
    """Each vertex adds its row of the adjacency matrix to its value: the values of pairs are not those of positions."""
    network, claim = build("directed-3-cycle", 3)
    slot, width = network.slots.parts[0]
    part = FeaturePart(slot, ExactMatrix(numpy.full((width, 3), -1, dtype=numpy.int64)))
    return replace(network, feature_parts=(part,)), claim, None


def graph_that_reads_other_cells() -> Forged:
    """The same with cells of one number, which the task's inputs do not have."""
    network, claim = build("directed-3-cycle", 3)
    slot, width = network.slots.parts[0]
    part = FeaturePart(slot, ExactMatrix(numpy.full((width, 1), -1, dtype=numpy.int64)))
    return replace(network, feature_parts=(part,)), claim, None


def dummy_elsewhere() -> Forged:
    """Nothing is embedded at position 0, where the dummy is, and a unit fires on nothing."""
    network, claim = local_matching()
    placing = network.layers[0]
    assert isinstance(placing, FeedForward)
    # The dummy is embedded so that the unit stays off, but only from position 1 on; a finer step gives it some weight.
    table = network.embedding[0].rule.table  # type: ignore[union-attr]
    rows = TableRows(ExactMatrix(numpy.concatenate([table.numerators[-1:], table.numerators])))
    network = with_part(network, "own", rule=rows, tokens=(0, 8), positions=(1, network.positions))
    row = numpy.zeros((1, network.slots.width), dtype=numpy.int64)
    row[0, network.slots.columns("own").start] = -1
    column = numpy.zeros((network.slots.width, 1), dtype=numpy.int64)
    column[network.slots.columns("window")] = 9000
    layer = with_units(placing, row, numpy.ones((1, 1), dtype=numpy.int64), column)
    claim = replace(claim, arithmetic=FixedPoint(3, 9))
    return replace(network, layers=(layer, *network.layers[1:])), claim, None


def local_matching() -> tuple[Network, Claim]:
    """Local triple matching in which position 0, the dummy's, has no place of its own."""
    network, claim = build("match3-local", 3, {"modulus": 7, "window": 1})
    indices = network.embedding[1].indices
    assert indices is not None
    return with_part(network, "place", positions=(1, network.positions), indices=indices[1:]), claim


def with_units(layer: FeedForward, inner: Any, bias: Any, outer: Any) -> FeedForward:
    """A feed-forward of whole numbers with some more units."""
    assert layer.inner.denominator == layer.inner_bias.denominator == layer.outer.denominator == 1
    return replace(
        layer,
        inner=ExactMatrix(numpy.concatenate([layer.inner.numerators, inner])),
        inner_bias=ExactMatrix(numpy.concatenate([layer.inner_bias.numerators, bias])),
        outer=ExactMatrix(numpy.concatenate([layer.outer.numerators, outer], axis=1)),
    )


def units_that_seem_off() -> Forged:
    """A unit that is off for every number, unless its two large products are cut off before they are added."""
    network, claim = local_matching()
    placing, one = network.layers[0], claim.arithmetic.largest  # type: ignore[attr-defined]
    assert isinstance(placing, FeedForward)
    row = numpy.zeros((1, network.slots.width), dtype=numpy.int64)
    # Every key and every number begins with 1: 2·S - 3·S + 1 is negative, but S - S + 1 is not.
    row[0, network.slots.columns("own").start] = 1
    row[0, network.slots.columns("place").start] = 2 * one
    row[0, network.slots.columns("key").start] = -3 * one
    column = numpy.zeros((network.slots.width, 1), dtype=numpy.int64)
    column[network.slots.columns("window").start + 1, 0] = 1
    units = with_units(placing, row, numpy.zeros((1, 1), dtype=numpy.int64), column)
    return replace(network, layers=(units, *network.layers[1:])), claim, None


def weights_that_a_grid_clips() -> Forged:
    """Over the reals: 2^31 - (2^31 - 1) = 1, and on a grid that ends at 2^30 it is 0."""
    scores = [[64 if i == j else 0 for j in range(3)] + [0] for i in range(3)]
    network, claim = lookup_of(scores, [[1, 1], [1, 0], *[[0, 0]] * 3], arithmetic=Balls(96), scoring="hard")
    head = network.layers[0].heads[0]  # type: ignore[union-attr]
    value = numpy.zeros((2, network.slots.width), dtype=numpy.int64)
    value[0, network.slots.columns("value")] = [2**31, 1 - 2**31]
    return with_head(network, 0, value=ExactMatrix(value), output=head.output), claim, [0, 0, 0, 2]


def sums_that_a_grid_clips() -> Forged:
    """Over the reals: two parts of the embedding that add up to more than the grid has, less a third."""
    scores = [[64 if i == j else 0 for j in range(3)] + [0] for i in range(3)]
    network, claim = lookup_of(scores, [[0], [0], *[[0]] * 3], arithmetic=Balls(96), scoring="hard")
    one = 2**30
    tables = [[[one], [one]], [[one], [one]], [[-one], [-one]], [[0], [1]]]
    parts = [EmbeddingPart("value", TableRows(exact(each)), "token", (0, 2), (0, network.positions)) for each in tables]
    return replace(network, embedding=(*network.embedding[:2], *parts)), claim, [0, 0, 0, 2]


def readout_that_a_grid_clips() -> Forged:
    """Over the reals: the readout adds 2^31 and takes 2^31 - 1 away."""
    scores = [[64 if i == j else 0 for j in range(3)] + [0] for i in range(3)]
    network, claim = lookup_of(scores, [[1, 1], [1, 0], *[[0, 0]] * 3], arithmetic=Balls(96), scoring="hard")
    matrix = network.slots.reading(1, {"out": exact([[2**31, 1 - 2**31]])})
    return replace(network, readout=replace(network.readout, matrix=matrix)), claim, [0, 0, 0, 2]


def answers_beyond_64_bits() -> Forged:
    """65 bits, the first of which is always 1."""
    network, claim = build("index-lookup", 4, {"alphabet": 3})
    more = 65 - network.readout.matrix.shape[0]
    matrix = numpy.pad(network.readout.matrix.numerators, ((more, 0), (0, 0)))
    bias = numpy.pad(network.readout.bias.numerators, ((more, 0), (0, 0)))
    bias[0, 0] = network.readout.bias.denominator
    readout = replace(
        network.readout,
        matrix=ExactMatrix(matrix, network.readout.matrix.denominator),
        bias=ExactMatrix(bias, network.readout.bias.denominator),
    )
    return replace(network, readout=readout), claim, None


def answers_of_nothing() -> Forged:
    """A readout without a coordinate, rounded: its answers are empty, and in batches of one they equal everything."""
    width = 1 << 22
    slots, nothing = Slots((("all", width),)), zeros(0, 1)
    readout = Readout(zeros(0, width), nothing, "round", "last")
    network = Network(slots, 2, 2, (), (), readout)
    return network, Claim(tasks()["equality"], 2, FixedPoint(4, 1)), None


def slots_over_each_other() -> Forged:
    """A slot of negative width lays the last slot over the first."""
    network, claim = lookup_of(
        [[8 if i == j else 0 for j in range(3)] + [0] for i in range(3)],
        [[0], [1], *[[0]] * 3],
        arithmetic=FixedPoint(16, 2),
        scoring="hard",
    )
    slots = Slots((*network.slots.parts, ("back", -1), ("more", 1)))
    part = EmbeddingPart("more", TableRows(exact([[1]])), "position", (0, 5), (0, 1))
    return replace(network, slots=slots, embedding=(*network.embedding, part)), claim, None


def later_query_with_less_weight() -> Forged:
    """MQAR in steps of 1/6: both queries leave 2/6 to others at most, but the later one only 3/6 to the right point.

    With R the sum of the others' powers that is 6R/(6 + R), rounded down, and 36/(6 + R): R = 3 for the earlier query,
    and R = 4 for the later one if it asks for symbol 0 and the earlier one for symbol 1. An address counts from 4/6 on.
    """
    keys, positions = 4, 6
    task = tasks()["mqar"].with_parameters(keys=keys, labels=2)
    tokens = keys + 2
    slots = Slots((("key", keys), ("label", 1), ("bit", 1), ("at", 2), ("to", 2), ("sum", 2), ("found", 2), ("out", 1)))
    pair = [[1, 0], [0, 1]]
    tables: tuple[tuple[str, Any, Any], ...] = (
        ("key", "token", [[int(i == j) for j in range(keys)] for i in range(tokens)]),
        ("label", "token", [[int(i >= keys)] for i in range(tokens)]),
        ("bit", "token", [[int(i == keys + 1)] for i in range(tokens)]),
        ("at", "position", [pair[0], [0, 0], pair[1], [0, 0], [0, 0], [0, 0]]),
        ("to", "position", [[0, 0], pair[0], [0, 0], pair[1], [0, 0], [0, 0]]),
    )
    parts = tuple(
        EmbeddingPart(slot, TableRows(exact(table)), source, (0, tokens), (0, positions))
        for slot, source, table in tables
    )
    half = Fraction(5, 2)
    # A symbol scores 4 at itself, every symbol 5/2 at labels, and symbol 0 also at symbol 1.
    scores = [[4 if i == j else half * ((i, j) == (0, 1)) for j in range(keys)] for i in range(keys)]
    seek = Head(
        slots.reading(keys, {"key": identity(keys)}),
        slots.reading(keys, {"key": exact(scores), "label": exact([[half]] * keys)}),
        slots.reading(2, {"at": identity(2)}),
        slots.writing(2, {"sum": identity(2)}),
        mask="strict",
    )
    fetch = Head(
        slots.reading(2, {"found": identity(2)}),
        slots.reading(2, {"to": identity(2)}),
        slots.reading(1, {"bit": identity(1)}),
        slots.writing(1, {"out": identity(1)}),
        scoring="hard",
    )
    threshold = FeedForward(
        slots.reading(4, {"sum": exact([[3, 0], [3, 0], [0, 3], [0, 3]])}),
        exact([[Fraction(-3, 2)], [-2], [Fraction(-3, 2)], [-2]]),
        slots.writing(4, {"found": exact([[2, -2, 0, 0], [0, 0, 2, -2]])}),
        zeros(slots.width, 1),
    )
    layers = (Attention((seek,)), threshold, Attention((fetch,), residual=False))
    readout = Readout(slots.reading(1, {"out": identity(1)}), zeros(1, 1), "bits", "every")
    network = Network(slots, tokens, positions, parts, layers, readout)
    return network, Claim(task, 4, FixedPoint(6, 1)), [0, keys + 1, 1, keys, 1, 0]


FORGERIES: list[Callable[[], Forged]] = [
    least_word, products_that_are_cut_off, products_beyond_64_bits, relu_weights_beyond_one, graph_that_reads_cells,
    graph_that_reads_other_cells, dummy_elsewhere, units_that_seem_off, weights_that_a_grid_clips,
    sums_that_a_grid_clips, later_query_with_less_weight,
    readout_that_a_grid_clips, answers_beyond_64_bits, answers_of_nothing, slots_over_each_other,
]  # fmt: skip


@pytest.fixture(autouse=True)
def without_the_net(monkeypatch):
    """What a method proves is taken for true here."""
    monkeypatch.setattr(checker, "failing_sample", lambda *_: None, raising=False)


@pytest.mark.parametrize("forged", FORGERIES, ids=lambda each: each.__name__)
def test_a_forgery_is_not_valid(forged):
    try:
        network, claim, failing = forged()
    except SeparatrixError as error:
        assert len(str(error).splitlines()) == 1
        return
    if failing is not None:
        assert not right_on(network, claim.arithmetic, failing, claim.task.solve(failing, claim.length))
    for name in (None, *methods()):
        assert not check(network, claim, name).valid, name


@dataclass(frozen=True, kw_only=True)
class OppositeThreshold(SparseThreshold):
    """Answers the opposite of what its parent answers."""

    def solve(self, row: Any, length: int) -> Any:
        solved: list[Any] = list(super().solve(row, length))
        return [None if each is None else 1 - each for each in solved]

    def decide(self, inputs: Any, length: int) -> Any:
        return ~super().decide(inputs, length)


@dataclass(frozen=True, kw_only=True)
class NextLookup(IndexLookup):
    """Asks for the next symbol of the alphabet."""

    def solve(self, row: Any, length: int) -> Any:
        solved: list[Any] = list(super().solve(row, length))
        return [None if each is None else (each + 1) % self.alphabet for each in solved]

    def label(self, inputs: Any, length: int) -> Any:
        targets, read = super().label(inputs, length)
        return (targets + 1) % self.alphabet * read, read


def opposite() -> tuple[Network, Claim]:
    network, claim = build("majority", 7)
    return network, replace(claim, task=OppositeThreshold(name="majority", instance="majority", sparsity=1))


def next_symbol() -> tuple[Network, Claim]:
    network, claim = build("index-lookup", 4, {"alphabet": 3})
    return network, replace(claim, task=NextLookup(alphabet=3))


def exchanged(name: str, length: int, parameters: dict[str, Any]) -> Callable[[], tuple[Network, Claim]]:
    """A task of the package whose answers are exchanged on the object itself, as far as a caller can."""

    def forged() -> tuple[Network, Claim]:
        network, claim = build(name, length, parameters)
        task, kind = replace(claim.task), type(claim.task)

        def turned(answer: Any) -> Any:
            return answer if answer is None else 1 - answer

        def label(inputs: Any, length: int) -> Any:
            targets, read = kind.label(task, inputs, length)
            return (1 - targets) * read, read

        object.__setattr__(task, "solve", lambda row, length: list(map(turned, kind.solve(task, row, length))))
        object.__setattr__(task, "label", label)
        return network, replace(claim, task=task)

    return forged


IMPOSTORS = [
    opposite,
    next_symbol,
    exchanged("dyck-transformer", 4, {}),
    exchanged("match2", 3, {"modulus": 7}),
    exchanged("directed-3-cycle", 3, {}),
    exchanged("equality", 6, {}),
]


@pytest.mark.parametrize("forged", IMPOSTORS)
def test_a_task_that_only_bears_the_name_is_not_proved_by_it(forged):
    network, claim = forged()
    for name in (None, *methods()):
        assert not check(network, claim, name).valid, name


def test_a_task_of_a_user_with_the_right_answers_is_proved():
    @dataclass(frozen=True, kw_only=True)
    class Same(IndexLookup):
        """The same under another class, which overrides nothing."""

    network, claim = build("index-lookup", 4, {"alphabet": 3})
    assert check(network, replace(claim, task=Same(alphabet=3))).valid


def test_what_a_method_wrongly_proves_is_caught_by_random_inputs(monkeypatch):
    """The last net, alone: a method that accepts everything."""
    monkeypatch.undo()
    network, claim = build("index-lookup", 8)
    wrong = with_head(network, 0, scoring="linear")
    monkeypatch.setattr(type(methods()["position-addressed"]), "prove", lambda *_: "64^8*8")
    verdict = check(wrong, claim, "position-addressed")
    assert not verdict.valid
    assert verdict.refuted
    assert verdict.counterexample is not None
    assert check(network, claim, "position-addressed").valid


def test_the_net_costs_little_at_any_length(monkeypatch):
    """Longer inputs are run fewer times, and not at all where one run is too much."""
    network, claim = build("index-lookup", 64)
    runs: list[int] = []
    monkeypatch.setattr(refutations, "replay", lambda *_: runs.append(1) or {"right": True})
    refutations.failing_sample(network, claim)
    assert len(runs) == refutations.FEW
    monkeypatch.setattr(refutations, "MOST_WORK", 1)
    refutations.failing_sample(network, claim)
    assert len(runs) == refutations.FEW


def test_columns_whose_weights_add_up_to_a_power_of_two_words_are_read():
    """Third-order units on inputs that repeat: eight weights of 2^61 in a column are 2^64 together, not 0."""
    network, claim = build("match3", 8, {"modulus": 7})
    head: Any = network.layers[0].heads[0]  # type: ignore[union-attr]
    column = int(numpy.flatnonzero(head.query.numerators.any(axis=0))[0])
    asked, compared = numpy.zeros((2, 8, network.slots.width), dtype=numpy.int64)
    asked[:, column], compared[:, :] = 2**61, 1
    compared[:, column] = 0
    keys, values = ExactMatrix(compared), ExactMatrix(compared[:1])
    output = ExactMatrix(numpy.ones((network.slots.width, 1), dtype=numpy.int64))
    alone = replace(
        head, query=ExactMatrix(asked), first_key=keys, second_key=keys, first_value=values, second_value=values,
        output=output,
    )  # fmt: skip
    changed = with_layer(network, 0, heads=(alone,))
    inputs = claim.task.sample(draws_from(0), 2, claim.length).inputs
    inputs[:, 1:] = [[1] * 8, [3] * 8]
    changed = replace(changed, layers=changed.layers[:1], readout=replace(changed.readout, decoding="round"))
    given = evaluate(changed, inputs, claim.arithmetic).answers.tolist()
    assert given == [Slow(changed, claim.arithmetic).answers(row) for row in inputs.tolist()]
