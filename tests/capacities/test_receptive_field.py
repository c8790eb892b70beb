"""How far back answers depend on the input, against all inputs of short lengths."""

import numpy
import pytest

from separatrix.capacities import capacity, describe
from separatrix.capacities.receptive_field import DISTANCES, longest_within
from separatrix.tasks import tasks
from separatrix.tasks.arrays import to_numpy

SMALL = {
    "associative-recall": ({"keys": 3}, (1, 2, 3)),
    "directed-3-cycle": ({}, (3, 4)),
    "disjointness": ({}, (2, 4, 6)),
    "dyck": ({}, (2, 4, 6)),
    "eq-ncp": ({"vocabulary_size": 4}, (2, 4, 6)),
    "eq-one": ({"vocabulary_size": 3}, (2, 4)),
    "eq-random": ({}, (2, 4)),
    "equality": ({}, (2, 4, 6)),
    "index": ({}, (1, 2, 5)),
    "index-lookup": ({"alphabet": 2}, (1, 2, 5)),
    "inequality": ({}, (2, 4, 6)),
    "majority": ({}, (2, 3, 6)),
    "match2": ({"modulus": 3}, (1, 3, 5)),
    "match3": ({"modulus": 4}, (3, 5)),
    "match3-last": ({"modulus": 4}, (3, 5)),
    "match3-local": ({"modulus": 4}, (3, 5)),
    "mqar": ({"keys": 2}, (2, 4)),
    "sparse-averaging": ({"sparsity": 2, "resolution": 1}, (2, 3)),
    "undirected-5-cycle": ({}, (5,)),
}
"""Parameters that keep a task small, and the lengths at which all its inputs are compared."""


def decides(seen, told):
    """Whether inputs that look the same have the same answers."""
    flat = seen.reshape(len(seen), -1)
    both = numpy.concatenate([flat, told], axis=1)
    return len(numpy.unique(both, axis=0)) == len(numpy.unique(flat, axis=0))


def farthest(task, length):
    """The largest distance at which inputs that agree on everything after it have different answers."""
    inputs, targets, read = [], [], []
    for examples in task.enumerate(length):
        inputs.append(to_numpy(examples.inputs))
        targets.append(to_numpy(examples.targets))
        read.append(to_numpy(examples.read))
    cells, answers, asked = numpy.concatenate(inputs), numpy.concatenate(targets), numpy.concatenate(read)
    best = 0
    for place in numpy.flatnonzero(asked.any(axis=0)):
        chosen = cells[asked[:, place]].reshape(asked[:, place].sum(), cells.shape[1], -1)
        told = answers[asked[:, place], place].reshape(len(chosen), -1)
        # What comes after the place is kept the same too, where answers depend on it.
        if decides(chosen[:, : place + 1], told):
            chosen = chosen[:, : place + 1]
        # With less and less of the beginning distinguished, the first cut at which an answer is not decided.
        for first in range(1, place + 1):
            if not decides(chosen[:, first:], told):
                best = max(best, int(place) - (first - 1))
                break
    return best


@pytest.mark.parametrize("name", DISTANCES)
def test_distances_are_those_of_all_inputs(name):
    parameters, lengths = SMALL[name]
    task = tasks()[name].with_parameters(**parameters)
    for length in lengths:
        assert farthest(task, length) == DISTANCES[name].at(task, length), length


def test_a_constant_task_is_within_every_reach():
    literal = tasks()["match3-last"].with_parameters(exclude_query=False)
    assert farthest(literal.with_parameters(modulus=4), 4) == 0
    assert longest_within(literal, 1) is None


@pytest.mark.parametrize("name", DISTANCES)
def test_the_longest_length_within_reach_is_found_among_all(name):
    task = tasks()[name]
    least = max(task.minimum_length, DISTANCES[name].least)
    lengths = range(least + -least % task.length_step, 60, task.length_step)
    for reach in (1, 2, 5, 12):
        within = [length for length in lengths if DISTANCES[name].at(task, length) <= reach]
        expected = None if len(within) == len(lengths) else max(within, default=0)
        found = longest_within(task, reach)
        # Below the length from which on the distance holds nothing is excluded.
        assert found == expected or (expected == 0 and found is not None and found < least)


def test_a_stack_of_windows_cannot_do_what_lies_beyond_its_reach():
    """Mistral at a million symbols, by 32 windows of 4096 that reach 4095 positions back each."""
    reach = 32 * 4095
    asked = ("equality", "mqar", "associative-recall", "dyck", "index-lookup", "match3-local")
    found = {limit.task: limit for limit in capacity(describe("mistral-7b-v0.1"), length=10**6, only=asked).limits}
    first = {name: limit.first_impossible for name, limit in found.items()}
    assert first == {
        "equality": reach + 2, "dyck": reach + 2, "index-lookup": reach + 1, "associative-recall": reach // 2 + 1,
        "mqar": 2 * (reach + 2) // 3 // 2 * 2 + 2,
    }  # fmt: skip
    assert all(limit.impossible_at_length and limit.bound == "reach" for limit in found.values())
    for name, limit in found.items():
        task = tasks()[name]
        assert DISTANCES[name].at(task, limit.first_impossible) > reach >= DISTANCES[name].at(task, limit.longest)
