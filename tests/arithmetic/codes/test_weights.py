import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from separatrix.arithmetic.codes.binary_field import independent_rows
from separatrix.arithmetic.codes.linear import LinearRule, dropped_places
from separatrix.arithmetic.codes.weights import (
    linear_distances,
    pack_rows,
    pairwise_distances,
    unpack_words,
    weight_distribution,
)
from separatrix.errors import SeparatrixError


@st.composite
def generators(draw, most_rows=8, most_places=140):
    width = draw(st.integers(1, most_places))
    rows = independent_rows(draw(st.lists(st.integers(1, (1 << width) - 1), min_size=1, max_size=most_rows)))
    return rows, width


def every_word(rows, width):
    """All sums of rows, one at a time, as lists of bits."""
    words = []
    for message in range(1 << len(rows)):
        total = 0
        for place, row in enumerate(rows):
            total ^= row if message >> place & 1 else 0
        words.append([total >> place & 1 for place in range(width)])
    return np.array(words, dtype=np.uint8)


def brute_force(words):
    distances = [int((one != other).sum()) for i, one in enumerate(words) for other in words[:i]]
    return min(distances), max(distances)


@settings(deadline=None)
@given(generators(most_rows=6))
def test_codeword_weights_are_all_pairwise_distances(code):
    rows, width = code
    words = every_word(rows, width)
    measured = linear_distances(rows, width)
    assert (measured.smallest, measured.largest) == brute_force(words)
    compared = pairwise_distances(words)
    assert (compared.smallest, compared.largest) == brute_force(words)


@settings(deadline=None)
@given(generators(most_rows=6), st.data())
def test_extremes_stay_exact_for_any_count_that_needs_all_rows(code, data):
    rows, width = code
    dimension = len(rows)
    count = data.draw(st.integers((1 << (dimension - 1)) + 1, 1 << dimension))
    words = LinearRule(tuple(rows), width).words(np.arange(count))
    measured = linear_distances(rows, width)
    assert (measured.smallest, measured.largest) == brute_force(words)


@settings(deadline=None)
@given(generators())
def test_words_on_demand_match_the_full_table(code):
    rows, width = code
    table = every_word(rows, width)
    rule = LinearRule(tuple(rows), width)
    order = np.random.default_rng(0).permutation(len(table))
    assert np.array_equal(rule.words(order), table[order])
    assert np.array_equal(rule.words(np.array([len(table) - 1])), table[-1:])


@settings(deadline=None)
@given(generators(), st.integers(0, 4), st.integers(0, 4))
def test_shortening_and_puncturing_match_their_definition(code, shortened, punctured):
    rows, width = code
    if shortened + punctured >= width:
        shortened = punctured = 0
    table = every_word(rows, width)
    kept = table[~table[:, :shortened].any(axis=1)][:, shortened + punctured :]
    rule = dropped_places(rows, width, shortened, punctured)
    assert rule.width == width - shortened - punctured
    derived = every_word(list(rule.rows), rule.width)
    assert {word.tobytes() for word in derived} == {word.tobytes() for word in kept}


@pytest.mark.parametrize("dimension", [13, 14, 15, 17])
def test_the_distribution_does_not_depend_on_the_block(dimension):
    generator = np.random.default_rng(dimension)
    width = 70
    rows = [int.from_bytes(generator.bytes(9), "little") % (1 << width) for _ in range(dimension)]
    whole = np.zeros((1, 2), dtype=np.uint64)
    for row in pack_rows(rows, width):
        whole = np.concatenate([whole, whole ^ row])
    expected = np.bincount(unpack_words(whole, width).sum(axis=1), minlength=width + 1)
    assert np.array_equal(weight_distribution(rows, width), expected)


def test_pairs_across_blocks_are_all_seen():
    generator = np.random.default_rng(1)
    words = generator.integers(0, 2, (1500, 40), dtype=np.uint8)
    words[1499] = words[3]
    words[1499, :2] ^= 1
    words[1200] = 1 - words[700]
    distances = pairwise_distances(words)
    signs = 1 - 2 * words.astype(np.int64)
    gram = (40 - signs @ signs.T) // 2
    off_diagonal = gram[~np.eye(1500, dtype=bool)]
    assert (distances.smallest, distances.largest) == (off_diagonal.min(), off_diagonal.max()) == (2, 40)


def test_memory_stays_bounded():
    rows = [(1 << place) | (0x5A5A << (place + 20)) for place in range(20)]
    tracemalloc.start()
    weight_distribution(rows, 256)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 16 << 20


def test_too_many_words_are_refused():
    with pytest.raises(SeparatrixError, match="dimension 29"):
        weight_distribution([1 << place for place in range(29)], 29)
