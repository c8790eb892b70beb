"""Cycles in graphs: the slides' definitions by brute force, exact counts, planted data, the 5-walk erratum."""

from dataclasses import dataclass
from itertools import permutations, product

import numpy
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from separatrix.errors import SeparatrixError
from separatrix.tasks import draws_from, tasks
from separatrix.tasks.problems import _rows
from separatrix.tasks.problems.directed_3_cycle import Directed3Cycle
from separatrix.tasks.problems.undirected_5_cycle import Undirected5Cycle

NAMES = ["directed-3-cycle", "undirected-5-cycle"]


def random_graph(seed: int, length: int, density: float, directed: bool) -> numpy.ndarray:
    graph = (numpy.random.default_rng(seed).random((length, length)) < density).astype(numpy.int64)
    numpy.fill_diagonal(graph, 0)
    return graph if directed else numpy.triu(graph) + numpy.triu(graph).T


def graph_of(length: int, *edges: tuple[int, int]) -> numpy.ndarray:
    """An undirected graph from its edges, vertices counted from 1."""
    graph = numpy.zeros((length, length), dtype=numpy.int64)
    for start, end in edges:
        graph[start - 1, end - 1] = graph[end - 1, start - 1] = 1
    return graph


def closes(graph: numpy.ndarray, walk: tuple[int, ...]) -> bool:
    return all(graph[a, b] for a, b in zip(walk, (*walk[1:], walk[0]), strict=True))


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32), length=st.integers(3, 8), density=st.floats(0.05, 0.95))
def test_directed_cycles_by_brute_force(seed: int, length: int, density: float) -> None:
    graph = random_graph(seed, length, density, directed=True)
    vertices = range(length)
    expected = [int(any(closes(graph, (i, j, k)) for j, k in product(vertices, repeat=2))) for i in vertices]
    task = Directed3Cycle()
    assert task.label(graph[None], length)[0][0].tolist() == expected
    assert task.solve(graph.tolist(), length) == expected


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32), length=st.integers(5, 7), density=st.floats(0.1, 0.9))
def test_undirected_cycles_by_brute_force(seed: int, length: int, density: float) -> None:
    graph = random_graph(seed, length, density, directed=False)
    vertices = range(length)
    simple = [int(any(closes(graph, (i, *rest)) for rest in permutations(set(vertices) - {i}, 4))) for i in vertices]
    walks = [int(any(closes(graph, (i, *rest)) for rest in product(vertices, repeat=4))) for i in vertices]
    for task, expected in ((Undirected5Cycle(), simple), (Undirected5Cycle(distinct=False), walks)):
        assert task.label(graph[None], length)[0][0].tolist() == expected
        assert task.solve(graph.tolist(), length) == expected


def test_literal_text_of_the_5_cycle_accepts_triangles() -> None:
    cycles, walks = Undirected5Cycle(), Undirected5Cycle(distinct=False)
    # A triangle 1-2-3, vertex 4 next to it, vertex 5 next to 4, vertex 6 alone: no cycle of five edges at all.
    graph = graph_of(6, (1, 2), (2, 3), (3, 1), (3, 4), (4, 5))
    assert cycles.solve(graph.tolist(), 6) == [0, 0, 0, 0, 0, 0]
    assert walks.solve(graph.tolist(), 6) == [1, 1, 1, 1, 0, 0]
    assert cycles.label(graph[None], 6)[0].sum() == 0
    assert walks.label(graph[None], 6)[0][0].tolist() == [1, 1, 1, 1, 0, 0]
    # On a bare pentagon both agree, and so they do on a square.
    pentagon = graph_of(6, (1, 2), (2, 3), (3, 4), (4, 5), (5, 1))
    square = graph_of(6, (1, 2), (2, 3), (3, 4), (4, 1))
    for task in (cycles, walks):
        assert task.label(numpy.stack([pentagon, square]), 6)[0].tolist() == [[1, 1, 1, 1, 1, 0], [0] * 6]


def test_closed_5_walks_are_5_cycles_or_next_to_triangles_on_all_graphs() -> None:
    cycles, walks = Undirected5Cycle(), Undirected5Cycle(distinct=False)
    differing = 0
    for examples in walks.enumerate(6, chunk=8192):
        graph = examples.inputs
        on_triangle = ((graph @ graph) * graph).sum(axis=2) > 0
        beside_triangle = (graph @ on_triangle[:, :, None].astype(numpy.int64))[:, :, 0] > 0
        simple = cycles.label(graph, 6)[0] == 1
        numpy.testing.assert_array_equal(examples.targets == 1, simple | on_triangle | beside_triangle)
        differing += int(((examples.targets == 1) != simple).any(axis=1).sum())
    assert differing > 1000


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("length", [6, 12, 20, 64])
def test_about_half_of_the_vertices_lie_on_a_cycle(name: str, length: int) -> None:
    examples = tasks()[name].sample(draws_from(length), 500, length)
    assert 0.34 < examples.targets.mean() < 0.6
    assert tasks()[name].admissible(examples.inputs, length).all()


@dataclass(frozen=True, kw_only=True)
class NoBackground3(Directed3Cycle):
    """Only what is planted."""

    @property
    def background_cycles(self) -> float:
        return 0.0


@dataclass(frozen=True, kw_only=True)
class NoBackground5(Undirected5Cycle):
    """Only what is planted."""

    @property
    def background_cycles(self) -> float:
        return 0.0


