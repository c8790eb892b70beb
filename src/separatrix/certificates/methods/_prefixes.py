"""Transformers that count, look up and collect errors, cut at their attention layers and evaluated prefix by prefix.

The shape: feed-forwards; heads that average over the past uniformly; feed-forwards; perhaps one hard head that looks
strictly into the past, and feed-forwards; a last head that averages one *flag* over all positions, which is all that
the readout sees. What is checked here from the weights alone:

* flags are never negative, on any input: nothing but feed-forward units with weights of at least 0 writes them;
* the answer can only fall when the average of the flags grows.

So once a prefix has a flag that is large enough by itself, the answer is 0 however the string goes on. Only prefixes
without a flag need to be followed. Everything is raw integers of the fixed point, rounded as the network's own
evaluation rounds: a uniform head over whole numbers gives their sum times one weight, without any further rounding.
"""

from dataclasses import dataclass

import numpy

from separatrix.arithmetic import FixedPoint
from separatrix.certificates.methods._numbers import Raw
from separatrix.certificates.methods._uniform import uniform_weight
from separatrix.certificates.verdict import UnsupportedError
from separatrix.networks import Attention, FeedForward, Head, Network, decode, embed


@dataclass(frozen=True)
class Parts:
    """A network of the covered shape."""

    before: tuple[FeedForward, ...]
    counting: tuple[Head, ...]
    middle: tuple[FeedForward, ...]
    lookup: Head | None
    after: tuple[FeedForward, ...]
    collecting: Head


def cut(network: Network) -> Parts:
    """The parts of a network; other shapes are refused."""
    if network.readout.at != "last":
        raise UnsupportedError("the method covers networks that answer at the last position")
    stretches: list[tuple[FeedForward, ...]] = []
    attentions: list[Attention] = []
    run: list[FeedForward] = []
    for layer in network.layers:
        if isinstance(layer, FeedForward):
            run.append(layer)
        elif isinstance(layer, Attention):
            stretches.append(tuple(run))
            attentions.append(layer)
            run = []
        else:
            raise UnsupportedError("the method covers plain attention only")
    if len(attentions) not in (2, 3) or run:
        raise UnsupportedError("the method covers two or three attention layers, the last one at the end")
    if not all(each.residual for each in [*attentions[:-1], *[layer for part in stretches for layer in part]]):
        raise UnsupportedError("the method covers residual layers before the last one")
    counting, last = attentions[0].heads, attentions[-1]
    if not counting or not all(head.mask == "causal" for head in counting):
        raise UnsupportedError("the method covers a first layer that averages over the past")
    if len(last.heads) != 1 or last.residual or last.heads[0].mask == "strict":
        raise UnsupportedError("the method covers a last layer with one head and no residual")
    lookup: Head | None = None
    if len(attentions) == 3:
        heads = attentions[1].heads
        if len(heads) != 1 or heads[0].scoring != "hard" or heads[0].mask != "strict":
            raise UnsupportedError("the method covers a middle layer with one hard head that looks strictly back")
        lookup = heads[0]
    after = stretches[2] if lookup else ()
    parts = Parts(stretches[0], counting, stretches[1], lookup, after, last.heads[0])
    _check_flags(network, parts)
    return parts


def _check_flags(network: Network, parts: Parts) -> None:
    """Flags are never negative and the answer falls with their average."""
    value = parts.collecting.value.numerators
    columns = numpy.nonzero(value[0])[0]
    if value.shape[0] != 1 or len(columns) != 1 or value[0, columns[0]] < 0:
        raise UnsupportedError("the last layer must average one coordinate with a positive weight")
    flag = int(columns[0])
    for part in network.embedding:
        place = network.slots.columns(part.slot)
        if place.start <= flag < place.stop:
            raise UnsupportedError("the embedding writes the flag; only feed-forwards may")
    for layer in (*parts.before, *parts.middle, *parts.after):
        if layer.outer.numerators[flag].min(initial=0) < 0 or layer.outer_bias.numerators[flag, 0] < 0:
            raise UnsupportedError("a feed-forward may lower the flag; its weights into it must be at least 0")
    for head in (*parts.counting, *([parts.lookup] if parts.lookup else [])):
        if head.output.numerators[flag].any():
            raise UnsupportedError("a head writes the flag; only feed-forwards may")
    readout = network.readout
    falling = parts.collecting.output.numerators.min(initial=0) >= 0 and readout.matrix.numerators.max(initial=0) <= 0
    if readout.decoding != "bits" or readout.matrix.shape[0] != 1 or not falling:
        raise UnsupportedError("the answer must be one bit that falls as flags grow")


