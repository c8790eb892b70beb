"""Nearest neighbour: x_1 y_1 … x_{N-1} y_{N-1} x_N; every x_k of the second half asks for its neighbour's label.

BHBK24 §5.2 and Appendix G: for k > N/2 the answer is y_j for j = argmax_{i<k} ⟨x_k, x_i⟩. Points have unit norm
and the best product is ahead of every other one by a margin γ. Deviations: points are integers on a grid, so that
answers are exact (see ``_points.py``); only strictly earlier points count, which the definition says with
i ∈ [k-1] and its network then lacks (erratum E7); N is even, as the paper's N/2 has it.

The paper gives no data. Here the first N/2 points are uniformly random and every later point lies near another
one of them, in random order, so that each of them is some query's neighbour; all labels are independent and
uniform, those of the second half too. Inputs whose margin is too small are drawn again.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from operator import mul
from typing import Any, ClassVar, Literal

from separatrix.errors import SeparatrixError
from separatrix.tasks.arrays import Array, full_like, namespace_of, take_rows
from separatrix.tasks.draws import Draws
from separatrix.tasks.problems._points import (
    GRID,
    earlier_products,
    hypercube_points,
    keeps_margin,
    sphere_points,
)
from separatrix.tasks.problems._rows import LARGEST_LISTING, in_chunks, whole_numbers
from separatrix.tasks.space import Space, cells
from separatrix.tasks.task import Answers, CommunicationSplit, Row, Split, Task, require
from separatrix.tasks.vocabulary import Symbols, Vocabulary
from separatrix.text_numbers import parse_fraction

TRIES = 100
LARGEST_DENOMINATOR = 1 << 20
LARGEST_SPECIFIED = 1 << 22
"""Products of coordinates in one input; with more the slow solution, to which specifications are held, takes long."""
POINT, LABEL = 0, 1
"""The first number of a cell says which kind it is; then come the label and the coordinates."""


@dataclass(frozen=True, kw_only=True)
class NearestNeighbour(Task):
    """Nearest neighbour among earlier points; ``margin`` is γ, a fraction written as text ("1/10" or "0.1")."""

    name: str = "nearest-neighbour"
    title: str = "Nearest neighbour"
    source: str = "BHBK24 §5.2, Appendix G"
    question: str = "For each point of the second half: which label has the nearest earlier point?"
    promise: str = "points have unit norm, and the best product is ahead of every other one by the margin"
    drawn: str = "every later point lies near another one of the first half"
    minimum_length: int = 2
    length_step: int = 2
    points: Literal["sphere", "hypercube"] = "sphere"
    dimension: int = 16
    margin: str = "1/10"
    labels: int = 2
    small: ClassVar[Mapping[str, Any]] = {"points": "hypercube", "dimension": 2, "margin": "1/2"}

    def __post_init__(self) -> None:
        require(self.points in ("sphere", "hypercube"), f"points={self.points!r}; choose 'sphere' or 'hypercube'")
        require(
            1 <= self.dimension <= 4096, f"dimension={self.dimension} is out of range; choose 1 to 4096 coordinates"
        )
        require(
            2 <= self.labels <= LARGEST_LISTING,
            f"labels={self.labels} is out of range; nearest neighbour needs 2 to {LARGEST_LISTING} labels",
        )
        margin = parse_fraction("margin", str(self.margin))
        require(0 < margin < 2, f"margin={self.margin} is out of range; choose a fraction above 0 and below 2")
        require(
            margin.denominator <= LARGEST_DENOMINATOR,
            f"margin={self.margin} is too fine for exact integers; choose a denominator up to 2^20",
        )
        # One spelling for each margin, so that tasks given 0.1 and 1/10 are equal.
        object.__setattr__(self, "margin", str(margin))

    @property
    def scale(self) -> int:
        """The squared norm of a point, on which the margin is measured."""
        return GRID * GRID if self.points == "sphere" else self.dimension

    def vocabulary(self, length: int) -> Vocabulary:
        del length
        return Vocabulary((Symbols("labels", self.labels),))

    def layout(self, length: int) -> str:
        norm = f"norm 2^20 up to √{self.dimension}" if self.points == "sphere" else "coordinates ±1"
        return (
            f"cells of {self.features(length)} numbers (kind, label, {self.dimension} coordinates): point cells "
            f"(0, 0, x_i) with {norm}, each but the last followed by a label cell (1, y_i, 0 … 0); "
            f"read at x_{length // 2 + 1} … x_{length}"
        )

    def positions(self, length: int) -> int:
        return 2 * length - 1

    def classes(self, length: int) -> int:
        del length
        return self.labels

    def features(self, length: int) -> int:
        del length
        return self.dimension + 2

    def specification(self, length: int) -> dict[str, Any] | None:
        self.check_length(length)
        if self.work(length) > LARGEST_SPECIFIED:
            return None
        d, hypercube = self.dimension, self.points == "hypercube"
        low = high = self.scale
        ahead = math.ceil(Fraction(self.margin) * self.scale)
        if hypercube:
            # Products of corners differ by multiples of 2.
            ahead += ahead % 2
            first, step, coordinates = -1, 2, 2
        else:
            # Whole numbers whose norm is within √d of 2^20, which none of them exceeds by more.
            slack = math.isqrt(4 * self.scale * d)
            low, high = self.scale + d - slack, self.scale + d + slack
            first, step, coordinates = -math.isqrt(high), 1, 2 * math.isqrt(high) + 1
        return {
            "inputs": [
                {"count": length * d, "tokens": [0, coordinates]},
                {"count": length - 1, "tokens": [0, self.labels]},
            ],
            "answer": {
                "kind": "nearest", "points": length, "dimension": d, "queries": length - length // 2,
                "first": first, "step": step, "norms": [low, high], "ahead": ahead,
            },
        }  # fmt: skip

    def solve(self, row: Row, length: int) -> Answers:
        points = [cell[2:] for cell in row[0::2]]
        labels = [cell[1] for cell in row[1::2]]
        answers: Answers = [None] * len(row)
        for query in range(length // 2, length):
            products = [_inner_product(points[query], earlier) for earlier in points[:query]]
            answers[2 * query] = labels[products.index(max(products))]
        return answers

    def work(self, length: int) -> int:
        """Return the cost of an example: every query is compared with every earlier point."""
        return length**2 * self.dimension

    def label(self, inputs: Array, length: int) -> tuple[Array, Array]:
        xp = namespace_of(inputs)
        targets = full_like(inputs, tuple(inputs.shape[:2]), 0)
        read = targets == 1
        first = 2 * (length // 2)
        read[:, first::2] = True
        nearest = in_chunks(
            lambda points: xp.argmax(earlier_products(points), axis=2),
            inputs[:, 0::2, 2:],
            self.memory(length),
        )
        targets[:, first::2] = take_rows(inputs[:, 1::2, 1], nearest)
        return targets, read

    def memory(self, length: int) -> int:
        """Entries of the temporary arrays that one input needs."""
        return length * (length + self.dimension)

    def generate(self, draws: Draws, count: int, length: int, split: Split) -> Array:
        del split
        labels = draws.digits(self.labels, count, length - 1)
        make = sphere_points if self.points == "sphere" else hypercube_points
        xp = namespace_of(labels)
        points = make(draws, count, length // 2, self.dimension)
        todo = xp.nonzero(~self.margin_kept(points, length))[0]
        for _ in range(TRIES):
            if not todo.shape[0]:
                return self.lay_out(points, labels)
            again = make(draws, todo.shape[0], length // 2, self.dimension)
            points[todo] = again
            todo = todo[~self.margin_kept(again, length)]
        raise SeparatrixError(
            f"no input with N={length}, dimension={self.dimension} and margin={self.margin} was found in {TRIES} "
            "tries; lower the margin or raise the dimension"
        )

    def margin_kept(self, points: Array, length: int) -> Array:
        """Return which inputs keep the margin at every query, exactly; points (count, N, d)."""
        margin = Fraction(self.margin)

        def kept(chunk: Array) -> Array:
            return keeps_margin(chunk, margin.numerator, margin.denominator, self.scale)

        return in_chunks(kept, points, self.memory(length))

    def lay_out(self, points: Array, labels: Array) -> Array:
        """Return cells from points (count, N, d) and labels (count, N - 1)."""
        xp = namespace_of(points)
        count, length, dimension = points.shape
        inputs = full_like(points, (count, 2 * length - 1, dimension + 2), 0)
        inputs[:, 0::2, 2:] = points
        inputs[:, 1::2, 0] = LABEL
        inputs[:, 1::2, 1] = xp.astype(labels, xp.int64)
        return inputs

    def space(self, length: int) -> Space:
        require(
            self.points == "hypercube",
            "points on the sphere are too many to walk through; choose points=hypercube to list all inputs",
        )
        return Space(cells((-1, 1), length * self.dimension) + cells(range(self.labels), length - 1))

    def listable(self, length: int) -> bool:
        return self.points == "hypercube" and super().listable(length)

    def assemble(self, values: Array, length: int) -> Array:
        xp = namespace_of(values)
        cut = length * self.dimension
        return self.lay_out(xp.reshape(values[:, :cut], (-1, length, self.dimension)), values[:, cut:])

    def admissible(self, inputs: Array, length: int) -> Array:
        xp = namespace_of(inputs)
        points, labels = inputs[:, 0::2, 2:], inputs[:, 1::2, 1]
        well_formed = xp.all(inputs == self.lay_out(points, labels), axis=(1, 2))
        well_formed = well_formed & xp.all((labels >= 0) & (labels < self.labels), axis=1)
        if self.points == "hypercube":
            unit_norm = xp.all(xp.abs(points) == 1, axis=(1, 2))
        else:
            # R - √d ≤ |x| ≤ R + √d, squared: | |x|² - R² - d | ≤ 2R√d. Clipping keeps the squares from overflowing.
            inside = xp.clip(points, -2 * GRID, 2 * GRID)
            excess = xp.sum(inside * inside, axis=2) - self.scale - self.dimension
            unit_norm = xp.all(xp.abs(excess) <= math.isqrt(4 * self.scale * self.dimension), axis=1)
        return well_formed & unit_norm & self.margin_kept(points, length)

    def communication(self, length: int) -> CommunicationSplit:
        return CommunicationSplit(
            problem="DISJ",
            alice=tuple(range(length)),
            bob=tuple(range(length, 2 * length - 1)),
            one_way=True,
            note="Alice holds the first N/2 pairs, Bob the rest, a permutation of the same points; he learns every "
            "label and so decides DISJ on N/2 bits (BHBK24 Theorem 8)",
        )

    def picture(self, row: Row, length: int) -> str:
        points = [cell[2:] for cell in row[0::2]]
        labels = [cell[1] for cell in row[1::2]]
        lines = [" ".join(f"y_{place + 1}={label}" for place, label in enumerate(labels))]
        for query in range(length // 2, length):
            products = [_inner_product(points[query], earlier) / self.scale for earlier in points[:query]]
            nearest = products.index(max(products))
            ranked = sorted(products, reverse=True)
            second = f", next {ranked[1]:+.3f}" if len(ranked) > 1 else ""
            lines.append(
                f"x_{query + 1} is nearest to x_{nearest + 1} (product {ranked[0]:+.3f}{second}): {labels[nearest]}"
            )
        return "\n".join(lines)

    def write(self, row: Row, length: int) -> str:
        del length
        return " ".join(
            str(cell[1]) if cell[0] == LABEL else f"({','.join(str(number) for number in cell[2:])})" for cell in row
        )

    def read(self, text: str, length: int) -> Row:
        del length
        row: list[list[int]] = []
        for word in text.split():
            if word.startswith("(") and word.endswith(")"):
                point = whole_numbers(word[1:-1], ",", f"a point such as ({','.join(['1'] * self.dimension)})")
                require(
                    len(point) == self.dimension,
                    f"{word} has {len(point)} coordinates; this task's points have {self.dimension}",
                )
                row.append([POINT, 0, *point])
            else:
                (label,) = whole_numbers(word, " ", "a label or a point in parentheses")
                row.append([LABEL, label, *[0] * self.dimension])
        return row


def _inner_product(first: Row, second: Row) -> int:
    return sum(map(mul, first, second))


TASK = NearestNeighbour()
