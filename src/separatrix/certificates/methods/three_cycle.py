"""Directed 3-cycles by a higher-order graph unit: all 2^(N(N-1)) graphs at once.

In the row of vertex i every pair (j, k) has one of eight scores, by the edges i → j, j → k and k → i, and the dummy its
own. Vertex i is on a cycle exactly if some pair has all three. So its row has N² pairs of scores at most
max κ(pattern ≠ 111) if it is on none, and a largest score of at least κ(111) if it is on one; both cases go through
``_bounded_softmax`` and the feed-forwards. Which pairs have which score is left open, so the bounds hold for every
graph.
"""

from collections.abc import Iterator

import numpy

from separatrix.arithmetic import FixedPoint
from separatrix.certificates.methods._bounded_softmax import Group, averages, written
from separatrix.certificates.methods._boxes import Raw
from separatrix.certificates.methods._counting import live_columns
from separatrix.certificates.methods._layers import projected
from separatrix.certificates.methods._positions import Stream
from separatrix.certificates.methods._tail import decided, run_feed_forwards
from separatrix.certificates.verdict import Claim, Method, SuspicionError, UnsupportedError
from separatrix.networks import GraphAttention, GraphHead, Network
from separatrix.networks.third_order import pair_products
from separatrix.tasks import draws_from


class ThreeCycle(Method):
    """One graph unit and feed-forwards."""

    name = "three-cycle"
    order = 30

    def prove(self, network: Network, claim: Claim) -> str:
        """Examine a vertex on a cycle and one on none."""
        arithmetic, length = claim.arithmetic, claim.length
        if claim.task.name != "directed-3-cycle":
            raise UnsupportedError(f"the method covers directed-3-cycle, not {claim.task.name}")
        if not isinstance(arithmetic, FixedPoint) or arithmetic.dtype != numpy.int64:
            raise UnsupportedError(f"{arithmetic} is not a fixed point of at most 62 bits")
        layer = network.layers[0] if network.layers else None
        if not isinstance(layer, GraphAttention) or len(layer.heads) != 1 or layer.residual:
            raise UnsupportedError("the method covers networks that begin with one graph unit without residual")
        if network.positions != length or network.readout.at != "every" or network.features:
            raise UnsupportedError("the method covers units that see the graph through κ alone, read at every vertex")
        head = layer.heads[0]
        table = head.scores.encoded(arithmetic)[0]
        dummy = head.dummy.encoded(arithmetic)[0]
        values = pair_values(head, network, arithmetic)
        none = numpy.zeros(values.shape[1], dtype=numpy.int64)
        lowest = numpy.full(1, -(arithmetic.largest**2), dtype=numpy.int64)
        live, most = live_columns(network), table[:7].max()[None]
        for best, high, right in ((lowest, most, 0), (table[7:], numpy.maximum(most, table[7:]), 1)):
            pairs = Group(length**2, best, high, values.min(axis=0), values.max(axis=0))
            average = averages([pairs, Group(1, dummy, dummy, none, none)], arithmetic, head.scoring, "the graph unit")
            box = written(head.output, live, average, arithmetic, "the output matrix")
            box = run_feed_forwards(network, box, 1, len(network.layers), live, arithmetic)
            if int(decided(network, box, live, arithmetic)[0]) != right:
                where = "on a cycle" if right else "on no cycle"
                raise SuspicionError(f"a vertex {where} is not always answered {right}", graphs(claim, table))
        return f"2^{length * (length - 1)}"


def pair_values(head: GraphHead, network: Network, arithmetic: FixedPoint) -> Raw:
    """The values of all N² pairs as whole numbers: (N², v)."""
    positions = numpy.arange(network.positions, dtype=numpy.int64)
    stream = Stream(network, arithmetic)
    first, second = (
        projected(matrix, network, stream, numpy.zeros_like(positions), positions)
        for matrix in (head.first_value, head.second_value)
    )
    values = pair_products(first, second, arithmetic)
    if (values % arithmetic.largest).any():
        raise UnsupportedError("the values of the graph unit are not whole numbers; the method needs that")
    return values // arithmetic.largest


def graphs(claim: Claim, table: Raw) -> Iterator[Raw]:
    """Graphs worth trying: empty, complete, one cycle, all edges one way, all but some of one vertex, random ones."""
    size = claim.length
    edges = 1 - numpy.eye(size, dtype=numpy.int64)
    upward = numpy.triu(edges)
    one = numpy.zeros((size, size), dtype=numpy.int64)
    one[0, 1] = one[1, 2] = one[2, 0] = 1
    yield from (numpy.zeros_like(edges), edges, one, upward)
    # As many pairs as possible of each pattern without a cycle through vertex 1.
    for pattern in numpy.argsort(-table[:7], kind="stable").tolist():
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
    draws = draws_from(numpy.random.default_rng(0))
    while True:
        yield claim.task.sample(draws, 1, size).inputs[0]


METHOD = ThreeCycle()
