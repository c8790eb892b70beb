"""Nearest neighbour: exact margins and norms, the matching of queries and points, and its link to MQAR."""

import math
from collections import Counter
from fractions import Fraction
from itertools import permutations
from typing import Any

import numpy
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from separatrix.errors import SeparatrixError
from separatrix.tasks import Draws, draws_from, tasks
from separatrix.tasks.problems import _rows
from separatrix.tasks.problems._points import GRID
from separatrix.tasks.problems.nearest_neighbour import NearestNeighbour
from tests.tasks.statistics import assert_counts_follow
from tests.tasks.test_contract import recorded, replayed_on_torch

SPHERE = NearestNeighbour()
HYPERCUBE = NearestNeighbour(points="hypercube")


def products_before(points: list[list[int]], query: int) -> list[int]:
    """Inner products in Python's integers."""
    return [sum(a * b for a, b in zip(points[query], point, strict=True)) for point in points[:query]]


@pytest.mark.parametrize("points", ["sphere", "hypercube"])
@pytest.mark.parametrize(("length", "count"), [(2, 50), (4, 50), (16, 20), (100, 3), (128, 3)])
def test_margin_and_norm_hold_exactly(points: str, length: int, count: int) -> None:
    task = SPHERE.with_parameters(points=points)
    examples = task.sample(draws_from(length), count, length)
    assert task.admissible(examples.inputs, length).all()
    scale = GRID**2 if points == "sphere" else 16
    for row in examples.inputs[:, 0::2, 2:].tolist():
        for query in range(length // 2, length):
            ranked = sorted(products_before(row, query), reverse=True)
            assert len(ranked) < 2 or Fraction(ranked[0] - ranked[1], scale) >= Fraction(1, 10)
        for point in row:
            squared = sum(x * x for x in point)
            allowed = (GRID - math.sqrt(16)) ** 2, (GRID + math.sqrt(16)) ** 2
            assert allowed[0] <= squared <= allowed[1] if points == "sphere" else squared == 16


@pytest.mark.parametrize("points", ["sphere", "hypercube"])
def test_queries_match_the_first_half_in_uniform_order(points: str) -> None:
    inputs = SPHERE.with_parameters(points=points, dimension=24).sample(draws_from(1), 6000, 6).inputs[:, 0::2, 2:]
    similar = numpy.einsum("nqd,nid->nqi", inputs[:, 3:], inputs[:, :3])
    order = similar.argmax(axis=2)
    assert_counts_follow(Counter(tuple(row) for row in order.tolist()), dict.fromkeys(permutations(range(3)), 1 / 6))


def test_sphere_points_are_spread_evenly() -> None:
    inputs = SPHERE.with_parameters(dimension=3).sample(draws_from(2), 4000, 4).inputs
    first = inputs[:, 0, 2:] / GRID
    # On the sphere in three dimensions every coordinate is uniform in [-1, 1] (Archimedes).
    for axis in range(3):
        shares = numpy.histogram(first[:, axis], bins=8, range=(-1, 1))[0] / len(first)
        assert numpy.abs(shares - 1 / 8).max() < 0.03
    assert numpy.abs(first.mean(axis=0)).max() < 0.05


def test_labels_are_uniform_in_both_halves() -> None:
    task = SPHERE.with_parameters(labels=3)
    examples = task.sample(draws_from(3), 2000, 8)
    for place in range(1, 15, 2):
        shares = numpy.bincount(examples.inputs[:, place, 1], minlength=3) / 2000
        assert numpy.abs(shares - 1 / 3).max() < 0.06
    assert set(numpy.unique(examples.targets).tolist()) == {0, 1, 2}


def test_only_earlier_points_count() -> None:
    task = NearestNeighbour(points="hypercube", dimension=4, margin="1/2")
    row = task.read("(1,1,1,1) 0 (1,1,-1,-1) 1 (1,1,1,1) 1 (1,1,-1,-1)", 4)
    # x_3 repeats x_1 and not itself, whose label is 1; x_4 repeats x_2.
    assert task.solve(row, 4) == [None, None, None, None, 0, None, 1]
    assert task.label(numpy.array([row]), 4)[0][0].tolist() == [0, 0, 0, 0, 0, 0, 1]
    assert task.admissible(numpy.array([row]), 4).tolist() == [True]
    assert "x_3 is nearest to x_1 (product +1.000, next +0.000): 0" in task.picture(row, 4)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32), half=st.integers(1, 12), labels=st.integers(2, 5))
def test_mqar_is_a_case_of_nearest_neighbour(seed: int, half: int, labels: int) -> None:
    # BHBK24 Appendix G: keys as corners of the hypercube of dimension log2 of their number.
    length = 2 * half
    mqar = tasks()["mqar"].with_parameters(labels=labels)
    examples = mqar.sample(draws_from(seed), 3, length)
    dimension = max(1, (length - 1).bit_length())
    task = NearestNeighbour(points="hypercube", dimension=dimension, margin=f"2/{dimension + 1}", labels=labels)
    keys = numpy.concatenate([examples.inputs[:, 0:length:2], examples.inputs[:, length:]], axis=1)
    corners = 2 * ((keys[:, :, None] >> numpy.arange(dimension)) & 1) - 1
    first = examples.inputs[:, 1:length:2] - length
    later = numpy.random.default_rng(seed).integers(0, labels, (3, half - 1))
    inputs = task.lay_out(corners, numpy.concatenate([first, later], axis=1))
    assert task.admissible(inputs, length).all()
    numpy.testing.assert_array_equal(task.label(inputs, length)[0][:, length::2], examples.targets[:, length:])


