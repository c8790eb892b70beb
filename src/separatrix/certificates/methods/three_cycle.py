"""Directed 3-cycles by a higher-order graph unit: all 2^(N(N-1)) graphs at once.

In the row of vertex i every pair (j, k) has one of eight scores, by the edges i → j, j → k and k → i, and the dummy its
own. Vertex i is on a cycle exactly if some pair has all three. So its row has N² pairs of scores at most
max κ(pattern ≠ 111) if it is on none, and a largest score of at least κ(111) if it is on one; both cases go through
``_bounded_softmax`` and the feed-forwards. Which pairs have which score is left open, so the bounds hold for every
graph.

Linear and ReLU attention have no such bounds. Where κ has one value on all patterns but 111 and all pairs have one
value, a row is known up to its order once the number of its pairs with all three edges is; every number is run.
"""

import numpy

from separatrix.arithmetic import FixedPoint
from separatrix.certificates.meanings.known import known_name
from separatrix.certificates.methods._bounded_softmax import Group, answers
from separatrix.certificates.methods._numbers import Raw, fixed_point, whole_part
from separatrix.certificates.methods._streams import projected
from separatrix.certificates.verdict import Claim, Method, SuspicionError, UnsupportedError
from separatrix.networks import (
    FeedForward,
    GraphAttention,
    GraphHead,
    Network,
    affine,
    decode,
    pair_products,
    run_layer,
    weights_of,
)

LARGEST_TABLE = 1 << 25


class ThreeCycle(Method):
    """One graph unit and feed-forwards."""

    name = "three-cycle"
    order = 30

    def prove(self, network: Network, claim: Claim) -> str:
        """Examine a vertex on a cycle and one on none."""
        length = claim.length
        if known_name(claim.task) != "directed-3-cycle":
            raise UnsupportedError(f"the method covers directed-3-cycle, not {claim.task.name}")
        arithmetic = fixed_point(claim)
        layer = network.layers[0] if network.layers else None
        if not isinstance(layer, GraphAttention) or len(layer.heads) != 1 or layer.residual:
            raise UnsupportedError("the method covers networks that begin with one graph unit without residual")
        if network.feature_parts or network.readout.at != "every":
            raise UnsupportedError("the method covers units that see the graph through κ alone, read at every vertex")
        head, vertices = layer.heads[0], numpy.arange(length, dtype=numpy.int64)
        table, dummy = head.scores.encoded(arithmetic)[0], head.dummy.encoded(arithmetic)[0]
        first, second = (
            projected(matrix, network, numpy.zeros_like(vertices), vertices, arithmetic)
            for matrix in (head.first_value, head.second_value)
        )
        values = whole_part(pair_products(first, second, arithmetic), arithmetic, "the values of the graph unit")
        if head.scoring not in ("softmax", "hard", "leftmost"):
            self.try_numbers(network, head, values, arithmetic)
            return f"2^{length * (length - 1)}"
        nothing = Group(1, dummy, dummy, numpy.zeros((1, values.shape[1]), dtype=numpy.int64))
        lowest, most = numpy.full(1, -(arithmetic.largest**2), dtype=numpy.int64), table[:7].max()[None]
        for right, (best, high) in enumerate(((lowest, most), (table[7:], numpy.maximum(most, table[7:])))):
            groups = [Group(length**2, best, high, values), nothing]
            if int(answers(groups, head, network, arithmetic, "the graph unit")[0]) != right:
                where = "on a cycle" if right else "on no cycle"
                raise SuspicionError(f"a vertex {where} is not always answered {right}", scores=table)
        return f"2^{length * (length - 1)}"

    def try_numbers(self, network: Network, head: GraphHead, values: Raw, arithmetic: FixedPoint) -> None:
        """Run a row with every number of pairs that have all three edges."""
        table, dummy = head.scores.encoded(arithmetic)[0], head.dummy.encoded(arithmetic)[0]
        pairs = len(values)
        if (table[:7] != table[0]).any() or (values != values[0]).any() or pairs**2 > LARGEST_TABLE:
            raise UnsupportedError(f"{head.scoring} attention is covered for few vertices, one value and two scores")
        entries, numbers = numpy.arange(pairs + 1), numpy.arange(pairs + 1)[:, None]
        scores: Raw = numpy.where(entries < numbers, int(table[7]), int(table[0]))
        scores[:, pairs] = int(dummy[0])
        weights = weights_of(head, scores[None], numpy.ones((1, 1), dtype=bool), arithmetic)
        held = numpy.concatenate([values, numpy.zeros_like(values[:1])]) * arithmetic.largest
        stream = arithmetic.matmul(arithmetic.matmul(weights, held), head.output.encoded(arithmetic).T)
        for layer in network.layers[1:]:
            if not isinstance(layer, FeedForward):
                raise UnsupportedError("after the graph unit the method covers feed-forwards")
            stream = run_layer(layer, stream, arithmetic)
        read = affine(network.readout.matrix, network.readout.bias, stream, arithmetic)
        if (decode(network, read, arithmetic)[0] != (entries > 0)).any():
            raise SuspicionError("some number of pairs with all three edges is answered wrongly", scores=table)


METHOD = ThreeCycle()
