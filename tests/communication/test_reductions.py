"""Reductions: answers agree on every pair, each party's cells come from its own input, and planted faults are
caught."""

from dataclasses import dataclass, fields

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from separatrix.communication.reductions import Reduction, reductions
from separatrix.communication.reductions.encodings import disjointness_to_match3
from separatrix.communication.reductions.encodings.index_to_sparse_averaging import of_sparsity
from separatrix.communication.reductions.reduction import bits_of_numbers
from separatrix.errors import SeparatrixError, UnknownNameError
from separatrix.tasks import tasks
from separatrix.tasks.problems.index_lookup import IndexLookup

EVERY = [version for each in reductions().values() for version in (each, *each.variants)]
HOLDING = [each for each in EVERY if not each.fails]
BITS = 6


def named(each: Reduction) -> str:
    return each.name


def slow_answer(problem: str, alice: list[int], bob: list[int]) -> int:
    """The problem's answer in the most obvious way."""
    if problem == "INDEX":
        return alice[bob[0]]
    if problem == "EQ":
        return int(alice == bob)
    return int(any(a == b == 1 for a, b in zip(alice, bob, strict=True)))


def sizes(reduction: Reduction, limit: int) -> list[int]:
    return [size for size in range(reduction.smallest, 12) if reduction.bits(size) <= limit]


@pytest.mark.parametrize("reduction", HOLDING, ids=named)
def test_answers_agree_on_every_pair(reduction):
    limit = max(BITS, reduction.bits(reduction.smallest))
    found = reduction.verified_to(limit)
    assert [each.size for each in found] == sizes(reduction, limit)
    for each in found:
        assert each.holds, each.first
        columns = reduction.bits(each.size) if reduction.problem == "INDEX" else 2 ** reduction.bits(each.size)
        assert each.pairs == 2 ** reduction.bits(each.size) * columns


@pytest.mark.parametrize("reduction", HOLDING, ids=named)
@given(data=st.data())
@settings(max_examples=12, deadline=None)
def test_answers_agree_beyond(reduction, data):
    size = data.draw(st.integers(reduction.smallest, max(sizes(reduction, 24)[-1], reduction.smallest)))
    bits = reduction.bits(size)
    pair = st.tuples(
        st.integers(0, 2**bits - 1), st.integers(0, (bits if reduction.problem == "INDEX" else 2**bits) - 1)
    )
    pairs = numpy.array(data.draw(st.lists(pair, min_size=1, max_size=20)), dtype=numpy.int64)
    found = reduction.check(size, pairs[:, 0], pairs[:, 1])
    assert found.holds, found.first
    # The problem's own values against the most obvious ones.
    problem = reduction.source_problem(size)
    for row, column in pairs.tolist():
        alice = [int(bit) for bit in format(row, f"0{bits}b")]
        bob = [column] if reduction.problem == "INDEX" else [int(bit) for bit in format(column, f"0{bits}b")]
        value = problem.evaluate(numpy.array([row]), numpy.array([column]))
        assert int(value[0]) == slow_answer(reduction.problem, alice, bob)


@pytest.mark.parametrize("reduction", EVERY, ids=named)
def test_each_party_fills_its_own_positions_from_its_own_input(reduction):
    size = sizes(reduction, max(BITS, reduction.bits(reduction.smallest)))[-1]
    task, length = reduction.task(size), reduction.length(size)
    alice, bob = reduction.positions(size)
    assert sorted([*alice, *bob]) == list(range(task.positions(length)))
    split = task.communication(length)
    if reduction.split is None:
        assert (alice, bob) == (split.alice, split.bob)
    else:
        assert alice == tuple(range(len(alice)))
    problem = reduction.source_problem(size)
    rows, columns = numpy.arange(min(problem.rows, 8)), numpy.arange(min(problem.columns, 5))
    cells = reduction.encode(size, numpy.repeat(rows, len(columns)), numpy.tile(columns, len(rows)))
    grid = cells.reshape(len(rows), len(columns), *cells.shape[1:])
    assert (grid[:, :, list(alice)] == grid[:, :1, list(alice)]).all()
    assert (grid[:, :, list(bob)] == grid[:1, :, list(bob)]).all()


