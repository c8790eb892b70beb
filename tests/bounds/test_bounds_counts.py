"""What bounds rest on: counts of executed protocols, exact combinatorics, and inflated constants rejected."""

import itertools
import math
from fractions import Fraction

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from separatrix.arithmetic import FixedPoint
from separatrix.bit_counts import bits_for
from separatrix.bounds import (
    ContradictionError,
    ModelSize,
    ProtocolBound,
    bounds,
    protocol_bounds,
)
from separatrix.bounds import dyck_fooling as dyck
from separatrix.bounds.first_layer import collides, collision, digit_weights
from separatrix.bounds.inequality_automaton import inequality_automaton
from separatrix.bounds.simulations import FIRST_LAYER, GRAPH_LAYERS, ONE_LAYER, ONE_LAYER_QUERY, Setting
from separatrix.communication.fooling import verify_by_uniqueness, verify_strings
from separatrix.communication.partition import odd_even
from separatrix.communication.problem import from_task
from separatrix.communication.protocols import make_plan
from separatrix.communication.reductions import Reduction, reductions
from separatrix.communication.rows import count_distinct_rows
from separatrix.constructions import constructions
from separatrix.errors import SeparatrixError
from separatrix.tasks import tasks
from tests.communication.protocol_cases import random_network

NUMBERED = protocol_bounds()
REDUCTIONS = {version.name: version for each in reductions().values() for version in (each, *each.variants)}


def named(bound) -> str:
    return bound.name


# -- what the counts rest on ------------------------------------------------------------------------------


def hidden_in(bound: ProtocolBound) -> Reduction | None:
    return REDUCTIONS[bound.reduction] if bound.reduction else None


@pytest.mark.parametrize("bound", [each for each in NUMBERED if each.reduction], ids=named)
def test_hidden_bits_are_those_of_the_reduction_and_an_inflated_constant_is_rejected(bound):
    reduction = hidden_in(bound)
    for size in range(reduction.smallest, 12):
        task, length = reduction.task(size), reduction.length(size)
        bits = reduction.bits(size)
        assert bound.required_bits(length, task) == bits
        # Alice can send all her bits: that protocol exists, so that no bound may ask for more.
        for factor in (10, Fraction(bits + 1, bits)):
            assert bound.inflated(factor).required_bits(length, task) > bits


@pytest.mark.parametrize("length", [2, 4, 6])
def test_dyck_is_held_against_its_exact_rows(length):
    bound = bounds()["dyck-transformer-1layer"]
    rows = count_distinct_rows(from_task(tasks()["dyck"], length))
    # One row for each completable x, and one for all others: ⌈log2(2^(N-1) + 1)⌉ = N bits one way.
    assert rows == 2 ** (length - 1) + 1
    assert bound.required_bits(length) <= bits_for(rows) < bound.inflated(10).required_bits(length)


@pytest.mark.parametrize("name", ["index-lookup-rnn", "inequality-rnn", "disjointness-rnn"])
def test_recurrent_bounds_are_held_against_exact_residual_classes(name):
    bound = bounds()[name]
    task = {"index-lookup-rnn": tasks()["index"]}.get(name, bound.task_of())
    for length in (4, 6, 8):
        classes = count_distinct_rows(from_task(task, length))
        exact = ModelSize(1, 1, state_bits=bits_for(classes))
        bound.check_consistent(length, exact, "the residual classes", task)
        assert bound.required_bits(length, task) == bits_for(classes)
        with pytest.raises(ContradictionError):
            bound.inflated(10).check_consistent(length, exact, "the residual classes", task)


def test_the_automaton_bound_is_held_against_minimal_automata():
    bound = bounds()["inequality-dfa"]
    for length in (2, 4, 6, 8):
        found = inequality_automaton(length)
        assert found.holds
        enough = ModelSize(1, 1, state_bits=bits_for(found.states))
        bound.check_consistent(length, enough, "the minimal automaton")
        with pytest.raises(ContradictionError):
            bound.inflated(10).check_consistent(length, enough, "the minimal automaton")
    with pytest.raises(SeparatrixError, match="even length"):
        inequality_automaton(5)


