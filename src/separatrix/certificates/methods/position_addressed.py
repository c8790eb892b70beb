"""Position-addressed attention: all inputs at once, for networks whose first layer looks at fixed positions.

The first attention layer is examined on all inputs at once (``_layers``), feed-forwards turn its intervals into points
(``_boxes``), so that after them every position holds a function of its own token and the tokens at its heads' focuses.
The answer is then read off directly (a lookup), or a second, uniform attention layer counts how often that function is
1, and the rest of the network is run on every possible count. The result is compared with what the task means
(``meaning``). Everything is integers: the raw numbers of the fixed point of BHBK24 B.2, rounded as the network's own
evaluation rounds them.
"""

from collections import Counter
from collections.abc import Iterator
from itertools import product

import numpy

from separatrix.arithmetic import FixedPoint
from separatrix.certificates.meaning import Count, Feature, Lookup, essential, meaning_of
from separatrix.certificates.methods._boxes import Box, Raw
from separatrix.certificates.methods._layers import (
    Attended,
    Queries,
    attend_everywhere,
    output_boxes,
    symmetric,
    value_table,
)
from separatrix.certificates.methods._positions import Kind, Stream, covered, kinds_of
from separatrix.certificates.methods._tail import decided, run_feed_forwards
from separatrix.certificates.verdict import Claim, Method, SuspicionError, UnsupportedError
from separatrix.networks import Attention, FeedForward, Head, Network
from separatrix.networks.evaluate import affine, decode, run_layer
from separatrix.tasks import draws_from


class PositionAddressed(Method):
    """One or two attention layers, the first of which attends by position."""

    name = "position-addressed"
    order = 10

    def prove(self, network: Network, claim: Claim) -> str:
        """Examine the network on all inputs at once."""
        if not isinstance(claim.arithmetic, FixedPoint):
            raise UnsupportedError(f"{claim.arithmetic} is not a fixed point; the method computes in its integers")
        if claim.arithmetic.dtype != numpy.int64:
            raise UnsupportedError(f"{claim.arithmetic} needs more than 62 bits; choose a smaller Kc")
        kinds, kind_of = kinds_of(claim.task, claim.length, network)
        _Examination(network, claim, claim.arithmetic, kinds, kind_of).run()
        return covered(kinds)


