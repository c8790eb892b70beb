"""Sparse averaging (qSA): every cell names q cells, and the answer is the average of their values.

SHT23 "q-Sparse Averaging": cell i is (i, S_i, v_i) with S_i a set of q indices and v_i a vector of norm at most 1;
output i is close to (1/q) Σ_{j∈S_i} v_j. So that answers are exact, values are integer vectors of norm at most
R = ``resolution`` and the answer is the sum Σ_{j∈S_i} v_j in integers: divide it by q·R (:attr:`answer_scale`) to have
the average of vectors of norm at most 1.

Deviations: the slides' reduction from INDEX gives Alice's cells the empty set, which is not a set of q indices;
any set will do there, because only Bob's output is read. Data (the slides have none): all sets and all values
are independent and uniform, the values over the integer points of the ball of radius R.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy

from separatrix.tasks.arrays import Array, columns, distinct_integers, full_like, integers, namespace_of
from separatrix.tasks.draws import Draws
from separatrix.tasks.problems._rows import LARGEST_LISTING, check_listing, row_numbers, whole_numbers
from separatrix.tasks.space import Space, Table, subsets
from separatrix.tasks.task import Answers, CommunicationSplit, Row, Split, Task, require
from separatrix.tasks.vocabulary import Symbols, Vocabulary


@dataclass(frozen=True, kw_only=True)
class SparseAveraging(Task):
    """Averages of q = ``sparsity`` values of ``dimension`` integers, each value of norm at most ``resolution``."""

    name: str = "sparse-averaging"
    title: str = "Sparse averaging"
    source: str = "SHT23, q-Sparse Averaging"
    question: str = "For each cell: what is the sum of the values of the q cells that it names?"
    promise: str = "cells are numbered, sets have q ascending indices, values lie in the ball"
    sparsity: int = 3
    dimension: int = 1
    resolution: int = 8
    small: ClassVar[Mapping[str, Any]] = {"sparsity": 2, "resolution": 1}

    def __post_init__(self) -> None:
        require(1 <= self.sparsity <= 64, f"sparsity={self.sparsity} is out of range; choose 1 to 64")
        require(self.dimension >= 1, f"dimension={self.dimension} is too small; choose at least 1")
        require(self.resolution >= 1, f"resolution={self.resolution} is too small; choose at least 1")
        # Compared by logarithms first: a power of a huge dimension would take long to compute.
        require(
            self.dimension * math.log(2 * self.resolution + 1) <= math.log(LARGEST_LISTING),
            f"dimension={self.dimension} with resolution={self.resolution} gives too many values to list; "
            f"(2·resolution+1)^dimension may be at most {LARGEST_LISTING}",
        )
        # A set of q indices needs at least q cells.
        object.__setattr__(self, "minimum_length", self.sparsity)

    @property
    def answer_scale(self) -> int:
        """What a sum is divided by to have the average of values of norm at most 1."""
        return self.sparsity * self.resolution

    def outputs(self, length: int) -> int:
        del length
        return self.dimension

    def vocabulary(self, length: int) -> Vocabulary:
        return Vocabulary((Symbols("indices", length, first=1),))

    def layout(self, length: int) -> str:
        return (
            f"{length} cells of {self.features(length)} numbers: the index i, {self.sparsity} ascending indices of "
            f"1 … {length}, {self.dimension} coordinates of a value of norm at most {self.resolution}; read at every "
            f"cell: the sum of the named values, to be divided by {self.answer_scale}"
        )

    def positions(self, length: int) -> int:
        return length

    def classes(self, length: int) -> int:
        del length
        return 0

    def features(self, length: int) -> int:
        del length
        return 1 + self.sparsity + self.dimension

    def specification(self, length: int) -> dict[str, Any]:
        self.check_length(length)
        q, d, far = self.sparsity, self.dimension, self.resolution
        return {
            "inputs": [
                {"count": length * q, "tokens": [0, length]},
                {"count": length * d, "tokens": [0, 2 * far + 1]},
            ],
            "answer": {"kind": "named-sums", "cells": length, "named": q, "dimension": d, "norm": far},
        }

    def solve(self, row: Row, length: int) -> Answers:
        del length
        values = {cell[0]: cell[1 + self.sparsity :] for cell in row}
        return [
            tuple(sum(values[index][axis] for index in cell[1 : 1 + self.sparsity]) for axis in range(self.dimension))
            for cell in row
        ]

    def label(self, inputs: Array, length: int) -> tuple[Array, Array]:
        values = inputs[:, :, 1 + self.sparsity :]
        row = row_numbers(inputs, inputs.shape[0])
        targets = full_like(inputs, tuple(values.shape), 0)
        for turn in range(self.sparsity):
            targets = targets + values[row, inputs[:, :, 1 + turn] - 1]
        return targets, full_like(inputs, tuple(inputs.shape[:2]), 1) == 1

    def generate(self, draws: Draws, count: int, length: int, split: Split) -> Array:
        del split
        sets = distinct_integers(draws.uniform(count, length, self.sparsity), length)
        xp = namespace_of(sets)
        # Copied because the cached table is read-only, which torch does not support.
        table = xp.asarray(ball(self.dimension, self.resolution), device=sets.device, copy=True)
        return self.lay_out(sets, table[integers(draws.uniform(count, length), 0, table.shape[0])])

    def lay_out(self, sets: Array, values: Array) -> Array:
        """Return cells from sets of indices counted from 0 (count, N, q) and values (count, N, d)."""
        xp = namespace_of(sets)
        count, length, _ = sets.shape
        index = xp.broadcast_to(columns(sets, length) + 1, (count, length))
        return xp.concat([xp.expand_dims(index, axis=2), sets + 1, values], axis=2)

    def space(self, length: int) -> Space:
        check_listing(math.comb(length, self.sparsity), f"sets of {self.sparsity} out of {length} indices")
        return Space((subsets(length, self.sparsity), ball(self.dimension, self.resolution)) * length)

    def count(self, length: int) -> int:
        # The same number as of the space, without listing the sets.
        self.check_length(length)
        return (math.comb(length, self.sparsity) * len(ball(self.dimension, self.resolution))) ** length

    def listable(self, length: int) -> bool:
        return super().listable(length) and math.comb(length, self.sparsity) <= LARGEST_LISTING

    def assemble(self, values: Array, length: int) -> Array:
        xp = namespace_of(values)
        table = xp.reshape(values, (values.shape[0], length, self.sparsity + self.dimension))
        return self.lay_out(table[:, :, : self.sparsity], table[:, :, self.sparsity :])

    def admissible(self, inputs: Array, length: int) -> Array:
        xp = namespace_of(inputs)
        sets, values = inputs[:, :, 1 : 1 + self.sparsity], inputs[:, :, 1 + self.sparsity :]
        numbered = inputs[:, :, 0] == columns(inputs, length) + 1
        ascending = xp.all(sets[:, :, 1:] > sets[:, :, :-1], axis=2)
        inside = xp.all((sets >= 1) & (sets <= length), axis=2)
        near = xp.clip(values, -self.resolution - 1, self.resolution + 1)
        short = xp.sum(near * near, axis=2) <= self.resolution * self.resolution
        return xp.all(numbered & ascending & inside & short, axis=1)

    def communication(self, length: int) -> CommunicationSplit:
        return CommunicationSplit(
            problem="INDEX",
            alice=tuple(range(length - 1)),
            bob=(length - 1,),
            one_way=True,
            note="Alice holds cells 1 … N-1 with her bits as values, Bob the last cell, whose set names his index "
            "(SHT23, lower bound for RNNs, q = d = 1)",
        )

    def picture(self, row: Row, length: int) -> str:
        lines: list[str] = []
        for cell, answer in zip(row, self.solve(row, length), strict=True):
            total = answer if isinstance(answer, tuple) else ()
            named = " + ".join(f"v_{index}" for index in cell[1 : 1 + self.sparsity])
            value = _vector(cell[1 + self.sparsity :])
            lines.append(f"v_{cell[0]} = {value}; answer {named} = {_vector(total)} (average: /{self.answer_scale})")
        return "\n".join(lines)

    def write(self, row: Row, length: int) -> str:
        del length
        return " ".join(f"{_vector(cell[1 : 1 + self.sparsity])}:{_vector(cell[1 + self.sparsity :])}" for cell in row)

    def read(self, text: str, length: int) -> Row:
        del length
        row: list[list[int]] = []
        for place, word in enumerate(text.split()):
            named, colon, value = word.partition(":")
            example = f"{','.join(str(each + 1) for each in range(self.sparsity))}:{','.join(['0'] * self.dimension)}"
            what = f"a cell such as {example}"
            cell = [place + 1, *whole_numbers(named, ",", what), *whole_numbers(value, ",", what)]
            require(bool(colon) and len(cell) == 1 + self.sparsity + self.dimension, f"{word!r} is not {what}")
            row.append(cell)
        return row


def _vector(numbers: Row) -> str:
    return ",".join(str(number) for number in numbers)


@lru_cache(maxsize=8)
def ball(dimension: int, radius: int) -> Table:
    """Return all integer vectors of norm at most ``radius``, in lexicographic order; shape (points, dimension).

    >>> ball(2, 1).tolist()
    [[-1, 0], [0, -1], [0, 0], [0, 1], [1, 0]]
    """
    cube = numpy.indices((2 * radius + 1,) * dimension, dtype=numpy.int64).reshape(dimension, -1).T - radius
    points = cube[(cube * cube).sum(axis=1) <= radius * radius]
    points.setflags(write=False)
    return points


TASK = SparseAveraging()
