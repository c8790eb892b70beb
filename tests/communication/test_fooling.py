"""Fooling sets and rectangle bounds: verified literally, never above the truth, caught when broken."""

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tools.smallest import cheapest_protocol, largest_fooling_set

from separatrix.communication.classics import disjointness, equality, greater_than, index
from separatrix.communication.fooling import (
    LARGEST_LITERAL,
    FoolingSet,
    preimage,
    verify_by_uniqueness,
    verify_fooling_set,
    verify_strings,
)
from separatrix.communication.fooling_search import best_matching, greedy, search
from separatrix.communication.matrix import communication_matrix, pack
from separatrix.communication.partition import cut
from separatrix.communication.partition_bounds import largest_rectangle_at_most, partition_bound
from separatrix.communication.problem import from_function, from_task
from separatrix.communication.rows import one_way_bits
from separatrix.errors import SeparatrixError
from separatrix.tasks import tasks

small = st.tuples(st.integers(0, 10_000), st.integers(1, 4), st.integers(1, 4), st.integers(2, 3))


def drawn(case: tuple[int, int, int, int]) -> numpy.ndarray:
    seed, rows, columns, classes = case
    return numpy.random.default_rng(seed).integers(0, classes, (rows, columns))


@given(small)
@settings(max_examples=25, deadline=None)
def test_lower_bounds_never_exceed_the_true_cost(case):
    values = drawn(case)
    matrix = pack(values, case[3])
    bound = partition_bound(matrix)
    true = cheapest_protocol(values)
    assert bound.bits <= true
    assert bound.rank_bits <= true
    assert bound.fooling_bits <= true
    # One-way communication, and the answer sent back, is a protocol.
    assert true <= one_way_bits(matrix) + max(1, len(numpy.unique(values)) - 1).bit_length()


@given(small)
@settings(max_examples=25, deadline=None)
def test_small_searches_find_the_largest_fooling_set(case):
    values = drawn(case)
    matrix = pack(values, case[3])
    for value in range(case[3]):
        found = search(matrix, value)
        assert found.size == largest_fooling_set(values, value)
        assert not found.size or verify_fooling_set(matrix, found)


@given(st.integers(0, 1000), st.sampled_from([20, 60]))
@settings(max_examples=10, deadline=None)
def test_every_set_that_a_search_returns_is_a_fooling_set(seed, size):
    matrix = pack(numpy.random.default_rng(seed).integers(0, 2, (size, size + 3)))
    found = search(matrix, 1, seed)
    assert found.size >= 3
    verdict = verify_fooling_set(matrix, found)
    assert verdict
    assert verdict.checked == found.size * (found.size - 1)
    assert search(matrix, 1, seed).alice.tolist() == found.alice.tolist()


@pytest.mark.parametrize(("n", "value"), [(3, 0), (6, 0), (9, 0)])
def test_greedy_finds_sets_and_complements_in_disjointness(n, value):
    matrix = communication_matrix(disjointness(n))
    rows, columns = greedy(matrix.dense() == value)
    assert len(rows) == 2**n
    assert sorted((rows ^ columns).tolist()) == [2**n - 1] * 2**n


@pytest.mark.parametrize("seed", [2, 10])
def test_a_large_mask_is_searched_from_both_sides(seed):
    """Rows first finds more for the one seed, columns first for the other; the larger set is taken."""
    mask = numpy.random.default_rng(seed).random((60, 140)) < 0.45
    straight, turned = (len(greedy(numpy.ascontiguousarray(each))[0]) for each in (mask, mask.T))
    rows, columns = best_matching(mask, seed)
    assert (straight < turned) == (seed == 10)
    assert len(rows) == max(straight, turned)
    assert verify_fooling_set(pack(mask.astype(int)), FoolingSet(1, rows, columns))


def test_broken_sets_are_caught_with_witnesses():
    problem = equality(3)
    everything = numpy.arange(8)
    shifted = verify_fooling_set(problem, FoolingSet(1, everything, (everything + 1) % 8))
    assert not shifted
    assert shifted.witnesses[0] == (0, 1)
    crossing = verify_fooling_set(problem, FoolingSet(0, everything, (everything + 1) % 8))
    assert not crossing
    (x1, y1), (x2, y2) = crossing.witnesses
    assert x1 != y2
    assert x2 != y1
    twice = verify_fooling_set(problem, FoolingSet(1, numpy.array([2, 2]), numpy.array([2, 2])))
    assert not twice


def test_blocks_find_a_fault_far_from_the_diagonal(monkeypatch):
    monkeypatch.setattr("separatrix.communication.fooling.BLOCK", 64)
    alice = numpy.arange(100)
    bob = numpy.arange(100)
    assert verify_fooling_set(equality(8), FoolingSet(1, alice, bob))
    alice[97], bob[97] = alice[3], bob[3]
    assert not verify_fooling_set(equality(8), FoolingSet(1, alice, bob))


