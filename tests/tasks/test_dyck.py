"""Bounded Dyck languages: the stack walk, the corruption, and the vectorised tools, against obvious ones."""

from collections import Counter
from fractions import Fraction

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks import loop_samplers
from separatrix.errors import SeparatrixError
from separatrix.tasks import draws_from
from separatrix.tasks.problems._bounded_stack import is_balanced, random_depths
from separatrix.tasks.problems._shallow_walk import pairs_in_a_run
from separatrix.tasks.problems.dyck import TASK, Dyck
from tests.tasks.statistics import assert_counts_follow


def exact_walk(task: Dyck, length: int) -> dict[tuple[int, ...], Fraction]:
    """The exact distribution of the walk by following every choice: H.1 in the most obvious form."""
    found: dict[tuple[int, ...], Fraction] = {}

    def follow(tokens: tuple[int, ...], stack: tuple[int, ...], probability: Fraction) -> None:
        left = length - len(tokens)
        if left == 0:
            found[tokens] = found.get(tokens, Fraction(0)) + probability
            return
        closing, opening = [None], list(range(task.types))
        possible = closing + opening if stack else opening
        options = closing if len(stack) in (task.depth, left) else possible
        for option in options:
            share = probability / len(options)
            if option is None:
                follow((*tokens, task.types + stack[-1]), stack[:-1], share)
            else:
                follow((*tokens, option), (*stack, option), share)

    follow((), (), Fraction(1))
    return found


@pytest.mark.parametrize(
    ("types", "depth", "length"),
    [
        (2, 2, 2),
        (2, 2, 6),
        (2, 2, 8),
        (1, 1, 6),
        (3, 1, 4),
        (1, 3, 8),
        (2, 3, 8),
        (1, 4, 10),
        (1, 5, 12),
        (3, 2, 6),
        (1, 50, 8),
        (2, 4, 6),
    ],
)
def test_balanced_strings_have_the_exact_distribution_of_the_walk(types, depth, length):
    task = Dyck(types=types, depth=depth)
    strings = task.balanced_strings(draws_from(types * 100 + depth), 60_000, length)
    expected = {tokens: float(p) for tokens, p in exact_walk(task, length).items()}
    assert_counts_follow(Counter(map(tuple, strings.tolist())), expected)


def test_strings_from_the_table_have_the_walks_law_where_two_look_ups_meet():
    """With two types a look-up gives five pairs: brackets 10 to 19 come from the second one."""
    assert pairs_in_a_run(2) == 5
    strings = TASK.balanced_strings(draws_from(8), 60_000, 14)
    expected: Counter[tuple[int, ...]] = Counter()
    for tokens, probability in exact_walk(TASK, 14).items():
        expected[tokens[6:12]] += probability
    assert_counts_follow(
        Counter(map(tuple, strings[:, 6:12].tolist())), {tokens: float(p) for tokens, p in expected.items()}
    )


def test_at_depth_two_the_general_rule_is_the_papers():
    """The walk of the benchmark's loop is the paper's own; its exact support and shares must be ours."""
    generator = numpy.random.default_rng(0)
    loop = Counter(tuple(loop_samplers.balanced_string(lambda n: int(generator.integers(n)), 6)) for _ in range(20_000))
    assert_counts_follow(loop, {tokens: float(p) for tokens, p in exact_walk(TASK, 6).items()})


def test_depth_profile_is_exact():
    """At n = k = 2: depth 1 at odd times, and at even times 2 with probability 2/3, independently."""
    length, count = 60, 6000
    strings = TASK.balanced_strings(draws_from(1), count, length)
    depths = numpy.cumsum(numpy.where(strings < 2, 1, -1), axis=1)
    assert (depths[:, 0::2] == 1).all()
    inner = depths[:, 1 : length - 2 : 2]
    for column in inner.T:
        assert_counts_follow(Counter(column.tolist()), {2: 2 / 3, 0: 1 / 3})
    pairs = Counter(zip(inner[:, 3].tolist(), inner[:, 4].tolist(), strict=True))
    assert_counts_follow(
        pairs, {(a, b): (2 / 3 if a else 1 / 3) * (2 / 3 if b else 1 / 3) for a in (0, 2) for b in (0, 2)}
    )


@pytest.mark.parametrize(("types", "depth"), [(2, 2), (1, 4), (3, 3), (5, 7), (70, 2), (2, 130)])
@pytest.mark.parametrize("length", [2, 4, 10, 150, 402])
def test_positives_are_valid_and_of_exact_length(types, depth, length):
    task = Dyck(types=types, depth=depth)
    strings = task.balanced_strings(draws_from(5), 120, length)
    assert strings.shape == (120, length)
    assert all(task.solve(row, length)[-1] == 1 for row in strings.tolist())


def test_half_of_the_samples_are_positive_and_negatives_are_never_balanced():
    batch = TASK.sample(draws_from(2), 20_000, 20)
    assert_counts_follow(Counter(batch.targets[:, -1].tolist()), {0: 0.5, 1: 0.5})
    assert all(
        TASK.solve(row, 20)[-1] == label for row, label in zip(batch.inputs.tolist(), batch.targets[:, -1], strict=True)
    )


