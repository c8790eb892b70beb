"""Feed-forwards on boxes of integers: exact wherever no ReLU changes its side inside the box.

A box holds raw fixed-point numbers (multiples of the step) between ``low`` and ``high``, coordinate by coordinate. If
every unit keeps its sign on the box, the feed-forward is an affine map there, and noise whose weights cancel disappears
exactly: that is how a threshold turns an interval into a point. A unit that may change its side contributes an
interval. All weights must be whole numbers, so that fixed point rounds nothing; results beyond the range are refused.
"""

from dataclasses import dataclass

import numpy
from numpy.typing import NDArray

from separatrix.arithmetic import FixedPoint
from separatrix.certificates.verdict import UnsupportedError
from separatrix.errors import SeparatrixError
from separatrix.networks import ExactMatrix, FeedForward

Raw = NDArray[numpy.int64]


@dataclass(frozen=True)
class Box:
    """Bounds (cases, coordinates) of raw numbers."""

    low: Raw
    high: Raw

    @property
    def points(self) -> bool:
        """Whether every case is a single point."""
        return bool((self.low == self.high).all())


def whole(matrix: ExactMatrix, what: str) -> Raw:
    """The entries as integers, or a refusal that names the matrix."""
    try:
        return matrix.whole()
    except SeparatrixError:
        raise UnsupportedError(
            f"{what} has weights that are not whole numbers; the method covers only whole ones"
        ) from None


def guard(matrix: Raw, box: Box) -> None:
    """Refuse products that could overflow 64 bits: then no bound computed from them would mean anything."""
    if matrix.size and box.low.size:
        heaviest = max(sum(map(abs, row)) for row in matrix.reshape(-1, matrix.shape[-1]).tolist())
        largest = max(abs(int(box.low.min())), abs(int(box.high.max())))
        if heaviest * largest >= 2**62:
            raise UnsupportedError("weights times values exceed 62 bits; choose a smaller Kc")


def product_range(matrix: Raw, box: Box) -> Box:
    """Bounds of W x for x in the box."""
    guard(matrix, box)
    positive, negative = numpy.maximum(matrix, 0), numpy.minimum(matrix, 0)
    low = box.low @ positive.T + box.high @ negative.T
    high = box.high @ positive.T + box.low @ negative.T
    return Box(low, high)


def in_range(box: Box, arithmetic: FixedPoint, what: str) -> Box:
    """The box itself, or a refusal if a value in it would be cut off at the end of the range."""
    limit = arithmetic.largest * arithmetic.largest
    if box.low.size and (int(box.low.min()) < -limit or int(box.high.max()) > limit):
        raise UnsupportedError(f"{what} may leave the range ±{arithmetic.largest}; a larger Kc keeps it inside")
    return box


def unsaturated(weights: Raw, most: Raw, arithmetic: FixedPoint, what: str) -> None:
    """Refuse weights beyond the range, and products with inputs up to ``most`` (cases, inputs) that might be cut off.

    A sum inside the range is not enough: two products outside it that cancel would be cut off before they are added.
    """
    if weights.size and int(numpy.abs(weights).max()) > arithmetic.largest:
        raise UnsupportedError(f"{what} has weights beyond ±{arithmetic.largest}; a larger Kc can represent them")
    products = numpy.abs(weights) * most.max(axis=0, initial=0)
    in_range(Box(-products, products), arithmetic, what)


def feed_forward(layer: FeedForward, box: Box, columns: Raw, arithmetic: FixedPoint, what: str) -> Box:
    """The layer on boxes that hold only the coordinates ``columns`` of the stream; all others are taken as zero."""
    one = arithmetic.largest
    inner = whole(layer.inner, what)[:, columns]
    outer = whole(layer.outer, what)[columns, :]
    bias = whole(layer.inner_bias, what)[:, 0] * one
    shift = whole(layer.outer_bias, what)[columns, 0] * one
    guard(numpy.abs(outer) @ numpy.abs(inner) + 1, box)
    guard(numpy.abs(outer), Box(-numpy.abs(bias)[None, :], numpy.abs(bias)[None, :]))
    in_range(Box(-numpy.abs(bias), numpy.abs(bias)), arithmetic, f"the bias of {what}")
    unsaturated(inner, numpy.maximum(numpy.abs(box.low), numpy.abs(box.high)), arithmetic, f"{what}, inside")
    before = in_range(product_range(inner, box), arithmetic, f"{what}, before its bias")
    before = in_range(Box(before.low + bias, before.high + bias), arithmetic, f"{what}, inside")
    unsaturated(outer, numpy.maximum(before.high, 0), arithmetic, f"{what}, result")
    active = before.low >= 0
    mixed = ~active & (before.high > 0)
    # The affine part: outer · diag(active) · inner, one matrix for each case.
    effective = numpy.einsum("oh,ch,hi->coi", outer, active.astype(numpy.int64), inner)
    if layer.residual:
        effective = effective + numpy.eye(len(columns), dtype=numpy.int64)
    positive, negative = numpy.maximum(effective, 0), numpy.minimum(effective, 0)
    low = numpy.einsum("coi,ci->co", positive, box.low) + numpy.einsum("coi,ci->co", negative, box.high)
    high = numpy.einsum("coi,ci->co", positive, box.high) + numpy.einsum("coi,ci->co", negative, box.low)
    constant = (active * bias) @ outer.T + shift
    most = mixed * before.high
    low = low + constant + most @ numpy.minimum(outer, 0).T
    high = high + constant + most @ numpy.maximum(outer, 0).T
    return in_range(Box(low, high), arithmetic, f"{what}, result")