def test_copying_is_held_against_the_number_of_first_halves():
    bound, task = bounds()["eq-ncp-rnn"], tasks()["eq-ncp"].with_parameters(vocabulary_size=5)
    halves = ModelSize(1, 1, state_bits=bits_for(4**6))
    bound.check_consistent(12, halves, "storing the first half", task)
    with pytest.raises(ContradictionError):
        bound.inflated(10).check_consistent(12, halves, "storing the first half", task)


@pytest.mark.parametrize("name", bounds()["first-layer-fnn"].task_names)
def test_first_layers_that_pass_everything_on_satisfy_the_bound(name):
    bound, task = bounds()["first-layer-fnn"], tasks()[name]
    length = max(12, task.minimum_length)
    numbers = task.positions(length) * max(1, task.features(length))
    bound.check_consistent(length, ModelSize(numbers, 22), "the identity", task)
    factor = 1000 * numbers
    with pytest.raises(ContradictionError):
        bound.inflated(factor).check_consistent(length, ModelSize(numbers, 22), "the identity", task)


# -- simulations against executed protocols ---------------------------------------------------------------


@pytest.mark.parametrize("products", ["rounded", "exact"])
@pytest.mark.parametrize(("name", "length"), [("index-lookup", 16), ("index-lookup", 64), ("match2-code", 16)])
def test_one_layer_counts_what_the_executed_protocol_sends(name, length, products):
    built = constructions()[name].build(length)
    plan = make_plan(built.network, built.arithmetic, odd_even(built.network.positions), "token", products)
    head = plan.attention.heads[0]
    size = ModelSize(head.value.shape[0], built.arithmetic.precision_bits, len(plan.attention.heads))
    setting = Setting(built.network.positions, plan.vocabulary_code.width)
    spent = plan.formula_bits - plan.answer_bits
    assert spent <= ONE_LAYER.bits(size, setting)
    # Only the entries of the weighted sum are counted generously.
    steps = plan.step_bits()
    assert (
        ONE_LAYER.bits(size, setting) - spent
        == size.width * size.heads * (size.precision + max(size.precision, plan.length_bits)) - steps["values"]
    )


@given(
    m=st.integers(1, 4),
    heads=st.integers(1, 4),
    positions=st.integers(2, 9),
    exponent=st.integers(1, 3),
    products=st.sampled_from(["rounded", "exact"]),
)
@settings(max_examples=25, deadline=None)
def test_one_layer_never_counts_less_than_a_protocol_sends(m, heads, positions, exponent, products):
    network = random_network(0, positions=positions, width=3, inner=m, value=m, heads=heads, outputs=1, after=False)
    arithmetic = FixedPoint(positions, exponent)
    plan = make_plan(network, arithmetic, odd_even(positions), "token", products)
    setting = Setting(positions, plan.vocabulary_code.width)
    size = ModelSize(m, arithmetic.precision_bits, heads)
    assert plan.formula_bits - plan.answer_bits <= ONE_LAYER.bits(size, setting)
    opened = make_plan(network, arithmetic, odd_even(positions), "queries", products)
    assert opened.formula_bits - opened.answer_bits <= ONE_LAYER_QUERY.bits(size, setting)


