"""One-way communication: the number of distinct rows, counted exactly (BHBK24 Theorem 2 with Fact 3).

When only Alice speaks, two of her parts may share a message exactly when their rows are equal, so the cost is
⌈log2 of the number of distinct rows⌉: no less, because Bob must answer every column correctly, and no more, because she
can send the number of her row. Rows are compared whole (packed), not by a hash.
"""

import numpy

from separatrix.bit_counts import bits_for
from separatrix.communication.matrix import CommunicationMatrix, evaluated_rows
from separatrix.communication.problem import CommunicationProblem


def count_distinct_rows(on: CommunicationProblem | CommunicationMatrix) -> int:
    """Return how many different rows there are; a problem is read a chunk of rows at a time.

    Memory grows with the number of *different* rows times the columns, never with all rows.
    """
    if isinstance(on, CommunicationMatrix):
        return len(whole_rows(on.data))
    seen = numpy.zeros(0, dtype=numpy.void)
    for block in evaluated_rows(on):
        rows = numpy.packbits(block != 0, axis=1) if on.classes <= 2 else block.astype(_narrowest(on.classes))
        found = whole_rows(rows)
        seen = numpy.unique(numpy.concatenate([seen, found])) if len(seen) else found
    return len(seen)


def one_way_bits(on: CommunicationProblem | CommunicationMatrix) -> int:
    """Return the exact cost of a protocol in which only Alice speaks: ⌈log2 of the number of distinct rows⌉."""
    return bits_for(count_distinct_rows(on))


def _narrowest(classes: int) -> type[numpy.unsignedinteger]:
    return numpy.uint8 if classes <= 256 else numpy.uint16 if classes <= 65536 else numpy.uint64


def whole_rows(
    rows: "numpy.ndarray[tuple[int, ...], numpy.dtype[numpy.unsignedinteger]]",
) -> "numpy.ndarray[tuple[int, ...], numpy.dtype[numpy.void]]":
    """Return the different rows of an array (rows, columns), each as one value.

    >>> len(whole_rows(numpy.array([[1, 2], [3, 4], [1, 2]], dtype=numpy.uint8)))
    2
    """
    width = rows.shape[1] * rows.dtype.itemsize
    return numpy.unique(numpy.ascontiguousarray(rows).view(numpy.dtype((numpy.void, width))).ravel())
