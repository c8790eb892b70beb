"""Pair and triple matching: the literal definitions, planted data, and what the errata E11 and E15 say."""

from itertools import product
from typing import Any

import numpy
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from separatrix.errors import SeparatrixError
from separatrix.tasks import draws_from, tasks
from separatrix.tasks.problems import _rows
from separatrix.tasks.problems._matching import plant_groups, triple_matches
from separatrix.tasks.problems._rows import contained_in_rows
from separatrix.tasks.problems.match2 import Match2
from separatrix.tasks.problems.match3 import Match3
from separatrix.tasks.problems.match3_last import Match3Last
from separatrix.tasks.problems.match3_local import Match3Local

NAMES = ["match2", "match3", "match3-local", "match3-last"]
WIDE = 10**9
"""A modulus at which nothing matches by accident."""


def literal(name: str, numbers: list[int], modulus: int, place: int, window: int) -> int:
    """The slides' formulas, word by word; places counted from 0."""
    everything = range(len(numbers))
    if name == "match2":
        return int(any((numbers[place] + numbers[j]) % modulus == 0 for j in everything))
    if name == "match3-local":
        everything = [j for j in everything if abs(j - place) <= window]
    return int(any((numbers[place] + numbers[j] + numbers[k]) % modulus == 0 for j, k in product(everything, repeat=2)))


@pytest.mark.parametrize("name", ["match2", "match3", "match3-local"])
@settings(max_examples=60, deadline=None)
@given(data=st.data(), modulus=st.integers(2, 40), window=st.integers(1, 5))
def test_labels_follow_the_slides(name: str, data: st.DataObject, modulus: int, window: int) -> None:
    parameters = {"window": window} if name == "match3-local" else {}
    task = tasks()[name].with_parameters(modulus=modulus, **parameters)
    numbers = data.draw(st.lists(st.integers(1, modulus), min_size=1, max_size=9))
    targets, read = task.label(numpy.array([[0, *numbers]]), len(numbers))
    expected = [literal(name, numbers, modulus, place, window) for place in range(len(numbers))]
    assert targets[0].tolist() == [0, *expected]
    assert task.solve([0, *numbers], len(numbers)) == [None, *expected]
    assert read[0].tolist() == [False] + [True] * len(numbers)


def test_a_number_may_be_its_own_partner() -> None:
    assert Match2(modulus=10).solve([0, 10, 5, 1], 3) == [None, 1, 1, 0]
    assert Match3(modulus=9).solve([0, 3, 9, 1], 3) == [None, 1, 1, 0]


@settings(max_examples=30, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    rows=st.integers(1, 4),
    width=st.integers(1, 12),
    asked=st.integers(1, 20),
    bound=st.sampled_from([1, 7, 150, 2**32]),
)
def test_both_ways_to_look_up_agree_with_sets(seed: int, rows: int, width: int, asked: int, bound: int) -> None:
    generator = numpy.random.default_rng(seed)
    values = generator.integers(0, bound, (rows, width))
    wanted = numpy.where(
        generator.random((rows, asked)) < 0.5,
        generator.integers(0, bound, (rows, asked)),
        values[:, generator.integers(0, width, asked)],
    )
    expected = [[each in set(row) for each in line] for row, line in zip(values.tolist(), wanted.tolist(), strict=True)]
    assert contained_in_rows(values, wanted, bound).tolist() == expected
    assert contained_in_rows(torch.from_numpy(values), torch.from_numpy(wanted), bound).tolist() == expected


@pytest.mark.parametrize("modulus", [50, WIDE])
def test_chunks_do_not_change_the_answers(monkeypatch: pytest.MonkeyPatch, modulus: int) -> None:
    residues = numpy.random.default_rng(0).integers(0, 50, (7, 20))
    whole = triple_matches(residues, modulus)
    for entries in (1, 100, 900):
        monkeypatch.setattr(_rows, "CHUNK_ENTRIES", entries)
        numpy.testing.assert_array_equal(triple_matches(residues, modulus), whole)
        numpy.testing.assert_array_equal(triple_matches(torch.from_numpy(residues), modulus).numpy(), whole)


@pytest.mark.parametrize(
    ("name", "low", "high"),
    [("match2", 0.32, 0.56), ("match3", 0.55, 0.65), ("match3-local", 0.28, 0.52), ("match3-last", 0.46, 0.54)],
)
@pytest.mark.parametrize("length", [4, 8, 31, 64])
def test_share_of_positive_answers(name: str, low: float, high: float, length: int) -> None:
    examples = tasks()[name].sample(draws_from(length), 1500, length)
    assert low < examples.targets[examples.read].mean() < high


