"""Keys that have one score in a row are alike: rows of attention by how many keys of each score are seen.

A causal layer shows each query a prefix of the keys. Keys of one score have one weight, so a row with few different
scores, such as those of one linear code, is known from how many keys of each score are seen (``weights.group_weights``)
and all prefixes cost little more than one. Where there are as many scores as keys, each key is a group of its own and
nothing is gained.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy

from separatrix.networks.evaluate import mask_of
from separatrix.networks.exact import Integers
from separatrix.networks.network import Head
from separatrix.progress import tracked

COUNTS_AT_A_TIME = 1 << 21


@dataclass(frozen=True)
class KeyGroups:
    """Groups of keys that have one score in a row: ``group`` (rows, keys) of each key, ``score`` (rows, groups).

    All keys of a group are of one ``kind`` (groups,).
    """

    group: Integers
    score: Integers
    kind: Integers

    def prefixes(self, head: Head, queries: Integers) -> Iterator[tuple[Integers, Integers]]:
        """Yield how many keys of each group queries at positions (queries,) see, some at a time.

        Their numbers (n,) and the counts (rows, n, groups).
        """
        # Every mask shows a query the first keys.
        ends = mask_of(head, queries, self.group.shape[1]).sum(axis=1)
        size = max(1, COUNTS_AT_A_TIME // max(1, self.score.size))
        for start in tracked(range(0, len(ends), size), "query positions"):
            some = numpy.arange(start, min(start + size, len(ends)))
            yield some, self.seen(ends[some])

    def seen(self, ends: Integers) -> Integers:
        """Return how many keys of each group are among the first ``ends`` (prefixes,) keys: (rows, prefixes,
        groups)."""
        rows, groups = len(self.group), len(self.kind)
        order, keys = numpy.argsort(ends, kind="stable"), numpy.arange(int(self.group.shape[1]))
        # The first of the ascending prefixes that sees a key, or one more than there are.
        first = numpy.searchsorted(ends[order], keys, side="right")
        cells = (numpy.arange(rows)[:, None] * (len(ends) + 1) + first) * groups + self.group
        new = numpy.bincount(cells.reshape(-1), minlength=rows * (len(ends) + 1) * groups)
        counts = numpy.empty((rows, len(ends), groups), dtype=numpy.int64)
        counts[:, order] = new.reshape(rows, len(ends) + 1, groups)[:, :-1].cumsum(axis=1)
        return counts


def key_groups(scores: Integers, kinds: Integers) -> KeyGroups:
    """Return the keys of rows of scores (rows, keys) by score and by their ``kinds`` (keys,), numbered from 0."""
    rows, keys = len(scores), int(scores.shape[1])
    number = int(kinds.max(initial=0)) + 1
    values, which = numpy.unique(scores, return_inverse=True)
    if len(values) * number >= keys:
        return KeyGroups(numpy.broadcast_to(numpy.arange(keys), scores.shape), scores, kinds)
    score = numpy.broadcast_to(numpy.repeat(values, number), (rows, len(values) * number))
    kind = numpy.tile(numpy.arange(number), len(values))
    return KeyGroups(which.reshape(scores.shape) * number + kinds, score, kind)
