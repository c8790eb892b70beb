"""The slides' bound for feed-forward networks with real weights: width below N·d loses a direction of the values.

SHT23: every FNN that computes sparse averaging has width Ω(N), already for q = 1. A feed-forward network is g(Wx) with
an arbitrary g, and what W maps to 0 is lost. W has a column for each of the N·d coordinates of the values. With fewer
rows than that there is a vector u ≠ 0 of values with Wu = 0 (the other coordinates, indices and sets, kept fixed).
Scale it so that its longest value has norm 1, at cell i. The inputs with values u and -u and a last cell that asks for
{i} give the same Wx, but their answers differ by 2: no approximation better than 1 is possible. So the width is at
least N·d, at any precision of the weights, *because values are real vectors*.

On a finite grid of values, as in the task here, real or unbounded weights make width 1 enough (write the values as the
digits of one number: :func:`digit_weights`, E22). There the bound holds for p-bit weights, by communication: see
``claims/sparse_averaging_fnn.py``.
"""

import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from separatrix.communication import Integers
from separatrix.errors import SeparatrixError


@dataclass(frozen=True)
class Collision:
    """Values u and -u that a first layer cannot tell apart, and the cell at which they differ by 2."""

    values: tuple[Fraction, ...]
    cell: int


def collision(weights: Integers) -> Collision:
    """Return two inputs that a first layer (width, N) on N scalar values maps to the same sums, exactly; width < N."""
    width, cells = weights.shape
    if width >= cells:
        raise SeparatrixError(
            f"a first layer of width {width} may tell {cells} values apart; give fewer rows than values"
        )
    flint: Any = importlib.import_module("flint")
    matrix = flint.fmpz_mat(width, cells, weights.ravel().tolist())
    # Fewer rows than columns, so that the kernel is not empty.
    kernel, _ = matrix.nullspace()
    entries = [int(kernel[cell, 0]) for cell in range(cells)]
    largest = max(entries, key=abs)
    values = tuple(Fraction(entry, largest) for entry in entries)
    return Collision(values, values.index(Fraction(1)))


def digit_weights(lowest: Sequence[int], highest: Sequence[int]) -> tuple[int, ...]:
    """Return weights of one unit whose sum is different for every input with numbers between these bounds.

    Each weight is larger than all that the numbers before it can add up to, so the numbers are the digits of the sum.

    >>> digit_weights([0, -1, 1], [1, 1, 3])
    (1, 2, 6)
    """
    weights: list[int] = []
    count = 1
    for low, high in zip(lowest, highest, strict=True):
        weights.append(count)
        count *= high - low + 1
    return tuple(weights)


def collides(weights: Integers, found: Collision) -> bool:
    """Return whether both inputs give the same sums, all values have norm at most 1 and the answers differ by 2;
    exact."""
    sums = [
        sum(int(weight) * value for weight, value in zip(row, found.values, strict=True)) for row in weights.tolist()
    ]
    return (
        all(total == 0 for total in sums)
        and all(abs(value) <= 1 for value in found.values)
        and found.values[found.cell] - -found.values[found.cell] == 2
    )
