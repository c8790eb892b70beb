"""Profiles of functions with known answers, and of random ones against brute force."""

import math
from dataclasses import replace
from itertools import product

import numpy
from automata.fa.dfa import DFA
from hypothesis import given, settings
from hypothesis import strategies as st
from tools.smallest import cheapest_protocol

from separatrix.communication.partition import of_positions
from separatrix.profiles import ProfileOptions, parse_alphabet, profile, profile_record
from separatrix.profiles import sparse as sparse_module
from separatrix.profiles.automaton import SmallestAutomaton, smallest_automaton
from separatrix.profiles.automaton import _agrees as agrees
from separatrix.profiles.examples import balanced, equal_halves, majority, parity, repeats, running_sum
from separatrix.profiles.partitions import best_of, examine, examine_all, matrix_of
from separatrix.profiles.residuals import DIRECT, residual_classes
from separatrix.profiles.sparse import patterns, sparse_form
from separatrix.profiles.table import Table
from separatrix.profiles.words import one_layer_need
from tests.communication.automata import random_automaton
from tests.communication.oracles import residual_counts


def random_table(seed: int, symbols: int, length: int, values: int = 2) -> Table:
    drawn = numpy.random.default_rng(seed).integers(0, values, symbols**length).astype(numpy.uint8)
    return Table(length, symbols, "decision", drawn)


def answer_of(table: Table):
    weights = [table.symbols**place for place in range(table.length)][::-1]
    return lambda x: int(table.last[sum(a * w for a, w in zip(x, weights, strict=True))])


# -- known answers ---------------------------------------------------------------------------------------------------


def test_parity():
    found = profile("parity", parity, 12)
    assert found.function.mode == "arrays"
    assert found.residuals.classes == (1, *[2] * 12)
    assert found.residuals.minimum_state_bits == 1
    assert found.automaton is not None
    assert (found.automaton.states, found.automaton.exact) == (2, True)
    assert found.residuals.automaton_states == 25
    assert found.best is not None
    assert (found.best.bits, found.best.rows, found.best.columns) == (2, 2, 2)
    assert found.sparse is None


def test_majority():
    found = profile("majority", majority, 11)
    expected = tuple(min(t + 1, 11 - t + 2) for t in range(12))
    assert found.residuals.classes == expected
    assert found.automaton is not None
    assert not found.automaton.exact
    assert found.automaton.states >= 11
    assert found.sparse is not None
    assert (found.sparse.sparsity, found.sparse.form, found.sparse.features) == (1, "threshold", 11)
    assert found.sparse.function.threshold == 5


def test_equality():
    found = profile("equality", equal_halves, 12)
    assert found.function.mode == "inputs"
    assert found.residuals.classes[6] == 64
    assert found.residuals.minimum_state_bits == 6
    assert [length for length, _ in found.skipped] == [1, 3, 5, 7, 9, 11]
    assert found.automaton is None
    assert found.best is not None
    assert (found.best.partition.name, found.best.bits) == ("cut:6", 7)
    assert found.best.bound.best_fooling.size == 64
    assert found.sparse is not None
    assert (found.sparse.form, found.sparse.features, found.sparse.sparsity) == ("all", 6, 2)
    assert sorted(map(tuple, found.sparse.function.indices.tolist())) == [(place, place + 6) for place in range(6)]
    assert [each.state_bits for each in found.lengths] == [1, 2, 3, 4, 5, 6]


def test_dyck():
    found = profile("dyck", balanced, 8, parse_alphabet("()[]"))
    assert found.residuals.classes == (1, 3, 6, 3, 6, 3, 6, 3, 2)
    assert found.automaton is not None
    assert (found.automaton.states, found.automaton.exact) == (8, True)
    assert found.best is not None
    assert found.best.partition.name == "odd-even"
    assert found.best.bound.best_fooling.size == 2**7
    assert found.sparse is None


def test_some_symbol_occurs_twice():
    found = profile("repeats", repeats, 6, parse_alphabet("N"))
    expected = [math.comb(6, t) + (t >= 2) for t in range(6)]
    assert found.residuals.classes == (*expected, 2)
    assert found.automaton is None
    # With two symbols every string of three repeats one.
    few = profile("repeats", repeats, 8)
    assert few.residuals.most == 1


