"""Directed 3-cycle: through which vertices of a directed graph does a cycle of three edges pass?

SHT23 "Directed 3-Cycle": output i is 1 if there are j, k with (i,j), (j,k), (k,i) edges. Without self-loops the
three vertices are distinct. Data: see ``_graphs.py``; the background has edges with a probability of order
N^(-2/3), and a near miss has its last edge turned round (a transitive triangle). About half of the vertices lie
on a cycle.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from separatrix.tasks.arrays import Array, namespace_of
from separatrix.tasks.problems._decision import split_at
from separatrix.tasks.problems._graphs import CycleTask
from separatrix.tasks.task import CommunicationSplit


@dataclass(frozen=True, kw_only=True)
class Directed3Cycle(CycleTask):
    """Directed cycles of length three on an adjacency matrix."""

    name: str = "directed-3-cycle"
    title: str = "Directed 3-cycle"
    source: str = "SHT23, Directed 3-Cycle and Undirected 5-Cycle"
    question: str = "For each vertex of a directed graph: does a cycle of three edges pass through it?"
    promise: str = "the rows are those of a graph without loops"
    minimum_length: int = 3

    @property
    def cycle(self) -> int:
        """Three edges."""
        return 3

    @property
    def directed(self) -> bool:
        """Edges have a direction."""
        return True

    @property
    def background_cycles(self) -> float:
        """Leaves about half of the vertices on a cycle, planted ones included."""
        return 0.2

    def specification(self, length: int) -> dict[str, Any]:
        edges = self.free_edges(length)
        return {
            "inputs": [{"count": edges, "tokens": [0, 2]}],
            "answer": {"kind": "cycles", "vertices": length},
        }

    def on_cycle(self, graph: Array) -> Array:
        # Entry (i, k) of the square counts the paths i → j → k; the edge k → i closes them.
        xp = namespace_of(graph)
        closed = xp.matmul(graph, graph) * xp.permute_dims(graph, (0, 2, 1))
        return xp.any(closed > 0, axis=2)

    def find_cycle(self, neighbours: Sequence[Sequence[int]], vertex: int) -> tuple[int, ...] | None:
        for second in neighbours[vertex]:
            for third in neighbours[second]:
                if vertex in neighbours[third]:
                    return vertex, second, third
        return None

    def communication(self, length: int) -> CommunicationSplit:
        third = length // 3
        note = (
            "the slides state LHm = Ω̃(N) for graph Transformers without the reduction; this one serves: with "
            f"n = ⌊N/3⌋ = {third}, Alice's rows say s → n+t for her bit (s,t), Bob's rows n+t → 2n+s for his bit "
            "(s,t), and 2n+s → s is always an edge: vertex s is on a cycle exactly when some t has both bits, so "
            "that the outputs decide DISJ on n² bits"
        )
        return split_at("DISJ", third, length, note)


TASK = Directed3Cycle()
