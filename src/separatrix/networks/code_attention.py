"""Attention between rows of one linear sign code: the weights of all queries for the price of one.

If queries and keys are rows of one code, times a weight for each entry, the score of row i at row j depends on i xor j
alone, and all 2^b scores are a Walsh–Hadamard transform: with p_c and m_c the products of entry c for equal and for
opposite signs and g_c its column of the generator,

    2 · score(x) = Σ_c (p_c + m_c)  +  Σ_c (-1)^⟨x, g_c⟩ (p_c - m_c).

If the keys are all 2^b rows, every query sees the same weights in another order. In fixed point they are those of
``evaluate``, bit for bit: products are rounded one by one, added exactly and cut off once. BHBK24 Theorems 1 and 6 at
N = 2^20 take 20 · 2^20 additions instead of the 2^40 · k products of N queries.
"""

from dataclasses import dataclass

import numpy

from separatrix.arithmetic import FixedPoint
from separatrix.errors import SeparatrixError
from separatrix.networks.embedding import Bits, EmbeddingPart, SignRows
from separatrix.networks.exact import LARGEST_NUMERATOR, ExactMatrix, Integers
from separatrix.networks.network import Head, Network
from separatrix.networks.weights import weights_of

LARGEST_SUM = 1 << 60


@dataclass(frozen=True)
class CodeQueries:
    """Queries and keys of one code: the keys 0 … ``count`` - 1 are its rows in order, all other keys are zero.

    ``asked`` is the row of each query, ``generator`` has the columns g_c, ``query`` and ``key`` the weights of
    the entries (1, m).
    """

    asked: Integers
    count: int
    generator: Bits
    query: ExactMatrix
    key: ExactMatrix

    def weights(self, head: Head, keys: int, arithmetic: FixedPoint) -> Integers | None:
        """Return the weights of a query that asks for row 0 at all keys (keys,); None where sums might leave 64 bits.

        A query that asks for row r has weight ``weights[r ^ j]`` at the keys j below ``count`` and the same elsewhere.
        """
        query, key = (matrix.encoded(arithmetic)[0] for matrix in (self.query, self.key))
        equal, opposite = arithmetic.multiply(query, key), arithmetic.multiply(-query, key)
        if any(sum(map(abs, side.tolist())) >= LARGEST_SUM for side in (equal, opposite)):
            return None
        limit = arithmetic.largest**2
        scores = numpy.zeros(keys, dtype=numpy.int64)
        scores[: self.count] = code_scores(self.generator, equal, opposite).clip(-limit, limit)
        everything = numpy.ones((1, 1, keys), dtype=numpy.bool_)
        return weights_of(head, scores[None, None], everything, arithmetic)[0, 0]


def code_scores(generator: Bits, equal: Integers, opposite: Integers) -> Integers:
    """Return the scores of all differences (2^b,), for the products (m,) of equal and of opposite signs of a code (b,
    m).

    Refuses products whose sums of |equal| and of |opposite| may reach 2^62.
    """
    if any(sum(map(abs, side.tolist())) >= LARGEST_NUMERATOR for side in (equal, opposite)):
        raise SeparatrixError("the scores of a code exceed 62 bits; choose a smaller Kc")
    count = 1 << generator.shape[0]
    columns = generator.T.astype(numpy.int64) @ (1 << numpy.arange(generator.shape[0], dtype=numpy.int64))
    table = numpy.zeros(count, dtype=numpy.int64)
    numpy.add.at(table, columns, equal - opposite)
    half = 1
    while half < count:
        pairs = table.reshape(-1, 2, half)
        table = numpy.stack([pairs[:, 0] + pairs[:, 1], pairs[:, 0] - pairs[:, 1]], axis=1).reshape(-1)
        half *= 2
    return (table + (equal + opposite).sum()) // 2


def code_queries(head: Head, network: Network, positions: Integers, tokens: Integers) -> CodeQueries | None:
    """Return queries at these positions with these tokens as rows of the keys' code, or None where they are not.

    The keys must not depend on tokens.
    """
    query, key = _only_part(network, head.query), _only_part(network, head.key)
    # Leftmost attention depends on the order of the keys, which differs from query to query.
    if query is None or key is None or head.mask != "none" or head.scoring == "leftmost":
        return None
    if not isinstance(query.rule, SignRows) or not isinstance(key.rule, SignRows):
        return None
    count, generator = key.rule.count, key.rule.generator
    in_order = key.source == "position" and key.indices is None and key.positions == (0, count)
    if not in_order or count > network.positions or not numpy.array_equal(query.rule.generator, generator):
        return None
    asked, inside = query.row_numbers(tokens, positions)
    weights = _diagonal(network, head.query, query.slot), _diagonal(network, head.key, key.slot)
    if weights[0] is None or weights[1] is None or not bool(inside.all()):
        return None
    return CodeQueries(numpy.asarray(asked), count, generator, weights[0], weights[1])


def _only_part(network: Network, matrix: ExactMatrix) -> EmbeddingPart | None:
    """Return the one part of the embedding that a matrix reads."""
    slots = network.slots.read_by(matrix)
    parts = [part for part in network.embedding if part.slot in slots]
    features = any(part.slot in slots for part in (*network.feature_parts, *network.dual_parts))
    return parts[0] if len(parts) == 1 and len(slots) == 1 and not features else None


def _diagonal(network: Network, matrix: ExactMatrix, slot: str) -> ExactMatrix | None:
    """Return the weights (1, m) of a matrix that multiplies each coordinate of the slot by its own one."""
    block = matrix.numerators[:, network.slots.columns(slot)]
    own = numpy.diagonal(block)
    plain = block.shape[0] == block.shape[1] and bool((block == numpy.diag(own)).all())
    return ExactMatrix(own[None, :].copy(), matrix.denominator) if plain else None