@pytest.mark.parametrize("reduction", [each for each in HOLDING if each.problem != "INDEX"], ids=named)
def test_a_party_that_ignores_its_input_is_caught(reduction):
    size = max(2, reduction.smallest)
    deaf = reduction.corrupted(alice=lambda values, n: reduction.alice(numpy.zeros_like(values), n))
    assert not deaf.verify(size).holds
    if reduction.name not in ("disjointness-to-mqar", "disjointness-to-nearest-neighbour"):
        # In these two Bob asks for everything and uses his input only when he decides.
        mute = reduction.corrupted(bob=lambda values, n: reduction.bob(numpy.zeros_like(values), n))
        assert not mute.verify(size).holds


@pytest.mark.parametrize("reduction", HOLDING, ids=named)
def test_planted_faults_are_caught(reduction):
    size = sizes(reduction, max(BITS, reduction.bits(reduction.smallest)))[-1]
    flipped = reduction.corrupted(alice=lambda values, n: reduction.alice(flip_first(values), n))
    found = flipped.verify(size)
    assert not found.holds
    assert found.first is not None
    assert "says" in found.first.reason
    assert found.first.expected != found.first.found
    held, theirs = (" ".join(map(str, part)) for part in (found.first.alice, found.first.bob))
    told = f"Alice has {held}, Bob has {theirs}, the input is {found.first.inputs}: {found.first.reason}"
    assert found.first.in_words() == told
    wrong = reduction.corrupted(decode=lambda answers, own, n: 1 - reduction.decode(answers, own, n))
    assert wrong.verify(size).failures == wrong.verify(size).pairs


def flip_first(bits):
    changed = bits.copy()
    changed[:, 0] = 1 - changed[:, 0]
    return changed


@dataclass(frozen=True, kw_only=True)
class Telling(IndexLookup):
    """Writes its answer into every place of the table of targets, though it asks for one only."""

    def label(self, inputs, length):
        targets, read = super().label(inputs, length)
        return numpy.broadcast_to(targets.sum(axis=1, keepdims=True), targets.shape), read


def test_what_the_task_does_not_ask_for_is_no_answer():
    """No model answers there, so that a reduction must not decode it."""
    known = reductions()["index-to-index-lookup"]
    lookup = tasks()["index-lookup"]
    telling = Telling(**{each.name: getattr(lookup, each.name) for each in fields(lookup)})
    read = known.corrupted(task=lambda size: telling)
    assert read.verify(3).holds
    unread = read.corrupted(decoder="alice", decode=lambda answers, own, size: answers[:, 0])
    assert unread.verify(3).failures == unread.verify(3).pairs // 2


def test_an_input_outside_the_promise_is_a_failure():
    reduction = reductions()["disjointness-to-nearest-neighbour"]

    def same_point(values, size):
        cells = reduction.alice(values, size).copy()
        cells[:, 0::2, 2:] = cells[:, :1, 2:]
        return cells

    found = reduction.corrupted(alice=same_point).verify(2)
    assert found.failures == found.pairs
    assert found.first.reason == "the input breaks the task's promise"
    assert found.first.found is None


# -- E15: the published encoding of DISJ into triple matching ---------------------------------------------


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5])
def test_the_published_encoding_fails_on_exactly_the_disjoint_pairs(size):
    published = disjointness_to_match3.as_published()
    found = published.verify(size)
    assert found.failures == 3**size
    task, length = published.task(size), published.length(size)
    row = task.read(found.first.inputs, length)
    assert task.solve(row, length)[-1] == 1
    assert slow_answer("DISJ", list(found.first.alice), list(found.first.bob)) == 0
    # It is (N, N, N) that matches: the query is the residue 0.
    assert row[-1] == task.vocabulary(length).size - 1


