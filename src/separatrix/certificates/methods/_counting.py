"""What can be used of the stream after the first layer, and a uniform attention layer that counts ones."""

import numpy

from separatrix.arithmetic import FixedPoint
from separatrix.certificates.methods._boxes import Raw
from separatrix.certificates.verdict import UnsupportedError
from separatrix.networks import Attention, FeedForward, Network
from separatrix.networks.evaluate import affine, decode, run_layer


def live_columns(network: Network) -> Raw:
    """Coordinates of the stream that anything after the first layer can use."""
    slots = network.slots
    used = slots.read_by(network.readout.matrix)
    for layer in network.layers[1:]:
        if isinstance(layer, FeedForward):
            used |= slots.read_by(layer.inner)
        elif isinstance(layer, Attention):
            for head in layer.heads:
                used |= slots.read_by(head.value) | slots.read_by(head.query) | slots.read_by(head.key)
        else:
            raise UnsupportedError("after its first layer the method covers plain attention and feed-forwards")
    every = numpy.arange(slots.width, dtype=numpy.int64)
    return numpy.concatenate([every[:0], *[every[slots.columns(name)] for name, _ in slots.parts if name in used]])


def answers_by_count(network: Network, second: int, most: int, arithmetic: FixedPoint) -> Raw:
    """The layers from a uniform averaging one on, for every possible number of ones: (most + 1,) answers."""
    layer = network.layers[second]
    if not isinstance(layer, Attention) or len(layer.heads) != 1 or layer.residual:
        raise UnsupportedError("the second attention layer is covered with one head and no residual")
    head = layer.heads[0]
    if head.query.parameters and head.key.parameters:
        raise UnsupportedError("the second layer is covered when its attention is uniform (a query or key of zeros)")
    if head.scoring != "softmax" or head.mask != "none" or head.value.shape[0] != 1:
        raise UnsupportedError("the second layer is covered with unmasked softmax attention and one value")
    weight = int(arithmetic.softmax(arithmetic.zeros((1, network.positions)))[0, 0])
    averages = numpy.arange(most + 1, dtype=numpy.int64)[:, None] * weight
    stream = arithmetic.matmul(averages, head.output.encoded(arithmetic).T)[:, None, :]
    for later in network.layers[second + 1 :]:
        if not isinstance(later, FeedForward):
            raise UnsupportedError("after the second attention layer the method covers feed-forwards")
        stream = run_layer(later, stream, arithmetic)
    raw = affine(network.readout.matrix, network.readout.bias, stream, arithmetic)
    return decode(network, raw, arithmetic)[:, 0]
