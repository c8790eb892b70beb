"""Disjointness and thresholds of sparse features."""

from collections import Counter
from itertools import product

import numpy
import pytest

from separatrix.errors import SeparatrixError
from separatrix.tasks import draws_from, tasks
from separatrix.tasks.problems.disjointness import Disjointness
from separatrix.tasks.problems.sparse_threshold import SparseThreshold
from tests.tasks.statistics import assert_counts_follow


def test_half_of_the_disjointness_inputs_meet_in_exactly_one_uniform_place():
    batch = tasks()["disjointness"].sample(draws_from(0), 30_000, 16)
    meeting = batch.inputs[:, :8] & batch.inputs[:, 8:]
    assert_counts_follow(Counter(meeting.sum(axis=1).tolist()), {0: 0.5, 1: 0.5})
    places = Counter(numpy.nonzero(meeting)[1].tolist())
    assert_counts_follow(places, dict.fromkeys(range(8), 1 / 8))


def test_both_polarities_are_complements():
    bhbk, sht = Disjointness(), Disjointness(answer_one="disjoint")
    assert bhbk.solve([1, 0, 1, 0], 4)[-1] == 1
    assert sht.solve([1, 0, 1, 0], 4)[-1] == 0
    for one, two in zip(bhbk.enumerate(8), sht.enumerate(8), strict=True):
        assert (one.targets[:, -1] + two.targets[:, -1] == 1).all()


def test_instances_are_the_functions_they_are_named_after():
    length = 8
    for bits in product((0, 1), repeat=length):
        row = [2, *bits]
        first, second = bits[:4], bits[4:]
        assert SparseThreshold(instance="disjointness").solve(row, length)[-1] == int(
            any(a and b for a, b in zip(first, second, strict=True))
        )
        assert SparseThreshold(instance="inequality").solve(row, length)[-1] == int(first != second)
        assert tasks()["majority"].solve(row, length)[-1] == int(sum(bits) > 4)


@pytest.mark.parametrize("name", ["dnf", "cnf"])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_formulas_have_k_literals_per_part(name, seed):
    task = tasks()[name].with_parameters(function_seed=seed)
    assert isinstance(task, SparseThreshold)
    function = task.function(20)
    true_combinations = 1 if name == "dnf" else 7
    assert (function.tables.sum(axis=1) == true_combinations).all()
    assert all(len(set(indices)) == 3 for indices in function.indices.tolist())
    assert function.threshold == (0 if name == "dnf" else len(function.tables) - 1)


def test_at_most_n_features_and_each_looks_at_k_bits():
    for task in (tasks()["sparse-threshold"], tasks()["dnf"], tasks()["cnf"], tasks()["majority"]):
        assert isinstance(task, SparseThreshold)
        for length in (4, 9, 40):
            function = task.function(length)
            assert len(function.indices) <= length
            assert function.indices.shape[1] == task.sparsity
            assert function.indices.min() >= 0
            assert function.indices.max() < length


def test_other_seed_other_function_same_seed_same_function():
    one, same, other = (SparseThreshold(function_seed=seed).function(20) for seed in (3, 3, 4))
    assert (one.tables == same.tables).all()
    assert (one.indices == same.indices).all()
    assert (one.tables != other.tables).any()


@pytest.mark.parametrize("name", ["sparse-threshold", "dnf", "cnf", "majority"])
@pytest.mark.parametrize("length", [12, 50, 200])
def test_both_answers_are_common(name, length):
    batch = tasks()[name].sample(draws_from(1), 4000, length)
    assert 0.2 < batch.targets[:, -1].mean() < 0.8


def test_bad_parameters():
    for parameters, message in [
        ({"sparsity": 0}, "sparsity=0"),
        ({"sparsity": 13}, "sparsity=13"),
        ({"features_used": 0}, "features_used=0"),
        ({"function_seed": -1}, "function_seed=-1"),
        ({"instance": "majority", "features_used": 3}, "fixed features"),
        ({"name": "cnf", "instance": "dnf"}, "cnf is always the instance cnf"),
        ({"instance": "parity"}, "instance='parity'"),
    ]:
        with pytest.raises(SeparatrixError, match=message):
            SparseThreshold(**parameters)  # type: ignore[arg-type]
    with pytest.raises(SeparatrixError, match="at most N = 5 features, not 9"):
        SparseThreshold(features_used=9).sample(draws_from(0), 1, 5)
    with pytest.raises(SeparatrixError, match="no inputs of length 2; choose 3"):
        SparseThreshold().sample(draws_from(0), 1, 2)
    with pytest.raises(SeparatrixError, match="even length, not 5"):
        SparseThreshold(instance="disjointness").sample(draws_from(0), 1, 5)
