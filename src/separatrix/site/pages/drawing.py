"""Examples of tasks drawn: symbols as a strip of boxes in the colours of who holds them, graphs as dots and lines."""

import math
from typing import TYPE_CHECKING

from separatrix.site.html import render

if TYPE_CHECKING:
    from separatrix.site.sections.tasks import TaskEntry
    from separatrix.table import ShownExample

RADIUS, CENTRE, RIM = 78, 100, 11


def strip(task: "TaskEntry", example: "ShownExample") -> str:
    """Draw symbols in order; a box is Alice's, Bob's or nobody's, and the answer is below a box that is read."""
    if task.features:
        return ""
    alice, bob = set(task.communication.alice), set(task.communication.bob)
    holders = ["alice" if place in alice else "bob" if place in bob else "both" for place in range(len(example.labels))]
    answers = dict(zip(example.asked, example.answers, strict=True))
    return render("strip.html", example=example, holders=holders, answers=answers, key=bool(alice and bob))


def graph(example: "ShownExample") -> str:
    """Draw vertices on a circle, edges between them, vertices on a cycle filled; nothing where there is no graph."""
    matrix = example.matrix
    if matrix is None:
        return ""
    marked = [answer == "1" for answer in example.answers]
    directed = tuple(zip(*matrix, strict=True)) != matrix
    turns = [2 * math.pi * place / len(matrix) for place in range(len(matrix))]
    places = [(CENTRE + RADIUS * math.sin(turn), CENTRE - RADIUS * math.cos(turn)) for turn in turns]
    edges: list[tuple[float, float, float, float, bool]] = []
    for i, row in enumerate(matrix):
        for j, edge in enumerate(row):
            if edge and (directed or i <= j):
                (x1, y1), (x2, y2) = places[i], places[j]
                length = math.hypot(x2 - x1, y2 - y1) or 1.0
                # Edges end at the rim of the vertices, so that arrowheads are seen.
                dx, dy = RIM * (x2 - x1) / length, RIM * (y2 - y1) / length
                edges.append((x1 + dx, y1 + dy, x2 - dx, y2 - dy, marked[i] and marked[j]))
    return render("graph.html", vertices=list(zip(places, marked, strict=True)), edges=edges, directed=directed)
