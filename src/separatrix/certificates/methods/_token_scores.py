"""Scores between tokens: for each query the one at its match and the largest at any other number.

There are M² scores. Where queries and keys are sign vectors of one linear code, multiplied entry by entry with weights,
the score of indices i and j is Σ_c round(±w_c) with the sign of entry c of the word i xor j, and a table of 2^b numbers
holds them all. That queries and keys have this form is verified on all M vectors.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy

from separatrix.arithmetic import FixedPoint
from separatrix.certificates.methods._numbers import Raw
from separatrix.certificates.verdict import UnsupportedError
from separatrix.networks import ExactMatrix, Head, Network, SignRows
from separatrix.progress import tracked

LARGEST_TABLE = 1 << 33
"""Score terms M² · m that are computed at most."""
CHUNK = 1 << 22
WORDS = 1 << 16


@dataclass(frozen=True)
class SignVectors:
    """Vectors w_c · (sign c of the word of an index): a code of width m, indices (M,), weights (m,)."""

    rule: SignRows
    indices: Raw
    weights: Raw


def sign_vectors(matrix: ExactMatrix, network: Network, vectors: Raw, active: Raw) -> SignVectors | None:
    """The vectors of tokens 1 … M, restricted to the active coordinates, as signs of one code, or None."""
    tokens, place = numpy.arange(1, len(vectors) + 1), numpy.abs(matrix.numerators[active]).argmax(axis=1)
    for part in network.embedding:
        column = place - network.slots.columns(part.slot).start
        inside = ((column >= 0) & (column < part.rule.width)).all()
        if isinstance(part.rule, SignRows) and inside and part.tokens[1] > len(vectors):
            rule = SignRows(part.rule.generator[:, column])
            indices = part.row_numbers(tokens, numpy.zeros_like(tokens))[0]
            weights = vectors[0, active] * rule.signs(indices[:1])[0]
            blocks = [slice(start, start + WORDS) for start in range(0, len(vectors), WORDS)]
            if all((rule.signs(indices[each]) * weights == vectors[each, active]).all() for each in blocks):
                return SignVectors(rule, indices, weights)
    return None


def match_and_other(
    head: Head, network: Network, queries: Raw, keys: Raw, partners: Raw, arithmetic: FixedPoint
) -> tuple[Raw, Raw]:
    """For each number its score at its partner and an upper bound, mostly exact, of its scores at all others."""
    # Coordinates in which no query or no key has anything add nothing.
    active = numpy.nonzero(queries.any(axis=0) & keys.any(axis=0))[0]
    asked, known = sign_vectors(head.query, network, queries, active), sign_vectors(head.key, network, keys, active)
    count = len(queries)
    if asked is None or known is None or not numpy.array_equal(asked.rule.generator, known.rule.generator):
        return _by_rows(lambda rows: arithmetic.matmul(queries[rows], keys.T), partners, len(active))
    table = difference_table(asked, known, arithmetic)
    if len(numpy.unique(known.indices)) == count and (asked.indices == known.indices[partners]).all():
        return numpy.full(count, table[0]), numpy.full(count, table[1:].max())
    return _by_rows(lambda rows: table[asked.indices[rows, None] ^ known.indices[None, :]], partners, 1)


def difference_table(asked: SignVectors, known: SignVectors, arithmetic: FixedPoint) -> Raw:
    """The score of two indices by their xor: (2^b,)."""
    plus = arithmetic.multiply(asked.weights, known.weights)
    minus = arithmetic.multiply(-asked.weights, known.weights)
    if int(numpy.maximum(abs(plus), abs(minus)).sum()) > arithmetic.largest**2:
        raise UnsupportedError("scores may leave the range; a larger Kc keeps them inside")
    words, rule = numpy.arange(asked.rule.count), asked.rule
    spans = tracked([words[start : start + WORDS] for start in range(0, len(words), WORDS)], "words of the code")
    return numpy.concatenate([numpy.where(rule.signs(span) > 0, plus, minus).sum(axis=1) for span in spans])


def _by_rows(scores: Callable[[Raw], Raw], partners: Raw, width: int) -> tuple[Raw, Raw]:
    """All scores, a chunk of queries at a time."""
    count = len(partners)
    if count * count * max(1, width) > LARGEST_TABLE:
        raise UnsupportedError(
            f"{count} numbers have too many pairs to score one by one; only signs of one code do not"
        )
    match, other = numpy.zeros(count, dtype=numpy.int64), numpy.zeros(count, dtype=numpy.int64)
    size = max(1, CHUNK // count)
    for start in tracked(range(0, count, size), "scores of numbers"):
        rows = numpy.arange(start, min(start + size, count))
        found = scores(rows)
        match[rows] = found[rows - start, partners[rows]]
        found[rows - start, partners[rows]] = numpy.iinfo(numpy.int64).min
        other[rows] = found.max(axis=1)
    return match, other
