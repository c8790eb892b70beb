"""What follows an attention layer, on boxes: feed-forwards one after the other, and the decoded answer."""

import numpy

from separatrix.arithmetic import FixedPoint
from separatrix.certificates.methods._boxes import Box, Raw, feed_forward, product_range, whole
from separatrix.certificates.verdict import UnsupportedError
from separatrix.networks import FeedForward, Network
from separatrix.networks.evaluate import affine, decode


def run_feed_forwards(network: Network, box: Box, start: int, stop: int, live: Raw, arithmetic: FixedPoint) -> Box:
    """Run the feed-forwards ``start`` … ``stop`` - 1 on the coordinates ``live``, each different case once."""
    both = numpy.concatenate([box.low, box.high], axis=1)
    cases, places = numpy.unique(both, axis=0, return_inverse=True)
    width = box.low.shape[1]
    current = Box(cases[:, :width], cases[:, width:])
    for number in range(start, stop):
        layer = network.layers[number]
        if not isinstance(layer, FeedForward):
            raise UnsupportedError(f"layer {number} is not a feed-forward; the method expects one there")
        current = feed_forward(layer, current, live, arithmetic, f"layer {number}")
    places = places.reshape(-1)
    return Box(current.low[places], current.high[places])


def decided(network: Network, box: Box, live: Raw, arithmetic: FixedPoint) -> Raw:
    """The decoded answer of each case, -1 where it is not the same all over the box."""
    full = [numpy.zeros((len(side), network.slots.width), dtype=numpy.int64) for side in (box.low, box.high)]
    full[0][:, live], full[1][:, live] = box.low, box.high
    readout = network.readout
    if box.points:
        return decode(network, affine(readout.matrix, readout.bias, full[0], arithmetic), arithmetic)
    if readout.decoding != "bits":
        raise UnsupportedError("an argmax of intervals is not covered; round the stream before the readout")
    matrix = whole(readout.matrix, "the readout")
    bias = whole(readout.bias, "the readout bias")[:, 0] * arithmetic.largest
    bounds = product_range(matrix, Box(full[0], full[1]))
    low, high = bounds.low + bias, bounds.high + bias
    ones, zeros = 2 * low > arithmetic.largest, 2 * high <= arithmetic.largest
    powers = numpy.left_shift(1, numpy.arange(matrix.shape[0] - 1, -1, -1, dtype=numpy.int64))
    return numpy.where((ones | zeros).all(axis=1), ones.astype(numpy.int64) @ powers, -1)
