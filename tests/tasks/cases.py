"""Small variants of the tasks, used by the tests that walk through all inputs.

A task that is missing here is tested with its default parameters at its smallest lengths.
"""

from typing import Any

from separatrix.tasks import Task, tasks
from separatrix.tasks.presets import PRESETS

SMALL: dict[str, list[tuple[dict[str, Any], list[int]]]] = {
    "index-lookup": [({"alphabet": 3}, [1, 2, 5]), ({"alphabet": 64}, [2])],
    "index": [({}, [1, 4, 8])],
    "dyck": [({}, [2, 4, 6]), ({"types": 1, "depth": 3}, [8]), ({"types": 3, "depth": 1}, [4])],
    "equality": [({}, [2, 8]), ({"alphabet": 3}, [4, 6]), ({"alice": "1,4,6,7"}, [8]), ({"alice": "2"}, [2])],
    "inequality": [({}, [2, 8])],
    "eq-random": [({}, [2, 8])],
    "eq-one": [({"vocabulary_size": 4}, [2, 6])],
    "eq-ncp": [({"vocabulary_size": 4}, [2, 10])],
    "disjointness": [({}, [2, 10]), ({"answer_one": "disjoint"}, [8])],
    "sparse-threshold": [
        ({}, [3, 9]),
        ({"instance": "inequality"}, [8]),
        ({"instance": "disjointness"}, [8]),
        ({"sparsity": 2, "function_seed": 5, "features_used": 4}, [7]),
    ],
    "dnf": [({}, [3, 9]), ({"sparsity": 2, "features_used": 5}, [6])],
    "cnf": [({}, [3, 9])],
    "majority": [({}, [2, 9])],
    "associative-recall": [({}, [1, 2, 3]), ({"keys": 3, "labels": 3}, [3])],
    "mqar:zoology": [({"symbols": 6}, [4]), ({"symbols": 8, "filler": "random"}, [4]), ({"symbols": 8}, [6])],
    "mqar": [({}, [2, 4, 6]), ({"keys": 3, "labels": 3}, [6])],
    "nearest-neighbour": [
        ({"points": "hypercube", "dimension": 1}, [2, 4]),
        ({"points": "hypercube", "dimension": 3}, [2, 4]),
    ],
    "sparse-averaging": [
        ({"sparsity": 2, "resolution": 1}, [2, 3]),
        ({"sparsity": 1, "dimension": 2, "resolution": 1}, [1, 3]),
        ({"resolution": 2}, [3]),
    ],
    "match2": [({"modulus": 2}, [1, 4]), ({"modulus": 6}, [1, 2, 4]), ({"modulus": 7}, [4])],
    "match3": [({"modulus": 2}, [1, 4]), ({"modulus": 6}, [1, 2, 4]), ({"modulus": 9}, [4])],
    "match3-local": [
        ({"modulus": 6}, [1, 2, 5]),
        ({"modulus": 7, "window": 1}, [4]),
        ({"modulus": 7, "window": 9}, [4]),
    ],
    "match3-last": [
        ({"modulus": 3}, [2, 4]),
        ({"modulus": 6}, [2, 3, 5]),
        ({"modulus": 5, "exclude_query": False}, [3]),
    ],
    "directed-3-cycle": [({}, [3, 4])],
    "undirected-5-cycle": [({}, [5, 6]), ({"distinct": False}, [5])],
}


def every_task() -> dict[str, Task]:
    """The catalog, and the presets."""
    return {**tasks(), **PRESETS}


def small_cases() -> list[tuple[Task, int]]:
    """Every task with lengths at which all inputs can be walked through."""
    cases: list[tuple[Task, int]] = []
    for name, task in every_task().items():
        for parameters, lengths in SMALL.get(name, [({}, default_lengths(task))]):
            cases += [(task.with_parameters(**parameters), length) for length in lengths]
    return cases


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