@pytest.mark.parametrize("task", [NoBackground3(), NoBackground5()], ids=NAMES)
def test_groups_are_cycles_near_misses_or_nothing(task: Directed3Cycle) -> None:
    length, count = 30, 600
    examples = task.sample(draws_from(2), count, length)
    graph = examples.inputs
    touched = (graph.sum(axis=1) + graph.sum(axis=2)) > 0
    on_cycle = examples.targets == 1
    groups = count * length / task.cycle
    # Thirds of 4000 groups or more: six standard deviations are below 0.05.
    assert abs(on_cycle.sum() / task.cycle / groups - 1 / 3) < 0.05
    assert abs(touched.sum() / task.cycle / groups - 2 / 3) < 0.05
    edges = graph.sum() if task.directed else graph.sum() / 2
    cycles, misses = on_cycle.sum() / task.cycle, (touched & ~on_cycle).sum() / task.cycle
    missing = 0 if task.directed else 1
    assert edges == cycles * task.cycle + misses * (task.cycle - missing)
    if task.directed:
        # A turned edge makes a transitive triangle: one source and one sink.
        assert int(((graph.sum(axis=2) == 2) & (graph.sum(axis=1) == 0)).sum()) == misses
    else:
        # A path has two ends.
        assert int((graph.sum(axis=2) == 1).sum()) == 2 * misses


def test_disjointness_sits_in_the_directed_3_cycle() -> None:
    # The reduction named in the task's communication note, n = 2, all 2^8 pairs of bit matrices.
    task, n = Directed3Cycle(), 2
    graphs, meets = [], []
    for bits in product((0, 1), repeat=2 * n * n):
        x, y = numpy.array(bits).reshape(2, n, n)
        graph = numpy.zeros((3 * n, 3 * n), dtype=numpy.int64)
        graph[:n, n : 2 * n] = x
        graph[n : 2 * n, 2 * n :] = y.T
        graph[2 * n :, :n] = numpy.eye(n, dtype=numpy.int64)
        graphs.append(graph)
        meets.append((x & y).any(axis=1))
    answers = task.label(numpy.stack(graphs), 3 * n)[0]
    numpy.testing.assert_array_equal(answers[:, :n] == 1, numpy.stack(meets))
    split = task.communication(3 * n)
    assert split.alice == tuple(range(n))
    assert not numpy.stack(graphs)[:, list(split.alice), :n].any()


@pytest.mark.parametrize("name", NAMES)
def test_chunks_and_torch_do_not_change_the_answers(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    task = tasks()[name]
    examples = task.sample(draws_from(3), 20, 15)
    targets, read = task.label(torch.from_numpy(examples.inputs), 15)
    numpy.testing.assert_array_equal(targets.numpy(), examples.targets)
    assert bool(read.all())
    monkeypatch.setattr(_rows, "CHUNK_ENTRIES", 500)
    numpy.testing.assert_array_equal(task.label(examples.inputs, 15)[0], examples.targets)


@pytest.mark.parametrize("name", NAMES)
def test_dense_graphs_are_counted_exactly(name: str) -> None:
    # Complete graphs and complete bipartite graphs have the largest numbers of walks.
    task, length = tasks()[name], 200
    complete = 1 - numpy.eye(length, dtype=numpy.int64)
    side = numpy.arange(length) % 2
    bipartite = (side[:, None] != side[None, :]).astype(numpy.int64)
    answers = task.label(numpy.stack([complete, bipartite]), length)[0]
    assert answers[0].all()
    assert not answers[1].any()


@pytest.mark.parametrize(
    ("name", "length", "count"), [("directed-3-cycle", 4, 2**12), ("undirected-5-cycle", 6, 2**15)]
)
def test_all_graphs(name: str, length: int, count: int) -> None:
    task = tasks()[name]
    assert task.count(length) == task.space(length).count == count
    assert sum(len(examples) for examples in task.enumerate(length)) == count


def test_readable_form() -> None:
    task = tasks()["directed-3-cycle"]
    assert task.write([[0, 0, 0]] * 3, 3) == "000/000/000"
    assert task.read("000/000/000", 3) == [[0, 0, 0]] * 3
    row = task.read("010/001/100", 3)
    assert task.solve(row, 3) == [1, 1, 1]
    assert "1: 1>2; 1>2>3>1" in task.picture(row, 3)
    assert "3: no edge; no cycle" in task.picture(task.read("010/001/000", 3), 3)
    for text in ("", "010/001", "010/001/102", "01/00/00", "0100/0010/1000"):
        with pytest.raises(SeparatrixError, match="is not a graph on 3 vertices"):
            task.read(text, 3)


def test_promise() -> None:
    directed, undirected = tasks()["directed-3-cycle"], tasks()["undirected-5-cycle"]
    loop, two = numpy.zeros((5, 5), dtype=numpy.int64), numpy.zeros((5, 5), dtype=numpy.int64)
    loop[2, 2], two[0, 1] = 1, 2
    one_way = numpy.zeros((5, 5), dtype=numpy.int64)
    one_way[0, 1] = 1
    graphs = numpy.stack([loop, two, one_way, one_way + one_way.T])
    assert directed.admissible(graphs, 5).tolist() == [False, False, True, True]
    assert undirected.admissible(graphs, 5).tolist() == [False, False, False, True]
