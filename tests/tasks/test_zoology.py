"""The preset mqar:zoology against the published generator: settings, and the exact distribution of a small case."""

from collections import Counter
from itertools import permutations

import numpy
import pytest

from separatrix.errors import SeparatrixError
from separatrix.tasks import draws_from
from separatrix.tasks.presets import PRESETS
from tests.tasks.statistics import assert_counts_follow

ZOOLOGY = PRESETS["mqar:zoology"]
SMALL = ZOOLOGY.with_parameters(symbols=14, pairs=2)


def gaps_of(inputs, pairs):
    """Where the first, second, … key stands again, in steps of two tokens behind the pairs."""
    rest, keys = inputs[:, 2 * pairs :], inputs[:, 0 : 2 * pairs : 2]
    return [tuple(int((row == key).argmax()) // 2 for key in mine) for row, mine in zip(rest, keys, strict=True)]


@pytest.mark.parametrize(("length", "pairs"), [(64, 4), (128, 8), (256, 16)])
def test_the_published_sizes(length, pairs):
    """Figure 2 of the paper: 8,192 tokens; keys from 1 to 4095, values from 4096 on, blanks between the queries."""
    inputs = ZOOLOGY.sample(draws_from(0), 64, length).inputs
    assert inputs.shape == (64, length)
    keys, values, rest = inputs[:, 0 : 2 * pairs : 2], inputs[:, 1 : 2 * pairs : 2], inputs[:, 2 * pairs :]
    assert keys.min() >= 1 and keys.max() < 4096 <= values.min() and values.max() < 8192
    assert all(len(set(row)) == pairs for rows in (keys, values) for row in rows.tolist())
    assert (rest[:, 1::2] == 0).all()
    assert (numpy.sort(rest, axis=1)[:, -pairs:] == numpy.sort(keys, axis=1)).all()


@pytest.mark.parametrize("power", ["0.01", "0.5", "1"])
def test_gaps_are_drawn_by_their_power_law_without_replacement(power):
    """The i-th key stands at the i-th gap drawn; the exact probability of every ordered pair of gaps."""
    task = SMALL.with_parameters(power=power)
    inputs = task.sample(draws_from(1), 40_000, 12).inputs
    weights = [float(gap + 1) ** (float(power) - 1) for gap in range(4)]
    share = [weight / sum(weights) for weight in weights]
    expected = {(a, b): share[a] * share[b] / (1 - share[a]) for a, b in permutations(range(4), 2)}
    assert_counts_follow(Counter(gaps_of(inputs, 2)), expected)


def test_keys_and_values_are_uniform_arrangements():
    inputs = SMALL.sample(draws_from(2), 20_000, 12).inputs
    keys = Counter(map(tuple, inputs[:, 0:4:2].tolist()))
    values = Counter(map(tuple, inputs[:, 1:4:2].tolist()))
    assert_counts_follow(keys, dict.fromkeys(permutations(range(1, 7), 2), 1 / 30))
    assert_counts_follow(values, dict.fromkeys(permutations(range(7, 14), 2), 1 / 42))


def test_random_tokens_fill_what_is_no_query():
    task = SMALL.with_parameters(filler="random")
    inputs = task.sample(draws_from(3), 20_000, 12).inputs
    assert_counts_follow(Counter(inputs[:, 5].tolist()), dict.fromkeys(range(14), 1 / 14))


def test_the_answer_is_the_value_at_its_key_and_nowhere_else():
    row = [2, 9, 4, 8, 0, 0, 4, 0, 0, 0, 2, 0]
    assert SMALL.solve(row, 12) == [None] * 6 + [1, None, None, None, 2, None]


def test_what_does_not_fit_is_refused():
    for parameters, length in (({"pairs": 4}, 12), ({"symbols": 12}, 12), ({"pairs": 7, "symbols": 14}, 28)):
        with pytest.raises(SeparatrixError):
            ZOOLOGY.with_parameters(**parameters).check_length(length)
    for parameters in ({"power": "0"}, {"power": "x"}, {"symbols": 7}, {"pairs": 0}):
        with pytest.raises(SeparatrixError):
            ZOOLOGY.with_parameters(**parameters)
