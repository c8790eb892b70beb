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

from itertools import product

import numpy

from separatrix.arithmetic import FixedPoint, distinct
from separatrix.certificates.meanings.counts import Count, Lookup, meaning_of
from separatrix.certificates.methods._boxes import Box, decided, feed_forwards, in_range
from separatrix.certificates.methods._counting import answers_by_count, counting_head, handed_on
from separatrix.certificates.methods._focused import Attended, Focused, Kinds, kinds_of
from separatrix.certificates.methods._numbers import Raw, fixed_point
from separatrix.certificates.methods._streams import by_token, columns, filled, live_slots, reads
from separatrix.certificates.verdict import Claim, Method, SuspicionError, UnsupportedError
from separatrix.networks import Attention, FeedForward, Network
from separatrix.progress import tracked

Polynomial = tuple[Raw, Raw]
"""Products (n, k) of indicators, each a position times the most tokens plus the number of a token there, ascending,
filled up in front with ``NOTHING``; and their coefficients (n,)."""
NOTHING = -1


class PositionAddressed(Method):
    """One or two attention layers, the first of which attends by position."""

    name = "position-addressed"
    order = 10

    def prove(self, network: Network, claim: Claim) -> str:
        """Examine the network on all inputs at once."""
        return examine(network, claim, fixed_point(claim, once=True), Focused)


def examine(network: Network, claim: Claim, arithmetic: FixedPoint, focused: type[Focused]) -> str:
    """The number of inputs, if all are answered correctly; heads of the first layer are examined by ``focused``."""
    meaning, kinds = meaning_of(claim.task, claim.length), kinds_of(claim, network)
    if network.readout.at != "last":
        raise UnsupportedError("the method covers networks that are read at the last position")
    attention = [place for place, layer in enumerate(network.layers) if not isinstance(layer, FeedForward)]
    if attention[:1] != [0] or len(attention) != (1 if isinstance(meaning, Lookup) else 2):
        raise UnsupportedError("the method covers one attention layer for lookups and two for counts, one at first")
    examination = _Examination(network, arithmetic, kinds, focused)
    if isinstance(meaning, Lookup):
        examination.check_lookup(meaning)
    else:
        examination.check_count(meaning, attention[1])
    return kinds.covered()


