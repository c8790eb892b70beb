"""Communication matrices: one row for each part of Alice, one column for each part of Bob, built in chunks.

Boolean matrices are bit-packed, eight entries to a byte; others take one byte an entry (up to 256 values). Memory grows
with rows × columns, and a matrix that would not fit in the limit is refused before it is built.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy
from numpy.typing import NDArray

from separatrix.communication.problem import CommunicationProblem, Integers
from separatrix.errors import SeparatrixError

Bytes = NDArray[numpy.uint8]
DEFAULT_LIMIT = 2 << 30
"""Bytes of a matrix, unless said otherwise."""


@dataclass(frozen=True, eq=False)
class CommunicationMatrix:
    """The values of a function of two numbers.

    ``data``: uint8; (rows, ⌈columns / 8⌉) with the first column in the highest bit when ``packed``, else
    (rows, columns). Values are 0 … ``classes`` − 1.
    """

    data: Bytes
    columns: int
    classes: int
    packed: bool

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return len(self.data)

    def dense(self, start: int = 0, stop: int | None = None) -> Bytes:
        """Return rows ``start`` to ``stop`` − 1 with one byte for each entry: uint8 (rows, columns)."""
        part = self.data[start:stop]
        return numpy.unpackbits(part, axis=1, count=self.columns) if self.packed else part

    def entries(self, rows: Integers, columns: Integers) -> Bytes:
        """Return the values at pairs of numbers; the shapes broadcast."""
        if not self.packed:
            return self.data[rows, columns]
        return (self.data[rows, columns >> 3] >> (7 - (columns & 7)).astype(numpy.uint8)) & numpy.uint8(1)

    def where(self, value: int) -> "CommunicationMatrix":
        """Return the boolean matrix of the entries that have this value."""
        if self.packed:
            if value == 1:
                return self
            flipped = ~self.data
            if self.columns % 8 and flipped.size:
                flipped[:, -1] &= numpy.uint8((0xFF << (8 - self.columns % 8)) & 0xFF)
            return CommunicationMatrix(flipped, self.columns, 2, packed=True)
        chunks = [numpy.packbits(block == value, axis=1) for block in self.row_blocks()]
        return CommunicationMatrix(numpy.concatenate(chunks), self.columns, 2, packed=True)

    def transposed(self) -> "CommunicationMatrix":
        """Return rows and columns exchanged."""
        return pack(numpy.ascontiguousarray(self.dense().T), self.classes)

    def row_blocks(self) -> Iterator[Bytes]:
        """Yield all rows in order as dense blocks of about 2^24 entries."""
        step = max(1, (1 << 24) // max(1, self.columns))
        for start in range(0, self.rows, step):
            yield self.dense(start, start + step)

    @cached_property
    def distinct(self) -> "Distinct":
        """The matrix without repeated rows and columns, and where they were."""
        first_row, row_of = _distinct_rows(self.data)
        kept = CommunicationMatrix(self.data[first_row], self.columns, self.classes, self.packed)
        turned = kept.transposed()
        first_column, column_of = _distinct_rows(turned.data)
        kept = CommunicationMatrix(
            turned.data[first_column], turned.columns, turned.classes, turned.packed
        ).transposed()
        return Distinct(kept, first_row, first_column, row_of, column_of)


@dataclass(frozen=True, eq=False)
class Distinct:
    """A matrix without repetitions. ``first_row``, ``first_column``: one place of each kept row and column.

    ``row_of``, ``column_of``: which kept row or column each original one equals.
    """

    matrix: CommunicationMatrix
    first_row: Integers
    first_column: Integers
    row_of: Integers
    column_of: Integers


def pack(values: NDArray[numpy.generic], classes: int | None = None) -> CommunicationMatrix:
    """Return a matrix from an array (rows, columns) of values 0 … classes − 1.

    >>> pack(numpy.eye(3, dtype=int)).data.tolist()
    [[128], [64], [32]]
    """
    if values.ndim != 2 or not values.size:
        raise SeparatrixError(f"a matrix needs two sides and an entry, not shape {values.shape}")
    least, most = int(values.min()), int(values.max())
    count = most + 1 if classes is None else classes
    if least < 0 or most >= count or count > 256:
        raise SeparatrixError(f"values {least} to {most} do not fit {count} classes; use 0 to 255, numbered from 0")
    if count <= 2:
        return CommunicationMatrix(numpy.packbits(values != 0, axis=1), values.shape[1], 2, packed=True)
    return CommunicationMatrix(values.astype(numpy.uint8), values.shape[1], count, packed=False)


def matrix_bytes(problem: CommunicationProblem) -> int:
    """Return how many bytes the matrix of a problem takes."""
    return problem.rows * (-(-problem.columns // 8) if problem.classes <= 2 else problem.columns)


def communication_matrix(problem: CommunicationProblem, limit: int = DEFAULT_LIMIT) -> CommunicationMatrix:
    """Return the matrix of a problem, evaluated a chunk of rows at a time."""
    needed = matrix_bytes(problem)
    if needed > limit:
        raise SeparatrixError(
            f"the matrix of {problem.name} has {problem.rows} × {problem.columns} entries and takes {needed >> 20} MiB,"
            f" more than {limit >> 20} MiB; choose a shorter input"
        )
    chunks = [pack(block, max(2, problem.classes)).data for block in evaluated_rows(problem)]
    return CommunicationMatrix(
        numpy.concatenate(chunks), problem.columns, max(2, problem.classes), packed=problem.classes <= 2
    )


def evaluated_rows(problem: CommunicationProblem) -> Iterator[Integers]:
    """Yield the rows of a problem's matrix in order, as blocks (rows, columns) that fit in a chunk.

    >>> from separatrix.communication.classics import equality
    >>> [block.shape for block in evaluated_rows(equality(3))]
    [(8, 8)]
    """
    step = max(1, problem.chunk // problem.columns)
    for start in range(0, problem.rows, step):
        rows = numpy.arange(start, min(start + step, problem.rows), dtype=numpy.int64)[:, None]
        width = problem.chunk if problem.columns > problem.chunk else problem.columns
        pieces = [
            problem.evaluate(rows, numpy.arange(left, min(left + width, problem.columns), dtype=numpy.int64)[None, :])
            for left in range(0, problem.columns, width)
        ]
        yield pieces[0] if len(pieces) == 1 else numpy.concatenate(pieces, axis=1)


def _distinct_rows(data: Bytes) -> tuple[Integers, Integers]:
    """Return the first place of each different row, in order of first appearance, and the number of each row's kind."""
    whole = numpy.ascontiguousarray(data).view(numpy.dtype((numpy.void, data.shape[1]))).ravel()
    _, first, inverse = numpy.unique(whole, return_index=True, return_inverse=True)
    order = numpy.argsort(first, kind="stable")
    rank = numpy.empty_like(order)
    rank[order] = numpy.arange(len(order))
    return first[order].astype(numpy.int64), rank[inverse].astype(numpy.int64)
