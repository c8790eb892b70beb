"""The set of all inputs of one length, as a product of blocks, so that it can be counted and walked through.

A block is a table of the values that some cells of the input take together: one row for each choice. The input
space is the product of its blocks, and an input's number is a mixed-radix number over them, first block most
significant. Counting is exact (Python integers); walking yields chunks and never holds more than one.
"""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy
from numpy.typing import NDArray

from separatrix.errors import SeparatrixError

Table = NDArray[numpy.int64]


@dataclass(frozen=True)
class Space:
    """A product of blocks; each block is a table of shape (choices, cells)."""

    blocks: tuple[Table, ...]

    @property
    def count(self) -> int:
        """How many inputs there are, exactly."""
        # Most cells have as many choices, so a million cells are one power and not a million products.
        return math.prod(choices**cells for choices, cells in Counter(map(len, self.blocks)).items())

    @property
    def written(self) -> str:
        """The number of inputs as a product, as certificates write it.

        >>> Space((*cells(range(64), 16), *cells(range(16), 1))).written
        '64^16*16'
        """
        sizes = Counter(map(len, self.blocks))
        return "*".join(f"{size}^{n}" if n > 1 else str(size) for size, n in sizes.items() if size > 1) or "1"

    def chunk(self, start: int, stop: int) -> Table:
        """Return inputs ``start`` to ``stop - 1``: shape (stop - start, cells)."""
        if not 0 <= start <= stop <= self.count:
            raise SeparatrixError(f"inputs {start} to {stop} are not among the {self.count} inputs")
        if self.count >= 2**62:
            raise SeparatrixError(f"{self.count} inputs are too many to walk through; choose a smaller length")
        return self.inputs(numpy.arange(start, stop, dtype=numpy.int64))

    def inputs(self, numbers: Table) -> Table:
        """Return the inputs with these numbers: an array of shape S gives S and cells.

        >>> Space(cells((0, 1), 2)).inputs(numpy.array([0, 2, 3])).tolist()
        [[0, 0], [1, 0], [1, 1]]
        """
        parts: list[Table] = []
        for block in reversed(self.blocks):
            numbers, choice = numpy.divmod(numbers, len(block))
            parts.append(block[choice])
        return numpy.concatenate(parts[::-1], axis=-1) if parts else numpy.zeros((*numbers.shape, 0), numpy.int64)

    def chunks(self, size: int = 65536) -> Iterator[Table]:
        """Yield all inputs, ``size`` at a time."""
        for start in range(0, self.count, size):
            yield self.chunk(start, min(start + size, self.count))


def cells(values: Sequence[int], count: int) -> tuple[Table, ...]:
    """``count`` independent cells that each take any of ``values``.

    >>> [table.tolist() for table in cells((0, 1), 2)]
    [[[0], [1]], [[0], [1]]]
    """
    return (numpy.asarray(values, dtype=numpy.int64).reshape(-1, 1),) * count


def constant(value: int) -> tuple[Table, ...]:
    """Return one cell with one value.

    >>> constant(7)[0].tolist()
    [[7]]
    """
    return cells([value], 1)


def subsets(bound: int, size: int) -> Table:
    """Return all sorted ``size``-subsets of ``0 .. bound - 1``.

    >>> subsets(3, 2).tolist()
    [[0, 1], [0, 2], [1, 2]]
    """
    return numpy.array(list(combinations(range(bound), size)), dtype=numpy.int64).reshape(-1, size)
