"""Specifications are the tasks': held to the slow ``solve`` on every input; and what they cannot mean is refused."""

import re
from dataclasses import dataclass
from itertools import product
from math import factorial
from random import Random
from typing import Any

import pytest

from separatrix.certificates.proofs import off_diagonal
from separatrix.tasks import own_specification, tasks
from separatrix.tasks.problems.dyck import Dyck
from separatrix.tasks.problems.sparse_threshold import SparseThreshold
from separatrix_kernel.reading import RefusedError
from separatrix_kernel.specification import Count, Table, read_specification

CASES: tuple[tuple[str, int, dict[str, Any]], ...] = (
    ("index-lookup", 1, {"alphabet": 3}),
    ("index-lookup", 4, {"alphabet": 3}),
    ("index", 5, {}),
    ("equality", 6, {}),
    ("equality", 4, {"alphabet": 3, "alice": "2,3"}),
    ("inequality", 6, {}),
    ("majority", 6, {}),
    ("majority", 5, {}),
    ("cnf", 6, {}),
    ("dnf", 6, {"sparsity": 2}),
    ("sparse-threshold", 6, {"function_seed": 3}),
    ("sparse-threshold", 6, {"instance": "inequality"}),
    ("sparse-threshold", 6, {"instance": "disjointness"}),
    ("dyck", 6, {}),
    ("dyck", 4, {"types": 3, "depth": 1}),
    ("dyck", 8, {"types": 1, "depth": 3}),
    ("associative-recall", 2, {"keys": 3, "labels": 3}),
    ("associative-recall", 1, {}),
    ("mqar", 4, {}),
    ("mqar", 6, {"keys": 4}),
    ("mqar", 2, {"keys": 1}),
    ("match2", 3, {"modulus": 5}),
    ("match2", 4, {"modulus": 4}),
    ("match2", 1, {"modulus": 2}),
    ("match3-last", 4, {"modulus": 6}),
    ("match3-last", 2, {}),
    ("match3", 3, {"modulus": 6}),
    ("match3", 2, {"modulus": 2}),
    ("match3-local", 4, {"modulus": 4, "window": 1}),
    ("match3-local", 4, {"modulus": 3, "window": 2}),
    ("match3-local", 3, {"modulus": 5, "window": 9}),
    ("directed-3-cycle", 3, {}),
    ("directed-3-cycle", 4, {}),
)


@pytest.mark.parametrize(("name", "length", "parameters"), CASES)
def test_every_input_and_every_answer_is_the_tasks(name, length, parameters):
    task = tasks()[name].with_parameters(**parameters)
    inputs, answers = read_specification(own_specification(task, length))
    rows = [row for chunk in task.enumerate(length) for row in chunk.inputs.tolist()]
    solved = {tuple(off_diagonal(row) if answers.on_graphs else row): task.solve(row, length) for row in rows}
    listed = set(solved)
    assert set(filter(answers.admits, inputs.all())) == listed
    assert answers.count(inputs) == task.count(length) == len(listed)
    covered = re.sub(r"(\d+)!", lambda found: str(factorial(int(found[1]))), answers.covered(inputs))
    assert eval(covered.replace("^", "**")) == len(listed)
    random = Random(1)
    assert {answers.draw(inputs, random) for _ in range(20)} <= listed
    for tokens in listed:
        assert answers.right(tokens) == [each for each in solved[tokens] if each is not None]
        assert solved[tokens][: -answers.asked] == [None] * (len(solved[tokens]) - answers.asked)
        assert answers.known(dict(enumerate(tokens))) in (answers.answer(tokens), None)
    assert answers.known({}) is None
    assert answers.words()


def test_what_is_known_of_an_answer_is_right_for_every_input_that_agrees():
    for name in ("index-lookup", "majority"):
        parameters = {"alphabet": 2} if name == "index-lookup" else {}
        inputs, answers = read_specification(tasks()[name].with_parameters(**parameters).specification(3))
        for held in product(*[[None, *tokens] for tokens in inputs.tokens]):
            known = answers.known({place: token for place, token in enumerate(held) if token is not None})
            if known is not None:
                same = [row for row in inputs.all() if all(a in (None, b) for a, b in zip(held, row, strict=True))]
                assert {answers.answer(row) for row in same} == {known}


def test_every_task_with_a_specification_is_among_the_cases():
    stated = {name for name, task in tasks().items() if own_specification(task, 12) is not None}
    # Tasks whose inputs are cells have separate tests.
    assert stated == {name for name, _, _ in CASES} | {"nearest-neighbour", "sparse-averaging"}


@dataclass(frozen=True, kw_only=True)
class Contrary(SparseThreshold):
    """The opposite answer: what its parent specifies is not what it asks."""

    def solve(self, row, length):
        return [None if each is None else 1 - each for each in super().solve(row, length)]


@dataclass(frozen=True, kw_only=True)
class Renamed(SparseThreshold):
    """Other defaults alone."""

    instance: Any = "dnf"
    name: str = "dnf"


