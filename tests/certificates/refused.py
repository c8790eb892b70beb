"""Small networks by method, and changes that take them just outside what their method covers."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy

from separatrix.networks import EmbeddingPart, ExactMatrix, Network, SignRows, TableRows
from tests.certificates.changes import changed, with_head, with_layer, with_part

Change = Callable[[Network], Network]

LOOKUP = ("index-lookup", 4, {"alphabet": 3})
EQUALITY = ("equality", 6, {})
MQAR = ("mqar", 4, {})
NEAREST = ("nearest-neighbour", 4, {})
MATCH2 = ("match2", 3, {"modulus": 7})
MATCH3 = ("match3", 3, {"modulus": 7})
LAST = ("match3-last", 4, {"modulus": 7})
CYCLE = ("directed-3-cycle", 3, {})
AVERAGING = ("sparse-averaging", 8, {})
LOCAL = ("match3-local", 3, {"modulus": 7, "window": 1})
HEADS = ("match3-heads", 3, {"modulus": 7})
DYCK = ("dyck-transformer", 4, {})


def column(network: Network, slot: str, offset: int = 0) -> int:
    """The place of a coordinate."""
    return network.slots.columns(slot).start + offset


def head(field: str, slot: str, layer: int = 0, row: int = 0, value: int = 1) -> Change:
    """A matrix of the first head of a layer that reads a coordinate more (or, an output, that writes one more)."""

    def change(network: Network) -> Network:
        matrix: ExactMatrix = getattr(network.layers[layer].heads[0], field)  # type: ignore[union-attr]
        place = (column(network, slot), row) if field == "output" else (row, column(network, slot))
        return with_head(network, layer, **{field: changed(matrix, *place, value * matrix.denominator)})

    return change


def feed(layer: int, field: str, slot: str, unit: int = 0, value: int = 1) -> Change:
    """A feed-forward that reads or writes a coordinate more."""

    def change(network: Network) -> Network:
        matrix: ExactMatrix = getattr(network.layers[layer], field)
        place = {"inner": (unit, column(network, slot)), "outer": (column(network, slot), unit)}.get(
            field, (column(network, slot) if field == "outer_bias" else unit, 0)
        )
        return with_layer(network, layer, **{field: changed(matrix, *place, value)})

    return change


def scored(layer: int = 0, **fields: Any) -> Change:
    return lambda network: with_head(network, layer, **fields)


def layered(layer: int, **fields: Any) -> Change:
    return lambda network: with_layer(network, layer, **fields)


def read(**fields: Any) -> Change:
    return lambda network: replace(network, readout=replace(network.readout, **fields))


def readout_bias(network: Network) -> Network:
    return read(bias=changed(network.readout.bias, 0, 0, 1))(network)


def readout_entry(slot: str, value: int = 1) -> Change:
    def change(network: Network) -> Network:
        return read(matrix=changed(network.readout.matrix, 0, column(network, slot), value))(network)

    return change


def part(slot: str, **fields: Any) -> Change:
    return lambda network: with_part(network, slot, **fields)


def more(slot: str, source: str, rows: int, width: int = 1, **ranges: Any) -> Change:
    """One more part of the embedding, a table whose rows differ."""

    def change(network: Network) -> Network:
        table = TableRows(ExactMatrix(numpy.arange(rows * width, dtype=numpy.int64).reshape(rows, width)))
        everything = {"tokens": (0, network.vocabulary), "positions": (0, network.positions)} | ranges
        return replace(network, embedding=(*network.embedding, EmbeddingPart(slot, table, source, **everything)))  # type: ignore[arg-type]

    return change


def doubled_heads(layer: int) -> Change:
    def change(network: Network) -> Network:
        heads = network.layers[layer].heads  # type: ignore[union-attr]
        return with_layer(network, layer, heads=(*heads, heads[0]))

    return change


def layers(choose: Callable[[tuple[Any, ...]], list[Any]]) -> Change:
    return lambda network: replace(network, layers=tuple(choose(network.layers)))


def halved(layer: int, field: str) -> Change:
    """The numbers of a matrix of a head, with twice their denominator."""

    def change(network: Network) -> Network:
        matrix = getattr(network.layers[layer].heads[0], field)  # type: ignore[union-attr]
        return with_head(network, layer, **{field: ExactMatrix(matrix.numerators, 2 * matrix.denominator)})

    return change


def moved_address(network: Network) -> Network:
    """Addresses that follow the token as well."""
    return more("address", "token", network.vocabulary, network.slots.size("address"))(network)


SAME = SignRows(numpy.zeros((2, 2), dtype=numpy.uint8))
"""A code whose rows are all alike."""


def times(factor: int) -> Change:
    """All entries of the first head's query."""

    def change(network: Network) -> Network:
        query: ExactMatrix = network.layers[0].heads[0].query  # type: ignore[union-attr]
        return with_head(network, 0, query=ExactMatrix(query.numerators * factor, query.denominator))

    return change


def search_times(factor: int) -> Change:
    """A search that reads a multiple of the window's bits."""

    def change(network: Network) -> Network:
        layer: Any = network.layers[3]
        inner = layer.inner.numerators.copy()
        inner[:, network.slots.columns("window")] *= factor
        return with_layer(network, 3, inner=ExactMatrix(inner))

    return change


def another_digit(network: Network) -> Network:
    """A search that reads the second bit of one place of the window as 3 instead of 2."""
    layer: Any = network.layers[3]
    inner = layer.inner.numerators.copy()
    inner[inner[:, column(network, "window", 2)] != 0, column(network, "window", 2)] += 1
    return with_layer(network, 3, inner=ExactMatrix(inner))


def absent_is_zero(network: Network) -> Network:
    """A search that takes every place for occupied: a place without a number then counts as residue 0."""
    layer: Any = network.layers[3]
    inner, size = layer.inner.numerators.copy(), network.slots.size("own")
    present = [column(network, "window", place) for place in range(0, network.slots.size("window"), size)]
    bias = layer.inner_bias.numerators + inner[:, present].sum(axis=1, keepdims=True)
    inner[:, present] = 0
    return with_layer(network, 3, inner=ExactMatrix(inner), inner_bias=ExactMatrix(bias))


def valued_dummy(network: Network) -> Network:
    """A dummy that holds what the first number holds."""
    (own,) = (each for each in network.embedding if each.slot == "own")
    table = own.rule.table.numerators  # type: ignore[union-attr]
    rule = TableRows(ExactMatrix(numpy.concatenate([table[:1], table])))
    return with_part(network, "own", tokens=(0, network.vocabulary), rule=rule)


def coordinate_in_the_labels(network: Network) -> Network:
    """Labels that hold a coordinate of the point as well."""
    parts = network.feature_parts
    with_it = [replace(each, matrix=changed(each.matrix, 0, 2, 1)) if each.slot == "label" else each for each in parts]
    return replace(network, feature_parts=tuple(with_it))


def both(*changes: Change) -> Change:
    """Several changes, one after the other."""

    def change(network: Network) -> Network:
        for each in changes:
            network = each(network)
        return network

    return change
