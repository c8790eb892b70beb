"""A uniform attention layer that counts ones, and what follows it, on every number of ones."""

import numpy

from separatrix.arithmetic import FixedPoint
from separatrix.certificates.methods._boxes import Box, in_range, product_range
from separatrix.certificates.methods._numbers import Raw, whole
from separatrix.certificates.methods._uniform import uniform_weight
from separatrix.certificates.verdict import UnsupportedError
from separatrix.networks import Attention, FeedForward, Head, Network, affine, decode, run_layer


def counting_head(network: Network, place: int) -> Head:
    """The one head of the layer at this place, which must average one value."""
    layer = network.layers[place]
    if not isinstance(layer, Attention) or len(layer.heads) != 1 or layer.residual:
        raise UnsupportedError("the second attention layer is covered with one head and no residual")
    if layer.heads[0].mask != "none" or layer.heads[0].value.shape[0] != 1:
        raise UnsupportedError("the second layer is covered with one value and no mask")
    return layer.heads[0]


def handed_on(head: Head, live: Raw, box: Box, arithmetic: FixedPoint) -> Raw:
    """What each case hands to the counting head: 0, 1, or -1 where it is neither exactly."""
    handed = product_range(whole(head.value, "the second value matrix")[:, live], box, arithmetic, "what is counted")
    low, high, one = handed.low[:, 0], handed.high[:, 0], arithmetic.largest
    return numpy.where((low == high) & ((low == 0) | (low == one)), low // one, -1)


def answers_by_count(network: Network, place: int, most: int, arithmetic: FixedPoint) -> Raw:
    """The layers from the counting one on, for every possible number of ones: (most + 1,) answers."""
    head = counting_head(network, place)
    weight = uniform_weight(head, network.positions, arithmetic)
    averages = numpy.arange(most + 1, dtype=numpy.int64)[:, None] * weight
    in_range(Box(averages, averages), arithmetic, "what is counted")
    stream = arithmetic.matmul(averages, head.output.encoded(arithmetic).T)[:, None, :]
    for later in network.layers[place + 1 :]:
        if not isinstance(later, FeedForward):
            raise UnsupportedError("after the second attention layer the method covers feed-forwards")
        stream = run_layer(later, stream, arithmetic)
    return decode(network, affine(network.readout.matrix, network.readout.bias, stream, arithmetic), arithmetic)[:, 0]
