"""Feed-forwards and readouts on boxes of integers: exact wherever no ReLU changes its side inside the box.

A box holds raw fixed-point numbers (multiples of the step) between ``low`` and ``high``, coordinate by coordinate. If
every unit keeps its sign on the box, the feed-forward is an affine map there, and noise whose weights cancel disappears
exactly: that is how a threshold turns an interval into a point. A unit that may change its side contributes an
interval. Weights must be whole numbers and biases multiples of the step, so that fixed point rounds nothing; whatever
the end of the range might cut off, or 64 bits might not hold, is refused.
"""

from dataclasses import dataclass

import numpy

from separatrix.arithmetic import FixedPoint, distinct, magnitude
from separatrix.certificates.methods._numbers import Raw, whole
from separatrix.certificates.verdict import UnsupportedError
from separatrix.networks import FeedForward, Network, affine, decode

LARGEST_SUM = 1 << 62


@dataclass(frozen=True)
class Box:
    """Bounds (cases, coordinates) of raw numbers."""

    low: Raw
    high: Raw

    def plus(self, low: Raw, high: Raw | None = None) -> "Box":
        """The sum with raw numbers, or with bounds of them."""
        return Box(self.low + low, self.high + (low if high is None else high))


def in_range(box: Box, arithmetic: FixedPoint, what: str) -> Box:
    """The box itself, or a refusal if a value in it would be cut off at the end of the range."""
    limit = arithmetic.largest * arithmetic.largest
    if box.low.size and (int(box.low.min()) < -limit or int(box.high.max()) > limit):
        raise UnsupportedError(f"{what} may leave the range ±{arithmetic.largest}; a larger Kc keeps it inside")
    return box


def weighted(weights: Raw, values: Raw, keys: int, arithmetic: FixedPoint, what: str) -> None:
    """Refuse weights (raw) and values (whole) whose products could be cut off, or whose sum of ``keys`` 64 bits.

    Softmax weights are at most 1, but those of linear attention are scores, and where the sum of scores is cut off
    those of ReLU attention add up to more than 1.
    """
    largest = magnitude(weights) * magnitude(values)
    if largest > arithmetic.largest**2 or largest * keys >= LARGEST_SUM:
        raise UnsupportedError(f"weights times values of {what} may leave the range ±{arithmetic.largest}; raise Kc")


def product_range(matrix: Raw, box: Box, arithmetic: FixedPoint, what: str) -> Box:
    """Bounds of W x for x in the box.

    A sum inside the range is not enough: two products outside it that cancel would be cut off before they are added.
    """
    most = numpy.maximum(numpy.abs(box.low), numpy.abs(box.high)).max(axis=0, initial=0)
    _fits(most, matrix)
    if matrix.size and int(numpy.abs(matrix).max()) > arithmetic.largest:
        raise UnsupportedError(f"{what} has weights beyond ±{arithmetic.largest}; a larger Kc can represent them")
    in_range(Box(-numpy.abs(matrix) * most, numpy.abs(matrix) * most), arithmetic, what)
    positive, negative = numpy.maximum(matrix, 0).T, numpy.minimum(matrix, 0).T
    low, high = box.low @ positive + box.high @ negative, box.high @ positive + box.low @ negative
    return in_range(Box(low, high), arithmetic, what)


def _fits(most: Raw, *matrices: Raw) -> None:
    """Refuse products that could overflow 64 bits: then no bound computed from them would mean anything."""
    # Floats only bound sizes here, with more room than they can round away.
    reach = most.astype(numpy.float64)
    for matrix in matrices:
        reach = numpy.abs(matrix).astype(numpy.float64) @ reach
        if reach.max(initial=0) >= 2.0**61:
            raise UnsupportedError("weights times values exceed 62 bits; choose a smaller Kc")


