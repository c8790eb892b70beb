"""Bounded Dyck languages: automaton, recurrent cell and Transformer against the task, and their claimed sizes."""

from fractions import Fraction
from typing import Any

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from separatrix.arithmetic import Arithmetic, Balls, FixedPoint, Floating
from separatrix.certificates import Claim
from separatrix.certificates.refutations._strings import pairs_of
from separatrix.constructions import Built, Options, constructions
from separatrix.constructions.theorems._brackets import brackets_of
from separatrix.constructions.theorems.dyck_dfa import state_count, transition_table
from separatrix.errors import SeparatrixError
from separatrix.networks import Network, RecurrentNetwork, evaluate
from separatrix.tasks import draws_from, tasks

LANGUAGES = [(1, 1), (1, 3), (2, 1), (2, 2), (2, 3), (3, 2), (4, 2)]
VARIANTS = [
    ("dyck-dfa", "repaired"),
    ("dyck-dfa", "one-hot"),
    ("dyck-rnn", "repaired"),
    ("dyck-rnn", "two-maps"),
    ("dyck-transformer", "repaired"),
    ("dyck-transformer", "lookup"),
]
EVERY_VARIANT = pytest.mark.parametrize(("name", "variant"), VARIANTS)
EVERY_LANGUAGE = pytest.mark.parametrize(("types", "depth"), LANGUAGES)


def build(name: str, length: int, types: int = 2, depth: int = 2, **options: Any) -> Built:
    return constructions()[name].build(length, Options(parameters={"types": types, "depth": depth}, **options))


def recurrent(built: Built) -> RecurrentNetwork:
    assert isinstance(built.network, RecurrentNetwork)
    return built.network


def answers(built: Built, inputs: Any, arithmetic: Arithmetic | None = None) -> list[int]:
    return evaluate(built.network, inputs, arithmetic or built.arithmetic).answers[:, 0].tolist()


@EVERY_VARIANT
@EVERY_LANGUAGE
def test_every_string_of_small_lengths_is_answered_as_solve_says(name, variant, types, depth):
    tried = 0
    for length in (2, 4, 6, 8):
        if (2 * types) ** length > 5000:
            continue
        built = build(name, length, types, depth, variant=variant)
        for examples in built.task.enumerate(length):
            expected = [built.task.solve(row, length)[-1] for row in examples.inputs.tolist()]
            assert answers(built, examples.inputs) == expected
            tried += len(examples)
    assert tried >= 2**2 + 2**4


@EVERY_VARIANT
@pytest.mark.parametrize(("types", "depth"), [(2, 2), (3, 4), (8, 2)])
def test_random_strings_of_length_400(name, variant, types, depth):
    built = build(name, 400, types, depth, variant=variant)
    examples = built.task.sample(draws_from(3), 24, 400)
    expected = [built.task.solve(row, 400)[-1] for row in examples.inputs.tolist()]
    assert 0 < sum(expected) < len(expected)
    assert answers(built, examples.inputs) == expected


@pytest.mark.parametrize("name", ["dyck-dfa", "dyck-rnn", "dyck-transformer"])
@EVERY_LANGUAGE
def test_the_claimed_width_is_the_built_one_at_every_length(name, types, depth):
    for length in (2, 10, 400, 4096):
        built = build(name, length, types, depth)
        code_width = brackets_of(built.task).code_width
        assert built.network.width == constructions()[name].claimed_width(built.task, length, code_width)
        assert built.network.width == build(name, 2, types, depth).network.width


@pytest.mark.parametrize(
    ("types", "depth", "states", "automaton", "cell", "narrow", "transformer"),
    [(1, 1, 3, 2, 4, 2, 9), (2, 2, 8, 3, 10, 5, 13), (3, 2, 14, 4, 14, 7, 17), (2, 3, 16, 4, 14, 7, 15)],
)
def test_sizes_by_hand(types, depth, states, automaton, cell, narrow, transformer):
    assert build("dyck-dfa", 10, types, depth, variant="one-hot").network.width == states
    assert build("dyck-dfa", 10, types, depth).network.width == automaton
    assert build("dyck-rnn", 10, types, depth).network.width == cell
    assert build("dyck-rnn", 10, types, depth, variant="two-maps").network.width == narrow
    assert build("dyck-transformer", 10, types, depth).network.width == transformer