@pytest.mark.parametrize(("size", "start"), [(2, 0), (3, 0), (3, 2)])
def test_groups_get_the_sums_they_are_asked_for(size: int, start: int) -> None:
    generator = numpy.random.default_rng(size)
    count, length, modulus = 40, 20, 101
    residues = generator.integers(0, modulus, (count, length))
    order = generator.random((count, length)).argsort(axis=1)
    kind = generator.integers(0, 6, (count, length))
    planted = plant_groups(residues, order, numpy.full((count, 1), start), kind, size, modulus)
    sums = {0: 0, 1: 0, 2: modulus - 1, 3: 1}
    seen = set()
    for row in range(count):
        touched = set()
        for begin in range(start, length - size + 1, size):
            members, asked = order[row, begin : begin + size], int(kind[row, begin + size - 1])
            if asked in sums:
                assert planted[row, members].sum() % modulus == sums[asked]
                touched.add(int(members[-1]))
                seen.add(asked)
        untouched = [place for place in range(length) if place not in touched]
        assert (planted[row, untouched] == residues[row, untouched]).all()
    assert seen == {0, 1, 2, 3}


def test_match2_plants_a_third_of_matches_and_a_third_of_near_misses() -> None:
    numbers = Match2(modulus=WIDE).sample(draws_from(8), 400, 30).inputs[:, 1:]
    sums = numbers[:, :, None] + numbers[:, None, :]
    shares = [float(((sums - shift) % WIDE == 0).any(axis=2).mean()) for shift in (0, 1, -1)]
    # 12,000 positions in pairs: three standard deviations are about 0.02 for the third, 0.015 for the sixths.
    assert abs(shares[0] - 1 / 3) < 0.025
    assert abs(shares[1] - 1 / 6) < 0.02
    assert abs(shares[2] - 1 / 6) < 0.02


@pytest.mark.parametrize(("window", "share"), [(1, 1 / 9), (2, 1 / 3), (5, 1 / 3), (8, 1 / 3)])
def test_local_triples_lie_inside_windows(window: int, share: float) -> None:
    examples = Match3Local(modulus=WIDE, window=window).sample(draws_from(window), 500, 90)
    # Positions at both ends may be left over, so the share is a little below.
    assert share - 0.03 < examples.targets[examples.read].mean() < share + 0.02


def test_a_window_over_everything_is_triple_matching() -> None:
    inputs = Match3().sample(draws_from(0), 50, 12).inputs
    numpy.testing.assert_array_equal(Match3Local(window=11).label(inputs, 12)[0], Match3().label(inputs, 12)[0])
    assert (Match3Local(window=10).label(inputs, 12)[0] != Match3().label(inputs, 12)[0]).any()


def test_variant_1_as_stated_is_vacuous() -> None:
    # E11: with j = k = N allowed, every input matches; without, some do and some do not.
    original, corrected = Match3Last(modulus=5, exclude_query=False), Match3Last(modulus=5)
    answers = numpy.concatenate([examples.targets[:, -1] for examples in original.enumerate(4)])
    assert len(answers) == 5**3
    assert answers.all()
    sampled = original.sample(draws_from(0), 300, 40)
    assert sampled.targets[:, -1].all()
    kept = numpy.concatenate([examples.targets[:, -1] for examples in corrected.enumerate(4)])
    without = sum(all((a + b) % 5 for a in residues for b in residues) for residues in product(range(5), repeat=3))
    assert int((kept == 0).sum()) == without
    assert 0 < without < 125


@pytest.mark.parametrize("modulus", [3, 4, 5, 8, None])
@pytest.mark.parametrize("length", [2, 3, 9])
def test_last_sampler_is_balanced_for_every_modulus(modulus: int | None, length: int) -> None:
    task = Match3Last(modulus=modulus)
    examples = task.sample(draws_from(3), 1200, length)
    assert abs(examples.targets[:, -1].mean() - 0.5) < 0.06
    assert task.admissible(examples.inputs, length).all()


def test_last_sampler_has_near_misses_on_both_sides() -> None:
    task = Match3Last(modulus=WIDE)
    examples = task.sample(draws_from(4), 400, 21)
    numbers = examples.inputs[:, 1:-1]
    sums = numbers[:, :, None] + numbers[:, None, :]
    near = (((sums - 1) % WIDE == 0) | ((sums + 1) % WIDE == 0)).any(axis=2).mean(axis=1)
    positive = examples.targets[:, -1] == 1
    # Two thirds of the pairs are near misses; a match overwrites one number.
    assert abs(near[~positive].mean() - 2 / 3) < 0.05
    assert abs(near[positive].mean() - 2 / 3) < 0.1
    pairs = ((sums % WIDE == 0).sum(axis=(1, 2)))[positive]
    assert pairs.tolist() == [2] * int(positive.sum())