def test_uniqueness_needs_both_directions():
    x, y = numpy.array([0, 1, 2]), numpy.array([5, 6, 6])
    assert verify_by_uniqueness(x, numpy.array([5, 6, 7]))
    assert not verify_by_uniqueness(x, y)
    assert not verify_by_uniqueness(y, x)
    # Two pairs that share y are no fooling set, though no x occurs twice.
    problem = from_function(lambda bits: bits[:, 1], cut(2, 1), 2)
    shared = preimage(problem, 1)
    assert len(set(shared.alice.tolist())) == shared.size == 2
    assert not verify_by_uniqueness(shared.alice, shared.bob)
    assert not verify_fooling_set(problem, shared)


@pytest.mark.parametrize("length", [4, 6, 8])
def test_dyck_strings_are_a_fooling_set_both_ways(length):
    problem = from_task(tasks()["dyck"], length)
    strings = preimage(problem, 1)
    assert strings.size == 2 ** (length - 1)
    assert verify_by_uniqueness(strings.alice, strings.bob)
    assert verify_fooling_set(problem, strings)
    assert problem.split is not None
    whole = problem.split.join(strings.alice, strings.bob)
    assert verify_by_uniqueness(whole[:, ::2], whole[:, 1::2])
    assert verify_strings(problem, whole, 1)
    assert not verify_strings(problem, whole, 0)
    # The prefix/suffix cut is not such a case: the strings with value 1 are no fooling set there.
    halves = preimage(from_task(tasks()["dyck"], length, cut(length, length // 2)), 1)
    assert not verify_by_uniqueness(halves.alice, halves.bob)


def test_sets_too_large_for_the_literal_check_say_what_to_do():
    many = numpy.arange(LARGEST_LITERAL + 1)
    with pytest.raises(SeparatrixError, match="verify_by_uniqueness"):
        verify_fooling_set(equality(20), FoolingSet(1, many, many))
    with pytest.raises(SeparatrixError, match="as many x as y"):
        FoolingSet(1, many, many[1:])
    with pytest.raises(SeparatrixError, match="not made of sequences"):
        verify_strings(equality(2), numpy.zeros((1, 4), dtype=int), 1)


@pytest.mark.parametrize(
    ("problem", "bits", "fooling_bits"),
    [(equality(4), 5, 4), (disjointness(4), 5, 4), (greater_than(4), 5, 4), (index(6), 4, 3)],
)
def test_partition_bounds_of_the_classics(problem, bits, fooling_bits):
    bound = partition_bound(communication_matrix(problem))
    assert (bound.bits, bound.fooling_bits) == (bits, fooling_bits)
    assert bound.best_fooling.bits == fooling_bits


def test_large_matrices_take_one_rank_for_two_values(monkeypatch):
    matrix = communication_matrix(disjointness(4))
    exact = partition_bound(matrix)
    monkeypatch.setattr("separatrix.communication.partition_bounds.LARGE_SIDE", 2)
    shared = partition_bound(matrix)
    assert [value.rank is None for value in shared.values] == [True, False]
    for quick, slow in zip(shared.values, exact.values, strict=True):
        assert slow.rank_at_least - 2 <= quick.rank_at_least <= slow.rank_at_least


@given(st.integers(0, 5000), st.integers(1, 5), st.integers(1, 5))
@settings(max_examples=25, deadline=None)
def test_no_rectangle_is_larger_than_the_bound(seed, rows, columns):
    generator = numpy.random.default_rng(seed)
    mask = generator.random((rows, columns)) < 0.7
    weights = generator.integers(1, 4, rows), generator.integers(1, 4, columns)
    largest = 0
    for chosen in range(1, 2**rows):
        members = [row for row in range(rows) if chosen >> row & 1]
        shared = mask[members].all(axis=0)
        largest = max(largest, int(weights[0][members].sum() * weights[1][shared].sum()))
    assert largest <= largest_rectangle_at_most(mask, *weights)


def test_halves_of_different_sizes_are_no_fooling_set():
    with pytest.raises(SeparatrixError, match="as many x as y, not 2 and 3"):
        verify_by_uniqueness(numpy.arange(2), numpy.arange(3))


def test_a_search_that_returns_no_fooling_set_is_stopped(monkeypatch):
    """What a search finds counts only after every crossing was evaluated."""
    everything = FoolingSet(1, numpy.array([0, 1]), numpy.array([1, 2]))
    monkeypatch.setattr("separatrix.communication.partition_bounds.search", lambda matrix, value, seed: everything)
    with pytest.raises(SeparatrixError, match="not a fooling set"):
        partition_bound(pack(numpy.ones((3, 3), dtype=int), 2))