class _Examination:
    """One run of the method; attributes are what its steps share."""

    def __init__(
        self, network: Network, claim: Claim, arithmetic: FixedPoint, kinds: tuple[Kind, ...], kind_of: Raw
    ) -> None:
        self.network, self.claim, self.kinds, self.kind_of = network, claim, kinds, kind_of
        self.arithmetic = arithmetic
        self.stream = Stream(network, arithmetic)
        self.meaning = meaning_of(claim.task, claim.length)

    def run(self) -> None:
        """Raise unless every input is answered correctly."""
        if self.network.readout.at != "last":
            raise UnsupportedError("the method covers networks that are read at the last position")
        if not all(isinstance(layer, Attention | FeedForward) for layer in self.network.layers):
            raise UnsupportedError("the method covers plain attention and feed-forwards, not other kinds of layers")
        attention = [number for number, layer in enumerate(self.network.layers) if isinstance(layer, Attention)]
        if attention[:1] != [0] or len(attention) > 2:
            raise UnsupportedError(
                "the method covers networks that begin with attention and have one or two such layers"
            )
        if isinstance(self.meaning, Lookup):
            if len(attention) != 1:
                raise UnsupportedError("a lookup is covered with one attention layer")
            self._check_lookup(self.meaning)
        else:
            if len(attention) != 2:
                raise UnsupportedError("a count is covered with two attention layers")
            self._check_count(self.meaning, attention[1])

    # -- the first layer -----------------------------------------------------------------------------------

    def live_after_first(self) -> Raw:
        """Coordinates of the stream that anything after the first attention can use."""
        slots = self.network.slots
        used: set[str] = set()
        for layer in self.network.layers[1:]:
            if isinstance(layer, FeedForward):
                used |= slots.read_by(layer.inner)
            elif isinstance(layer, Attention):
                for head in layer.heads:
                    used |= slots.read_by(head.value) | slots.read_by(head.query) | slots.read_by(head.key)
        used |= slots.read_by(self.network.readout.matrix)
        every = numpy.arange(slots.width, dtype=numpy.int64)
        return numpy.concatenate([every[slots.columns(name)] for name, _ in slots.parts if name in used])

    def first_layer(self, queries: Queries) -> list[Attended]:
        """Every head of the first layer on all inputs."""
        layer = self.network.layers[0]
        assert isinstance(layer, Attention)
        return [
            attend_everywhere(head, self.network, self.stream, self.kinds, queries, f"head {number} of layer 1")
            for number, head in enumerate(layer.heads)
        ]

    def after_first(self, queries: Queries, own: Raw, attended: list[Attended], held: list[Raw], live: Raw) -> Box:
        """The stream's live coordinates after the first attention: own tokens (n,), tokens at the focuses (n,) each."""
        layer = self.network.layers[0]
        assert isinstance(layer, Attention)
        slots = self.network.slots
        base = numpy.zeros((len(own), slots.width), dtype=numpy.int64)
        if layer.residual:
            for name, _ in slots.parts:
                if slots.columns(name).start in live:
                    base[:, slots.columns(name)] = self.stream.rows(name, own, queries.positions)
        low, high = base[:, live], base[:, live].copy()
        for number, (head, seen, tokens) in enumerate(zip(layer.heads, attended, held, strict=True)):
            what = f"head {number} of layer 1"
            box = output_boxes(head, seen, self.values_of(head, seen.focus, tokens, what), live, self.arithmetic, what)
            low, high = low + box.low, high + box.high
        return Box(low, high)

    def values_of(self, head: Head, positions: Raw, tokens: Raw, what: str) -> Raw:
        """Value vectors of given tokens at given positions, as whole numbers."""
        result = numpy.zeros((len(tokens), head.value.shape[0]), dtype=numpy.int64)
        for number, kind in enumerate(self.kinds):
            mine = self.kind_of[positions] == number
            if mine.any():
                table = value_table(head, self.network, self.stream, kind, what)
                order = numpy.argsort(kind.tokens)
                place = order[numpy.searchsorted(kind.tokens[order], tokens[mine])]
                result[mine] = table[place]
        return result

    def feed_forwards(self, box: Box, start: int, stop: int, live: Raw) -> Box:
        """Run the feed-forwards ``start`` … ``stop`` - 1, each different case once."""
        return run_feed_forwards(self.network, box, start, stop, live, self.arithmetic)

    # -- lookups ---------------------------------------------------------------------------------------------

    def _check_lookup(self, meaning: Lookup) -> None:
        last = self.network.positions - 1
        asking = self.kinds[int(self.kind_of[last])]
        layer = self.network.layers[0]
        assert isinstance(layer, Attention)
        group = symmetric(layer.heads[0], self.network, self.kinds) if len(layer.heads) == 1 else None
        # With interchangeable positions one query stands for all.
        tokens = asking.tokens[:1] if group == len(asking.tokens) else asking.tokens
        queries = Queries(numpy.full(len(tokens), last), tokens)
        attended = self.first_layer(queries)
        if len(attended) != 1:
            raise UnsupportedError("a lookup is covered with one head")
        wrong = numpy.nonzero(attended[0].focus != tokens - meaning.first_token)[0]
        if len(wrong):
            token = int(tokens[wrong[0]])
            reason = f"the query for position {token - meaning.first_token + 1} looks elsewhere"
            raise SuspicionError(reason, self._lookup_inputs(token, token - meaning.first_token))
        live = self.live_after_first()
        for number in range(len(tokens)):
            self._check_one_lookup(queries, attended[0], number, live)

    def _check_one_lookup(self, queries: Queries, attended: Attended, number: int, live: Raw) -> None:
        kind = self.kinds[int(self.kind_of[attended.focus[number]])]
        symbols = len(kind.tokens)
        pick = numpy.full(symbols, number)
        one = Queries(queries.positions[pick], queries.tokens[pick])
        rest = Box(attended.rest.low[pick], attended.rest.high[pick])
        seen = Attended(attended.focus[pick], attended.weight[pick], rest)
        box = self.after_first(one, one.tokens, [seen], [kind.tokens], live)
        box = self.feed_forwards(box, 1, len(self.network.layers), live)
        answers = decided(self.network, box, live, self.arithmetic)
        bad = numpy.nonzero(answers != kind.tokens)[0]
        if len(bad):
            token = int(queries.tokens[number])
            symbol = int(kind.tokens[bad[0]])
            reason = (
                f"the symbol {symbol} at position {int(attended.focus[number]) + 1} is not recovered on every input"
            )
            raise SuspicionError(reason, self._lookup_inputs(token, int(attended.focus[number]), symbol))

    def _lookup_inputs(self, token: int, position: int, symbol: int | None = None) -> Iterator[Raw]:
        """Inputs that ask for a position while all other positions hold one symbol."""
        kind = self.kinds[int(self.kind_of[position])]
        for target in kind.tokens.tolist() if symbol is None else [symbol]:
            for other in kind.tokens.tolist():
                tokens = numpy.zeros(self.network.positions, dtype=numpy.int64)
                for each in self.kinds:
                    tokens[each.members] = other if other in each.tokens else each.tokens[0]
                tokens[position], tokens[-1] = target, token
                yield tokens

    # -- counts ----------------------------------------------------------------------------------------------

    def _check_count(self, meaning: Count, second: int) -> None:
        position = numpy.arange(self.network.positions)
        layer = self.network.layers[0]
        assert isinstance(layer, Attention)
        for head in layer.heads:
            if self.stream.source(self.network.slots.read_by(head.query)).by_token:
                raise UnsupportedError(
                    "the first layer's queries depend on tokens; counts are covered when they do not"
                )
        attended = self.first_layer(Queries(position, numpy.full(len(position), -1)))
        live = self.live_after_first()
        found = self._features(attended, second, live)
        symbols = {int(p): len(self.kinds[int(self.kind_of[p])].tokens) for p in position}
        have = Counter(essential(feature, symbols) for feature in found)
        want = Counter(essential(feature, symbols) for feature in meaning.features)
        always = sum(n for (places, values), n in have.items() if not places and values[0])
        needed = sum(n for (places, values), n in want.items() if not places and values[0])
        have = Counter({key: n for key, n in have.items() if key[0]})
        want = Counter({key: n for key, n in want.items() if key[0]})
        if have != want:
            odd = next(iter((have - want) + (want - have)))
            reason = f"the feature at positions {', '.join(str(p + 1) for p in odd[0])} is not the task's"
            raise SuspicionError(reason, self._count_inputs(odd[0]))
        answers = self._answers_by_count(second, sum(have.values()) + always)
        for count in range(sum(want.values()) + 1):
            if int(answers[count + always]) != meaning.answer(count + needed):
                reason = f"inputs on which {count + needed} features hold are answered {int(answers[count + always])}"
                raise SuspicionError(reason, self._count_inputs(()))

    def _features(self, attended: list[Attended], second: int, live: Raw) -> list[Feature]:
        """The function that each position hands to the second layer."""
        layer = self.network.layers[second]
        assert isinstance(layer, Attention)
        if len(layer.heads) != 1 or layer.heads[0].value.shape[0] != 1 or layer.residual:
            raise UnsupportedError("the second layer is covered with one head of one value and no residual")
        head = layer.heads[0]
        if head.query.parameters and head.key.parameters:
            raise UnsupportedError(
                "the second layer is covered when its attention is uniform (a query or key of zeros)"
            )
        position = numpy.arange(self.network.positions)
        sizes = [
            [len(self.kinds[int(self.kind_of[p])].tokens) for p in places]
            for places in (position, *[a.focus for a in attended])
        ]
        most = [max(size) for size in sizes]
        tables: dict[tuple[int, ...], Raw] = {}
        value = head.value.whole()[0]
        for combination in product(*[range(size) for size in most]):
            held = [
                self._token(places, combination[n]) for n, places in enumerate([position, *[a.focus for a in attended]])
            ]
            box = self.after_first(Queries(position, held[0]), held[0], attended, held[1:], live)
            box = self.feed_forwards(box, 1, second, live)
            weights = value[live]
            low, high = box.low @ weights, box.high @ weights
            if bool((low != high).any()) or bool(((low != 0) & (low != self.arithmetic.largest)).any()):
                where = int(numpy.nonzero((low != high) | ((low != 0) & (low != self.arithmetic.largest)))[0][0])
                places = tuple({where, *[int(a.focus[where]) for a in attended]})
                raise SuspicionError(
                    f"position {where + 1} does not hand on an exact 0 or 1", self._count_inputs(places)
                )
            tables[combination] = low // self.arithmetic.largest
        return [self._feature(int(p), attended, tables) for p in position]

    def _token(self, positions: Raw, choice: int) -> Raw:
        """The ``choice``-th token of each position (its last one where it has fewer)."""
        result = numpy.zeros(len(positions), dtype=numpy.int64)
        for number, kind in enumerate(self.kinds):
            mine = self.kind_of[positions] == number
            result[mine] = kind.tokens[min(choice, len(kind.tokens) - 1)]
        return result

    def _feature(self, position: int, attended: list[Attended], tables: dict[tuple[int, ...], Raw]) -> Feature:
        places = [position, *[int(a.focus[position]) for a in attended]]
        distinct = sorted(set(places))
        values: list[int] = []
        for choice in product(*[range(len(self.kinds[int(self.kind_of[p])].tokens)) for p in distinct]):
            at = dict(zip(distinct, choice, strict=True))
            values.append(int(tables[tuple(at[p] for p in places)][position]))
        return tuple(distinct), tuple(values)

    def _answers_by_count(self, second: int, most: int) -> Raw:
        """The rest of the network on every possible count of ones: (most + 1,) answers."""
        layer = self.network.layers[second]
        assert isinstance(layer, Attention)
        head = layer.heads[0]
        weights = self.arithmetic.softmax(self.arithmetic.zeros((1, self.network.positions)))[0]
        if head.scoring != "softmax" or head.mask != "none" or bool((weights != weights[0]).any()):
            raise UnsupportedError("the second layer is covered with unmasked softmax attention")
        averages = numpy.arange(most + 1, dtype=numpy.int64)[:, None] * int(weights[0])
        stream = self.arithmetic.matmul(averages, head.output.encoded(self.arithmetic).T)[:, None, :]
        for later in self.network.layers[second + 1 :]:
            stream = run_layer(later, stream, self.arithmetic)
        readout = self.network.readout
        return decode(self.network, affine(readout.matrix, readout.bias, stream, self.arithmetic), self.arithmetic)[
            :, 0
        ]

    def _count_inputs(self, positions: tuple[int, ...]) -> Iterator[Raw]:
        """Inputs worth trying: constant ones, changed at the given positions, and random ones with few changes."""
        base = [self._token(numpy.arange(self.network.positions), choice) for choice in (0, 1)]
        for tokens in base:
            for places in [positions[:1], positions[1:], positions]:
                changed = tokens.copy()
                changed[list(places)] = base[0][list(places)] + base[1][list(places)] - tokens[list(places)]
                yield changed
        stream = draws_from(numpy.random.default_rng(0))
        while True:
            yield self.claim.task.sample(stream, 1, self.claim.length).inputs[0]


METHOD = PositionAddressed()