def test_same_numbers_give_the_same_corners_on_torch() -> None:
    stream, log = recorded(4)
    first = HYPERCUBE.sample(stream, 40, 60)
    second = HYPERCUBE.sample(replayed_on_torch(log), 40, 60)
    numpy.testing.assert_array_equal(first.inputs, second.inputs.numpy())
    numpy.testing.assert_array_equal(first.targets, second.targets.numpy())


def test_torch_and_chunks_do_not_change_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    examples = SPHERE.sample(draws_from(5), 12, 20)
    inputs = torch.from_numpy(examples.inputs)
    numpy.testing.assert_array_equal(SPHERE.label(inputs, 20)[0].numpy(), examples.targets)
    assert bool(SPHERE.admissible(inputs, 20).all())
    monkeypatch.setattr(_rows, "CHUNK_ENTRIES", 1000)
    numpy.testing.assert_array_equal(SPHERE.label(examples.inputs, 20)[0], examples.targets)
    assert SPHERE.admissible(examples.inputs, 20).all()


def test_only_failing_rows_are_drawn_again() -> None:
    generator, shapes = numpy.random.default_rng(6), []

    def random(shape: tuple[int, ...]) -> numpy.ndarray:
        shapes.append(shape)
        return generator.random(shape)

    task = NearestNeighbour(dimension=8)
    examples = task.sample(Draws(random), 60, 30)
    assert task.admissible(examples.inputs, 30).all()
    # The order of the queries is drawn once in every round, for the rows of that round.
    rounds = [shape[0] for shape in shapes if len(shape) == 2 and shape[1] == 15]
    assert rounds[0] == 60
    assert len(rounds) > 1
    assert rounds[1] < 60
    assert rounds == sorted(rounds, reverse=True)


def test_impossible_margins_say_what_to_change() -> None:
    task = NearestNeighbour(dimension=2, margin="3/4")
    expected = "N=20, dimension=2 and margin=3/4 .* lower the margin or raise the dimension"
    with pytest.raises(SeparatrixError, match=expected) as caught:
        task.sample(draws_from(0), 4, 20)
    assert "\n" not in str(caught.value)


def test_promise() -> None:
    task = NearestNeighbour(dimension=2, margin="1/10")
    good = task.read(f"({GRID},0) 0 (0,{GRID}) 1 ({GRID},1) 1 (0,{-GRID})", 4)
    # x_4 has product 0 with x_1, -2^40 with x_2 and -2^20 with x_3: no margin between x_1 and x_3.
    better = task.read(f"({GRID},0) 0 (0,{GRID}) 1 ({GRID},1) 1 (1,{GRID})", 4)
    longer = task.read(f"({GRID + 2},0) 0 (0,{GRID}) 1 ({GRID},1) 1 (1,{GRID})", 4)
    label = task.read(f"({GRID},0) 2 (0,{GRID}) 1 ({GRID},1) 1 (1,{GRID})", 4)
    huge = task.read(f"({GRID},0) 0 (0,{2**40}) 1 ({GRID},1) 1 (1,{GRID})", 4)
    misplaced = [better[1], better[0], *better[2:]]
    batch = numpy.array([good, better, longer, label, huge, misplaced])
    assert task.admissible(batch, 4).tolist() == [False, True, False, False, False, False]


def test_margin_is_exact_at_its_boundary() -> None:
    # Corners in ten dimensions: the products of x_3 with x_1 and x_2 are 10 and 6, a margin of exactly 4/10.
    same, two_flips = ",".join(["1"] * 10), ",".join(["-1"] * 2 + ["1"] * 8)
    text = f"({same}) 0 ({two_flips}) 1 ({same}) 1 ({two_flips})"
    for margin, kept in (("2/5", True), ("0.4", True), ("400001/1000000", False)):
        task = NearestNeighbour(points="hypercube", dimension=10, margin=margin)
        assert task.admissible(numpy.array([task.read(text, 4)]), 4).tolist() == [kept]


def test_spaces() -> None:
    with pytest.raises(SeparatrixError, match="choose points=hypercube"):
        SPHERE.space(4)
    assert SPHERE.describe(8)["inputs"] is None
    assert NearestNeighbour(points="hypercube", dimension=3).count(4) == 2 ** (4 * 3) * 2**3
    assert HYPERCUBE.describe(8)["inputs"] == str(2 ** (8 * 16 + 7))


def test_margins_have_one_spelling() -> None:
    assert NearestNeighbour(margin="0.1") == NearestNeighbour() == SPHERE.with_parameters(margin=0.1)
    assert SPHERE.with_parameters(margin=Fraction(1, 8)).margin == "1/8"


@pytest.mark.parametrize(
    ("parameters", "text"),
    [
        ({"points": "cube"}, "points='cube'"),
        ({"dimension": 0}, "dimension=0"),
        ({"dimension": 5000}, "dimension=5000"),
        ({"labels": 1}, "labels=1"),
        ({"margin": "0"}, "margin=0"),
        ({"margin": "-1/4"}, "margin=-1/4"),
        ({"margin": "2"}, "margin=2"),
        ({"margin": "1/0"}, "margin '1/0'"),
        ({"margin": "wide"}, "margin 'wide'"),
        ({"margin": "1/100000000"}, "too fine"),
    ],
)
def test_bad_parameters(parameters: dict[str, Any], text: str) -> None:
    with pytest.raises(SeparatrixError, match=text) as caught:
        SPHERE.with_parameters(**parameters)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("text", ["(1,2)", "(1,x)", "word", "(", "(1,1,1) (1,1)"])
def test_unreadable_points(text: str) -> None:
    with pytest.raises(SeparatrixError, match=r"is not|coordinates"):
        NearestNeighbour(points="hypercube", dimension=3).read(text, 4)
