"""Sparse averaging: exact sums, uniform sets and values, and the INDEX reduction of the slides."""

from itertools import combinations

import numpy
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from separatrix.errors import SeparatrixError
from separatrix.tasks import draws_from, tasks
from separatrix.tasks.problems.sparse_averaging import SparseAveraging, ball

TASK = SparseAveraging()


def test_sets_are_uniform() -> None:
    inputs = TASK.sample(draws_from(4), 3000, 6).inputs
    sets, counts = numpy.unique(inputs[:, :, 1:4].reshape(-1, 3), axis=0, return_counts=True)
    assert [tuple(each) for each in sets.tolist()] == list(combinations(range(1, 7), 3))
    mean = 3000 * 6 / 20
    chi_square = float(((counts - mean) ** 2).sum() / mean)
    assert chi_square < 19 + 6 * (2 * 19) ** 0.5


def test_values_are_uniform_over_the_ball() -> None:
    task = SparseAveraging(dimension=2, resolution=2)
    inputs = task.sample(draws_from(4), 3000, 5).inputs
    values, counts = numpy.unique(inputs[:, :, 4:].reshape(-1, 2), axis=0, return_counts=True)
    numpy.testing.assert_array_equal(values, ball(2, 2))
    mean = 15_000 / len(values)
    assert float(((counts - mean) ** 2).sum() / mean) < 12 + 6 * (2 * 12) ** 0.5


@pytest.mark.parametrize(("dimension", "radius", "points"), [(1, 8, 17), (2, 1, 5), (2, 2, 13), (3, 1, 7), (3, 3, 123)])
def test_the_ball_has_the_known_number_of_points(dimension: int, radius: int, points: int) -> None:
    table = ball(dimension, radius)
    assert len(table) == points
    assert (table**2).sum(axis=1).max() == radius**2


def test_scale_brings_answers_to_norm_one() -> None:
    task = SparseAveraging(sparsity=4, dimension=3, resolution=5)
    examples = task.sample(draws_from(0), 200, 12)
    assert task.answer_scale == 20
    assert (numpy.linalg.norm(examples.targets / task.answer_scale, axis=2) <= 1 + 1e-12).all()
    assert examples.targets.shape == (200, 12, 3)


@settings(max_examples=20, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    sparsity=st.integers(1, 6),
    dimension=st.integers(1, 3),
    resolution=st.integers(1, 9),
    extra=st.integers(0, 8),
)
def test_labels_equal_sums_over_sets(seed: int, sparsity: int, dimension: int, resolution: int, extra: int) -> None:
    task = SparseAveraging(sparsity=sparsity, dimension=dimension, resolution=resolution)
    length = sparsity + extra
    examples = task.sample(draws_from(seed), 3, length)
    assert task.admissible(examples.inputs, length).all()
    on_torch, _ = task.label(torch.from_numpy(examples.inputs), length)
    numpy.testing.assert_array_equal(on_torch.numpy(), examples.targets)
    for row in range(3):
        plain = task.trim(examples.inputs[row], length)
        assert task.solve(plain, length) == [tuple(each) for each in examples.targets[row].tolist()]
        assert task.read(task.write(plain, length), length) == plain


def test_index_reduction() -> None:
    # SHT23 gives Alice's cells the empty set, which is not a set of q = 1 indices; {1} does as well.
    task = SparseAveraging(sparsity=1, resolution=1)
    bits = [1, 0, 0, 1, 1]
    for asked in range(5):
        row = [[place + 1, 1, bit] for place, bit in enumerate(bits)] + [[6, asked + 1, 0]]
        assert task.admissible(numpy.array([row]), 6).all()
        assert task.solve(row, 6)[-1] == (bits[asked],)
        targets, _ = task.label(numpy.array([row]), 6)
        assert targets[0, -1].tolist() == [bits[asked]]


def test_promise() -> None:
    task = SparseAveraging(sparsity=2, dimension=2, resolution=2)
    good = [[1, 1, 2, 0, 2], [2, 1, 2, -1, 1]]
    bad = [
        [[2, 1, 2, 0, 2], [1, 1, 2, 0, 0]],
        [[1, 2, 1, 0, 2], [2, 1, 2, 0, 0]],
        [[1, 1, 1, 0, 2], [2, 1, 2, 0, 0]],
        [[1, 1, 3, 0, 2], [2, 1, 2, 0, 0]],
        [[1, 1, 2, 1, 2], [2, 1, 2, 0, 0]],
        [[1, 1, 2, 2**40, 0], [2, 1, 2, 0, 0]],
    ]
    assert task.admissible(numpy.array([good, *bad]), 2).tolist() == [True] + [False] * 6


def test_counts_and_minimum_length_follow_the_parameters() -> None:
    assert TASK.minimum_length == 3
    assert TASK.with_parameters(sparsity=1).minimum_length == 1
    assert TASK.with_parameters(sparsity=5).with_parameters(sparsity=2).minimum_length == 2
    assert TASK.count(4) == TASK.space(4).count == (4 * 17) ** 4
    assert TASK.count(10_000) > 10**1000
    with pytest.raises(SeparatrixError, match="too many to list"):
        TASK.space(10_000)
    assert SparseAveraging(sparsity=30).describe(60)["inputs"] is None
    with pytest.raises(SeparatrixError, match="no inputs of length 4"):
        TASK.with_parameters(sparsity=5).sample(draws_from(0), 1, 4)


@pytest.mark.parametrize(
    ("parameters", "text"),
    [
        ({"sparsity": 0}, "sparsity=0"),
        ({"dimension": 0}, "dimension=0"),
        ({"resolution": 0}, "resolution=0"),
        ({"dimension": 9}, "too many values to list"),
        ({"dimension": 10**9}, "too many values to list"),
    ],
)
def test_bad_parameters(parameters: dict[str, int], text: str) -> None:
    with pytest.raises(SeparatrixError, match=text) as caught:
        TASK.with_parameters(**parameters)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("text", ["1,2,3", "1,2:3", "1,2,3:x", "1,2,3:1,1", ":"])
def test_unreadable_cells(text: str) -> None:
    with pytest.raises(SeparatrixError, match="is not a cell such as 1,2,3:0"):
        tasks()["sparse-averaging"].read(text, 4)
