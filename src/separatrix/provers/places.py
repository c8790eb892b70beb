"""Which places matter to a query of the first attention layer: the key of the largest weight of each head."""

from typing import Any

import numpy

from separatrix.arithmetic import FixedPoint, RawArray
from separatrix.networks import (
    ExactMatrix,
    Head,
    Integers,
    Network,
    code_queries,
    embed,
    mask_of,
    projected,
    weights_of,
)

SCORES_AT_A_TIME = 1 << 22
MOST_SCORES = 1 << 26
"""Scores of one head that are looked at one by one, at most."""


def focuses(
    network: Network, head: Head, positions: Integers, tokens: Integers, held: Integers, numbers: FixedPoint
) -> Integers | None:
    """The key of the largest weight for queries at ``positions`` that hold ``tokens``; -1 where several share it.

    ``held`` is one token for each position, for keys. None where there are too many scores to look at.
    """
    code = code_queries(head, network, positions, tokens)
    shared = code.weights(head, network.positions, numbers) if code is not None else None
    if code is not None and shared is not None:
        best = _single_best(shared[None])[0]
        return code.asked ^ best if 0 <= best < code.count else numpy.full(len(positions), best)
    if len(positions) * network.positions > MOST_SCORES:
        return None
    keys = _projected(network, head.key, held, numpy.arange(network.positions), numbers)
    size = max(1, SCORES_AT_A_TIME // network.positions)
    found: list[Integers] = []
    for start in range(0, len(positions), size):
        some = positions[start : start + size]
        queries = _projected(network, head.query, tokens[start : start + size], some, numbers)
        scores = numbers.matmul(queries, keys.T)
        found.append(_single_best(weights_of(head, scores[None], mask_of(head, some, network.positions), numbers)[0]))
    return numpy.concatenate(found)


def _projected(
    network: Network, matrix: ExactMatrix, tokens: Integers, positions: Integers, numbers: FixedPoint
) -> RawArray:
    return projected(matrix, embed(network.embedding, network.slots, tokens, positions, numbers), numbers)


def _single_best(weights: RawArray) -> Integers:
    """The place of the largest weight in each row; -1 where it is not the only one."""
    best = numpy.argmax(weights, axis=1)
    ties = (weights == weights.max(axis=1, keepdims=True)).sum(axis=1)
    return numpy.where(ties == 1, best, -1).astype(numpy.int64)


def stated_places(
    network: Network, heads: tuple[Head, ...], inputs: list[range], numbers: FixedPoint, everywhere: bool
) -> dict[str, Any] | None:
    """The statement about the first layer: places by position where all positions are queried, else by token."""
    held = numpy.array([tokens.start for tokens in inputs], dtype=numpy.int64)
    if everywhere:
        positions, tokens = numpy.arange(network.positions), held
    else:
        tokens = numpy.arange(inputs[-1].start, inputs[-1].stop)
        positions = numpy.full(len(tokens), network.positions - 1)
    columns: list[list[int]] = []
    for head in heads:
        if not head.output.parameters or not head.value.parameters:
            continue
        found = focuses(network, head, positions, tokens, held, numbers)
        if found is None:
            return None
        columns.append(found.tolist())
    own: list[int] = positions.tolist()
    rows = zip(*columns, strict=True) if columns else iter([()] * len(own))
    places = [sorted({place for place in row if place >= 0} - {at}) for row, at in zip(rows, own, strict=True)]
    return {"kind": "attend", "by": "position" if everywhere else "token", "places": places}
