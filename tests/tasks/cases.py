"""Small variants of the tasks, used by the tests that walk through all inputs.

Every task is tested with the parameters that it calls ``small``, at lengths that follow from its number of inputs.
"""

import math
from typing import Any

from separatrix.errors import SeparatrixError
from separatrix.tasks import Task, tasks
from separatrix.tasks.presets import PRESETS

MOST_INPUTS = 20_000
LONGEST = 10
VARIANTS: dict[str, list[tuple[dict[str, Any], list[int]]]] = {
    "index-lookup": [({"alphabet": 64}, [2])],
    "dyck": [({"types": 1, "depth": 3}, [8]), ({"types": 3, "depth": 1}, [4])],
    "equality": [({"alphabet": 3}, [4, 6]), ({"alice": "1,4,6,7"}, [8]), ({"alice": "2"}, [2])],
    "disjointness": [({"answer_one": "disjoint"}, [8])],
    "sparse-threshold": [
        ({"instance": "inequality"}, [8]),
        ({"instance": "disjointness"}, [8]),
        ({"sparsity": 2, "function_seed": 5, "features_used": 4}, [7]),
    ],
    "dnf": [({"sparsity": 2, "features_used": 5}, [6])],
    "associative-recall": [({"keys": 3, "labels": 3}, [3])],
    "mqar:zoology": [({"symbols": 8, "filler": "random"}, [4]), ({"symbols": 8}, [6])],
    "mqar": [({"keys": 3, "labels": 3}, [6])],
    "nearest-neighbour": [
        ({"points": "hypercube", "dimension": 1}, [2, 4]),
        ({"points": "hypercube", "dimension": 3}, [2, 4]),
    ],
    "sparse-averaging": [({"sparsity": 1, "dimension": 2, "resolution": 1}, [1, 3]), ({"resolution": 2}, [3])],
    "match2": [({"modulus": 2}, [1, 4]), ({"modulus": 6}, [1, 2, 4])],
    "match3": [({"modulus": 2}, [1, 4]), ({"modulus": 6}, [1, 2, 4]), ({"modulus": 9}, [4])],
    "match3-local": [({"modulus": 6}, [1, 2, 5]), ({"modulus": 7, "window": 9}, [4])],
    "match3-last": [({"modulus": 3}, [2, 4]), ({"modulus": 5, "exclude_query": False}, [3])],
    "undirected-5-cycle": [({"distinct": False}, [5])],
}
"""Other parameters that have a path of their own in the code."""


def every_task() -> dict[str, Task]:
    """The catalog, and the presets."""
    return {**tasks(), **PRESETS}


def small_cases() -> list[tuple[Task, int]]:
    """Every task with lengths at which all inputs can be walked through."""
    cases: list[tuple[Task, int]] = []
    for name, task in every_task().items():
        for parameters, lengths in [(task.small, None), *VARIANTS.get(name, [])]:
            chosen = task.with_parameters(**parameters)
            cases += [(chosen, length) for length in lengths or walkable_lengths(chosen)]
    return cases


def walkable_lengths(task: Task) -> list[int]:
    """The two smallest lengths, and the longest one up to 10, of those with few enough inputs."""
    lengths = range(default_lengths(task)[0], max(LONGEST, *default_lengths(task)) + 1, task.length_step)
    few = [length for length in lengths if task.listable(length) and inputs(task, length) <= MOST_INPUTS]
    assert few, f"{task.name} has more than {MOST_INPUTS} inputs at every length; give it parameters in small"
    return sorted({*few[:2], few[-1]})


def inputs(task: Task, length: int) -> float:
    """How many inputs there are; infinitely many at a length that the parameters do not allow."""
    try:
        return task.count(length)
    except SeparatrixError:
        return math.inf


def default_lengths(task: Task) -> list[int]:
    """The two smallest lengths of a task."""
    first = -(-task.minimum_length // task.length_step) * task.length_step
    return [first, first + task.length_step]


def identify(value: object) -> str:
    """A readable test id for a case."""
    if isinstance(value, Task):
        changed = {k: v for k, v in value.parameters().items() if every_task()[value.name].parameters()[k] != v}
        return "-".join([value.name, *[f"{key}={item}" for key, item in changed.items()]])
    return str(value)
