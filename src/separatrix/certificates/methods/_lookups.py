"""Hard attention into the past, reduced to classes: which earlier position a query finds, without its number.

What the lookup layer reads at a position falls into a *class*, the same at many positions, and a *clock*, coordinates
that only the keys read and that depend on the position alone. If key rows read either clocks or classes, a score is
the sum of a class score and a clock score. Checked here: for every query the clock score rises with the position, and
two class scores are equal or further apart than the clock ever moves. Then a query finds the latest position among
those of the best class score, and it is enough to remember, for each query, the class that it would find.
"""

import numpy
from numpy.typing import NDArray

from separatrix.arithmetic import FixedPoint
from separatrix.certificates.methods._numbers import Raw
from separatrix.certificates.methods._prefixes import Evaluation
from separatrix.certificates.verdict import UnsupportedError
from separatrix.networks import Head

NOTHING = -1
Found = tuple[int, ...]
"""For each query: the kind of key it would find, or -1."""


def columns_read(evaluation: Evaluation, head: Head) -> tuple[NDArray[numpy.bool_], NDArray[numpy.bool_]]:
    """Columns of the stream that matter from the lookup on, and those among them that only its keys read."""
    parts = evaluation.parts
    others = head.query.numerators.any(axis=0) | head.value.numerators.any(axis=0)
    others |= parts.collecting.value.numerators.any(axis=0)
    for layer in parts.after:
        others |= layer.inner.numerators.any(axis=0)
    keys = head.key.numerators.any(axis=0)
    return numpy.asarray(others | keys), numpy.asarray(keys & ~others)


class Lookup:
    """The lookup layer on classes (streams with zeros in all clock columns) and clocks (one row for each position)."""

    def __init__(self, evaluation: Evaluation, head: Head, classes: Raw, clocks: Raw) -> None:
        self._evaluation, self._classes = evaluation, classes
        arithmetic = evaluation.arithmetic
        key = head.key.encoded(arithmetic).T
        ticking = clocks.any(axis=0)
        reads_clock, reads_class = key[ticking].any(axis=0), key[~ticking].any(axis=0)
        if bool((reads_clock & reads_class).any()):
            raise UnsupportedError("a key row mixes what depends on the position alone with other coordinates")
        queries = arithmetic.matmul(classes, head.query.encoded(arithmetic).T)
        asked, which = numpy.unique(queries, axis=0, return_inverse=True)
        self.query_of: list[int] = which.reshape(-1).tolist()
        scores = arithmetic.matmul(asked, arithmetic.matmul(classes, key).T)
        _check_order(scores, arithmetic.matmul(asked, arithmetic.matmul(clocks, key).T), arithmetic)
        values = arithmetic.matmul(classes, head.value.encoded(arithmetic).T)
        kinds, kind = numpy.unique(numpy.concatenate([scores.T, values], axis=1), axis=0, return_inverse=True)
        self.kind_of: list[int] = kind.reshape(-1).tolist()
        self._scores: list[list[int]] = kinds[:, : len(asked)].tolist()
        found = numpy.concatenate([kinds[:, len(asked) :], numpy.zeros((1, values.shape[1]), dtype=numpy.int64)])
        # The attention weight of the one best key is exactly 1; row -1 is for a query that sees no key.
        self._outputs = arithmetic.matmul(found, head.output.encoded(arithmetic).T)
        self._flags: dict[tuple[int, int], int] = {}
        self.nothing: Found = (NOTHING,) * len(asked)

    def flag(self, number: int, found: Found) -> int:
        """The flag of a position of this class, given what each query would find before it."""
        kind = found[self.query_of[number]]
        if (number, kind) not in self._flags:
            stream = self._evaluation.arithmetic.add(self._classes[[number]], self._outputs[[kind]])
            stream = self._evaluation.feed_forwards(self._evaluation.parts.after, stream)
            self._flags[number, kind] = int(self._evaluation.flags(stream)[0])
        return self._flags[number, kind]

    def remember(self, number: int, found: Found) -> Found:
        """What each query finds once a position of this class is in the past."""
        kind = self.kind_of[number]
        scores = self._scores[kind]
        return tuple(
            kind if old == NOTHING or score >= self._scores[old][query] else old
            for query, (old, score) in enumerate(zip(found, scores, strict=True))
        )


def _check_order(scores: Raw, clock: Raw, arithmetic: FixedPoint) -> None:
    """Class scores (queries, classes) must outweigh the clock (queries, positions), which must rise."""
    if int(numpy.abs(scores).max(initial=0)) + int(numpy.abs(clock).max(initial=0)) >= arithmetic.largest**2:
        raise UnsupportedError("scores reach the end of the range; a larger Kc keeps them inside")
    if bool((numpy.diff(clock, axis=1) <= 0).any()):
        raise UnsupportedError("the lookup does not prefer later positions")
    span = clock[:, -1] - clock[:, 0]
    gaps = numpy.diff(numpy.sort(scores, axis=1), axis=1)
    if bool(((gaps > 0) & (gaps <= span[:, None])).any()):
        raise UnsupportedError("the position can outweigh a difference in what the lookup compares")
