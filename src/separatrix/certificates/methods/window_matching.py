"""Local triple matching: attention to windows, bits restored, and a search among them, on all inputs.

1. The first feed-forward is run on every number at every *class* of positions (positions that it cannot tell apart). It
   gives a number at position j a vector of zeros and ones whose ones lie in coordinates of j's class; classes share no
   coordinate, and a window of the task has no class twice.
2. Queries and keys depend on positions alone, so the attention weights are the same on every input, and are computed
   bit for bit. A coordinate's average is the weight of the one window member of its class times that member's bit, plus
   at most the weights of that class outside the window; a position's own bit is added once more by the residual.
3. The second feed-forward treats every coordinate by itself, and turns both intervals of step 2 into points, 0 and 1.
   So every coordinate again holds the bit exactly.
4. The last feed-forward looks for triples among exact bits (``_placed_bits``): the readout exceeds 1/2 exactly when the
   window has one.
"""

from collections.abc import Iterator

import numpy

from separatrix.arithmetic import FixedPoint
from separatrix.certificates.meanings.matchings import MatchingInputs, matching_inputs
from separatrix.certificates.methods._boxes import Box, feed_forward, in_range
from separatrix.certificates.methods._numbers import Raw, fixed_point, whole
from separatrix.certificates.methods._placed_bits import Placed, wrong_search
from separatrix.certificates.methods._streams import all_tokens, columns, filled, reads
from separatrix.certificates.verdict import Claim, Method, SuspicionError, UnsupportedError
from separatrix.networks import Attention, FeedForward, Network, embedded, weights_of
from separatrix.progress import tracked

SCORES_AT_A_TIME = 1 << 22


class WindowMatching(Method):
    """A feed-forward, one attention head by position, and two feed-forwards."""

    name = "window-matching"
    order = 36
    extensions = True

    def prove(self, network: Network, claim: Claim) -> str:
        """Follow the bits of every number through the four layers."""
        inputs = matching_inputs(claim, ("match3-local",))
        reach = claim.task.parameters()["window"]
        reason = Examination(network, inputs, fixed_point(claim)).fault(reach)
        if reason is not None:
            raise SuspicionError(reason, task=claim.task.name)
        return f"{inputs.modulus}^{inputs.length}"