def disjointness_inputs(bits: int, modulus: int, last: int, shift: int) -> tuple[numpy.ndarray, numpy.ndarray]:
    """The encoding of SHT23 for all pairs of bit strings, and whether they are disjoint."""
    rows, disjoint = [], []
    for both in product((0, 1), repeat=2 * bits):
        a, b = both[:bits], both[bits:]
        alice = [i + 2 if bit else 1 for i, bit in enumerate(a)]
        bob = [modulus - (i + shift + 1) if bit else 1 for i, bit in enumerate(b)]
        rows.append([0, *alice, *bob, last])
        disjoint.append(not any(x and y for x, y in zip(a, b, strict=True)))
    return numpy.array(rows), numpy.array(disjoint)


def test_disjointness_encoding_of_the_slides_and_its_repairs() -> None:
    # E15, n = 3: z_N = 0 written as M, a_i as i + 1, b_i as M - (i + 1).
    bits, modulus = 3, 2 * 3 + 3
    length = 2 * bits + 1
    inputs, disjoint = disjointness_inputs(bits, modulus, last=modulus, shift=1)
    assert disjoint.sum() == 3**bits
    answers = Match3(modulus=modulus).label(inputs, length)[0][:, -1] == 1
    assert answers.all(), "as stated the answer is 1 on disjoint pairs too"
    answers = Match3Last(modulus=modulus).label(inputs, length)[0][:, -1] == 1
    numpy.testing.assert_array_equal(answers, ~disjoint)
    # The other repair: z_N = 1 and b_i as M - (i + 2), in the original problem.
    inputs, disjoint = disjointness_inputs(bits, modulus + 1, last=1, shift=2)
    answers = Match3(modulus=modulus + 1).label(inputs, length)[0][:, -1] == 1
    numpy.testing.assert_array_equal(answers, ~disjoint)
    split = Match3().communication(length)
    assert split.alice == (0, 1, 2, 3)
    assert split.bob == (4, 5, 6, 7)


@pytest.mark.parametrize("name", NAMES)
def test_torch_labels_and_counts(name: str) -> None:
    task = tasks()[name].with_parameters(modulus=30)
    examples = task.sample(draws_from(1), 60, 25)
    targets, read = task.label(torch.from_numpy(examples.inputs), 25)
    numpy.testing.assert_array_equal(targets.numpy(), examples.targets)
    numpy.testing.assert_array_equal(read.numpy(), examples.read)
    assert task.admissible(examples.inputs, 25).all()
    assert task.count(6) == task.space(6).count
    assert tasks()[name].count(5000) > 10**1000
    assert task.with_parameters(modulus=2**32).describe(8)["inputs"] is None
    with pytest.raises(SeparatrixError, match="25000000 numbers are too many to list"):
        tasks()[name].space(5000)


@pytest.mark.parametrize(
    ("name", "parameters", "text"),
    [
        ("match2", {"modulus": 1}, "modulus=1"),
        ("match3", {"modulus": 2**40}, "modulus=1099511627776"),
        ("match3-local", {"window": 0}, "window=0"),
        ("match3-local", {"modulus": -2}, "modulus=-2"),
        ("match3-last", {"modulus": 2}, "modulus=2"),
    ],
)
def test_bad_parameters(name: str, parameters: dict[str, Any], text: str) -> None:
    with pytest.raises(SeparatrixError, match=text) as caught:
        tasks()[name].with_parameters(**parameters)
    assert "\n" not in str(caught.value)


def test_promise_and_pictures() -> None:
    task = Match3Last(modulus=7)
    rows = numpy.array([[0, 3, 4, 7], [0, 3, 4, 6], [1, 3, 4, 7], [0, 3, 8, 7]])
    assert task.admissible(rows, 3).tolist() == [True, False, False, False]
    assert "z_1 + z_2 = 3 + 4 ≡ 0" in task.picture([0, 3, 4, 7], 3)
    assert "no two numbers" in task.picture([0, 3, 3, 7], 3)
    assert "z_2 = 2: no match" in Match2(modulus=7).picture([0, 7, 2], 2)
    assert task.write([0, 3, 4, 7], 3) == "⊥ 3 4 7"
