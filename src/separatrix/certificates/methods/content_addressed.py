"""Content-addressed attention: all inputs at once, for networks that find a point by what it holds.

It covers BHBK24 Theorem 7 and its corollaries (MQAR, associative recall). For every input the first layer gives the
point that a query means at least a certain weight, and all other positions together at most another (``_matching``,
where the two bounds are derived). So each coordinate of the address that is retrieved lies in an interval, one box for
each pair; the feed-forward must turn every box into a point (``_boxes``). From there on the stream at the query depends
on the pair alone, and the second layer's weights are known exactly, for each pair and each query position. What the
other labels add fills the interval between its smallest and largest value, because labels are free. The answer must be
the label for every pair, query position and label.

Everything is integers: the raw numbers of the fixed point of BHBK24 B.2. For points given by coordinates the bound on
the first layer is an inequality in exact rational numbers over all points that keep the promise (unit norm and margin);
it speaks about every such input and walks through none.
"""

from collections.abc import Iterator

import numpy

from separatrix.arithmetic import FixedPoint
from separatrix.certificates.meaning import Recall, SymbolContents, recall_of
from separatrix.certificates.methods._boxes import Box, Raw, in_range, product_range, whole
from separatrix.certificates.methods._cells import Cells, cells_of
from separatrix.certificates.methods._matching import Matched, Mismatch, matched
from separatrix.certificates.methods._tail import decided, run_feed_forwards
from separatrix.certificates.verdict import Claim, Method, SuspicionError, UnsupportedError
from separatrix.errors import SeparatrixError
from separatrix.networks import Attention, ExactMatrix, FeedForward, Network
from separatrix.networks.evaluate import mask_of, weights_of
from separatrix.tasks import draws_from


class ContentAddressed(Method):
    """Two attention layers of one head each: by content, then by the address found."""

    name = "content-addressed"
    order = 20

    def prove(self, network: Network, claim: Claim) -> str:
        """Examine the network on all inputs at once."""
        if not isinstance(claim.arithmetic, FixedPoint) or claim.arithmetic.dtype != numpy.int64:
            raise UnsupportedError(f"{claim.arithmetic} is not a fixed point of at most 62 bits")
        if claim.arithmetic.softmax_rule != "appendix-d":
            raise UnsupportedError("the method's bounds are those of Appendix D's softmax")
        try:
            recall = recall_of(claim.task, claim.length)
        except SeparatrixError as error:
            raise UnsupportedError(str(error)) from None
        if network.positions != claim.task.positions(claim.length):
            raise UnsupportedError(f"the network reads {network.positions} positions, the task has others")
        if network.readout.at == "last" and recall.queries != (network.positions - 1,):
            raise UnsupportedError("the network is read at the last position, the task asks at several")
        _Examination(network, claim, claim.arithmetic, recall).run()
        return recall.covered


