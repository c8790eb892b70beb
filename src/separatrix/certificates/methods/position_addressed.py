"""Position-addressed attention: all inputs at once, for networks whose first layer looks at fixed positions.

The first attention layer is examined on all inputs at once (``_focused``), feed-forwards turn its intervals into points
(``_boxes``), so that after them every position holds a function of its own token and the tokens at its heads' focuses.
The answer is then read off directly (a lookup), or a second, uniform attention layer counts how often that function is
1 (``_counting``), and the rest of the network is run on every possible count.

Counts are compared as polynomials: a function of tokens is a sum of products of indicators [x_p = a], a not the first
token of p, in exactly one way. So the number of ones that the network counts is the number of the task's features that
hold, up to a constant, on every input, exactly when the coefficients agree. Everything is integers: the raw numbers of
the fixed point of BHBK24 B.2, rounded as the network's own evaluation rounds them.
"""

from collections import Counter
from itertools import product

import numpy

from separatrix.arithmetic import FixedPoint
from separatrix.certificates.meanings.counts import Count, Lookup, meaning_of
from separatrix.certificates.methods._boxes import Box, Raw, decided, feed_forwards, fixed_point, in_range
from separatrix.certificates.methods._counting import answers_by_count, counting_head, handed_on
from separatrix.certificates.methods._focused import Attended, Focused, Kinds, interchangeable, kinds_of
from separatrix.certificates.methods._streams import by_token, columns, filled, live_columns, reads
from separatrix.certificates.verdict import Claim, Method, SuspicionError, UnsupportedError
from separatrix.networks import Attention, FeedForward, Network

Polynomial = dict[tuple[tuple[int, int], ...], int]
"""Coefficients of products of indicators, each given by a position and the number of a token there."""


class PositionAddressed(Method):
    """One or two attention layers, the first of which attends by position."""

    name = "position-addressed"
    order = 10

    def prove(self, network: Network, claim: Claim) -> str:
        """Examine the network on all inputs at once."""
        arithmetic, kinds = fixed_point(claim, once=True), kinds_of(claim, network)
        meaning = meaning_of(claim.task, claim.length)
        if network.readout.at != "last":
            raise UnsupportedError("the method covers networks that are read at the last position")
        attention = [place for place, layer in enumerate(network.layers) if not isinstance(layer, FeedForward)]
        if attention[:1] != [0] or len(attention) != (1 if isinstance(meaning, Lookup) else 2):
            raise UnsupportedError("the method covers one attention layer for lookups and two for counts, one at first")
        examination = _Examination(network, arithmetic, kinds)
        if isinstance(meaning, Lookup):
            examination.check_lookup(meaning)
        else:
            examination.check_count(meaning, attention[1])
        return kinds.covered()