@pytest.mark.parametrize("name", ["dyck-dfa", "dyck-rnn"])
def test_recurrent_weights_do_not_depend_on_the_length(name):
    short, long = recurrent(build(name, 10)), recurrent(build(name, 400))
    assert (short.embedding, short.initial, short.cell, short.readout) == (
        long.embedding,
        long.initial,
        long.cell,
        long.readout,
    )
    assert short.size_bits(8) == long.size_bits(8)
    assert short.state_bits(8) == long.state_bits(8) == 8 * short.width


def test_layers_of_the_transformer():
    assert [build("dyck-transformer", 10, 2, depth).network.depth for depth in (1, 2, 3, 5)] == [2, 2, 3, 3]
    assert {build("dyck-transformer", 10, 2, depth).network.heads for depth in (1, 2, 3, 5)} == {1}
    widths = {build("dyck-transformer", 60, 2, depth).network.width for depth in (3, 5, 9)}
    assert widths == {15}, "the width does not depend on the depth"


def classes_by_refinement(table: list[list[int]], accepting: list[int]) -> int:
    """How many states the minimal automaton has: Moore's partition refinement."""
    block = list(accepting)
    while True:
        signature = [(block[state], tuple(block[after] for after in row)) for state, row in enumerate(table)]
        names = {each: number for number, each in enumerate(sorted(set(signature)))}
        refined = [names[each] for each in signature]
        if len(set(refined)) == len(set(block)):
            return len(set(refined))
        block = refined


def explored(built: Built, types: int) -> tuple[list[list[int]], list[int]]:
    """The network's own states: the next state by token, -1 beyond the length, and the answers."""
    nothing = {"start": 0, "steps": [[0] * (2 * types)], "answers": [0]}
    found = pairs_of(recurrent(built), Claim(built.task, 40, built.arithmetic), nothing)
    assert found is not None
    return found[0].tolist(), found[1].astype(int).tolist()


@pytest.mark.parametrize("variant", ["repaired", "one-hot"])
@EVERY_LANGUAGE
def test_the_automaton_is_minimal_and_complete(variant, types, depth):
    """E8: Σ_{i≤k} n^i + 1 states, 8 for (2,2) and not 7; found by exploring the network, all distinguishable."""
    built = build("dyck-dfa", 40, types, depth, variant=variant)
    following, answers = explored(built, types)
    expected = sum(types**level for level in range(depth + 1)) + 1
    assert len(answers) == expected == state_count(types, depth)
    assert classes_by_refinement(following, answers) == expected
    assert min(map(min, following)) >= 0
    assert (types, depth) != (2, 2) or expected == 8


def test_the_table_pops_what_it_pushes():
    table = transition_table(3, 2)
    assert (table[0] == 0).all()
    pushed = [(state, bracket) for state in range(len(table)) for bracket in range(3) if table[state, bracket]]
    assert len(pushed) == 3 + 9
    assert all(table[table[state, bracket], 3 + bracket] == state for state, bracket in pushed)


@pytest.mark.parametrize("variant", ["repaired", "two-maps"])
@EVERY_LANGUAGE
def test_the_cell_reduces_to_the_minimal_automaton_and_stays_small(variant, types, depth):
    built = build("dyck-rnn", 40, types, depth, variant=variant)
    following, answers = explored(built, types)
    assert min(map(min, following)) >= 0, "no new states after a while"
    assert classes_by_refinement(following, answers) == state_count(types, depth)


@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_any_string_in_any_arithmetic(data):
    name, variant = data.draw(st.sampled_from(VARIANTS[:4]))
    types, depth = data.draw(st.sampled_from(LANGUAGES))
    length = 2 * data.draw(st.integers(1, 15))
    built = build(name, length, types, depth, variant=variant)
    row = data.draw(st.lists(st.integers(0, 2 * types - 1), min_size=length, max_size=length))
    arithmetic = data.draw(
        st.sampled_from([built.arithmetic, FixedPoint(length, 4, "nearest"), Floating("float64"), Balls(64)])
    )
    outputs = evaluate(built.network, numpy.array([row]), arithmetic)
    value = arithmetic.decode(outputs.raw)[0, 0, 0]
    member = built.task.solve(row, length)[-1]
    assert outputs.answers.tolist() == [[member]]
    assert value == 1 if member else value <= 0
    assert Fraction(value).denominator == 1, "whole numbers throughout"