class _Examination:
    """One run of the method; attributes are what its steps share."""

    def __init__(self, network: Network, arithmetic: FixedPoint, kinds: Kinds, focused: type[Focused]) -> None:
        self.network, self.arithmetic, self.kinds = network, arithmetic, kinds
        layer, self.slots = network.layers[0], live_slots(network)
        if not isinstance(layer, Attention):
            raise UnsupportedError("the method covers plain attention and feed-forwards, not other kinds of layers")
        self.live, self.residual = columns(network, self.slots), layer.residual
        self.heads = [
            focused(head, network, kinds, arithmetic, f"head {number} of layer 1")
            for number, head in enumerate(layer.heads)
        ]

    def after(self, stop: int, positions: Raw, own: Raw, attended: list[Attended], held: list[Raw]) -> Box:
        """The live coordinates before layer ``stop``: own tokens, and tokens at the focuses of each head, (n,) each."""
        base = filled(self.network, self.slots, own, positions, self.arithmetic) * int(self.residual)
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
        positions = numpy.full(len(asked), last)
        seen = self.heads[0].attend(positions, asked)
        for wrong in numpy.nonzero(seen.focus != asked - meaning.first_token)[0].tolist():
            place = int(asked[wrong]) - meaning.first_token
            reason = f"the query for position {place + 1} looks elsewhere"
            raise SuspicionError(reason, token=int(asked[wrong]), place=place)
        # Queries with the same weights, at places of one kind, are answered alike unless their own tokens stay.
        case = numpy.column_stack([self.kinds.of[seen.focus], seen.weight, seen.rest.low, seen.rest.high])
        one = numpy.arange(len(asked)) if self.residual else numpy.unique(distinct(case)[1], return_index=True)[1]
        most = max(len(self.kinds.tokens[int(kind)]) for kind in numpy.unique(self.kinds.of[seen.focus]))
        held = numpy.concatenate([self.kinds.token(seen.focus[one], choice) for choice in range(most)])
        every = numpy.tile(one, most)
        seen = Attended(seen.focus[every], seen.weight[every], Box(seen.rest.low[every], seen.rest.high[every]))
        box = self.after(len(self.network.layers), positions[every], asked[every], [seen], [held])
        answers = decided(self.network, box, self.live, self.arithmetic)
        for wrong in numpy.nonzero(answers != held)[0].tolist():
            place, symbol = int(seen.focus[wrong]), int(held[wrong])
            reason = f"token {symbol} at position {place + 1} is not recovered on every input"
            raise SuspicionError(reason, token=int(asked[every[wrong]]), place=place, symbol=symbol)

    def check_count(self, meaning: Count, second: int) -> None:
        """The network counts what the task counts, and answers every count as the task does."""
        kinds, positions = self.kinds, numpy.arange(self.network.positions)
        if any(by_token(self.network, reads(self.network, head.head.query), kinds.symbols) for head in self.heads):
            raise UnsupportedError("the first layer's queries depend on tokens; counts are covered when they do not")
        attended = [head.attend(positions, numpy.zeros_like(positions)) for head in self.heads]
        places = numpy.stack([positions, *[seen.focus for seen in attended]], axis=1)
        sizes = numpy.array([len(tokens) for tokens in kinds.tokens])[kinds.of]
        most = sizes[places].max(axis=0)
        head, bits = counting_head(self.network, second), numpy.zeros((len(positions), *most), dtype=numpy.int64)
        for choices in tracked(list(product(*[range(size) for size in most])), "choices of tokens"):
            own, *held = (kinds.token(places[:, number], choice) for number, choice in enumerate(choices))
            box = self.after(second, positions, own, attended, held)
            bits[(slice(None), *choices)] = handed_on(head, self.live, box, self.arithmetic)
        for wrong in numpy.argwhere(bits < 0).tolist():
            reason = f"position {wrong[0] + 1} does not pass on an exact 0 or 1"
            raise SuspicionError(reason, places=tuple(set(places[wrong[0]].tolist())))
        flat = meaning.tables.reshape(len(meaning.tables), -1)
        varies = (flat != flat[:, :1]).any(axis=1)
        free, constant = int(varies.sum()), int(flat[~varies, 0].sum())
        task = polynomial(meaning.places, -meaning.tables, sizes)
        odd, more = total([polynomial(places, bits, sizes), task], sizes)
        if odd:
            reason = f"the feature at positions {', '.join(str(place + 1) for place in odd)} is not the task's"
            raise SuspicionError(reason, places=odd)
        answers = answers_by_count(self.network, second, max(0, constant + free + more), self.arithmetic)
        for count in range(constant, constant + free + 1):
            if int(answers[max(0, count + more)]) != meaning.answer(count):
                reason = f"inputs on which {count} features hold are answered {int(answers[max(0, count + more)])}"
                raise SuspicionError(reason, places=())


def polynomial(places: Raw, tables: Raw, sizes: Raw) -> Polynomial:
    """The sum of n functions of the tokens at ``places`` (n, k), given by their ``tables`` (n, tokens, tokens …)."""
    coefficients = tables.copy()
    for axis in range(1, tables.ndim):
        rest = numpy.moveaxis(coefficients, axis, 0)
        rest[1:] -= rest[0].copy()
    number, *tokens = numpy.nonzero(coefficients)
    where, token, base = places[number], numpy.stack([number, *tokens], axis=1)[:, 1:], int(sizes.max())
    codes = numpy.sort(numpy.where(token > 0, where * base + token, NOTHING), axis=1)
    same = (codes[:, 1:] // base == codes[:, :-1] // base) & (codes[:, 1:] != NOTHING)
    # Nothing is two tokens at once, and tables go on beyond the tokens of positions that have fewer.
    twice = (same & (codes[:, 1:] != codes[:, :-1])).any(axis=1)
    possible = (token < sizes[where]).all(axis=1) & ~twice
    codes[:, 1:][same] = NOTHING
    return numpy.sort(codes, axis=1)[possible], coefficients[(number, *tokens)][possible]


def total(parts: list[Polynomial], sizes: Raw) -> tuple[tuple[int, ...], int]:
    """The positions of a product that a sum of polynomials does not cancel, if there is one, and its constant."""
    width = 1 + max(codes.shape[1] for codes, _ in parts)
    padded = [numpy.pad(codes, ((0, 0), (width - codes.shape[1], 0)), constant_values=NOTHING) for codes, _ in parts]
    products, which = distinct(numpy.concatenate(padded))
    sums = numpy.zeros(len(products), dtype=numpy.int64)
    numpy.add.at(sums, which, numpy.concatenate([coefficients for _, coefficients in parts]))
    constants = (products == NOTHING).all(axis=1)
    for odd in products[~constants & (sums != 0)][:1]:
        return tuple((odd[odd != NOTHING] // int(sizes.max())).tolist()), 0
    return (), int(sums[constants].sum())


METHOD = PositionAddressed()