class _Examination:
    """One run of the method; attributes are what its steps share."""

    def __init__(self, network: Network, arithmetic: FixedPoint, kinds: Kinds) -> None:
        self.network, self.arithmetic, self.kinds = network, arithmetic, kinds
        layer, self.live = network.layers[0], live_columns(network)
        if not isinstance(layer, Attention):
            raise UnsupportedError("the method covers plain attention and feed-forwards, not other kinds of layers")
        self.residual = layer.residual
        self.heads = [
            Focused(head, network, kinds, arithmetic, f"head {number} of layer 1")
            for number, head in enumerate(layer.heads)
        ]

    def after(self, stop: int, positions: Raw, own: Raw, attended: list[Attended], held: list[Raw]) -> Box:
        """The live coordinates before layer ``stop``: own tokens, and tokens at the focuses of each head, (n,) each."""
        base = numpy.zeros((len(own), len(self.live)), dtype=numpy.int64)
        if self.residual:
            slots = {name for name, _ in self.network.slots.parts if self.network.slots.columns(name).start in self.live}
            base[:, numpy.isin(self.live, columns(self.network, slots))] = filled(
                self.network, slots, own, positions, self.arithmetic
            )
        box = Box(base, base)
        for head, seen, tokens in zip(self.heads, attended, held, strict=True):
            more = head.written(seen, tokens, self.live)
            # Heads are added one after the other, and no sum may be cut off.
            box = in_range(box.plus(more.low, more.high), self.arithmetic, "the stream after layer 1")
        return feed_forwards(self.network, box, 1, stop, self.live, self.arithmetic)

    def check_lookup(self, meaning: Lookup) -> None:
        """The last position finds what its token asks for, whatever stands there and elsewhere."""
        last, asked = self.network.positions - 1, self.kinds.tokens[int(self.kinds.of[-1])]
        if len(self.heads) != 1:
            raise UnsupportedError("a lookup is covered with one head")
        # With interchangeable positions one query stands for all.
        if interchangeable(self.heads[0].head, self.network, self.kinds) == len(asked):
            asked = asked[:1]
        positions = numpy.full(len(asked), last)
        seen = self.heads[0].attend(positions, asked)
        for wrong in numpy.nonzero(seen.focus != asked - meaning.first_token)[0].tolist():
            place = int(asked[wrong]) - meaning.first_token
            raise SuspicionError(f"the query for position {place + 1} looks elsewhere", token=int(asked[wrong]), place=place)
        for choice in range(max(len(self.kinds.tokens[kind]) for kind in self.kinds.of[seen.focus])):
            held = self.kinds.token(seen.focus, choice)
            box = self.after(len(self.network.layers), positions, asked, [seen], [held])
            answers = decided(self.network, box, self.live, self.arithmetic)
            for wrong in numpy.nonzero(answers != held)[0].tolist():
                place, symbol = int(seen.focus[wrong]), int(held[wrong])
                reason = f"the symbol {symbol} at position {place + 1} is not recovered on every input"
                raise SuspicionError(reason, token=int(asked[wrong]), place=place, symbol=symbol)

    def check_count(self, meaning: Count, second: int) -> None:
        """The network counts what the task counts, and answers every count as the task does."""
        kinds, positions = self.kinds, numpy.arange(self.network.positions)
        if any(by_token(self.network, reads(self.network, head.head.query)) for head in self.heads):
            raise UnsupportedError("the first layer's queries depend on tokens; counts are covered when they do not")
        attended = [head.attend(positions, numpy.zeros_like(positions)) for head in self.heads]
        places = numpy.stack([positions, *[seen.focus for seen in attended]], axis=1)
        sizes = numpy.array([len(tokens) for tokens in kinds.tokens])[kinds.of]
        most = sizes[places].max(axis=0)
        head, bits = counting_head(self.network, second), numpy.zeros((len(positions), *most), dtype=numpy.int64)
        for choices in product(*[range(size) for size in most]):
            own, *held = (kinds.token(places[:, number], choice) for number, choice in enumerate(choices))
            box = self.after(second, positions, own, attended, held)
            bits[(slice(None), *choices)] = handed_on(head, self.live, box, self.arithmetic)
        for wrong in numpy.argwhere(bits < 0).tolist():
            reason = f"position {wrong[0] + 1} does not hand on an exact 0 or 1"
            raise SuspicionError(reason, places=tuple(set(places[wrong[0]].tolist())))
        have, want = polynomial(places, bits, sizes), Counter[tuple[tuple[int, int], ...]]()
        free = constant = 0
        for where, values in meaning.features:
            table = numpy.array(values).reshape(1, *sizes[list(where)])
            want.update(polynomial(numpy.array([where]), table, sizes))
            free, constant = free + (len(set(values)) > 1), constant + values[0] * (len(set(values)) == 1)
        for odd in sorted(key for key in {*have, *want} if key and have.get(key, 0) != want[key]):
            where = tuple(place for place, _ in odd)
            reason = f"the feature at positions {', '.join(str(place + 1) for place in where)} is not the task's"
            raise SuspicionError(reason, places=where)
        more = have.get((), 0) - want[()]
        answers = answers_by_count(self.network, second, max(0, constant + free + more), self.arithmetic)
        for count in range(constant, constant + free + 1):
            if int(answers[max(0, count + more)]) != meaning.answer(count):
                reason = f"inputs on which {count} features hold are answered {int(answers[max(0, count + more)])}"
                raise SuspicionError(reason, places=())


def polynomial(places: Raw, tables: Raw, sizes: Raw) -> Polynomial:
    """The sum over n of functions of the tokens at ``places`` (n, k), given by their ``tables`` (n, tokens, tokens …)."""
    total: Polynomial = {}
    coefficients = tables.copy()
    for axis in range(1, tables.ndim):
        rest = numpy.moveaxis(coefficients, axis, 0)
        rest[1:] -= rest[0].copy()
    for number, *tokens in numpy.argwhere(coefficients).tolist():
        pairs = [(int(place), token) for place, token in zip(places[number], tokens, strict=True) if token]
        # Nothing is two tokens at once, and tables go on beyond the tokens of positions that have fewer.
        if len(dict(pairs)) == len(set(pairs)) and all(token < sizes[place] for place, token in pairs):
            key = tuple(sorted(set(pairs)))
            total[key] = total.get(key, 0) + int(coefficients[(number, *tokens)])
    return total


METHOD = PositionAddressed()