class Evaluation:
    """The parts of a network in raw integers; streams are (cases, d)."""

    def __init__(self, network: Network, parts: Parts, arithmetic: FixedPoint) -> None:
        self.network, self.parts, self.arithmetic = network, parts, arithmetic
        self._layers = {
            id(layer): (
                layer.inner.encoded(arithmetic).T, layer.inner_bias.encoded(arithmetic)[:, 0],
                layer.outer.encoded(arithmetic).T, layer.outer_bias.encoded(arithmetic)[:, 0],
            )
            for layer in (*parts.before, *parts.middle, *parts.after)
        }  # fmt: skip
        self._values = numpy.concatenate([head.value.encoded(arithmetic) for head in parts.counting]).T
        self._outputs = [head.output.encoded(arithmetic).T for head in parts.counting]
        self._flag = parts.collecting.value.encoded(arithmetic).T
        self._answers: dict[int, int] = {}
        self.collecting_weight = uniform_weight(parts.collecting, network.positions, arithmetic)

    @property
    def sums_width(self) -> int:
        """How many sums the first layer keeps."""
        return self._values.shape[1]

    def feed_forwards(self, layers: tuple[FeedForward, ...], stream: Raw) -> Raw:
        """Run some feed-forwards, each with its residual."""
        arithmetic = self.arithmetic
        for layer in layers:
            inner, inner_bias, outer, outer_bias = self._layers[id(layer)]
            hidden = arithmetic.relu(arithmetic.add(arithmetic.matmul(stream, inner), inner_bias))
            stream = arithmetic.add(stream, arithmetic.add(arithmetic.matmul(hidden, outer), outer_bias))
        return stream

    def counted(self, position: int, sums: Raw, tokens: int) -> tuple[Raw, Raw]:
        """From sums (cases, h) before a position to sums and streams behind the middle feed-forwards.

        Both results have the cases times the tokens, tokens fastest.
        """
        arithmetic, one = self.arithmetic, self.arithmetic.largest
        symbols = numpy.arange(tokens, dtype=numpy.int64)
        where = numpy.full(tokens, position)
        stream = embed(self.network.embedding, self.network.slots, symbols, where, arithmetic)
        stream = self.feed_forwards(self.parts.before, stream)
        values = arithmetic.matmul(stream, self._values)
        if (values % one).any():
            raise UnsupportedError("the first layer averages values that are not whole numbers")
        total = (sums[:, None, :] + values[None, :, :] // one).reshape(-1, self.sums_width)
        stream = numpy.tile(stream, (len(sums), 1))
        first = 0
        for head, output in zip(self.parts.counting, self._outputs, strict=True):
            own = total[:, first : first + head.value.shape[0]]
            weight = uniform_weight(head, position + 1, arithmetic)
            # A sum of up to N numbers times a weight of at most 1: the average itself, far inside the range.
            if int(numpy.abs(own).max(initial=0)) * weight > one * one:
                raise UnsupportedError("an average leaves the range; a larger Kc keeps it inside")
            stream = arithmetic.add(stream, arithmetic.matmul(own * weight, output))
            first += head.value.shape[0]
        return total, self.feed_forwards(self.parts.middle, stream)

    def flags(self, stream: Raw) -> Raw:
        """What the last layer collects from streams: (cases,)."""
        return self.arithmetic.matmul(stream, self._flag)[:, 0]

    def answer(self, flag: int) -> int:
        """The network's answer if the flags of all positions add up to this."""
        if flag not in self._answers:
            arithmetic, readout = self.arithmetic, self.network.readout
            weight = numpy.array([[self.collecting_weight]], dtype=numpy.int64)
            average = arithmetic.matmul(weight, numpy.array([[flag]], dtype=numpy.int64))
            stream = arithmetic.matmul(average, self.parts.collecting.output.encoded(arithmetic).T)
            raw = arithmetic.add(
                arithmetic.matmul(stream, readout.matrix.encoded(arithmetic).T),
                readout.bias.encoded(arithmetic)[:, 0],
            )
            self._answers[flag] = int(decode(self.network, raw, arithmetic)[0])
        return self._answers[flag]
