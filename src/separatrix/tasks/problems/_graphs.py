"""What the graph tasks share: cells are the rows of an adjacency matrix, edges are planted in random groups.

SHT23 "Graph self-attention unit" and "Directed 3-Cycle and Undirected 5-Cycle": the input X is the adjacency
matrix of a graph on N vertices and token i is its row i, so that a cell has N numbers, each 0 or 1. The slides do
not mention self-loops, which would be cycles of length 1 repeated; graphs here have none. They give no data
either: vertices are put into random groups of the length of the cycle over a random background of edges, and each
group is, with probability 1/3 each, made a cycle, made a near miss (all edges of a cycle but one), or left alone.
"""

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

from separatrix.errors import SeparatrixError
from separatrix.tasks.arrays import Array, full_like, namespace_of, random_order
from separatrix.tasks.draws import Draws
from separatrix.tasks.problems._rows import in_chunks, row_numbers
from separatrix.tasks.space import Space, cells
from separatrix.tasks.task import Answers, Row, Split, Task
from separatrix.tasks.vocabulary import Symbols, Vocabulary


@dataclass(frozen=True, kw_only=True)
class CycleTask(Task):
    """For each vertex: does a cycle of a given length pass through it?"""

    # A cell has N numbers; at this length a single input takes 128 MiB.
    maximum_length: int = 4096

    @property
    @abstractmethod
    def cycle(self) -> int:
        """The length of the cycles asked for."""

    @property
    @abstractmethod
    def directed(self) -> bool:
        """Whether edges have a direction."""

    @property
    @abstractmethod
    def background_cycles(self) -> float:
        """The expected number of background cycles through a vertex, chosen to balance the answers."""

    @abstractmethod
    def on_cycle(self, graph: Array) -> Array:
        """Return which vertices of float64 adjacency matrices (count, N, N) lie on a cycle; bool (count, N)."""

    @abstractmethod
    def find_cycle(self, neighbours: Sequence[Sequence[int]], vertex: int) -> tuple[int, ...] | None:
        """Return the first cycle through a vertex (counted from 0, without its end), or None."""

    def vocabulary(self, length: int) -> Vocabulary:
        del length
        return Vocabulary((Symbols("matrix entries", 2, texts="01"),))

    def layout(self, length: int) -> str:
        kind = "an edge from i to j" if self.directed else "an edge between i and j"
        return (
            f"{length} cells, cell i the row i of the adjacency matrix: {length} numbers, number j is 1 for {kind}; "
            "no self-loops; read at every cell"
        )

    def positions(self, length: int) -> int:
        return length

    def features(self, length: int) -> int:
        return length

    def classes(self, length: int) -> int:
        del length
        return 2

    def solve(self, row: Row, length: int) -> Answers:
        neighbours = neighbours_of(row)
        return [int(self.find_cycle(neighbours, vertex) is not None) for vertex in range(length)]

    def work(self, length: int) -> int:
        """Products of adjacency matrices."""
        return length**3

    def label(self, inputs: Array, length: int) -> tuple[Array, Array]:
        xp = namespace_of(inputs)
        found = in_chunks(lambda graphs: self.on_cycle(xp.astype(graphs, xp.float64)), inputs, cost=length * length)
        return xp.astype(found, xp.int64), full_like(inputs, tuple(inputs.shape[:2]), 1) == 1

    def free_edges(self, length: int) -> int:
        """Return how many entries of the matrix may be chosen freely."""
        return length * (length - 1) // (1 if self.directed else 2)

    def edge_probability(self, length: int) -> float:
        """Return the probability of a background edge that gives ``background_cycles``, at most 1/2."""
        partners = math.perm(length - 1, self.cycle - 1) / (1 if self.directed else 2)
        return min(0.5, (self.background_cycles / partners) ** (1 / self.cycle))

    def generate(self, draws: Draws, count: int, length: int, split: Split) -> Array:
        del split
        background = draws.uniform(count, self.free_edges(length)) < self.edge_probability(length)
        xp = namespace_of(background)
        graph = self.matrices(xp.astype(background, xp.int64), length)
        groups = length // self.cycle
        order = random_order(draws.uniform(count, length))[:, : groups * self.cycle]
        order = xp.reshape(order, (count, groups, self.cycle))
        kind = draws.digits(3, count, groups)
        for step in range(self.cycle):
            closing = step == self.cycle - 1
            start, end = order[:, :, step], order[:, :, (step + 1) % self.cycle]
            planted = full_like(graph, tuple(kind.shape), 1)
            if closing:
                # Kind 1 is the near miss: its last edge is missing, or turned round where edges have directions.
                planted = planted - kind % 2
                if self.directed:
                    graph = set_edges(graph, end, start, 1 - planted, kind == 1)
            graph = set_edges(graph, start, end, planted, kind < 2)
            if not self.directed:
                graph = set_edges(graph, end, start, planted, kind < 2)
        return graph

    def matrices(self, edges: Array, length: int) -> Array:
        """Adjacency matrices (count, N, N) from the free entries (count, free_edges), row by row."""
        xp = namespace_of(edges)
        graph = full_like(edges, (edges.shape[0], length, length), 0)
        index = row_numbers(edges, length)
        other = xp.permute_dims(index, (1, 0))
        start, end = xp.nonzero(index != other) if self.directed else xp.nonzero(index < other)
        graph[:, start, end] = edges
        if not self.directed:
            graph[:, end, start] = edges
        return graph

    def space(self, length: int) -> Space:
        return Space(cells((0, 1), self.free_edges(length)))

    def count(self, length: int) -> int:
        # The same number as of the space, without going through all its blocks.
        self.check_length(length)
        return 1 << self.free_edges(length)

    def assemble(self, values: Array, length: int) -> Array:
        return self.matrices(values, length)

    def admissible(self, inputs: Array, length: int) -> Array:
        xp = namespace_of(inputs)
        index = row_numbers(inputs, length)
        entries = (inputs == 0) | ((inputs == 1) & (index != xp.permute_dims(index, (1, 0))))
        if not self.directed:
            entries = entries & (inputs == xp.permute_dims(inputs, (0, 2, 1)))
        return xp.all(entries, axis=(1, 2))

    def picture(self, row: Row, length: int) -> str:
        neighbours = neighbours_of(row)
        arrow = ">" if self.directed else "-"
        lines: list[str] = []
        for vertex in range(length):
            ends = " ".join(f"{vertex + 1}{arrow}{end + 1}" for end in neighbours[vertex]) or "no edge"
            found = self.find_cycle(neighbours, vertex)
            shown = "no cycle" if found is None else arrow.join(str(each + 1) for each in (*found, vertex))
            lines.append(f"{vertex + 1}: {ends}; {shown}")
        return "\n".join(lines)

    def write(self, row: Row, length: int) -> str:
        del length
        return "/".join("".join(str(entry) for entry in cell) for cell in row)

    def read(self, text: str, length: int) -> Row:
        rows = text.strip().split("/")
        if len(rows) != length or any(len(line) != length or set(line) - {"0", "1"} for line in rows):
            raise SeparatrixError(
                f"{text!r} is not a graph on {length} vertices; write {length} rows of {length} digits 0 or 1, "
                "joined by /"
            )
        return [[int(entry) for entry in line] for line in rows]


def set_edges(graph: Array, start: Array, end: Array, value: Array, where: Array) -> Array:
    """Set entries (start, end) of every graph to ``value`` where asked; index arrays (count, groups)."""
    xp = namespace_of(graph)
    number = row_numbers(graph, graph.shape[0])
    graph[number, start, end] = xp.where(where, value, graph[number, start, end])
    return graph


def neighbours_of(row: Row) -> list[list[int]]:
    """Return for each vertex the ends of its edges, counted from 0."""
    return [[end for end, entry in enumerate(cell) if entry] for cell in row]
