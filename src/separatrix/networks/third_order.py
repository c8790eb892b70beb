"""The third-order self-attention unit of SHT23: queries attend to pairs of positions.

    f(X) = softmax((X W_Q) ((X W_K1) ⋆ (X W_K2))ᵀ) ((X W_V1) ⋆ (X W_V2)),

where row (j, k) of A ⋆ B is the entrywise product of row j of A and row k of B (the slides say "column-wise Kronecker
product"). All positions² pairs (j, k) take part, j = k included, and there is no mask.

Memory grows with positions² · m for the keys of all pairs and with chunk · positions² for the scores of a chunk of
queries; the positions³ scores are never held together.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy

from separatrix.arithmetic import Arithmetic, RawArray
from separatrix.networks.exact import ExactMatrix, Integers
from separatrix.networks.weights import LARGEST_SCORES, Scoring, weights_of

THIRD_ORDER_MATRICES = ("query", "first_key", "second_key", "first_value", "second_value", "output")


@dataclass(frozen=True)
class ThirdOrderHead:
    """One unit: query and keys (m, d), values (v, d), output (d, v)."""

    query: ExactMatrix
    first_key: ExactMatrix
    second_key: ExactMatrix
    first_value: ExactMatrix
    second_value: ExactMatrix
    output: ExactMatrix
    scoring: Scoring = "softmax"

    def expected_shapes(self, width: int) -> dict[str, tuple[int | None, int | None]]:
        """The shapes that fit together, by name, in a residual stream of this width."""
        inner, value = (self.query.shape[0], width), (self.first_value.shape[0], width)
        return {
            "query": (None, width), "first_key": inner, "second_key": inner,
            "first_value": (None, width), "second_value": value, "output": (width, value[0]),
        }  # fmt: skip


@dataclass(frozen=True)
class ThirdOrderAttention:
    """Units whose outputs are added; with ``residual`` also to the layer's input."""

    heads: tuple[ThirdOrderHead, ...]
    residual: bool = True


def pair_products(first: RawArray, second: RawArray, arithmetic: Arithmetic) -> RawArray:
    """Rows (j, k), k fastest, of A ⋆ B: (batch, n, m) and (batch, n, m) give (batch, n², m), each product rounded."""
    products = arithmetic.multiply(first[..., :, None, :], second[..., None, :, :])
    return products.reshape(*first.shape[:-2], first.shape[-2] * second.shape[-2], first.shape[-1])


def attend_to_pairs(
    head: ThirdOrderHead,
    stream: RawArray,
    queries: Integers,
    arithmetic: Arithmetic,
    chunk: int | None = None,
    observe: Callable[[RawArray], None] | None = None,
) -> RawArray:
    """The output of one unit for some positions: (batch, queries, d)."""
    batch, positions, _ = stream.shape

    def project(matrix: ExactMatrix) -> RawArray:
        return arithmetic.matmul(stream, matrix.encoded(arithmetic).T)

    values = pair_products(project(head.first_value), project(head.second_value), arithmetic)
    size = chunk or max(1, LARGEST_SCORES // max(1, batch * positions * positions))
    keys = pair_keys(head, stream, arithmetic)
    pieces: list[RawArray] = []
    for start in range(0, len(queries), size):
        weights = pair_weights(head, stream, queries[start : start + size], arithmetic, keys)
        if observe is not None:
            observe(weights)
        pieces.append(arithmetic.matmul(arithmetic.matmul(weights, values), head.output.encoded(arithmetic).T))
    return numpy.concatenate(pieces, axis=1)


def pair_keys(head: ThirdOrderHead, stream: RawArray, arithmetic: Arithmetic) -> RawArray:
    """The keys (batch, n², m) of all pairs."""
    first, second = (
        arithmetic.matmul(stream, each.encoded(arithmetic).T) for each in (head.first_key, head.second_key)
    )
    return pair_products(first, second, arithmetic)


def pair_weights(
    head: ThirdOrderHead, stream: RawArray, queries: Integers, arithmetic: Arithmetic, keys: RawArray
) -> RawArray:
    """The weights (batch, queries, n²) that some positions give to all pairs."""
    asked = arithmetic.matmul(stream[:, queries, :], head.query.encoded(arithmetic).T)
    scores = arithmetic.matmul(asked, numpy.swapaxes(keys, -1, -2))
    return weights_of(head, scores, numpy.ones((1, 1), dtype=bool), arithmetic)
