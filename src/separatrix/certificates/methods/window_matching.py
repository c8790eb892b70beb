"""Local triple matching: attention to windows, bits restored, and a search among them, on all inputs.

1. The first feed-forward is run on every number at every *class* of positions (positions that it cannot tell apart). It
   gives a number at position j a vector of zeros and ones whose ones lie in coordinates of j's class; classes share no
   coordinate, and a window of the task has no class twice.
2. Queries and keys depend on positions alone, so the attention weights are the same on every input, and are computed
   bit for bit. A coordinate's average is the weight of the one window member of its class times that member's bit, plus
   at most the weights of that class outside the window; a position's own bit is added once more by the residual.
3. The second feed-forward treats every coordinate by itself, as a piecewise linear function of one number. It is
   constant, 0 or 1, on both intervals of step 2. So every coordinate again holds the bit exactly.
4. Each unit of the last feed-forward is ReLU(t + bias) with a linear form t of exact bits. Its forms are evaluated on
   every number: t = z_i + r_c + r_c' + constants that say which classes are present (``_searches``). For all whole
   numbers t that can occur, the units of a form add up to 0, or to at least 1 exactly when z_i + r_c + r_c' ≡ 0 and
   both are present. The forms are all pairs of classes; so the sum exceeds 1/2 exactly when the window has a triple.
"""

from collections.abc import Iterator

import numpy

from separatrix.arithmetic import FixedPoint
from separatrix.certificates.methods._boxes import Raw, whole
from separatrix.certificates.methods._matching_tasks import MatchingInputs, matching_inputs
from separatrix.certificates.methods._searches import Numbers, check_search, restored
from separatrix.certificates.verdict import Claim, Method, SuspicionError, UnsupportedError
from separatrix.networks import Attention, FeedForward, Network
from separatrix.networks.evaluate import embedded, weights_of
from separatrix.tasks import draws_from

SCORES_AT_A_TIME = 1 << 22


class WindowMatching(Method):
    """A feed-forward, one attention head by position, and two feed-forwards."""

    name = "window-matching"
    order = 36
    extensions = True

    def prove(self, network: Network, claim: Claim) -> str:
        """Follow the bits of every number through the four layers."""
        inputs, arithmetic = matching_inputs(network, claim, ("match3-local",))
        if arithmetic.softmax_rule != "appendix-d":
            raise UnsupportedError(f"{arithmetic} rounds softmax once; the method covers the rounding of Appendix D")
        _Examination(network, claim, inputs, arithmetic).run()
        return f"{inputs.modulus}^{inputs.length}"


