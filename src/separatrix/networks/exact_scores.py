"""Queries, keys and scores of a first layer as exact fractions: weights and embeddings are rational, so these are too.

Where queries and keys are rows of one sign code, the scores of a query that asks for row 0 are those of all others in
another order (``code_attention``), and only they are computed.
"""

from dataclasses import dataclass
from math import gcd, lcm
from typing import Any, TypeAlias

import numpy
from numpy.typing import NDArray

from separatrix.arithmetic import UNIT, WORD, FixedPoint, least_weight, matmul_of_python_ints, sum_of_powers
from separatrix.errors import SeparatrixError
from separatrix.networks.code_attention import LARGEST_SUM, CodeQueries, code_queries, code_scores
from separatrix.networks.embedding import TableRows, embed
from separatrix.networks.exact import ExactMatrix, Integers, Slots
from separatrix.networks.network import Head, Network
from separatrix.networks.weights import Scoring

Whole: TypeAlias = NDArray[Any]
"""Whole numbers: int64, or Python ints where those are too small."""
LARGEST_TABLE = 1 << 24
"""Scores that are computed at most, where no code makes them few."""


@dataclass(frozen=True)
class Exact:
    """Rational numbers ``numerators / denominator``."""

    numerators: Whole
    denominator: int

    def reduced(self) -> "Exact":
        """Return the same numbers over the smallest denominator that all of them have."""
        shared = gcd(self.denominator, *numpy.unique(self.numerators).tolist())
        return Exact(self.numerators // shared, self.denominator // shared)


def exact_scores(
    head: Head, network: Network, positions: Integers, tokens: Integers
) -> tuple[Exact, CodeQueries | None]:
    """Return scores (queries, keys) at these positions with these tokens; or with a code, those for its row 0, (1,
    keys).

    The keys must not depend on tokens.
    """
    place = numpy.arange(network.positions)
    code = code_queries(head, network, positions, tokens)
    if code is not None:
        products = code.query.numerators[0].astype(object) * code.key.numerators[0].astype(object)
        if int(abs(products).sum()) < LARGEST_SUM:
            known = code_scores(code.generator, products.astype(numpy.int64), -products.astype(numpy.int64))
            row = numpy.concatenate([known, numpy.zeros(len(place) - code.count, dtype=numpy.int64)])
            return Exact(row[None], code.query.denominator * code.key.denominator), code
    if len(positions) * len(place) > LARGEST_TABLE:
        raise SeparatrixError(
            f"{len(positions)} queries are too many to compare exactly with every key; shorten inputs"
        )
    queries = exact_rows(head.query, network, tokens, positions)
    keys = exact_rows(head.key, network, numpy.zeros_like(place), place)
    return product(queries, Exact(keys.numerators.T, keys.denominator)), None


def exact_rows(matrix: ExactMatrix, network: Network, tokens: Integers, positions: Integers) -> Exact:
    """W x for the embedding at pairs of tokens and positions: (n, m)."""
    slots = network.slots.read_by(matrix)
    parts = tuple(part for part in network.embedding if part.slot in slots)
    tables = [part.rule.table for part in parts if isinstance(part.rule, TableRows)]
    # A grid that holds every entry, with as much room above as 64 bits leave.
    common = lcm(*[table.denominator for table in tables])
    grid = FixedPoint(common << max(0, 30 - common.bit_length()), 1)
    sizes = [-(-int(numpy.abs(table.numerators).max(initial=0)) // table.denominator) for table in tables]
    if grid.dtype != numpy.int64 or len(parts) + sum(sizes) > grid.largest:
        raise SeparatrixError("an embedding has numbers too large to be taken exactly; choose smaller ones")
    kept = Slots(tuple(part for part in network.slots.parts if part[0] in slots))
    columns = [column for name, _ in kept.parts for column in range(network.slots.width)[network.slots.columns(name)]]
    rows = embed(parts, kept, tokens, positions, grid)
    return product(Exact(rows, grid.largest), Exact(matrix.numerators[:, columns].T, matrix.denominator)).reduced()


def product(left: Exact, right: Exact) -> Exact:
    """Return the exact product of two matrices."""
    first, second = left.numerators, right.numerators
    reach = [max(abs(int(side.min(initial=0))), abs(int(side.max(initial=0)))) for side in (first, second)]
    # So small that the difference of two results fits as well.
    small = first.dtype != object and second.dtype != object and reach[0] * reach[1] * first.shape[1] < WORD >> 2
    numbers = first @ second if small else matmul_of_python_ints(first.astype(object), second.astype(object))
    return Exact(numbers, left.denominator * right.denominator)


def best_weight(scores: Exact, scoring: Scoring, one: int) -> tuple[Integers, Integers]:
    """Return the first best key of each query (queries,), and the weight there over the reals in units of 1/``one``,
    rounded down: that of the softmax at least, bounded by balls; with hard attention the best keys share it."""
    gaps = scores.numerators.max(axis=1, keepdims=True) - scores.numerators
    best = numpy.asarray(gaps == 0, dtype=numpy.bool_)
    if scoring not in ("softmax", "hard"):
        raise SeparatrixError(f"{scoring} attention is not bounded over the reals; choose softmax or hard attention")
    powers = sum_of_powers(gaps, scores.denominator) if scoring == "softmax" else best.sum(axis=1) * UNIT
    # Either sum has the best key's own power, 1, in it.
    return best.argmax(axis=1), least_weight(powers - UNIT, one)