@given(seed=st.integers(0, 10**6), vertices=st.integers(2, 6), layers=st.integers(1, 3), heads=st.integers(1, 2))
@settings(max_examples=20, deadline=None)
def test_graph_layers_count_what_two_owners_of_rows_send(seed, vertices, layers, heads):
    """A graph Transformer run by two parties, each with its own rows, bit for bit as by one."""
    draws, width = numpy.random.default_rng(seed), 3
    arithmetic = FixedPoint(max(2, vertices), 2)
    graph = draws.integers(0, 2, (vertices, vertices))
    weights = [[[arithmetic.encode(draws.integers(-1, 2, (vertices if layer == 0 else width, width))) for _ in range(3)]
                for _ in range(heads)] for layer in range(layers)]  # fmt: skip
    cut = vertices // 2
    owned = [numpy.arange(cut), numpy.arange(cut, vertices)]
    state = [arithmetic.encode(graph[rows]) for rows in owned]
    whole = arithmetic.encode(graph)
    sent = 0
    for layer in weights:
        parts, direct = [], []
        for query, key, value in layer:
            # Each party sends the keys and values of its rows; nothing else passes.
            keys, values = ([arithmetic.matmul(own, matrix) for own in state] for matrix in (key, value))
            sent += sum(each.size for each in (*keys, *values)) * arithmetic.precision_bits
            both_keys, both_values = numpy.concatenate(keys), numpy.concatenate(values)
            parts.append([attend(arithmetic, graph[rows], arithmetic.matmul(own, query), both_keys, both_values)
                          for own, rows in zip(state, owned, strict=True)])  # fmt: skip
            products = [arithmetic.matmul(whole, matrix) for matrix in (query, key, value)]
            direct.append(attend(arithmetic, graph, *products))
        state = [sum(head[party] for head in parts) for party in (0, 1)]
        whole = sum(direct)
    assert (numpy.concatenate(state) == whole).all()
    assert sent == GRAPH_LAYERS.bits(ModelSize(width, arithmetic.precision_bits, heads, layers), Setting(vertices))


def attend(arithmetic, rows, queries, keys, values):
    """softmax(κ(X, QKᵀ)) V of some rows, with κ(x, s) = s + x."""
    scores = arithmetic.add(arithmetic.matmul(queries, keys.T), arithmetic.encode(rows))
    return arithmetic.matmul(arithmetic.softmax(scores, axis=-1), values)


@given(st.integers(1, 8), st.integers(1, 40))
def test_first_layer_sums_fit_their_bits(precision, numbers):
    """Sums of K products of two p-bit numbers, counted at their extremes."""
    low, high = -(2 ** (precision - 1)), 2 ** (precision - 1) - 1
    products = [low * low, low * high, high * high]
    values = numbers * max(products) - numbers * min(products) + 1
    assert values <= 2 ** (FIRST_LAYER.bits(ModelSize(1, precision), Setting(1, numbers=numbers)))


def test_counts_in_numbers():
    setting, size = Setting(positions=100, query_bits=3), ModelSize(5, 10, 2, 3)
    assert ONE_LAYER.bits(size, setting) == 3 + 2 * (4 * 10 + 2 * 7 + 5 * (10 + 10))
    assert ONE_LAYER_QUERY.bits(size, setting) == 2 * (4 * 10 + 2 * 7 + 5 * (20 + 10))
    assert GRAPH_LAYERS.bits(size, setting) == 2 * 100 * 3 * 2 * 5 * 10
    # Sums of rounded products need more than 2p bits when there are more than 2^p of them.
    assert ONE_LAYER.bits(ModelSize(1, 3), setting) == 3 + 12 + 14 + (3 + 7)


# -- Lemma 1 ----------------------------------------------------------------------------------------------


def count_by_matrix(length, types=2):
    """Return the number of strings by powers of the automaton's transition matrix, in exact integers; agrees with the
    walk.

    States: depth 0, 1 (one for each type), 2 (one for each pair).
    """
    depth_0, depth_1, depth_2 = 1, 0, 0
    for _ in range(length):
        # Totals over the types: each opening has ``types`` choices, each closing one.
        depth_0, depth_1, depth_2 = depth_1, depth_0 * types + depth_2, depth_1 * types
    return depth_0