class _Examination:
    """One run of the method; attributes are what its steps share."""

    def __init__(self, network: Network, claim: Claim, inputs: MatchingInputs, arithmetic: FixedPoint) -> None:
        self.network, self.claim, self.inputs, self.arithmetic = network, claim, inputs, arithmetic
        kinds = [type(layer) for layer in network.layers]
        if kinds != [FeedForward, Attention, FeedForward, FeedForward] or network.features:
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
        self.columns = self.value_columns()
        self.check_slots()

    def run(self) -> None:
        """Raise unless every input is answered correctly."""
        numbers, classes = self.numbers()
        for reason in (
            self.check_averages(numbers, classes),
            check_search(self.searching, self.network, numbers, self.inputs, self.arithmetic),
        ):
            if reason is not None:
                raise SuspicionError(reason, self.suspects())

    # -- structure -----------------------------------------------------------------------------------------------

    def value_columns(self) -> Raw:
        """The coordinates of the stream that attention averages, each into its own place."""
        value, output = whole(self.head.value, "the value matrix"), whole(self.head.output, "the output matrix")
        columns = numpy.nonzero(value.any(axis=0))[0]
        size = len(columns)
        written = numpy.zeros_like(output)
        if value.shape[0] == size:
            written[columns, numpy.arange(size)] = 1
        if value.shape[0] != size or (value[:, columns] != numpy.eye(size)).any() or (output != written).any():
            raise UnsupportedError("the method covers attention that averages coordinates in their own places")
        return columns

    def check_slots(self) -> None:
        """Each slot is filled by the token, by the position, or by the first feed-forward alone."""
        network, slots = self.network, self.network.slots
        everywhere = (0, network.vocabulary)
        self.by_token = {part.slot for part in network.embedding if part.source == "token"}
        self.by_position = {part.slot for part in network.embedding if part.source == "position"}
        self.by_position |= {part.slot for part in network.dual_parts}
        for part in network.embedding:
            if part.source == "position" and (part.tokens[0] > 0 or part.tokens[1] < everywhere[1]):
                raise UnsupportedError(f"slot {part.slot!r} depends on token and position; the method needs one")
            if part.source == "token" and (part.positions[0] > 1 or part.positions[1] < network.positions):
                raise UnsupportedError(f"slot {part.slot!r} is not filled at every number; the method needs that")
        if self.by_token & self.by_position:
            raise UnsupportedError("a slot is filled by token and position; the method needs one")
        if (slots.read_by(self.head.query) | slots.read_by(self.head.key)) - self.by_position:
            raise UnsupportedError(
                "the attention depends on more than positions; the method covers attention by position"
            )
        other = numpy.setdiff1d(numpy.arange(slots.width), self.columns)
        reads = slots.read_by(self.placing.inner)
        free = {name for name, _ in slots.parts} - self.by_token - self.by_position
        mine = numpy.concatenate(
            [other[:0], *[numpy.arange(slots.width)[slots.columns(name)] for name in sorted(free)]]
        )
        if not numpy.isin(self.columns, mine).all() or reads & free:
            raise UnsupportedError("averaged coordinates must be filled by the first feed-forward alone")
        written = (self.placing.outer, self.placing.outer_bias, self.restoring.outer, self.restoring.outer_bias)
        if any(matrix.numerators[other].any() for matrix in written):
            raise UnsupportedError("the first two feed-forwards must write averaged coordinates alone")
        seen = numpy.nonzero(self.network.readout.matrix.numerators[0])[0]
        if not numpy.isin(seen, numpy.setdiff1d(mine, self.columns)).all():
            raise UnsupportedError("the readout sees coordinates that are filled before the last feed-forward")
        if any(part.slot in reads for part in network.dual_parts):
            raise UnsupportedError("the first feed-forward reads a dual certificate; the method does not cover that")

    # -- the first feed-forward ------------------------------------------------------------------------------------

    def numbers(self) -> tuple[Numbers, Raw]:
        """What numbers write, by class, and the class of each position 1 … N."""
        slots, positions = self.network.slots, self.network.positions
        columns = numpy.arange(slots.width)
        reads = sorted(slots.read_by(self.placing.inner) & self.by_position)
        start = embedded(self.network, numpy.zeros((1, positions), dtype=numpy.int64), self.arithmetic)[0]
        placed = numpy.concatenate([columns[:0], *[columns[slots.columns(name)] for name in reads]])
        kinds, classes = numpy.unique(start[1:, placed], axis=0, return_inverse=True)
        held = numpy.concatenate(
            [columns[:0], *[columns[slots.columns(name)] for name, _ in slots.parts if name in self.by_token]]
        )
        layer, columns = self.placing, self.columns
        found = Numbers(self.network, self.arithmetic, layer, columns, held, placed, kinds, start[0, placed])
        return found, classes.reshape(-1)

    # -- attention -----------------------------------------------------------------------------------------------

    def weights(self) -> Iterator[tuple[Raw, Raw]]:
        """Attention weights of the positions 1 … N, a few at a time: positions and (queries, all positions)."""
        positions = self.network.positions
        start = embedded(self.network, numpy.zeros((1, positions), dtype=numpy.int64), self.arithmetic)
        # Tokens and averaged coordinates take no part in scores: they were checked to be in other slots.
        keys = self.arithmetic.matmul(start, self.head.key.encoded(self.arithmetic).T)
        queries = self.arithmetic.matmul(start, self.head.query.encoded(self.arithmetic).T)
        size = max(1, SCORES_AT_A_TIME // positions)
        allowed = numpy.ones((1, positions), dtype=bool)
        for first in range(1, positions, size):
            chosen = numpy.arange(first, min(first + size, positions))
            scores = self.arithmetic.matmul(queries[:, chosen], numpy.swapaxes(keys, -1, -2))
            yield chosen, weights_of(self.head, scores, allowed, self.arithmetic)[0]

    def check_averages(self, numbers: Numbers, classes: Raw) -> str | None:
        """Whether bits survive averaging over the task's windows; a reason if they seem not to."""
        reach, length = self.claim.task.parameters()["window"], self.inputs.length
        active = numbers.active()
        if int(active.sum(axis=0).max(initial=0)) > 1:
            raise UnsupportedError("two classes of positions share a coordinate; the method needs them apart")
        if numbers.dummy().any():
            raise UnsupportedError("the dummy has a value; the method covers dummies without one")
        kinds = len(active)
        member = (classes[:, None] == numpy.arange(kinds)[None, :]).astype(numpy.int64)
        one = self.arithmetic.largest
        least, most, stray = one, 0, 0
        place = numpy.arange(1, length + 1)
        for chosen, weights in self.weights():
            inside = numpy.abs(chosen[:, None] - place[None, :]) <= reach
            if int((inside.astype(numpy.int64) @ member).max()) > 1:
                return "two numbers of one window share their coordinates"
            numbers_only = weights[:, 1:]
            near = numpy.where(inside, numbers_only, 0) @ member
            present = inside.astype(numpy.int64) @ member > 0
            own = (classes[chosen - 1][:, None] == numpy.arange(kinds)[None, :]) & present
            stray = max(stray, int((numpy.where(inside, 0, numbers_only) @ member).max(initial=0)))
            near = near + own * one
            least = min(least, int(near[present].min(initial=one)))
            most = max(most, int(near[present].max(initial=0)))
        return restored(self.restoring, self.columns, ((0, stray), (least, most + stray)), self.arithmetic)

    def suspects(self) -> Iterator[Raw]:
        """Inputs worth trying: ones, and a number that completes two of them at one place or another."""
        length, modulus = self.inputs.length, self.inputs.modulus
        for other in (1, modulus, max(1, modulus // 2)):
            for place in {1, length, (length + 1) // 2, min(2, length)}:
                tokens = numpy.full(length + 1, other, dtype=numpy.int64)
                tokens[0], tokens[place] = 0, self.inputs.number(-2 * other)
                yield tokens
        draws = draws_from(numpy.random.default_rng(0))
        while True:
            yield self.claim.task.sample(draws, 1, length).inputs[0]


METHOD = WindowMatching()
