"""A layer of plain attention in an exact arithmetic, with everything left out that cannot change a number.

The numbers are those of ``evaluate.attend``, head by head, bit for bit: in an exact arithmetic a product with 0 is 0
and a sum does not depend on its order. So

* a matrix is applied to the coordinates that it reads, and outputs are added to those that are written, those of all
  heads at once where no sum can be cut off;
* inputs of a batch that differ in nothing that is compared share their weights;
* heads with the same query, key, mask and scoring share theirs, and their values are averaged together.
"""

from collections import defaultdict
from collections.abc import Callable
from typing import TypeAlias

import numpy

from separatrix.arithmetic import Arithmetic, FixedPoint, RawArray, magnitude
from separatrix.networks.exact import ExactMatrix, Integers
from separatrix.networks.network import Attention, Head
from separatrix.networks.weights import LARGEST_SCORES

Weigh: TypeAlias = Callable[[Head, RawArray, Integers, Arithmetic, RawArray], RawArray]
"""The weights of a head for a stream and some positions, with the keys at hand."""


def attend_together(
    layer: Attention, stream: RawArray, queries: Integers, arithmetic: FixedPoint, chunk: int | None, weigh: Weigh
) -> RawArray:
    """Return the layer's output at some positions: (batch, queries, d)."""
    own = stream[:, queries, :]
    total = own.copy() if layer.residual else arithmetic.zeros(own.shape)
    if not layer.heads:
        return total
    averages: dict[int, RawArray] = {}
    for numbers in _alike(layer.heads):
        heads = [layer.heads[number] for number in numbers]
        values = [head.value for head in heads]
        held = numpy.concatenate([projected(each, stream, arithmetic) for each in _stacked(values)], axis=-1)
        found = _averages(heads[0], stream, held, queries, arithmetic, chunk, weigh)
        ends = numpy.cumsum([each.shape[0] for each in values])[:-1]
        averages.update(zip(numbers, numpy.split(found, ends, axis=-1), strict=True))
    everything = numpy.concatenate([averages[number] for number in range(len(layer.heads))], axis=-1)
    turned = [ExactMatrix(head.output.numerators.T, head.output.denominator) for head in layer.heads]
    together = numpy.concatenate([each.encoded(arithmetic) for each in _stacked(turned)])
    # Nothing is cut off at the end of the range, so that all heads may be added at once.
    most = magnitude(everything) * max(map(sum, abs(together).T.tolist())) // arithmetic.largest
    if magnitude(total) + most + len(together) <= arithmetic.largest**2:
        written = numpy.flatnonzero((together != 0).any(axis=0))
        total[..., written] = arithmetic.add(total[..., written], arithmetic.matmul(everything, together[:, written]))
        return total
    for number, head in enumerate(layer.heads):
        total = arithmetic.add(total, arithmetic.matmul(averages[number], head.output.encoded(arithmetic).T))
    return total


def _stacked(matrices: list[ExactMatrix]) -> list[ExactMatrix]:
    """Matrices of one denominator as one, the rows of the first on top; others as they are."""
    if len({each.denominator for each in matrices}) > 1:
        return matrices
    return [ExactMatrix(numpy.concatenate([each.numerators for each in matrices]), matrices[0].denominator)]


def projected(matrix: ExactMatrix, stream: RawArray, arithmetic: Arithmetic) -> RawArray:
    """W x on the last axis, from the coordinates that W reads."""
    read = numpy.flatnonzero(matrix.numerators.any(axis=0))
    if not len(read):
        return arithmetic.zeros((*stream.shape[:-1], matrix.shape[0]))
    if len(read) == stream.shape[-1]:
        return arithmetic.matmul(stream, matrix.encoded(arithmetic).T)
    part = ExactMatrix(matrix.numerators[:, read], matrix.denominator)
    return arithmetic.matmul(stream[..., read], part.encoded(arithmetic).T)


def _alike(heads: tuple[Head, ...]) -> list[list[int]]:
    """Return the numbers of heads that compare the same, together."""
    found: defaultdict[tuple[object, ...], list[int]] = defaultdict(list)
    for number, head in enumerate(heads):
        compared = (head.query, head.key)
        name = *((each.numerators.tobytes(), each.denominator) for each in compared), head.mask, head.scoring
        found[name].append(number)
    return list(found.values())


def _averages(
    head: Head,
    stream: RawArray,
    values: RawArray,
    queries: Integers,
    arithmetic: Arithmetic,
    chunk: int | None,
    weigh: Weigh,
) -> RawArray:
    """Return the averages (batch, queries, v) of values (batch, positions, v), a chunk of queries at a time."""
    read = (head.query.numerators != 0).any(axis=0) | (head.key.numerators != 0).any(axis=0)
    seen = stream[:1] if bool((stream[..., read] == stream[:1, :, read]).all()) else stream
    keys = projected(head.key, seen, arithmetic)
    size = chunk or max(1, LARGEST_SCORES // max(1, len(seen) * stream.shape[1]))
    pieces = [
        arithmetic.matmul(weigh(head, seen, queries[start : start + size], arithmetic, keys), values)
        for start in range(0, len(queries), size)
    ]
    return numpy.concatenate(pieces, axis=1)