class Examination:
    """One run of the method; attributes are what its steps share."""

    def __init__(self, network: Network, inputs: MatchingInputs, arithmetic: FixedPoint) -> None:
        self.network, self.inputs, self.arithmetic = network, inputs, arithmetic
        if [type(layer) for layer in network.layers] != [FeedForward, Attention, FeedForward, FeedForward]:
            raise UnsupportedError("the method covers a feed-forward, attention and two feed-forwards on tokens")
        placing, attention, restoring, searching = network.layers
        assert isinstance(placing, FeedForward) and isinstance(attention, Attention)
        assert isinstance(restoring, FeedForward) and isinstance(searching, FeedForward)
        if len(attention.heads) != 1 or not all(layer.residual for layer in network.layers):
            raise UnsupportedError("the method covers one head, and residuals everywhere")
        self.placing, self.head, self.restoring, self.searching = placing, attention.heads[0], restoring, searching
        if self.head.mask != "none" or self.head.scoring == "linear":
            raise UnsupportedError("the method covers softmax or hard attention without a mask")
        if network.readout.decoding != "bits" or network.readout.at != "every" or network.readout.matrix.shape[0] != 1:
            raise UnsupportedError("the method covers one bit, read at every position")
        value, output = whole(self.head.value, "the value matrix"), whole(self.head.output, "the output matrix")
        # The coordinates that attention averages, each into its own place.
        self.columns = numpy.nonzero(value.any(axis=0))[0]
        size = len(self.columns)
        straight = value.shape[0] == size and numpy.array_equal(value[:, self.columns], numpy.eye(size))
        there = numpy.zeros((network.slots.width, size), dtype=numpy.int64)
        there[self.columns, numpy.arange(size)] = 1
        if not straight or (output != there).any():
            raise UnsupportedError("the method covers attention that averages coordinates in their own places")
        self.check_slots()

    def fault(self, reach: int) -> str | None:
        """Why some input may be answered wrongly, or None."""
        placed, classes = self.placed()
        return self.lost_bits(placed, classes, reach) or wrong_search(self.searching, placed)

    def check_slots(self) -> None:
        """Each slot is filled by the token, by the position, or by the first feed-forward alone."""
        network, other = self.network, numpy.setdiff1d(numpy.arange(self.network.slots.width), self.columns)
        self.by_token = {part.slot for part in network.embedding if part.source == "token"}
        by_position = {part.slot for part in network.embedding if part.source == "position"}
        duals = {part.slot for part in network.dual_parts}
        for part in network.embedding:
            everywhere = part.positions[0] <= 1 and part.positions[1] >= network.positions
            if not (all_tokens(part, network.vocabulary) if part.source == "position" else everywhere):
                raise UnsupportedError(f"slot {part.slot!r} depends on token and position; the method needs one")
        if self.by_token & (by_position | duals) or reads(network, self.head.query, self.head.key) & self.by_token:
            raise UnsupportedError(
                "the attention, or a slot, depends on tokens; the method covers attention by position"
            )
        free = {name for name, _ in network.slots.parts} - self.by_token - by_position - duals
        read = reads(network, self.placing.inner)
        if not numpy.isin(self.columns, columns(network, free)).all() or read & (free | duals):
            raise UnsupportedError("averaged coordinates must be filled by the first feed-forward alone")
        if reads(network, self.head.query, self.head.key) & free:
            raise UnsupportedError("the attention depends on more than positions; the method covers no other")
        written = (self.placing.outer, self.placing.outer_bias, self.restoring.outer, self.restoring.outer_bias)
        if any(matrix.numerators[other].any() for matrix in written):
            raise UnsupportedError("the first two feed-forwards must write averaged coordinates alone")
        seen = numpy.nonzero(network.readout.matrix.numerators[0])[0]
        if not numpy.isin(seen, numpy.setdiff1d(columns(network, free), self.columns)).all():
            raise UnsupportedError("the readout sees coordinates that are filled before the last feed-forward")

    def placed(self) -> tuple[Placed, Raw]:
        """What numbers write, by class, and the class of each position 1 … N."""
        positions = numpy.arange(1, self.network.positions)
        from_places = reads(self.network, self.placing.inner) - self.by_token
        rows = filled(self.network, from_places, numpy.zeros_like(positions), positions, self.arithmetic)
        _, first, classes = numpy.unique(rows, axis=0, return_index=True, return_inverse=True)
        members = tuple((first + 1).tolist())
        placed = Placed(
            self.network, self.arithmetic, self.placing, self.columns, self.by_token, members, self.inputs.modulus
        )  # fmt: skip
        return placed, classes.reshape(-1)

    def weights(self) -> Iterator[tuple[Raw, Raw]]:
        """Attention weights of the positions 1 … N, a few at a time: positions and (queries, all positions)."""
        positions = self.network.positions
        # Tokens and averaged coordinates take no part in scores: they are in other slots.
        start = embedded(self.network, numpy.zeros((1, positions), dtype=numpy.int64), self.arithmetic)
        keys, queries = (
            self.arithmetic.matmul(start, matrix.encoded(self.arithmetic).T)
            for matrix in (self.head.key, self.head.query)
        )
        size = max(1, SCORES_AT_A_TIME // positions)
        for first in tracked(range(1, positions, size), "windows"):
            chosen = numpy.arange(first, min(first + size, positions))
            scores = self.arithmetic.matmul(queries[:, chosen], numpy.swapaxes(keys, -1, -2))
            yield chosen, weights_of(self.head, scores, numpy.ones((1, positions), dtype=bool), self.arithmetic)[0]

    def lost_bits(self, placed: Placed, classes: Raw, reach: int) -> str | None:
        """Why bits may not survive averaging over windows of this reach, or None."""
        if int(placed.used().sum(axis=0).max(initial=0)) > 1:
            raise UnsupportedError("two classes of positions share a coordinate; the method needs them apart")
        if placed.bits(placed.held(numpy.zeros(1, dtype=numpy.int64)), placed.units(0)).any():
            raise UnsupportedError("the dummy has a value; the method covers dummies without one")
        kinds, one = numpy.arange(len(placed.members)), self.arithmetic.largest
        member = (classes[:, None] == kinds[None, :]).astype(numpy.int64)
        least, most, stray = one, 0, 0
        place = numpy.arange(1, self.inputs.length + 1)
        for chosen, weights in self.weights():
            inside = numpy.abs(chosen[:, None] - place[None, :]) <= reach
            present = inside.astype(numpy.int64) @ member
            if int(present.max()) > 1:
                return "two numbers of one window share their coordinates"
            near = numpy.where(inside, weights[:, 1:], 0) @ member
            near = near + (classes[chosen - 1][:, None] == kinds[None, :]) * one
            stray = max(stray, int((numpy.where(inside, 0, weights[:, 1:]) @ member).max(initial=0)))
            least = min(least, int(near[present > 0].min(initial=one)))
            most = max(most, int(near[present > 0].max(initial=0)))
        restored = self.restored(numpy.array([0, least]), numpy.array([stray, most + stray]))
        if not restored:
            shares = f"0 to {stray / one:.3g} and {least / one:.3g} to {(most + stray) / one:.3g}"
            return f"bits 0 and 1 average to {shares}, which does not restore them"
        return None

    def restored(self, low: Raw, high: Raw) -> bool:
        """Whether the second feed-forward makes 0 of the first raw interval and 1 of the second, in each coordinate."""
        layer, size = self.restoring, len(self.columns)
        inner, outer = layer.inner.numerators != 0, layer.outer.numerators[self.columns] != 0
        own = inner[:, self.columns]
        if (inner.sum(axis=1) > 1).any() or (own.sum(axis=1) != inner.sum(axis=1)).any() or (outer & ~own.T).any():
            raise UnsupportedError("the second feed-forward mixes coordinates; the method covers one at a time")
        box = Box(numpy.repeat(low[:, None], size, axis=1), numpy.repeat(high[:, None], size, axis=1))
        after = feed_forward(
            layer,
            in_range(box, self.arithmetic, "the window"),
            self.columns,
            self.arithmetic,
            "the second feed-forward",
        )
        right = numpy.array([[0], [self.arithmetic.largest]])
        return bool((after.low == right).all() and (after.high == right).all())


METHOD = WindowMatching()
