"""Scores between tokens: for each query the one at its match and the largest at any other number.

There are M² scores. Where queries and keys are sign vectors of one linear code, multiplied entry by entry with weights,
the score of indices i and j is Σ_c round(±w_c) with the sign of entry c of the word i xor j, and a table of 2^b numbers
holds them all, made by one Walsh–Hadamard transform. That queries and keys have this form is read off the weights: each
coordinate of the projection reads one coordinate of the stream, in a slot that one part of the embedding fills for all
numbers, with signs. A whole number ±1 times a weight is rounded nowhere, so the projection is ± that weight.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy

from separatrix.arithmetic import FixedPoint
from separatrix.certificates.methods._numbers import Raw
from separatrix.certificates.methods._streams import columns, projected
from separatrix.certificates.verdict import UnsupportedError
from separatrix.networks import EmbeddingPart, ExactMatrix, Head, Network, SignRows, code_scores
from separatrix.progress import tracked

LARGEST_TABLE = 1 << 33
"""Score terms M² · m that are computed at most."""
CHUNK = 1 << 22


@dataclass(frozen=True)
class SignVectors:
    """Vectors w_c · (sign c of the word of an index): a code of width m, indices (M,), weights (m,)."""

    rule: SignRows
    indices: Raw
    weights: Raw


@dataclass(frozen=True)
class CodeTable:
    """The score of number i at number j is ``table[asked[i] ^ known[j]]``."""

    asked: Raw
    known: Raw
    table: Raw


@dataclass(frozen=True)
class TokenScores:
    """The scores of numbers at numbers: ``rows`` of some queries at all keys, (n, M), of ``width`` terms each."""

    rows: Callable[[Raw], Raw]
    width: int
    code: CodeTable | None = None


def part_of(matrix: ExactMatrix, rows: Raw) -> ExactMatrix:
    """Some rows of a matrix."""
    return ExactMatrix(matrix.numerators[rows], matrix.denominator)


def sign_vectors(matrix: ExactMatrix, network: Network, numbers: Raw, arithmetic: FixedPoint) -> SignVectors | None:
    """W z for the numbers z as signs of one code, or None where the weights do not show that."""
    used, place = matrix.numerators != 0, numpy.abs(matrix.numerators).argmax(axis=1)
    for part in network.embedding:
        column = place - network.slots.columns(part.slot).start
        inside = ((column >= 0) & (column < part.rule.width)).all() and (used.sum(axis=1) == 1).all()
        alone = [each for each in _filling(network, len(numbers)) if each.slot == part.slot] == [part]
        if isinstance(part.rule, SignRows) and inside and alone:
            indices, everywhere = part.row_numbers(numbers, numpy.zeros_like(numbers))
            if everywhere.all():
                weights = matrix.encoded(arithmetic)[numpy.arange(len(place)), place]
                return SignVectors(SignRows(part.rule.generator[:, column]), indices, weights)
    return None


def _filling(network: Network, count: int) -> list[EmbeddingPart]:
    """The parts of the embedding that write something for a number 1 … ``count``."""
    return [part for part in network.embedding if part.tokens[0] <= count and part.tokens[1] > 1]


def token_scores(head: Head, network: Network, numbers: Raw, arithmetic: FixedPoint) -> TokenScores:
    """All scores of numbers at numbers, for a head that reads tokens alone."""
    # Coordinates in which no query or no key has anything add nothing.
    there = columns(network, {part.slot for part in _filling(network, len(numbers))})
    both = [matrix.numerators[:, there].any(axis=1) for matrix in (head.query, head.key)]
    active = numpy.nonzero(both[0] & both[1])[0]
    query, key = part_of(head.query, active), part_of(head.key, active)
    asked, known = (sign_vectors(matrix, network, numbers, arithmetic) for matrix in (query, key))
    if asked is None or known is None or not numpy.array_equal(asked.rule.generator, known.rule.generator):
        queries, keys = (
            projected(matrix, network, numbers, numpy.zeros_like(numbers), arithmetic) for matrix in (query, key)
        )
        return TokenScores(lambda rows: arithmetic.matmul(queries[rows], keys.T), len(active))
    table = difference_table(asked, known, arithmetic)
    code = CodeTable(asked.indices, known.indices, table)
    return TokenScores(lambda rows: table[code.asked[rows, None] ^ code.known], 1, code)


def match_and_other(scores: TokenScores, partners: Raw) -> tuple[Raw, Raw]:
    """For each number its score at its partner and an upper bound, mostly exact, of its scores at all others."""
    count, code = len(partners), scores.code
    different = code is not None and int(numpy.bincount(code.known).max()) == 1
    if code is not None and different and (code.asked == code.known[partners]).all():
        # The query's own index is its partner's and nobody else's.
        return numpy.full(count, code.table[0]), numpy.full(count, code.table[1:].max())
    if count * count * max(1, scores.width) > LARGEST_TABLE:
        raise UnsupportedError(
            f"{count} numbers have too many pairs to score one by one; only signs of one code do not"
        )
    match, other = numpy.zeros(count, dtype=numpy.int64), numpy.zeros(count, dtype=numpy.int64)
    size = max(1, CHUNK // count)
    for start in tracked(range(0, count, size), "scores of numbers"):
        rows = numpy.arange(start, min(start + size, count))
        found = scores.rows(rows)
        match[rows] = found[rows - start, partners[rows]]
        found[rows - start, partners[rows]] = numpy.iinfo(numpy.int64).min
        other[rows] = found.max(axis=1)
    return match, other


def difference_table(asked: SignVectors, known: SignVectors, arithmetic: FixedPoint) -> Raw:
    """The score of two indices by their xor: (2^b,)."""
    plus = arithmetic.multiply(asked.weights, known.weights)
    minus = arithmetic.multiply(-asked.weights, known.weights)
    if sum(numpy.maximum(abs(plus), abs(minus)).tolist()) > arithmetic.largest**2:
        raise UnsupportedError("scores may leave the range; a larger Kc keeps them inside")
    return code_scores(asked.rule.generator, plus, minus)
