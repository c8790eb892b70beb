"""Undirected 5-cycle: through which vertices of a graph does a cycle of five edges pass?

SHT23 "Undirected 5-Cycle": output i is 1 if there are j_1 … j_4 with {i,j_1}, {j_1,j_2}, {j_2,j_3}, {j_3,j_4},
{j_4,i} edges. The text does not ask for distinct vertices, and without that it is another problem: a closed walk
of five steps through i exists exactly when i lies on a simple 5-cycle, or on a triangle (i-a-b-i-a-i), or next to
a vertex of a triangle (i-a-b-c-a-i). So a triangle alone already answers 1, and so do all its neighbours. Cycles
are meant, so the five vertices are distinct here; ``distinct=False`` keeps the literal text.

Labels count the simple cycles through i exactly, in O(N³) for a graph. With A the adjacency matrix, d the degrees
and t_v the number of triangles at v, of the (A⁵)_ii closed walks v_0 = i, v_1 … v_4 those are not cycles that
return after two steps somewhere, v_s = v_{s+2} with indices modulo 5; call that E_s. Without the detour a
triangle is left, so |E_0| = |E_3| = 2 t_i d_i (detour at i), |E_1| = |E_2| = Σ_a A_ia (A²)_ia d_a (detour at
another vertex of a triangle through i), |E_4| = 2 Σ_a A_ia t_a (i is the detour). E_s and E_{s+1} together leave
the 2 t_i oriented triangles through i, E_s and E_{s+2} exclude each other. Hence the number of cycles, counted in
both directions, is (A⁵)_ii - 4 t_i d_i - 2 Σ_a A_ia (A²)_ia d_a - 2 Σ_a A_ia t_a + 10 t_i.

Data: see ``_graphs.py``; the background has edges with a probability of order N^(-4/5), and a near miss is a path
through five vertices whose ends are not joined. About half of the vertices lie on a cycle.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from separatrix.tasks.arrays import Array, namespace_of
from separatrix.tasks.problems._decision import split_at
from separatrix.tasks.problems._graphs import CycleTask
from separatrix.tasks.task import CommunicationSplit


@dataclass(frozen=True, kw_only=True)
class Undirected5Cycle(CycleTask):
    """Undirected cycles of length five; ``distinct=False`` accepts every closed walk of five steps."""

    name: str = "undirected-5-cycle"
    title: str = "Undirected 5-cycle"
    source: str = "SHT23, Directed 3-Cycle and Undirected 5-Cycle"
    question: str = "For each vertex of an undirected graph: does a cycle of five edges pass through it?"
    promise: str = "the rows are those of an undirected graph without loops"
    minimum_length: int = 5
    distinct: bool = True

    @property
    def cycle(self) -> int:
        """Five edges."""
        return 5

    @property
    def directed(self) -> bool:
        """Edges have no direction."""
        return False

    @property
    def background_cycles(self) -> float:
        """Leaves about half of the vertices on a cycle, planted ones included."""
        return 0.05

    def on_cycle(self, graph: Array) -> Array:
        # All numbers are integers below N⁴ ≤ 2^48, exact in float64.
        xp = namespace_of(graph)
        square = xp.matmul(graph, graph)
        cube = xp.matmul(square, graph)
        walks = xp.sum(square * cube, axis=2)
        if not self.distinct:
            return walks > 0
        degree = xp.sum(graph, axis=2)
        shared = graph * square
        triangles = xp.sum(shared, axis=2) / 2
        adjacent = xp.matmul(shared, xp.expand_dims(degree, axis=2))[:, :, 0]
        pendant = xp.matmul(graph, xp.expand_dims(triangles, axis=2))[:, :, 0]
        return walks - 4 * triangles * degree - 2 * adjacent - 2 * pendant + 10 * triangles > 0

    def find_cycle(self, neighbours: Sequence[Sequence[int]], vertex: int) -> tuple[int, ...] | None:
        return self.close((vertex,), neighbours)

    def close(self, path: tuple[int, ...], neighbours: Sequence[Sequence[int]]) -> tuple[int, ...] | None:
        """Return the first way to go on from this path to a closed one of five steps, or None."""
        if len(path) == self.cycle:
            return path if path[0] in neighbours[path[-1]] else None
        for end in neighbours[path[-1]]:
            if not (self.distinct and end in path):
                found = self.close((*path, end), neighbours)
                if found is not None:
                    return found
        return None

    def communication(self, length: int) -> CommunicationSplit:
        note = (
            "the slides define the problem and state a bound for directed 3-cycles only; the split into halves "
            "of the rows is only a convention"
        )
        return split_at("none", length // 2, length, note)


TASK = Undirected5Cycle()