def feed_forward(layer: FeedForward, box: Box, columns: Raw, arithmetic: FixedPoint, what: str) -> Box:
    """The layer on boxes that hold only the coordinates ``columns`` of the stream; all others are taken as zero."""
    inner, outer = whole(layer.inner, what)[:, columns], whole(layer.outer, what)[columns, :]
    bias = whole(layer.inner_bias, f"the bias of {what}", arithmetic.largest)[:, 0]
    shift = whole(layer.outer_bias, f"the bias of {what}", arithmetic.largest)[columns, 0]
    before = product_range(inner, box, arithmetic, f"{what}, before its bias")
    before = in_range(before.plus(bias), arithmetic, f"{what}, inside")
    most = numpy.maximum(before.high, 0)
    # All sums of some products lie between these, because hidden numbers are at least 0.
    written = product_range(outer, Box(numpy.zeros_like(most), most), arithmetic, f"{what}, result")
    in_range(written.plus(shift), arithmetic, f"{what}, result")
    active = before.low >= 0
    # The affine part: outer · diag(active) · inner, one matrix for each case.
    _fits(numpy.maximum(numpy.abs(box.low), numpy.abs(box.high)).max(axis=0, initial=0), inner, outer)
    _fits(numpy.abs(bias), outer)
    effective = numpy.einsum("oh,ch,hi->coi", outer, active.astype(numpy.int64), inner)
    if layer.residual:
        effective = effective + numpy.eye(len(columns), dtype=numpy.int64)
    positive, negative = numpy.maximum(effective, 0), numpy.minimum(effective, 0)
    low = numpy.einsum("coi,ci->co", positive, box.low) + numpy.einsum("coi,ci->co", negative, box.high)
    high = numpy.einsum("coi,ci->co", positive, box.high) + numpy.einsum("coi,ci->co", negative, box.low)
    constant, mixed = (active * bias) @ outer.T + shift, numpy.where(active, 0, most)
    result = Box(low, high).plus(constant)
    result = result.plus(mixed @ numpy.minimum(outer, 0).T, mixed @ numpy.maximum(outer, 0).T)
    return in_range(result, arithmetic, f"{what}, result")


def feed_forwards(network: Network, box: Box, start: int, stop: int, live: Raw, arithmetic: FixedPoint) -> Box:
    """Run the feed-forwards ``start`` … ``stop`` - 1 on the coordinates ``live``, each different case once."""
    cases, places = distinct(numpy.concatenate([box.low, box.high], axis=1))
    current = Box(cases[:, : len(live)], cases[:, len(live) :])
    for number, layer in enumerate(network.layers[start:stop], start):
        if not isinstance(layer, FeedForward):
            raise UnsupportedError(f"layer {number} is not a feed-forward; the method expects one there")
        current = feed_forward(layer, current, live, arithmetic, f"layer {number}")
    return Box(current.low[places], current.high[places])


def decided(network: Network, box: Box, live: Raw, arithmetic: FixedPoint) -> Raw:
    """The decoded answer of each case, -1 where it is not the same all over the box."""
    readout, certain = network.readout, (box.low == box.high).all(axis=1)
    full = numpy.zeros((len(box.low), network.slots.width), dtype=numpy.int64)
    full[:, live] = box.low
    answers = decode(network, affine(readout.matrix, readout.bias, full, arithmetic), arithmetic)
    if certain.all() or readout.decoding == "exact":
        return numpy.where(certain, answers, -1)
    if readout.decoding != "bits":
        raise UnsupportedError("an argmax of intervals is not covered; round the stream before the readout")
    bias = whole(readout.bias, "the readout bias", arithmetic.largest)[:, 0]
    read = product_range(whole(readout.matrix, "the readout")[:, live], box, arithmetic, "the readout")
    read = in_range(read.plus(bias), arithmetic, "the readout")
    same = (2 * read.low > arithmetic.largest) == (2 * read.high > arithmetic.largest)
    return numpy.where(same.all(axis=1), answers, -1)
