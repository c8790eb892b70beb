"""The same network with residual connections everywhere: layers that replaced the stream write fresh slots instead.

The papers leave residual connections open; most libraries have them always. A layer without one forgets its input, so
here its outputs go to new slots, and everything after it reads those. What the layer forgot stays in the old slots,
which nothing reads any more. No weight changes, only its place, and all that is added are zeros: the readouts are the
same in every arithmetic, to the bit. The stream grows by the slots that such layers write.
"""

from dataclasses import replace
from typing import TypeVar

import numpy

from separatrix.networks.exact import ExactMatrix, Slots
from separatrix.networks.graph import GraphAttention, GraphHead
from separatrix.networks.network import Attention, FeedForward, Head, Layer, Network
from separatrix.networks.third_order import ThirdOrderAttention, ThirdOrderHead

AnyHead = TypeVar("AnyHead", Head, ThirdOrderHead, GraphHead)

READ_BY_HEADS = {
    Head: ("query", "key", "value"),
    ThirdOrderHead: ("query", "first_key", "second_key", "first_value", "second_value"),
    GraphHead: ("first_value", "second_value"),
}


def with_residuals(network: Network) -> Network:
    """Return a network with the same readouts in which every layer has a residual connection."""
    places = _Places(network.slots)
    layers = [places.moved(layer) for layer in network.layers]
    # Slots are added while walking through the layers, so matrices get their final number of columns afterwards.
    readout = replace(network.readout, matrix=places.reading(network.readout.matrix))
    width = places.slots.width
    return replace(
        network,
        slots=places.slots,
        layers=tuple(_widened_layer(layer, width) for layer in layers),
        readout=readout,
    )


class _Places:
    """Where each slot of the original stream is at the moment; None when it holds zeros and has no place."""

    def __init__(self, slots: Slots) -> None:
        self._original = slots
        self.slots = slots
        self._current: dict[str, str | None] = {name: name for name, _ in slots.parts}

    def moved(self, layer: Layer) -> Layer:
        """Return the layer with its matrices at the current places, as wide as the stream is by now."""
        if isinstance(layer, FeedForward):
            inner = self.reading(layer.inner)
            self._make_room(layer, [layer.outer, layer.outer_bias])
            outer, bias = self._writing(layer.outer), self._writing(layer.outer_bias)
            return FeedForward(inner, layer.inner_bias, outer, bias, residual=True)
        if isinstance(layer, Attention):
            return Attention(self._moved_heads(layer, layer.heads), residual=True)
        if isinstance(layer, ThirdOrderAttention):
            return ThirdOrderAttention(self._moved_heads(layer, layer.heads), residual=True)
        return GraphAttention(self._moved_heads(layer, layer.heads), residual=True)

    def _moved_heads(self, layer: Layer, heads: tuple[AnyHead, ...]) -> tuple[AnyHead, ...]:
        read = [
            replace(head, **{name: self.reading(getattr(head, name)) for name in READ_BY_HEADS[type(head)]})
            for head in heads
        ]
        self._make_room(layer, [head.output for head in heads])
        return tuple(replace(head, output=self._writing(head.output)) for head in read)

    def _make_room(self, layer: Layer, written: list[ExactMatrix]) -> None:
        """Fresh slots for what the layer writes, unless it adds to a slot that is there."""
        for name, width in self._original.parts:
            rows = self._original.columns(name)
            used = any(bool(matrix.numerators[rows].any()) for matrix in written)
            if layer.residual and (self._current[name] is not None or not used):
                continue
            self._current[name] = self._fresh(name, width) if used else None

    def _fresh(self, name: str, width: int) -> str:
        taken = {each for each, _ in self.slots.parts}
        number = next(number for number in range(2, len(taken) + 3) if f"{name}_{number}" not in taken)
        self.slots = Slots((*self.slots.parts, (f"{name}_{number}", width)))
        return f"{name}_{number}"

    def reading(self, matrix: ExactMatrix) -> ExactMatrix:
        """Return a matrix (rows, d) at the current places."""
        moved = numpy.zeros((matrix.shape[0], self.slots.width), dtype=numpy.int64)
        for name, place in self._current.items():
            if place is not None:
                moved[:, self.slots.columns(place)] = matrix.numerators[:, self._original.columns(name)]
        return ExactMatrix(moved, matrix.denominator)

    def _writing(self, matrix: ExactMatrix) -> ExactMatrix:
        """Return a matrix (d, columns) at the current places."""
        moved = numpy.zeros((self.slots.width, matrix.shape[1]), dtype=numpy.int64)
        for name, place in self._current.items():
            if place is not None:
                moved[self.slots.columns(place)] = matrix.numerators[self._original.columns(name)]
        return ExactMatrix(moved, matrix.denominator)


def _widened_layer(layer: Layer, width: int) -> Layer:
    """Return the layer for a stream of this width; what is new is neither read nor written."""
    if isinstance(layer, FeedForward):
        outer, bias = _taller(layer.outer, width), _taller(layer.outer_bias, width)
        return replace(layer, inner=_wider(layer.inner, width), outer=outer, outer_bias=bias)
    if isinstance(layer, Attention):
        return replace(layer, heads=_widened_heads(layer.heads, width))
    if isinstance(layer, ThirdOrderAttention):
        return replace(layer, heads=_widened_heads(layer.heads, width))
    return replace(layer, heads=_widened_heads(layer.heads, width))


def _widened_heads(heads: tuple[AnyHead, ...], width: int) -> tuple[AnyHead, ...]:
    return tuple(
        replace(
            head,
            output=_taller(head.output, width),
            **{name: _wider(getattr(head, name), width) for name in READ_BY_HEADS[type(head)]},
        )
        for head in heads
    )


def _wider(matrix: ExactMatrix, width: int) -> ExactMatrix:
    return ExactMatrix(numpy.pad(matrix.numerators, ((0, 0), (0, width - matrix.shape[1]))), matrix.denominator)


def _taller(matrix: ExactMatrix, width: int) -> ExactMatrix:
    return ExactMatrix(numpy.pad(matrix.numerators, ((0, width - matrix.shape[0]), (0, 0))), matrix.denominator)