@pytest.mark.parametrize("types", [1, 2, 3])
def test_dyck_strings_are_the_language(types):
    task = tasks()["dyck"].with_parameters(types=types)
    for length in (2, 4, 6):
        accepted = []
        for batch in task.enumerate(length):
            accepted += batch.inputs[batch.targets[:, -1] == 1].tolist()
        assert sorted(accepted) == sorted(dyck.dyck_strings(length, types).tolist())
        assert len(accepted) == dyck.dyck_count(length, types) == count_by_matrix(length, types)


def test_there_are_two_to_the_length_minus_one_of_them():
    for length in range(2, 15, 2):
        assert len(dyck.dyck_strings(length)) == 2 ** (length - 1)
    for length in (200, 400):
        assert count_by_matrix(length) == dyck.dyck_count(length) == 2 ** (length - 1)
    assert count_by_matrix(7) == dyck.dyck_count(7) == len(dyck.dyck_strings(7)) == 0
    with pytest.raises(SeparatrixError, match="more than 2\\^20"):
        dyck.dyck_strings(30)


@pytest.mark.parametrize("types", [1, 2, 3])
def test_they_fool_in_both_directions(types):
    for length in (2, 4, 6):
        assert dyck.verify_literally(length, types).valid
        assert dyck.verify_both_ways(length, types).valid
    assert dyck.verify_both_ways(8, types).valid


def test_deeper_languages_do_not_fool():
    task = tasks()["dyck"].with_parameters(depth=3)
    strings = numpy.concatenate([batch.inputs[batch.targets[:, -1] == 1] for batch in task.enumerate(6)])
    assert not verify_by_uniqueness(strings[:, 0::2], strings[:, 1::2]).valid
    assert not verify_strings(from_task(task, 6), strings, 1).valid
    # Those of depth 1 do, in every language.
    flat = numpy.array([[a, 2 + a, b, 2 + b, c, 2 + c] for a in (0, 1) for b in (0, 1) for c in (0, 1)])
    assert verify_strings(from_task(task, 6), flat, 1).valid
    assert dyck.fooling_bits(task, 6) == 3


def test_a_corrupted_fooling_set_is_rejected():
    strings = dyck.dyck_strings(6)
    broken = strings.copy()
    broken[0, 0] = 3 - broken[0, 0]
    assert not verify_strings(from_task(tasks()["dyck"], 6), broken, 1).valid
    assert not verify_by_uniqueness(broken[:, 0::2], numpy.repeat(broken[:1, 1::2], len(broken), axis=0)).valid


# -- feed-forward networks with real values ---------------------------------------------------------------


@given(data=st.data(), cells=st.integers(2, 7))
@settings(deadline=None)
def test_narrow_first_layers_collide(data, cells):
    numbers = data.draw(st.lists(st.integers(-50, 50), min_size=cells * (cells - 1), max_size=cells * (cells - 1)))
    weights = numpy.array(numbers, dtype=numpy.int64).reshape(cells - 1, cells)
    found = collision(weights)
    assert collides(weights, found)
    assert max(map(abs, found.values)) == 1
    wrong = weights.copy()
    wrong[0, found.cell] += 1
    assert not collides(wrong, found)


def test_wide_first_layers_are_not_claimed_to_collide():
    with pytest.raises(SeparatrixError, match="fewer rows than values"):
        collision(numpy.eye(3, dtype=numpy.int64))


@given(st.data(), st.integers(1, 4))
@settings(max_examples=25, deadline=None)
def test_one_unit_with_large_weights_tells_all_inputs_on_a_grid_apart(data, numbers):
    """E22: without a limit on the weights the width of a first layer is bounded by nothing."""
    bounds_of = [sorted(data.draw(st.tuples(st.integers(-3, 3), st.integers(-3, 3)))) for _ in range(numbers)]
    lowest, highest = zip(*bounds_of, strict=True)
    weights = digit_weights(lowest, highest)
    inputs = itertools.product(*(range(low, high + 1) for low, high in bounds_of))
    sums = [sum(weight * number for weight, number in zip(weights, each, strict=True)) for each in inputs]
    assert len(set(sums)) == len(sums) == math.prod(high - low + 1 for low, high in bounds_of)
