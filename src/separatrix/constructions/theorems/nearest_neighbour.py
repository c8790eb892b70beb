"""Nearest neighbour by two layers: BHBK24 Theorem 7 (Appendix G.2).

Points enter as vectors and not as symbols: on the sphere x/2^20, at the corners of the hypercube x itself. With η for
the score per inner product, the nearest point is ahead by ηγ on the sphere; at the corners products are whole numbers
of one parity, so that it is ahead by 2⌈γd'/2⌉ of them. The slot ``kind`` pushes labels so far down that they are behind
even where the nearest point is opposite to the query. The rest is ``_content_recall.py``.

Deviations: on the sphere η is a whole number and (g + 1)/γ instead of g/γ, so that rounding coordinates to the fixed
point may cost 1 of the gap. That needs N^Kc ≥ 8η(√d' + 1), and Kc is chosen so where none is asked for: 2 at N = 256
and γ = 0.01, more at short lengths (p stays O(log N) as long as γ is a power of 1/N). Labels are two, as in the paper.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, isqrt

import numpy

from separatrix.constructions.theorems._content_recall import ContentRecallConstruction, Contents
from separatrix.errors import SeparatrixError
from separatrix.networks import EmbeddingPart, ExactMatrix, FeaturePart, TableRows, identity
from separatrix.tasks import GRID, NearestNeighbour, Task


@dataclass(frozen=True, kw_only=True)
class NearestNeighbourConstruction(ContentRecallConstruction):
    """Nearest neighbour among earlier points, read at every query."""

    name: str = "nearest-neighbour"
    title: str = "Nearest neighbour, two layers"
    statement: str = "a 2-layer Transformer of width O(log N) and precision O(log N) finds the nearest point's label"
    task_name: str = "nearest-neighbour"
    how: tuple[str, ...] = (
        "As in associative recall, with the points themselves for codes: the score is their inner product, and the "
        "scale makes the nearest one beat all others together.",
    )

    def contents(self, task: Task, length: int, gap: Fraction) -> Contents:
        assert isinstance(task, NearestNeighbour)
        if task.labels != 2:
            raise SeparatrixError(f"{self.name} is built for two labels as in the paper, not {task.labels}")
        d, positions = task.dimension, task.positions(length)
        margin = Fraction(task.margin)
        if task.points == "sphere":
            unit, scale = Fraction(1, GRID), Fraction(ceil((gap + 1) / margin))
            longest, slack = scale, Fraction(2)
            reach = 8 * scale * (isqrt(d) + 1)
        else:
            unit, scale = Fraction(1), gap / (2 * ceil(margin * d / 2))
            longest, slack = scale * d, Fraction(0)
            reach = 2 * longest + gap + 1
        # Twice the kind's scale, less the largest product, is what labels are behind; slack as for rounding.
        kind_scale = (longest + gap + slack) / 2
        numbers = numpy.zeros((d + 2, d + 2), dtype=numpy.int64)
        numpy.fill_diagonal(numbers, 1)
        features = (
            FeaturePart("point", ExactMatrix(numbers[2:], unit.denominator)),
            FeaturePart("label", ExactMatrix(numbers[1:2])),
            # kind = 1 - 2 · (first number of the cell, 1 at labels)
            FeaturePart("kind", ExactMatrix(-2 * numbers[:1])),
        )
        ones = EmbeddingPart(
            "kind",
            TableRows(identity(1)),
            "position",
            (0, task.vocabulary(length).size),
            (0, positions),
            indices=numpy.zeros(positions, dtype=numpy.int64),
        )
        return Contents(d, 1, scale, kind_scale, reach, (ones,), "every", features)


CONSTRUCTION = NearestNeighbourConstruction()