class _Examination:
    """One run of the method; attributes are what its steps share."""

    def __init__(self, network: Network, claim: Claim, arithmetic: FixedPoint, recall: Recall) -> None:
        self.network, self.claim, self.arithmetic, self.recall = network, claim, arithmetic, recall
        places = [number for number, layer in enumerate(network.layers) if not isinstance(layer, FeedForward)]
        layers = [network.layers[place] for place in places]
        if len(places) != 2 or places[0] != 0:
            raise UnsupportedError("the method covers networks that begin with attention and have two such layers")
        if not all(isinstance(layer, Attention) and len(layer.heads) == 1 for layer in layers):
            raise UnsupportedError("the method covers plain attention with one head in each layer")
        first, second = layers
        assert isinstance(first, Attention) and isinstance(second, Attention)
        between = network.layers[1 : places[1]]
        if second.residual or not all(layer.residual for layer in (first, *between)):
            raise UnsupportedError("the method covers residual layers up to a second attention without one")
        self.second, self.seek, self.fetch = places[1], first.heads[0], second.heads[0]
        self.cells: Cells = cells_of(network, recall, arithmetic)

    def run(self) -> None:
        """Raise unless every input is answered correctly."""
        try:
            found = matched(self.cells, self.recall, self.seek)
        except Mismatch as mismatch:
            raise SuspicionError(str(mismatch), self._inputs(mismatch.query, mismatch.symbols)) from None
        self._check_labels(self._after_first(found))

    # -- the first layer -----------------------------------------------------------------------------------

    def _after_first(self, found: Matched) -> Raw:
        """The stream at a query for each pair that it can mean: (pairs, d), known where the second layer reads it."""
        network, cells, one = self.network, self.cells, self.arithmetic.largest
        between = [layer for layer in network.layers[1 : self.second] if isinstance(layer, FeedForward)]
        used = cells.reads(self.fetch.query, *[layer.inner for layer in between])
        self._refuse_changes(between)
        live = self._columns(used)
        if used & cells.unknown:
            raise UnsupportedError("a layer after the first reads the coordinates of points")
        own = [numpy.unique(rows[:, live], axis=0) for rows in (cells.points, cells.places[list(self.recall.queries)])]
        if any(len(rows) != 1 for rows in own):
            raise UnsupportedError("what a query hands on depends on its own content or position")
        if not cells.reads(self.seek.value) <= cells.by_position:
            raise UnsupportedError("the values of the first layer depend on contents; the method covers addresses")
        values = cells.projected(self.seek.value, cells.places)
        if (values % one).any():
            raise UnsupportedError("the values of the first layer are not whole numbers")
        values //= one
        held = values[0 : 2 * self.recall.pairs : 2]
        ends = numpy.stack([held * found.weight, held * one])
        low = ends.min(axis=0) + found.rest * numpy.minimum(values.min(axis=0), 0)
        high = ends.max(axis=0) + found.rest * numpy.maximum(values.max(axis=0), 0)
        average = in_range(Box(low, high), self.arithmetic, "the address found")
        added = product_range(whole(self.seek.output, "the output matrix of layer 1")[live, :], average)
        base = own[0] + own[1]
        box = in_range(Box(base + added.low, base + added.high), self.arithmetic, "the stream after layer 1")
        box = run_feed_forwards(network, box, 1, self.second, live, self.arithmetic)
        read = numpy.isin(live, self._columns(cells.reads(self.fetch.query)))
        vague = numpy.nonzero(((box.low != box.high) & read).any(axis=1))[0]
        if len(vague):
            reason = f"the address of pair {int(vague[0]) + 1} is not recovered exactly on every input"
            raise SuspicionError(reason, self._inputs(found.query, found.symbols, int(vague[0])))
        stream = numpy.zeros((self.recall.pairs, network.slots.width), dtype=numpy.int64)
        stream[:, live[read]] = box.low[:, read]
        return stream

    def _refuse_changes(self, between: list[FeedForward]) -> None:
        """The second layer's keys and values must be those of the embedding."""
        written = [self.seek.output, *[matrix for layer in between for matrix in (layer.outer, layer.outer_bias)]]
        changed = {
            name
            for name, _ in self.network.slots.parts
            for matrix in written
            if numpy.any(matrix.numerators[self.network.slots.columns(name)])
        }
        if changed & self.cells.reads(self.fetch.key, self.fetch.value):
            raise UnsupportedError("the second layer's keys or values are written by the first; it covers others")

    def _columns(self, slots: set[str]) -> Raw:
        every = numpy.arange(self.network.slots.width, dtype=numpy.int64)
        chosen = [every[self.network.slots.columns(name)] for name, _ in self.network.slots.parts if name in slots]
        return numpy.concatenate([every[:0], *chosen])

    # -- the second layer ----------------------------------------------------------------------------------

    def _check_labels(self, stream: Raw) -> None:
        cells, head, recall = self.cells, self.fetch, self.recall
        if cells.reads(head.key) & cells.unknown or cells.reads(head.value) & (cells.unknown | cells.by_position):
            raise UnsupportedError("the second layer's keys or values depend on what the method does not follow")
        keys = cells.projected(head.key, cells.places)
        for role, rows in ((False, cells.points), (True, cells.labels)):
            held = numpy.unique(cells.projected(head.key, rows), axis=0)
            if len(held) != 1:
                raise UnsupportedError("the second layer's keys depend on contents; it covers addresses")
            keys = keys + numpy.where((cells.is_label == role)[:, None], held, 0)
        queries = cells.projected(head.query, stream)
        scores = self.arithmetic.matmul(queries, cells.inside(keys, "a key of the second layer").T)
        cells.inside(scores, "a score of the second layer")
        points, labels = self._values(head.value, cells.points), self._values(head.value, cells.labels)
        for query in recall.queries:
            count = recall.pairs_before(query)
            allowed = mask_of(head, numpy.array([query]), self.network.positions)
            weights = weights_of(head, scores[None, :count], allowed, self.arithmetic)[0]
            self._check_query(query, weights, points, labels)

    def _values(self, matrix: ExactMatrix, rows: Raw) -> Raw:
        values = self.cells.projected(matrix, rows)
        if (values % self.arithmetic.largest).any():
            raise UnsupportedError("the values of the second layer are not whole numbers")
        return values // self.arithmetic.largest

    def _check_query(self, query: int, weights: Raw, points: Raw, labels: Raw) -> None:
        """All pairs and labels at one query position; ``weights`` (pairs, positions)."""
        pairs, number = numpy.arange(len(weights)), len(labels)
        there = weights[pairs, 2 * pairs + 1]
        others = weights.copy()
        others[pairs, 2 * pairs + 1] = 0
        low = numpy.zeros((len(pairs), points.shape[1]), dtype=numpy.int64)
        high = low.copy()
        for role, values in ((False, points), (True, labels)):
            mine = others[:, self.cells.is_label == role]
            up = numpy.maximum(mine, 0).sum(axis=1)[:, None]
            down = numpy.minimum(mine, 0).sum(axis=1)[:, None]
            least, most = values.min(axis=0), values.max(axis=0)
            low, high = low + up * least + down * most, high + up * most + down * least
        held = (there[:, None, None] * labels[None]).reshape(-1, labels.shape[1])
        average = Box(held + numpy.repeat(low, number, axis=0), held + numpy.repeat(high, number, axis=0))
        average = in_range(average, self.arithmetic, "the average of labels")
        later = self.network.layers[self.second + 1 :]
        inner = [layer.inner for layer in later if isinstance(layer, FeedForward)]
        live = self._columns(self.cells.reads(self.network.readout.matrix, *inner))
        box = product_range(whole(self.fetch.output, "the output matrix of layer 2")[live, :], average)
        box = run_feed_forwards(self.network, box, self.second + 1, len(self.network.layers), live, self.arithmetic)
        answers = decided(self.network, box, live, self.arithmetic).reshape(len(pairs), number)
        wrong = numpy.argwhere(answers != numpy.arange(number))
        if len(wrong):
            pair, label = (int(place) for place in wrong[0])
            reason = f"label {label} of pair {pair + 1} is not recovered on every input at position {query + 1}"
            raise SuspicionError(reason, self._inputs(query, (), pair, label))

    # -- counterexamples -----------------------------------------------------------------------------------

    def _inputs(
        self, query: int, symbols: tuple[int, ...], pair: int | None = None, label: int | None = None
    ) -> Iterator[Raw]:
        """Inputs worth trying: one pair has one label and all others have another; then random ones."""
        random = numpy.random.default_rng(0)
        stream = draws_from(random)
        for attempt in range(32):
            tokens = self.claim.task.sample(stream, 1, self.claim.length).inputs[0]
            target = pair if pair is not None and attempt % 4 < 2 else int(random.integers(self.recall.pairs))
            chosen = label if label is not None else attempt % self.recall.labels
            other = (chosen + 1 + attempt // 2 % (self.recall.labels - 1)) % self.recall.labels
            marks = numpy.full(self.recall.pairs, other)
            marks[target] = chosen
            if isinstance(self.recall.contents, SymbolContents):
                self._arrange(tokens, query, symbols, target, random)
                tokens[1 : 2 * self.recall.pairs : 2] = self.recall.contents.keys + marks
            else:
                tokens[1 : 2 * self.recall.pairs : 2, 1] = marks
            yield tokens
        while True:
            yield self.claim.task.sample(stream, 1, self.claim.length).inputs[0]

    def _arrange(
        self, tokens: Raw, query: int, symbols: tuple[int, ...], pair: int, random: numpy.random.Generator
    ) -> None:
        """Put the suspected symbols among the keys, the first of them at the pair and at the query."""
        assert isinstance(self.recall.contents, SymbolContents)
        pairs = self.recall.pairs
        rest = [s for s in random.permutation(self.recall.contents.keys).tolist() if s not in symbols]
        used = [*symbols, *rest][:pairs]
        keys = numpy.array([*used[:1], *random.permutation(numpy.array(used[1:], dtype=numpy.int64)).tolist()])
        keys[[0, pair]] = keys[[pair, 0]]
        tokens[0 : 2 * pairs : 2] = keys
        asked = random.permutation(keys)[: len(self.recall.queries)] if len(self.recall.queries) > 1 else keys[[pair]]
        place = self.recall.queries.index(query)
        where = int(numpy.nonzero(asked == keys[pair])[0][0])
        asked[[place, where]] = asked[[where, place]]
        tokens[list(self.recall.queries)] = asked


METHOD = ContentAddressed()