@pytest.mark.parametrize("size", [1, 2, 3, 4])
@pytest.mark.parametrize(
    ("repair", "least"),
    [(disjointness_to_match3.shifted, 4), (disjointness_to_match3.query_excluded, 3)],
    ids=["shifted", "query-excluded"],
)
def test_repairs_hold_from_their_smallest_modulus_on(repair, least, size):
    assert repair(lambda n: 2 * n + least).verify(size).holds
    assert repair(lambda n: 2 * n + least + 1).verify(size).holds
    assert not repair(lambda n: 2 * n + least - 1).verify(size).holds


# -- other particulars ------------------------------------------------------------------------------------


@pytest.mark.parametrize("sparsity", [1, 2, 3, 5])
def test_index_hides_in_sparse_averaging_at_every_sparsity(sparsity):
    reduction = of_sparsity(sparsity)
    assert all(reduction.verify(size).holds for size in range(1, 6))
    assert reduction.length(10) == 10 + max(1, sparsity - 1)


@pytest.mark.parametrize("size", [2, 3, 5])
def test_sets_that_are_not_filled_with_zeros_fail_on_half_of_the_pairs(size):
    """E23: the cell after Bob's place enters the sum, so the answer is wrong exactly where it holds a 1."""
    unfilled = reductions()["index-to-sparse-averaging"].variant("index-to-sparse-averaging-3-not-filled")
    found = unfilled.verify(size)
    assert (found.length, found.failures) == (size + 1, found.pairs // 2)
    place = found.first.bob[0]
    assert found.first.alice[(place + 1) % size] == 1
    assert found.first.found == found.first.expected + 1


def test_graph_reductions_have_no_self_loops_and_serve_the_literal_text():
    for name in ("disjointness-to-directed-3-cycle", "index-to-directed-3-cycle", "index-to-undirected-5-cycle"):
        reduction = reductions()[name]
        graphs = reduction.encode(2, numpy.arange(2), numpy.arange(2) % max(1, reduction.bits(2)))
        assert not numpy.trace(graphs, axis1=1, axis2=2).any()
    cycles = reductions()["index-to-undirected-5-cycle"]
    literal = cycles.corrupted(task=lambda size: tasks()["undirected-5-cycle"].with_parameters(distinct=False))
    assert literal.verify(4).holds


def test_larger_cycles_by_a_sample():
    reduction = reductions()["disjointness-to-directed-3-cycle"]
    draws = numpy.random.default_rng(0)
    for size in (3, 5, 7):
        numbers = draws.integers(0, 2 ** reduction.bits(size), (2, 500))
        # Half of the pairs disjoint: Bob loses what Alice has.
        numbers[1, ::2] &= ~numbers[0, ::2]
        assert reduction.check(size, *numbers).holds


def test_bad_requests_end_in_one_line():
    reduction = reductions()["disjointness-to-sparse-threshold"]
    with pytest.raises(SeparatrixError, match="starts at size 2, not 1"):
        reduction.verify(1)
    with pytest.raises(SeparatrixError, match="more than 2\\^26"):
        reduction.verify(20)
    with pytest.raises(UnknownNameError, match="nearest"):
        reduction.variant("equality-to-sparse-treshold")
    short = reductions()["index-to-index-lookup"].corrupted(alice=lambda values, size: values[:, 1:])
    with pytest.raises(SeparatrixError, match="Alice's cells have shape"):
        short.verify(3)


@given(st.integers(1, 20).flatmap(lambda bits: st.tuples(st.just(bits), st.integers(0, 2**bits - 1))))
def test_bits_of_numbers_are_their_binary_digits(case):
    bits, number = case
    assert bits_of_numbers(numpy.array([number]), bits)[0].tolist() == [int(bit) for bit in format(number, f"0{bits}b")]