@pytest.mark.parametrize("types", [1, 2, 3])
def test_corruption_counts_positions_and_actions_are_uniform(types):
    task, length, count = Dyck(types=types), 40, 20_000
    original = task.balanced_strings(draws_from(3), count, length)
    corrupted, enough = task.corrupt(draws_from(4), original)
    assert enough.all()
    changed = corrupted != original
    assert_counts_follow(Counter(changed.sum(axis=1).tolist()), dict.fromkeys(range(1, 5), 1 / 4))
    places = Counter(numpy.nonzero(changed)[1].tolist())
    total = sum(places.values())
    for position in range(length):
        assert abs(places[position] - total / length) < 5.5 * (total / length) ** 0.5
    switched = (corrupted >= types) != (original >= types)
    share = switched[changed].mean()
    assert abs(share - (1.0 if types == 1 else 0.5)) < 0.02
    if types == 3:
        moves = Counter(((corrupted - original) % 3)[changed & ~switched].tolist())
        assert_counts_follow(moves, {1: 0.5, 2: 0.5})


def test_corrupted_strings_that_are_still_balanced_are_corrupted_again():
    """At N = 20 a visible share of corruptions leaves the string balanced; none may reach the sample."""
    original = TASK.balanced_strings(draws_from(6), 20_000, 20)
    corrupted, _ = TASK.corrupt(draws_from(7), original)
    assert is_balanced(corrupted, 2, 2).sum() > 20
    batch = TASK.sample(draws_from(6), 20_000, 20)
    assert abs(batch.targets[:, -1].mean() - 0.5) < 0.02


def test_loop_and_vectorised_samplers_agree_on_negatives():
    generator = numpy.random.default_rng(8)
    loop_inputs, loop_targets, _ = loop_samplers.dyck(lambda n: int(generator.integers(n)), 20_000, 4)
    ours = TASK.sample(draws_from(9), 20_000, 4)
    first = Counter(map(tuple, loop_inputs[loop_targets[:, -1] == 0].tolist()))
    second = Counter(map(tuple, ours.inputs[ours.targets[:, -1] == 0].tolist()))
    assert set(first) == set(second)
    for key, number in first.items():
        assert abs(number - second[key]) < 5.5 * (number + second[key]) ** 0.5 + 5


@settings(max_examples=50, deadline=None)
@given(data=st.data(), types=st.integers(1, 4), depth=st.integers(1, 40), half=st.integers(1, 30))
def test_is_balanced_equals_the_stack_on_any_string(data, types, depth, half):
    rows = [loop_samplers.balanced_string(lambda n: data.draw(st.integers(0, n - 1)), 2 * half, types, 2)]
    for _ in range(3):
        row = list(rows[0])
        for _ in range(data.draw(st.integers(0, 3))):
            row[data.draw(st.integers(0, len(row) - 1))] = data.draw(st.integers(0, 2 * types - 1))
        rows.append(row)
    found = is_balanced(numpy.array(rows), types, depth)
    assert found.tolist() == [loop_samplers.balanced(row, types, depth) for row in rows]


@settings(max_examples=40, deadline=None)
@given(opens=st.lists(st.booleans(), min_size=0, max_size=60), depth=st.integers(1, 9))
def test_random_depths_equal_the_walk_step_by_step(opens, depth):
    opens = opens[: len(opens) // 2 * 2]
    expected, level = [0], 0
    for taken, up in enumerate(opens):
        full = level == depth or level == len(opens) - taken
        level += 1 if level == 0 or (up and not full) else -1
        expected.append(level)
    assert random_depths(numpy.array([opens], dtype=bool), depth)[0].tolist() == expected


@pytest.mark.parametrize("length", [2, 4, 6, 8, 10])
def test_dyck_2_2_has_two_to_the_n_minus_one_strings(length):
    """BHBK24 Lemma 1 counts them: the size of the fooling set."""
    accepted = sum(int(batch.targets[:, -1].sum()) for batch in TASK.enumerate(length))
    assert accepted == 2 ** (length - 1)


def test_bad_parameters():
    with pytest.raises(SeparatrixError, match="types=0"):
        Dyck(types=0)
    with pytest.raises(SeparatrixError, match="depth=-1"):
        Dyck(depth=-1)
    with pytest.raises(SeparatrixError, match="divisible by 2, not 7; try 6 or 8"):
        TASK.sample(draws_from(0), 1, 7)


def test_readable_form_and_picture():
    row = TASK.read("([])[]", 6)
    assert TASK.write(row, 6) == "([])[]"
    assert TASK.picture(row, 6).splitlines() == [" []", "(  )[]", "balanced within depth 2"]
    wide = Dyck(types=6)
    assert wide.write([5, 11], 2) == "(6 )6"
    assert list(wide.read("(6 )6", 2)) == [5, 11]
