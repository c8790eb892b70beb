"""Scores between tokens: for each query the one at its match and the largest at any other number.

There are M² scores. Where queries and keys are sign vectors of one linear code, multiplied entry by entry with weights,
the score of indices i and j is Σ_c round(±w_c) with the sign of entry c of the word i xor j, and a table of 2^b numbers
holds them all. That queries and keys have this form is verified on all M vectors.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy

from separatrix.arithmetic import FixedPoint
from separatrix.certificates.methods._boxes import Raw
from separatrix.certificates.verdict import UnsupportedError
from separatrix.networks import ExactMatrix, Head, Network, SignRows
from separatrix.networks.embedding import Bits

LARGEST_TABLE = 1 << 33
"""Score terms M² · m that are computed at most."""
CHUNK = 1 << 22
WORDS = 1 << 16


@dataclass(frozen=True)
class SignVectors:
    """Vectors w_c · (sign c of the word of an index): generator columns (b, m), indices (M,), weights (m,)."""

    generator: Bits
    indices: Raw
    weights: Raw


def sign_vectors(matrix: ExactMatrix, network: Network, vectors: Raw, active: list[int]) -> SignVectors | None:
    """The vectors of tokens 1 … M, restricted to the active coordinates, as signs of one code, or None."""
    tokens = numpy.arange(1, len(vectors) + 1, dtype=numpy.int64)
    found: list[tuple[Raw, Bits]] = []
    for row in active:
        read = numpy.nonzero(matrix.numerators[row])[0]
        slot = [name for name, _ in network.slots.parts if int(read[0]) in _range(network.slots.columns(name))]
        parts = [part for part in network.embedding if part.slot == slot[0] and part.tokens[1] > 1]
        if len(read) != 1 or len(parts) != 1 or not isinstance(parts[0].rule, SignRows):
            return None
        column = int(read[0]) - network.slots.columns(slot[0]).start
        found.append((parts[0].row_numbers(tokens, numpy.zeros_like(tokens))[0], parts[0].rule.generator[:, column]))
    if not found or any((indices != found[0][0]).any() or len(column) != len(found[0][1]) for indices, column in found):
        return None
    generator, indices = numpy.stack([column for _, column in found], axis=1), found[0][0]
    weights = vectors[0, active] * SignRows(generator).signs(indices[:1])[0]
    for start in range(0, len(vectors), WORDS):
        block = slice(start, start + WORDS)
        if (SignRows(generator).signs(indices[block]) * weights != vectors[block, active]).any():
            return None
    return SignVectors(generator, indices, weights)


def _range(columns: slice) -> range:
    return range(columns.start, columns.stop)


def match_and_other(
    head: Head, network: Network, queries: Raw, keys: Raw, partners: Raw, arithmetic: FixedPoint
) -> tuple[Raw, Raw]:
    """For each number its score at its partner and an upper bound, mostly exact, of its scores at all others."""
    # Coordinates in which no query or no key has anything add nothing.
    active = [c for c in range(queries.shape[1]) if queries[:, c].any() and keys[:, c].any()]
    asked = sign_vectors(head.query, network, queries, active)
    known = sign_vectors(head.key, network, keys, active)
    count = len(queries)
    if asked is not None and known is not None and numpy.array_equal(asked.generator, known.generator):
        table = difference_table(asked, known, arithmetic)
        if len(numpy.unique(known.indices)) == count and (asked.indices == known.indices[partners]).all():
            return numpy.full(count, table[0]), numpy.full(count, table[1:].max())
        return _by_rows(
            lambda rows: table[asked.indices[rows, None] ^ known.indices[None, :]], partners, width=1, count=count
        )
    return _by_rows(lambda rows: arithmetic.matmul(queries[rows], keys.T), partners, width=len(active), count=count)


def difference_table(asked: SignVectors, known: SignVectors, arithmetic: FixedPoint) -> Raw:
    """The score of two indices by their xor: (2^b,)."""
    plus = arithmetic.multiply(asked.weights, known.weights)
    minus = arithmetic.multiply(-asked.weights, known.weights)
    if int(numpy.maximum(abs(plus), abs(minus)).sum()) > arithmetic.largest**2:
        raise UnsupportedError("scores may leave the range; a larger Kc keeps them inside")
    words = 1 << asked.generator.shape[0]
    rule = SignRows(asked.generator)
    pieces = [
        numpy.where(rule.signs(numpy.arange(start, min(start + WORDS, words))) > 0, plus, minus).sum(axis=1)
        for start in range(0, words, WORDS)
    ]
    return numpy.concatenate(pieces)


def _by_rows(scores: Callable[[Raw], Raw], partners: Raw, width: int, count: int) -> tuple[Raw, Raw]:
    """All scores, a chunk of queries at a time."""
    if count * count * max(1, width) > LARGEST_TABLE:
        raise UnsupportedError(
            f"{count} numbers have too many pairs to score one by one; only sign vectors of one code need no such list"
        )
    match, other = numpy.zeros(count, dtype=numpy.int64), numpy.zeros(count, dtype=numpy.int64)
    size = max(1, CHUNK // count)
    for start in range(0, count, size):
        rows = numpy.arange(start, min(start + size, count))
        found = scores(rows)
        match[rows] = found[rows - start, partners[rows]]
        found[rows - start, partners[rows]] = numpy.iinfo(numpy.int64).min
        other[rows] = found.max(axis=1)
    return match, other