def test_random_function():
    table = numpy.random.default_rng(7).integers(0, 2, 2**13).astype(bool)

    def chosen(x):
        return table[2 ** x.shape[1] + (x << numpy.arange(x.shape[1])[::-1]).sum(axis=1) - 1]

    found = profile("random", chosen, 12)
    for cut, count in enumerate(found.residuals.classes):
        assert count <= min(2**cut, 2**2 ** (12 - cut))
    assert found.residuals.classes[6] == 64
    assert found.residuals.minimum_state_bits >= 8
    assert found.best is not None
    assert found.best.bits == 7
    assert found.sparse is None


def test_labellings():
    found = profile("running sum", running_sum, 9)
    assert found.table.kind == "labelling"
    assert found.table.causal
    assert found.residuals.classes == (1, 2, 3, 3, 3, 3, 3, 3, 3, 1)
    assert found.automaton is not None
    assert (found.automaton.states, found.automaton.exact) == (3, True)
    # Looking ahead: the labels of the prefix are still to be said, so it must be remembered whole.
    ahead = profile("reversed", lambda x: list(x[::-1]), 6)
    assert not ahead.table.causal
    assert ahead.residuals.classes == (1, 2, 4, 8, 16, 32, 64)
    arrays = profile("running sum of arrays", lambda x: numpy.cumsum(x, axis=1) % 3, 9)
    assert arrays.function.mode == "arrays"
    assert arrays.residuals.classes == found.residuals.classes


def test_more_than_two_values_and_words():
    found = profile("last symbol", lambda x: x[-1], 5, parse_alphabet("push,pop,peek"))
    assert found.table.kind == "decision"
    assert found.residuals.classes == (1, 1, 1, 1, 1, 3)
    assert {found.values[number] for number in set(found.table.last.tolist())} == {"push", "pop", "peek"}
    many = profile("number", lambda x: int("".join(map(str, x)), 2), 9)
    assert many.table.classes == 512
    assert many.residuals.classes[9] == 512
    assert many.best is not None
    assert many.best.bits >= 4


def test_rows_are_counted_exactly_beyond_256_values():
    """Numbers of nine bits: the first bit changes no value's group of the lowest eight bits, but every value."""
    table = Table(9, 2, "decision", numpy.arange(512, dtype=numpy.uint32))
    found = examine(table, of_positions(9, [0]))
    assert found.merged
    assert (found.rows, found.columns, found.one_way_bits) == (2, 256, 1)
    assert found.bits >= 8
    few = examine(Table(3, 2, "decision", numpy.arange(8, dtype=numpy.uint8)), of_positions(3, [0]))
    assert not few.merged
    assert (few.rows, few.columns) == (2, 4)


def test_wanted_partitions_replace_the_search():
    found = profile("equality", equal_halves, 8, options=ProfileOptions(partitions=("0,1,2,3,4", "odd-even")))
    assert [each.partition.name for each in found.partitions] == ["cut:5", "odd-even"]
    assert not any(each.searched for each in found.partitions)


def test_search_finds_a_partition_that_odd_even_and_halves_miss():
    def paired(x):
        quarters = x.shape[1] // 4
        return (x[:, : 2 * quarters : 2] == x[:, 1 : 2 * quarters : 2]).all(axis=1) & (
            x[:, 2 * quarters : 3 * quarters] == x[:, 3 * quarters : 4 * quarters]
        ).all(axis=1)

    found = profile("paired", paired, 8)
    assert found.best is not None
    assert found.best.searched
    assert found.best.bits == 5 > max(each.bits for each in found.partitions if not each.searched)


# -- against brute force ---------------------------------------------------------------------------------------------


@given(st.integers(0, 10_000), st.sampled_from([(2, 6, 2), (2, 5, 3), (3, 4, 2), (4, 3, 5), (2, 1, 2)]))
@settings(max_examples=30, deadline=None)
def test_residual_classes_agree_with_comparing_all_suffixes(seed, shape):
    symbols, length, values = shape
    table = random_table(seed, symbols, length, values)
    assert residual_classes(table).classes == residual_counts(answer_of(table), symbols, length)


