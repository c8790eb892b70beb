"""Graphs against a network for directed 3-cycles: with as many pairs as possible of each pattern of edges."""

from collections.abc import Iterator

import numpy

from separatrix.certificates.verdict import Claim, Tokens
from separatrix.networks import GraphAttention, Network


def graphs(network: Network, claim: Claim) -> Iterator[Tokens]:
    """Graphs worth trying: empty, complete, one cycle, all edges one way, all but some of one vertex."""
    unit = next(layer for layer in network.layers if isinstance(layer, GraphAttention))
    scores = unit.heads[0].scores.numerators[0] if unit.heads else numpy.zeros(8, dtype=numpy.int64)
    size = claim.length
    edges = 1 - numpy.eye(size, dtype=numpy.int64)
    upward = numpy.triu(edges)
    one = numpy.zeros((size, size), dtype=numpy.int64)
    one[0, 1] = one[1, 2] = one[2, 0] = 1
    yield from (numpy.zeros_like(edges), edges, one, upward)
    # As many pairs as possible of each pattern without a cycle through vertex 1.
    for pattern in numpy.argsort(-scores[:7], kind="stable").tolist():
        graph = numpy.zeros_like(edges)
        graph[0, 1:] = pattern >> 2
        graph[1:, 1:] = edges[1:, 1:] * (pattern >> 1 & 1)
        graph[1:, 0] = pattern & 1
        yield graph
    half = size // 2
    for across in (edges[half:, : size - half], numpy.ones((size - half, half), dtype=numpy.int64)):
        graph = upward.copy()
        graph[half:, : across.shape[1]] = across * edges[half:, : across.shape[1]]
        yield graph
