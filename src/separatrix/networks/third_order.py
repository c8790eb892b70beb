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

from separatrix.arithmetic import Arithmetic, FixedPoint, RawArray, distinct
from separatrix.networks.exact import ExactMatrix, Integers, Shapes
from separatrix.networks.weights import Scoring, averaged, group_average, weights_of

MANY = 4
"""An input is run by groups where it has at least so many positions for each different one."""
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

    def expected_shapes(self, width: int) -> Shapes:
        """Return the shapes that fit together, by name, in a residual stream of this width."""
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
    """Return rows (j, k), k fastest, of A ⋆ B: (batch, n, m) and (batch, n, m) give (batch, n², m), each product
    rounded.

    >>> from separatrix.arithmetic import FixedPoint
    >>> numbers = FixedPoint(10, 1)
    >>> pairs = pair_products(numbers.encode([[[1], [2]]]), numbers.encode([[[3], [4]]]), numbers)
    >>> numbers.to_float64(pairs)[0, :, 0].tolist()
    [3.0, 4.0, 6.0, 8.0]
    """
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
    """Return the output of one unit for some positions: (batch, queries, d).

    >>> from separatrix.constructions import constructions
    >>> from separatrix.networks.evaluate import embedded
    >>> built = constructions()["match3"].build(3)
    >>> stream = embedded(built.network, numpy.array([[0, 1, 2, 13]]), built.arithmetic)
    >>> attend_to_pairs(built.network.layers[0].heads[0], stream, numpy.arange(4), built.arithmetic).shape
    (1, 4, 4)
    """
    if observe is None and isinstance(arithmetic, FixedPoint):
        alike = [attend_to_groups(head, each, queries, arithmetic) for each in stream]
        if all(each is not None for each in alike):
            return numpy.stack([each for each in alike if each is not None])

    def project(matrix: ExactMatrix) -> RawArray:
        return arithmetic.matmul(stream, matrix.encoded(arithmetic).T)

    values = pair_products(project(head.first_value), project(head.second_value), arithmetic)
    keys = pair_keys(head, stream, arithmetic)

    def weigh(some: Integers) -> RawArray:
        return pair_weights(head, stream, some, arithmetic, keys)

    return averaged(weigh, values, head.output, queries, chunk, arithmetic, observe)


def attend_to_groups(
    head: ThirdOrderHead, stream: Integers, queries: Integers, arithmetic: FixedPoint
) -> Integers | None:
    """Return the same for one input (positions, d) most of whose positions hold something that other positions hold
    too.

    Pairs of alike positions have one key and one value. None where there are too many different positions for that to
    help, or the numbers are not those of the long way, bit for bit.

    >>> from separatrix.constructions import constructions
    >>> from separatrix.networks.evaluate import embedded
    >>> built = constructions()["match3"].build(8)
    >>> stream = embedded(built.network, numpy.array([[0, 1, 1, 1, 1, 1, 1, 1, 1]]), built.arithmetic)
    >>> attend_to_groups(built.network.layers[0].heads[0], stream[0], numpy.arange(9), built.arithmetic).shape
    (9, 4)
    """
    matrices = (head.query, head.first_key, head.second_key, head.first_value, head.second_value)
    read = numpy.flatnonzero(numpy.any([each.numerators.any(axis=0) for each in matrices], axis=0))
    if arithmetic.dtype != numpy.int64:
        return None
    rows, which = distinct(stream[:, read])
    if MANY * len(rows) > len(stream):
        return None
    parts = (ExactMatrix(each.numerators[:, read], each.denominator) for each in matrices)
    asked, first_key, second_key, first_value, second_value = (
        arithmetic.matmul(rows, each.encoded(arithmetic).T) for each in parts
    )
    keys = pair_products(first_key, second_key, arithmetic)
    values = pair_products(first_value, second_value, arithmetic)
    number = numpy.bincount(which, minlength=len(rows))
    counts = numpy.broadcast_to(numpy.outer(number, number).reshape(-1), (len(rows), len(keys)))
    average = group_average(head, arithmetic.matmul(asked, keys.T), counts, values, arithmetic)
    if average is None:
        return None
    return arithmetic.matmul(average, head.output.encoded(arithmetic).T)[which[queries]]


def pair_keys(head: ThirdOrderHead, stream: RawArray, arithmetic: Arithmetic) -> RawArray:
    """Return the keys (batch, n², m) of all pairs.

    >>> from separatrix.constructions import constructions
    >>> from separatrix.networks.evaluate import embedded
    >>> built = constructions()["match3"].build(3)
    >>> stream = embedded(built.network, numpy.array([[0, 1, 2, 13]]), built.arithmetic)
    >>> pair_keys(built.network.layers[0].heads[0], stream, built.arithmetic).shape
    (1, 16, 4)
    """
    first, second = (
        arithmetic.matmul(stream, each.encoded(arithmetic).T) for each in (head.first_key, head.second_key)
    )
    return pair_products(first, second, arithmetic)


def pair_weights(
    head: ThirdOrderHead, stream: RawArray, queries: Integers, arithmetic: Arithmetic, keys: RawArray
) -> RawArray:
    """Return the weights (batch, queries, n²) that some positions give to all pairs."""
    asked = arithmetic.matmul(stream[:, queries, :], head.query.encoded(arithmetic).T)
    scores = arithmetic.matmul(asked, numpy.swapaxes(keys, -1, -2))
    return weights_of(head, scores, numpy.ones((1, 1), dtype=bool), arithmetic)