@given(st.integers(0, 10_000), st.integers(1, 6))
@settings(max_examples=25, deadline=None)
def test_the_fixed_length_automaton_is_the_minimal_one(seed, length):
    generator = numpy.random.default_rng(seed)
    table = Table(length, 2, "decision", (generator.random(2**length) < generator.random()).astype(numpy.uint8))
    words = {"".join(map(str, x)) for x in product(range(2), repeat=length) if answer_of(table)(x)}
    minimal = DFA.from_finite_language({"0", "1"}, words, as_partial=False).minify()
    assert residual_classes(table).automaton_states == len(minimal.states)


@given(st.integers(0, 10_000), st.integers(1, 6), st.booleans())
@settings(max_examples=20, deadline=None)
def test_an_automaton_is_found_again_from_its_language(seed, states, with_empty):
    moves, accepting, source = random_automaton(seed, states)
    at, tables = numpy.array([0]), []
    for _ in range(2 * states + 3):
        tables.append(accepting[at])
        at = moves[at].reshape(-1)
    found = smallest_automaton([tables[0] if with_empty else None, *tables[1:]], 2)
    assert found is not None
    assert found.exact
    assert found.states == len(source.states) or (not with_empty and found.states < len(source.states))
    if not with_empty:
        assert found.states >= len(source.states) - 1


@given(st.integers(0, 10_000))
@settings(max_examples=15, deadline=None)
def test_no_bound_exceeds_the_exact_cost_on_any_partition(seed):
    table = random_table(seed, 2, 4)
    for each in examine_all(table, [], seed):
        assert each.bits <= cheapest_protocol(matrix_of(table, each.partition).dense())


def test_cut_matrices_still_bound(monkeypatch):
    table = random_table(3, 2, 10)
    whole = examine(table, of_positions(10, range(0, 10, 2)))
    monkeypatch.setattr("separatrix.profiles.partitions.LARGEST_SIDE", 8)
    part = examine(table, of_positions(10, range(0, 10, 2)))
    assert whole.whole
    assert not part.whole
    assert 3 <= part.bits <= whole.bits
    assert best_of([part, whole]) is whole


@given(st.integers(0, 10_000), st.integers(2, 6), st.integers(1, 3))
@settings(max_examples=30, deadline=None)
def test_patterns_are_those_that_occur(seed, length, sparsity):
    sparsity = min(sparsity, length)
    chosen = numpy.random.default_rng(seed).random(2**length) < 0.2
    inputs = [x for x in product(range(2), repeat=length) if chosen[int("".join(map(str, x)), 2)]]
    sets, seen = patterns(chosen, length, sparsity)
    assert len(sets) == math.comb(length, sparsity)
    for members, occurs in zip(sets.tolist(), seen, strict=True):
        shown = {int("".join(str(x[place]) for place in members), 2) for x in inputs}
        assert set(numpy.flatnonzero(occurs).tolist()) == shown


@given(st.integers(0, 10_000), st.integers(3, 7), st.sampled_from(["any", "all"]))
@settings(max_examples=25, deadline=None)
def test_planted_sparse_functions_are_found(seed, length, form):
    generator = numpy.random.default_rng(seed)
    x = numpy.array(list(product(range(2), repeat=length)))
    holds = numpy.zeros(2**length, dtype=bool)
    for _ in range(min(3, length)):
        first, second = generator.choice(length, 2, replace=False)
        holds |= generator.integers(0, 2, 4).astype(bool)[2 * x[:, first] + x[:, second]]
    values = holds if form == "any" else ~holds
    if values.all() or not values.any():
        return
    found = sparse_form(Table(length, 2, "decision", values.astype(numpy.uint8)))
    assert found is not None
    assert found.sparsity <= 2
    assert found.features <= length


def test_weighted_thresholds_are_found_and_parity_is_not():
    x = numpy.array(list(product(range(2), repeat=6)))
    weighted = 3 * x[:, 0] + x[:, 1] + x[:, 2] - x[:, 3] > 2
    found = sparse_form(Table(6, 2, "decision", weighted.astype(numpy.uint8)))
    assert found is not None
    assert found.sparsity == 1
    pairs = x[:, 0] * x[:, 1] + x[:, 2] * x[:, 3] + (x[:, 4] ^ x[:, 5]) >= 2
    found = sparse_form(Table(6, 2, "decision", pairs.astype(numpy.uint8)))
    assert found is not None
    assert (found.sparsity, found.form) == (2, "threshold")
    assert sparse_form(Table(6, 2, "decision", (x.sum(axis=1) % 2).astype(numpy.uint8))) is None