@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_members_and_near_misses_of_the_transformer(data):
    types, depth = data.draw(st.sampled_from([(2, 2), (2, 3), (3, 4)]))
    length = 2 * data.draw(st.integers(1, 20))
    variant = data.draw(st.sampled_from(["repaired", "lookup"]))
    rounding = data.draw(st.sampled_from(["down", "nearest"]))
    built = build("dyck-transformer", length, types, depth, variant=variant, rounding=rounding)
    draws = draws_from(data.draw(st.integers(0, 1000)))
    inputs = built.task.sample(draws, 8, length).inputs
    for row in inputs[:4]:
        row[data.draw(st.integers(0, length - 1))] = data.draw(st.integers(0, 2 * types - 1))
    assert answers(built, inputs) == [built.task.solve(row, length)[-1] for row in inputs.tolist()]


def test_codes_of_types_are_sets_of_one_size():
    for types in (1, 2, 3, 4, 6, 7, 20, 21, 300):
        brackets = brackets_of(tasks()["dyck"].with_parameters(types=types))
        assert len({tuple(row) for row in brackets.code.tolist()}) == types
        assert set(brackets.code.sum(axis=1).tolist()) == {brackets.weight}
    assert brackets.code_width == 11


@EVERY_VARIANT
def test_all_weights_are_exact_integers(name, variant):
    network = build(name, 40, variant=variant).network
    outputs = evaluate(network, numpy.zeros((1, 40), dtype=numpy.int64), FixedPoint(40, 2))
    assert outputs.raw.dtype == numpy.int64
    if isinstance(network, RecurrentNetwork):
        matrices = [
            network.embedding,
            network.initial,
            *[m for each in network.cell for m in (each.weights, each.bias)],
        ]
        assert {matrix.denominator for matrix in matrices} == {1}


@pytest.mark.parametrize(
    ("name", "length", "options", "says"),
    [
        ("dyck-dfa", 7, {}, "divisible by 2"),
        ("dyck-rnn", 0, {}, "choose 2 to"),
        ("dyck-transformer", 401, {}, "divisible by 2"),
        ("dyck-dfa", 10, {"types": 10, "depth": 9}, "4096 states"),
        ("dyck-dfa", 10, {"types": 2, "depth": 10, "variant": "one-hot"}, "too many"),
        ("dyck-dfa", 10, {"types": 60}, "too many"),
        ("dyck-dfa", 2, {"exponent": 1}, "Kc"),
        ("dyck-rnn", 10, {"depth": 10**6}, "numbers"),
        ("dyck-rnn", 10, {"types": 10**6}, "types"),
        ("dyck-rnn", 2, {"exponent": 1}, "Kc"),
        ("dyck-transformer", 400, {"exponent": 1}, "Kc"),
        ("dyck-transformer", 10, {"types": 10**6}, "types"),
        ("dyck-rnn", 10, {"types": 0}, "types"),
        ("dyck-rnn", 10, {"depth": 0}, "depth"),
    ],
)
def test_what_cannot_be_built_ends_in_one_line(name, length, options, says):
    with pytest.raises(SeparatrixError, match=says) as caught:
        build(name, length, **options)
    assert "\n" not in str(caught.value)


def test_the_two_layer_generator_is_no_recogniser():
    """Yao et al.'s two layers know the last open bracket of a correct prefix; they do not see earlier errors."""
    built = build("dyck-transformer", 6, variant="paper")
    assert isinstance(built.network, Network)
    assert built.network.depth == 2
    wrong = numpy.array([[0, 2, 2, 0, 0, 2], [2, 0, 0, 2, 0, 2]])
    assert answers(built, wrong) == [1, 1]
    assert [built.task.solve(row, 6)[-1] for row in wrong.tolist()] == [0, 0]
