"""Specifications about points: the label of the nearest one, as data."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from math import hypot, sqrt
from operator import mul
from random import Random
from typing import Any

from separatrix_kernel.reading import fields, integer, integers, items, require
from separatrix_kernel.specification import MOST_POSITIONS, Form, Inputs

MOST_COORDINATES = 1 << 12
MOST_FAR = 1 << 40
MOST_NORM = 1 << 128
MOST_TRIES = 16


@dataclass(frozen=True)
class Nearest(Form):
    """Points x_1 … x_n with labels y_1 … y_{n-1}: each of the last ``queries`` points is answered with the label of
    that point before it whose product with it is largest.

    Tokens are first the coordinates of all points, point by point, then the labels; token t is the coordinate ``first``
    + t · ``step``. The network reads 2n - 1 cells in turn: (0, 0, x_i) for points and (1, y_i, 0 … 0) for labels.
    Promised: squared norms are in ``norms``, both ends included, and for each query the largest product exceeds all
    others by ``ahead`` or more.
    """

    points: int
    dimension: int
    queries: int
    first: int
    step: int
    norms: tuple[int, int]
    ahead: int
    values: range
    labels: range
    stride = 2
    file = "points"

    @property
    def cell_size(self) -> int:
        """Kind, label and coordinates."""
        return 2 + self.dimension

    @property
    def asked(self) -> int:
        """An answer for each query."""
        return self.queries

    @property
    def everywhere(self) -> bool:
        """The network may be read at every position."""
        return True

    @property
    def asking(self) -> range:
        """The numbers of the points that ask, from 0 on."""
        return range(self.points - self.queries, self.points)

    def held(self, inputs: Inputs) -> Inputs:
        """Every cell has token 0."""
        del inputs
        return Inputs([range(1)] * (2 * self.points - 1), [(2 * self.points - 1, range(1))])

    def vectors(self, tokens: Sequence[int]) -> list[list[int]]:
        """The points."""
        held, size = [self.first + self.step * token for token in tokens], self.dimension
        return [held[size * number : size * number + size] for number in range(self.points)]

    def cells(self, tokens: Sequence[int]) -> list[list[int]]:
        """Points and labels in turn."""
        found, labels = [[0, 0, *each] for each in self.vectors(tokens)], tokens[self.points * self.dimension :]
        told = [[1, label, *[0] * self.dimension] for label in labels]
        return [*chain(*zip(found, told, strict=False)), found[-1]]

    def _products(self, tokens: Sequence[int]) -> list[list[int]]:
        """For each query its products with the points before it."""
        points = self.vectors(tokens)
        return [[sum(map(mul, points[each], other)) for other in points[:each]] for each in self.asking]

    def right(self, tokens: Sequence[int]) -> list[int]:
        """The right answers."""
        labels = tokens[self.points * self.dimension :]
        return [labels[products.index(max(products))] for products in self._products(tokens)]

    def admits(self, tokens: Sequence[int]) -> bool:
        """Whether norms and products are as promised."""
        low, high = self.norms
        if not all(low <= sum(map(mul, each, each)) <= high for each in self.vectors(tokens)):
            return False
        ranked = [sorted(products) for products in self._products(tokens)]
        return all(len(each) == 1 or each[-1] - each[-2] >= self.ahead for each in ranked)

    def covered(self, inputs: Inputs) -> str:
        """That number, before the promise is applied."""
        return f"{inputs.covered} (as promised)"

    def draw(self, inputs: Inputs, random: Random) -> tuple[int, ...] | None:
        """Random points of about the right norm; in every second try queries repeat them, each another one."""
        stored = self.points - self.queries
        for number in range(MOST_TRIES):
            points = [self._point(random) for _ in range(self.points)]
            centres = random.sample(points[:stored], number % 2 * min(stored, self.queries))
            points[stored : stored + len(centres)] = centres
            tokens = (*chain(*points), *random.choices(self.labels, k=self.points - 1))
            if self.admits(tokens):
                return tokens
        return None

    def _point(self, random: Random) -> list[int]:
        """The tokens of a point near a random direction."""
        direction = [random.gauss(0, 1) for _ in range(self.dimension)]
        factor = sqrt(sum(self.norms) / 2) / (hypot(*direction) or 1)
        tokens = [round((factor * each - self.first) / self.step) for each in direction]
        return [min(max(each, 0), self.values.stop - 1) for each in tokens]

    def words(self) -> str:
        """For people."""
        low, high = self.norms
        return (
            f"for each of the last {self.queries} of {self.points} points the label of that point before it whose "
            f"product with it is largest; {self.dimension} coordinates a point, from {self.first} in steps of "
            f"{self.step}; promised: squared norms are from {low} to {high}, and the largest product exceeds all "
            f"others by {self.ahead} or more"
        )


def read_nearest(value: Any, inputs: Inputs) -> Nearest:
    """The right answers that a claim about points states."""
    names = ["kind", "points", "dimension", "queries", "first", "step", "norms", "ahead"]
    found, tokens = fields(value, "the nearest points", names), inputs.tokens
    points = integer(found["points"], "the number of points", 2, MOST_POSITIONS)
    dimension = integer(found["dimension"], "the dimension", 1, MOST_COORDINATES)
    queries = integer(found["queries"], "the number of queries", 1, points - 1)
    end = points * dimension
    require(len(tokens) == end + points - 1, "the inputs are not the coordinates of all points, then the labels")
    alike = len(set(tokens[:end])) == len(set(tokens[end:])) == 1 and tokens[0].start == tokens[end].start == 0
    require(alike, "coordinates and labels are not from one range each, from token 0 on")
    first = integer(found["first"], "the least coordinate", -MOST_FAR, MOST_FAR)
    step = integer(found["step"], "the step of coordinates", 1, MOST_FAR)
    low, high = integers(items(found["norms"], "the squared norms", 2), "the squared norms", 0, MOST_NORM)
    require(low <= high, "the squared norms end before they begin")
    ahead = integer(found["ahead"], "how far the largest product is ahead", 1, 2 * high)
    return Nearest(points, dimension, queries, first, step, (low, high), ahead, tokens[0], tokens[end])