def test_a_subclass_that_changes_anything_is_not_spoken_for_by_its_parent():
    assert own_specification(Contrary(), 6) is None
    assert own_specification(Renamed(), 6) == own_specification(tasks()["dnf"], 6)
    assert own_specification(tasks()["match3-last"].with_parameters(exclude_query=False), 6) is None
    assert own_specification(Dyck(types=100, depth=9), 6) is None


RUN = {"count": 2, "tokens": [0, 2]}
GOOD = {
    "select": {"kind": "select", "by": 1, "first": 0},
    "count": {"kind": "count", "conditions": [{"places": [[0], [1]], "table": [0, 1]}], "answers": [[0, 0], [2, 5]]},
    "automaton": {"kind": "automaton", "start": 0, "steps": [[0, 1], [1, 0]], "answers": [0, 1]},
    "table": {"kind": "table", "answers": [0, 1, 2, 3]},
    "sums": {"kind": "sums", "window": [0, 2], "modulus": 2, "terms": 2, "asked": "any"},
    "nearby-sums": {"kind": "nearby-sums", "window": [0, 2], "modulus": 4, "terms": 3, "reach": 1},
}
BAD = [
    ("sums", "window", [0, 3]),
    ("sums", "window", [1, 1]),
    ("sums", "modulus", 0),
    ("sums", "terms", 4),
    ("sums", "asked", "all"),
    ("sums", "reach", 1),
    ("nearby-sums", "reach", -1),
    ("nearby-sums", "reach", True),
    ("nearby-sums", "asked", "each"),
    ("sums", "kind", "recall"),
    ("select", "by", 2),
    ("select", "first", 1),
    ("select", "first", -1),
    ("count", "conditions", [{"places": [[0, 0]], "table": [0, 1, 1, 0]}]),
    ("count", "conditions", [{"places": [[0, 1]], "table": [0, 1]}]),
    ("count", "conditions", [{"places": [[2]], "table": [0, 1]}]),
    ("count", "conditions", [{"places": [[0]], "table": [0, 2]}]),
    ("count", "answers", []),
    ("count", "answers", [[1, 0]]),
    ("count", "answers", [[0, 0], [0, 1]]),
    ("automaton", "start", 2),
    ("automaton", "steps", [[0, 1]]),
    ("automaton", "steps", [[0, 1], [0, 2]]),
    ("automaton", "steps", [[0, 1], [0]]),
    ("automaton", "answers", [0]),
    ("table", "answers", [0, 1, 2]),
    ("table", "kind", "oracle"),
]


@pytest.mark.parametrize("kind", sorted(GOOD))
def test_each_form_is_read(kind):
    inputs, answers = read_specification({"inputs": [RUN], "answer": GOOD[kind]})
    found = [answers.answer(tokens) for tokens in inputs.all()]
    right = {
        "select": [0, 1, 1, 1], "count": [0, 0, 0, 5], "automaton": [0, 1, 1, 0], "table": [0, 1, 2, 3],
        "sums": [1, 1, 1, 1], "nearby-sums": [1, 0, 1, 0],
    }  # fmt: skip
    assert found == right[kind]
    assert answers.words()
    if isinstance(answers, Count | Table):
        assert answers.known({0: 1, 1: 1}) == found[3]
        assert answers.known({1: 1}) is None


@pytest.mark.parametrize(("kind", "field", "value"), BAD)
def test_what_has_no_meaning_is_refused(kind, field, value):
    with pytest.raises(RefusedError):
        read_specification({"inputs": [RUN], "answer": {**GOOD[kind], field: value}})


@pytest.mark.parametrize(
    "runs",
    [[], [{"count": 0, "tokens": [0, 2]}], [{"count": 1, "tokens": [2, 2]}], [{"count": 2, "tokens": [0, 2000]}]],
)
def test_inputs_are_checked_and_tables_are_not_endless(runs):
    with pytest.raises(RefusedError):
        read_specification({"inputs": runs, "answer": GOOD["table"]})


@pytest.mark.parametrize(
    ("sizes", "pairs"),
    [([4, 2], 1), ([4, 2, 4, 4], 1), ([4, 2, 4, 2, 3], 2), ([4, 2, 4, 3, 4], 2), ([1, 2, 1, 2, 1], 2), ([4, 2, 4], 0)],
)
def test_recall_needs_pairs_queries_and_enough_keys(sizes, pairs):
    runs = [{"count": 1, "tokens": [0, size]} for size in sizes]
    with pytest.raises(RefusedError):
        read_specification({"inputs": runs, "answer": {"kind": "recall", "pairs": pairs}})


def test_each_token_is_asked_at_the_end_and_from_one_range():
    each = {"kind": "sums", "window": [0, 2], "modulus": 3, "terms": 2, "asked": "each"}
    for runs in ([{"count": 3, "tokens": [0, 2]}], [{"count": 1, "tokens": [0, 2]}, {"count": 1, "tokens": [0, 3]}]):
        with pytest.raises(RefusedError):
            read_specification({"inputs": runs, "answer": each})