# -- words ----------------------------------------------------------------------------------------------------------


def test_one_layer_needs_grow_with_the_bits():
    widths = [one_layer_need(1024, bits, 16, 2, 2).width for bits in (1, 100, 1000, 10_000)]
    assert widths == sorted(widths)
    assert widths[0] == 1
    assert widths[-1] > 250


# -- rare paths ------------------------------------------------------------------------------------------------------


def test_many_residual_classes_are_numbered_by_sorting():
    """More pairs of classes than the direct table holds; counted again as distinct rows."""
    table = random_table(5, 2, 16)
    found = residual_classes(table)
    assert max(found.classes) ** 2 > DIRECT
    for cut in range(17):
        assert found.classes[cut] == len(numpy.unique(table.last.reshape(2**cut, -1), axis=0))


def test_an_automaton_that_does_not_agree_is_not_exact():
    tree = numpy.concatenate([numpy.bitwise_count(numpy.arange(2**n)) % 2 for n in range(4)]).astype(numpy.int64)
    right = SmallestAutomaton(2, True, 0, numpy.array([[0, 1], [1, 0]]), numpy.array([0, 1]), 0)
    assert agrees(tree, right, 2, 3, 0)
    assert not agrees(tree, replace(right, transitions=numpy.array([[0, 1], [1, 1]])), 2, 3, 0)
    assert not agrees(tree, replace(right, start=1), 2, 3, 0)
    assert not agrees(tree, replace(right, outputs=numpy.array([1, 1])), 2, 3, 0)


def test_sparse_forms_are_told_in_words():
    x = numpy.array(list(product(range(2), repeat=4)))

    def words(values):
        found = sparse_form(Table(4, 2, "decision", values.astype(numpy.uint8)))
        return None if found is None else found.in_words()

    assert words(x[:, 1] == 1) == "1 feature of 1 bit decides"
    assert words(x[:, 0] | x[:, 1]) == "1 feature of 2 bits decides" or "at least one" in words(x[:, 0] | x[:, 1])
    assert words((x[:, 0] == x[:, 1]) | (x[:, 2] == x[:, 3])) == "at least one of 2 features of 2 bits holds"
    assert words((x[:, 0] == x[:, 1]) & (x[:, 2] == x[:, 3])) == "all of 2 features of 2 bits hold"


def test_forms_with_too_many_features_or_too_few_rounds_are_not_found(monkeypatch):
    """Two ones among eight bits: 28 pairs are needed to cover them, more than N."""
    ones = numpy.bitwise_count(numpy.arange(256)) >= 2
    assert sparse_module._any(ones, 8, 2) is None
    # One feature of the first bit and one of many others: a few ones alone do not show all of them.
    x = numpy.array(list(product(range(2), repeat=10)))
    pairs = (x[:, ::2] != x[:, 1::2]).any(axis=1)
    monkeypatch.setattr(sparse_module, "FIRST", 2)
    monkeypatch.setattr(sparse_module, "ADDED", 1)
    found = sparse_module._any(pairs, 10, 2)
    assert found is not None
    assert found.features == 5
    weighted = 2 * x[:, 0] + x[:, 1] + x[:, 2] - x[:, 3] > 1
    assert sparse_module._threshold(weighted, 10, 1) is not None
    monkeypatch.setattr(sparse_module, "ROUNDS", 1)
    assert sparse_module._any(pairs, 10, 2) is None
    assert sparse_module._threshold(weighted, 10, 1) is None


def test_positions_mean_nothing_at_other_lengths():
    found = profile("parity", parity, 6, options=ProfileOptions(partitions=("0,3",)))
    assert [each.communication_bits for each in found.lengths] == [None] * 5 + [2]


def test_one_position_has_no_partition():
    found = profile_record(profile("parity", parity, 1))
    assert found.one_layer is None
    assert found.partitions == ()
