"""Recall by content, then by address, on all inputs: what the methods for fixed point and for the reals share.

For every input the first layer gives the point that a query means at least a certain weight, and all other positions
together at most another. So each coordinate of the address that is retrieved lies in an interval, one box for each
pair; the feed-forward must turn every box into a point (``_boxes``). From there on the stream at the query depends on
the pair alone. What other labels add fills the interval between its smallest and largest value, because labels are
free. The answer must be the label for every pair, query position and label. How weights are bounded is left open here.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass

import numpy

from separatrix.arithmetic import FixedPoint, distinct
from separatrix.certificates.meanings.recalls import recall_of
from separatrix.certificates.methods._boxes import Box, decided, feed_forwards, in_range, product_range, weighted
from separatrix.certificates.methods._cells import cells_of
from separatrix.certificates.methods._numbers import Raw, whole, whole_part
from separatrix.certificates.methods._streams import columns, live_slots, reads
from separatrix.certificates.verdict import Claim, SuspicionError, UnsupportedError
from separatrix.networks import Attention, FeedForward, Network

Fetched = tuple[Raw, Raw, Raw, Box]
"""Cases of the second layer: query positions (n,), the pairs (n,) that they mean, the weights of these at their labels
(n,), and what all other positions add (n, v)."""


@dataclass(frozen=True)
class Matched:
    """The least weight of the right point, the most that all others have together (raw), and where that happens."""

    weight: int
    rest: int
    query: int
    symbols: tuple[int, ...] = ()


class Recalling(ABC):
    """One run of a method; attributes are what its steps share."""

    def __init__(self, network: Network, claim: Claim, arithmetic: FixedPoint) -> None:
        recall = recall_of(claim.task, claim.length)
        if network.readout.at == "last" and recall.queries != (network.positions - 1,):
            raise UnsupportedError("the network is read at the last position, the task asks at several")
        places = [number for number, layer in enumerate(network.layers) if not isinstance(layer, FeedForward)]
        layers = [layer for layer in network.layers if isinstance(layer, Attention) and len(layer.heads) == 1]
        if len(places) != 2 or places[0] != 0 or len(layers) != 2:
            raise UnsupportedError("the method covers networks that begin with one head and have two such layers")
        if layers[1].residual or not all(layer.residual for layer in network.layers[: places[1]]):
            raise UnsupportedError("the method covers residual layers up to a second attention without one")
        self.network, self.arithmetic, self.recall, self.second = network, arithmetic, recall, places[1]
        self.seek, self.fetch = layers[0].heads[0], layers[1].heads[0]
        self.cells = cells_of(network, recall, arithmetic)

    @abstractmethod
    def matched(self) -> Matched:
        """What the first head does on all inputs; a suspicion where the right point is not the best."""

    @abstractmethod
    def fetched(self, stream: Raw, rows: Raw, reach: Box) -> Iterator[Fetched]:
        """All pairs that each query position can mean, some positions at a time.

        Queries are made from ``stream`` (pairs, d), keys from ``rows`` (positions, d); ``reach`` (positions, v) bounds
        the whole values that positions may have.
        """

    def run(self) -> str:
        """The number of inputs, if all are answered correctly."""
        network, cells, head = self.network, self.cells, self.fetch
        stream, rows = self.after_first(), cells.places.copy()
        if reads(network, head.key) & cells.unknown or reads(network, head.value) & (cells.unknown | cells.by_position):
            raise UnsupportedError("the second layer's keys or values depend on what the method does not follow")
        reach, values = Box(*numpy.zeros((2, len(rows), head.value.shape[0]), dtype=numpy.int64)), list[Raw]()
        for role, cases in ((False, cells.points), (True, cells.labels)):
            if len(numpy.unique(cases[:, columns(network, reads(network, head.key))], axis=0)) != 1:
                raise UnsupportedError("the second layer's keys depend on contents; it covers addresses")
            values.append(whole_part(cells.projected(head.value, cases), self.arithmetic, "the values of layer 2"))
            mine = cells.is_label == role
            rows[mine] += cases[0]
            reach.low[mine], reach.high[mine] = values[-1].min(axis=0), values[-1].max(axis=0)
        for cases in self.fetched(stream, rows, reach):
            self.check(cases, values[-1])
        return self.recall.covered

    def after_first(self) -> Raw:
        """The stream at a query for each pair that it can mean: (pairs, d), known where the second layer reads it."""
        network, cells, one, seek = self.network, self.cells, self.arithmetic.largest, self.seek
        found = self.matched()
        between = [layer for layer in network.layers[1 : self.second] if isinstance(layer, FeedForward)]
        written = [seek.output, *[matrix for layer in between for matrix in (layer.outer, layer.outer_bias)]]
        kept = columns(network, reads(self.network, self.fetch.key, self.fetch.value))
        if any(matrix.numerators[kept].any() for matrix in written):
            raise UnsupportedError("the second layer's keys or values are written by the first; it covers others")
        used = reads(self.network, self.fetch.query, *[layer.inner for layer in between])
        live = columns(network, used)
        if used & cells.unknown:
            raise UnsupportedError("a layer after the first reads the coordinates of points")
        own = [numpy.unique(rows[:, live], axis=0) for rows in (cells.points, cells.places[list(self.recall.queries)])]
        if any(len(rows) != 1 for rows in own):
            raise UnsupportedError("what a query passes on depends on its own content or position")
        if not reads(self.network, seek.value) <= cells.by_position:
            raise UnsupportedError("the values of the first layer depend on contents; the method covers addresses")
        values = whole_part(cells.projected(seek.value, cells.places), self.arithmetic, "the values of layer 1")
        held = values[0 : 2 * self.recall.pairs : 2]
        ends = numpy.stack([held * found.weight, held * one])
        least, most = numpy.minimum(values.min(axis=0), 0), numpy.maximum(values.max(axis=0), 0)
        average = Box(ends.min(axis=0), ends.max(axis=0)).plus(found.rest * least, found.rest * most)
        average = in_range(average, self.arithmetic, "the address found")
        output = whole(seek.output, "the output matrix of layer 1")[live, :]
        box = product_range(output, average, self.arithmetic, "the address found").plus(own[0] + own[1])
        box = in_range(box, self.arithmetic, "the stream after layer 1")
        box = feed_forwards(network, box, 1, self.second, live, self.arithmetic)
        read = numpy.isin(live, columns(network, reads(self.network, self.fetch.query)))
        for vague in numpy.nonzero(((box.low != box.high) & read).any(axis=1))[0].tolist():
            reason = f"the address of pair {vague + 1} is not recovered exactly on every input"
            raise SuspicionError(reason, query=found.query, symbols=found.symbols, pair=vague)
        stream = numpy.zeros((self.recall.pairs, network.slots.width), dtype=numpy.int64)
        stream[:, live[read]] = box.low[:, read]
        return stream

    def check(self, cases: Fetched, labels: Raw) -> None:
        """All labels in some cases, each different one once."""
        (query, pair, weight, rest), number = cases, len(labels)
        different, which = distinct(numpy.column_stack([weight, rest.low, rest.high]))
        weighted(weight, labels, 1, self.arithmetic, "layer 2")
        held = (different[:, :1, None] * labels[None]).reshape(-1, labels.shape[1])
        average = Box(*numpy.split(numpy.repeat(different[:, 1:], number, axis=0), 2, axis=1)).plus(held)
        average = in_range(average, self.arithmetic, "the average of labels")
        live = columns(self.network, live_slots(self.network, self.second + 1))
        output = whole(self.fetch.output, "the output matrix of layer 2")[live, :]
        box = product_range(output, average, self.arithmetic, "the output of layer 2")
        box = feed_forwards(self.network, box, self.second + 1, len(self.network.layers), live, self.arithmetic)
        answers = decided(self.network, box, live, self.arithmetic).reshape(-1, number)[which]
        for case, label in numpy.argwhere(answers != numpy.arange(number)).tolist():
            where = f"of pair {pair[case] + 1} is not recovered on every input at position {query[case] + 1}"
            raise SuspicionError(f"label {label} {where}", query=int(query[case]), pair=int(pair[case]), label=label)
