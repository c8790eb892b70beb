"""Examples of tasks drawn: symbols as a strip of boxes in the colours of who holds them, graphs as dots and lines."""

import math
from html import escape

from separatrix.site.section import Results

RADIUS = 78
CENTRE = 100


def example_html(task: Results, example: Results) -> str:
    """One example: a strip or a graph, and the picture in text."""
    if example["matrix"] is not None:
        on_cycle = [answer == "1" for answer in example["answers"]]
        turned = [list(column) for column in zip(*example["matrix"], strict=True)]
        drawn = graph(example["matrix"], on_cycle, directed=turned != example["matrix"])
    elif task["features"]:
        drawn = ""
    else:
        drawn = strip(task, example)
    return f'<div class="example">{drawn}<pre class="picture" tabindex="0">{escape(example["picture"])}</pre></div>'


def strip(task: Results, example: Results) -> str:
    """Symbols in order; a box is Alice's, Bob's or nobody's, and the answer is below a box that is read."""
    alice, bob = set(task["communication"]["alice"]), set(task["communication"]["bob"])
    answers = dict(zip(example["asked"], example["answers"], strict=True))
    boxes = "".join(
        f'<li class="{_holder(place, alice, bob)}{" read" if place in answers else ""}"><span class="symbol">'
        f"{escape(label)}</span>{_answer(answers.get(place))}</li>"
        for place, label in enumerate(example["labels"])
    )
    key = (
        '<p class="key"><span class="alice">Alice</span> <span class="bob">Bob</span> '
        "<span class='answered'>answer</span></p>"
        if alice and bob
        else ""
    )
    return f'<ol class="strip" aria-label="{escape(example["text"], quote=True)}">{boxes}</ol>{key}'


def _holder(place: int, alice: set[int], bob: set[int]) -> str:
    return "alice" if place in alice else "bob" if place in bob else "both"


def _answer(answer: str | None) -> str:
    return "" if answer is None else f'<span class="answer">{escape(answer)}</span>'


def graph(matrix: list[list[int]], marked: list[bool], directed: bool) -> str:
    """Vertices on a circle, edges between them, vertices on a cycle filled."""
    count = len(matrix)
    places = [
        (CENTRE + RADIUS * math.sin(2 * math.pi * i / count), CENTRE - RADIUS * math.cos(2 * math.pi * i / count))
        for i in range(count)
    ]
    edges: list[str] = []
    for i, row in enumerate(matrix):
        for j, edge in enumerate(row):
            if not edge or (not directed and j < i):
                continue
            both = marked[i] and marked[j]
            (x1, y1), (x2, y2) = places[i], places[j]
            length = math.hypot(x2 - x1, y2 - y1) or 1.0
            # Edges end at the rim of the vertices, so that arrowheads are seen.
            dx, dy = 11 * (x2 - x1) / length, 11 * (y2 - y1) / length
            end = ' marker-end="url(#arrow)"' if directed else ""
            edges.append(
                f'<line x1="{x1 + dx:.1f}" y1="{y1 + dy:.1f}" x2="{x2 - dx:.1f}" y2="{y2 - dy:.1f}"'
                f"{' class=on' if both else ''}{end}/>"
            )
    vertices = "".join(
        f'<g{" class=on" if marked[i] else ""}><circle cx="{x:.1f}" cy="{y:.1f}" r="9.5"/>'
        f'<text x="{x:.1f}" y="{y + 3.5:.1f}">{i + 1}</text></g>'
        for i, (x, y) in enumerate(places)
    )
    arrow = (
        '<defs><marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" '
        'markerUnits="userSpaceOnUse" orient="auto">'
        '<path d="M0 0L8 4L0 8z"/></marker></defs>'
        if directed
        else ""
    )
    return (
        f'<svg class="graph" viewBox="0 0 200 200" role="img" aria-label="graph of {count} vertices; filled ones are '
        f'on a cycle">{arrow}{"".join(edges)}{vertices}</svg>'
    )
