"""No bound on recurrent models asks for more than is enough, whatever the parameters of a task: over the catalogs.

What is enough is counted from all inputs of a length. After each position a state that tells apart the prefixes whose
futures differ (which suffixes may follow, and the answers then) is enough; promises only make that a little too much.
"""

from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy
import pytest

from separatrix.bit_counts import bits_for
from separatrix.bounds import NUMBERS as ARITHMETICS
from separatrix.bounds import ProtocolBound, covered, protocol_bounds
from separatrix.errors import SeparatrixError
from separatrix.tasks import Task, tasks

LARGEST = 5_000
"""Inputs that are looked at."""
LENGTHS = range(1, 9)
NUMBERS = (1, 2, 3, 4, 5, 8)
BOUNDS = protocol_bounds(model="rnn")
TASKS = sorted({name for bound in BOUNDS for name in bound.task_names})


def enough_bits(task: Task, length: int) -> int:
    """Bits of a state that is enough after every position of every input."""
    inputs, answers = [], []
    for part in task.enumerate(length):
        read = part.read.reshape(*part.read.shape, *(1,) * (part.targets.ndim - 2))
        inputs.append(part.inputs.reshape(*part.inputs.shape[:2], -1))
        answers.append(numpy.where(read, part.targets, -1).reshape(*part.targets.shape[:2], -1))
    rows, told = numpy.concatenate(inputs), numpy.concatenate(answers)
    most = 1
    for cut in range(1, rows.shape[1]):
        futures: dict[bytes, list[bytes]] = {}
        for row, answer in zip(rows, told, strict=True):
            futures.setdefault(row[:cut].tobytes(), []).append(row[cut:].tobytes() + answer[cut:].tobytes())
        most = max(most, len({tuple(sorted(each)) for each in futures.values()}))
    return bits_for(most)


def single_changes(task: Task) -> Iterator[dict[str, Any]]:
    """Other values of one parameter."""
    for name, value in task.parameters().items():
        if isinstance(value, bool):
            yield {name: not value}
        elif isinstance(value, int) or value is None:
            yield from ({name: number} for number in NUMBERS if number != value)
        elif name == "instance":
            yield from ({name: each} for each in ("disjointness", "inequality", "dnf", "cnf", "majority"))


def chosen_tasks(name: str) -> Iterator[Task]:
    """The task with its own parameters, and with one or two of them changed, where that is allowed."""
    task = tasks()[name]
    single = list(single_changes(task))
    pairs = ({**one, **other} for one, other in combinations(single, 2) if set(one) != set(other))
    for changes in ({}, *single, *pairs):
        try:
            yield task.with_parameters(**changes)
        except SeparatrixError:
            continue  # parameters that do not go together are refused


def compared(name: str) -> int:
    """How many bounds were held against the truth; asserts that none asks for more."""
    bounds, count = [bound for bound in BOUNDS if name in bound.task_names], 0
    for task in chosen_tasks(name):
        for length in LENGTHS:
            try:
                if task.count(length) > LARGEST:
                    break
                asked = [(b.name, b.required_bits(length, task)) for b in bounds if not b.of_a_class(task)]
                enough = enough_bits(task, length) if any(bits for _, bits in asked) else 0
            except SeparatrixError:
                continue  # a length that the task does not have
            for bound, bits in asked:
                assert bits <= enough, (bound, task.parameters(), length)
            count += sum(bits > 0 for _, bits in asked)
    return count


@pytest.mark.parametrize("name", TASKS)
def test_no_bound_asks_for_more_than_is_enough(name: str) -> None:
    count = compared(name)
    # Points of nearest-neighbour have 16 coordinates: too many inputs at any length. It has a test in bounds_scope.
    assert count or name == "nearest-neighbour", "nothing was compared"


def test_what_is_enough_is_right_for_what_is_known() -> None:
    assert [enough_bits(tasks()["equality"], length) for length in (2, 4, 6)] == [1, 2, 3]
    assert enough_bits(tasks()["disjointness"], 8) == 4


@pytest.mark.parametrize("bound", protocol_bounds(), ids=lambda bound: bound.name)
@pytest.mark.parametrize("length", [1, 2, 3, 10**6, 10**9])
def test_no_bound_asks_for_more_than_storing_the_input(bound: ProtocolBound, length: int) -> None:
    """At extreme lengths and with the smallest parameters; a number of one bit for each bit of the input is enough."""
    for name in bound.task_names:
        for task in (tasks()[name], *_smallest(tasks()[name])):
            if length % task.length_step or not task.minimum_length <= length <= task.maximum_length:
                continue
            if task.features(length) or bound.why_inapplicable(length, task):
                continue
            stored = task.positions(length) * bits_for(task.vocabulary(length).size)
            assert bound.required_bits(length, task) <= stored
            for numbers in ARITHMETICS.values():
                found = covered(bound, numbers, task)
                if found.covered:
                    assert found.bound.smallest_width(length, numbers.bits or 1, task=task) <= max(1, stored)


def _smallest(task: Task) -> Iterator[Task]:
    """The task with one parameter at 1, 2 or 3, where that is allowed."""
    for changes in single_changes(task):
        try:
            if set(changes.values()) <= {1, 2, 3}:
                yield task.with_parameters(**changes)
        except SeparatrixError:
            continue
