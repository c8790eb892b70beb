"""What numbers write into a stream of bits, and a feed-forward that looks for triples among them.

Weights are whole numbers and bits are 0 or 1, so everything here is an exact whole number; results that could leave the
fixed point's range are refused. See ``window_matching`` for the argument.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations_with_replacement

import numpy

from separatrix.arithmetic import FixedPoint
from separatrix.certificates.methods._boxes import Raw, whole
from separatrix.certificates.methods._matching_tasks import MatchingInputs
from separatrix.certificates.verdict import UnsupportedError
from separatrix.networks import FeedForward, Network

AT_A_TIME = 1 << 15
MOST_POINTS = 1 << 27


@dataclass(frozen=True)
class Numbers:
    """The first feed-forward on every number at every class of positions.

    ``columns`` are the coordinates that it writes, ``held`` those that a token fills (ascending), ``placed`` those of
    the position that it reads, ``kinds`` (classes, placed) what they hold at each class, raw, ``origin`` (placed,) what
    they hold at position 0.
    """

    network: Network
    arithmetic: FixedPoint
    placing: FeedForward
    columns: Raw
    held: Raw
    placed: Raw
    kinds: Raw
    origin: Raw

    @property
    def count(self) -> int:
        """How many numbers there are: M, the tokens 1 … M."""
        return self.network.vocabulary - 1

    @cached_property
    def tokens(self) -> Raw:
        """What every token holds itself, the dummy first: (M + 1, held), whole numbers."""
        every, slots = numpy.arange(self.count + 1, dtype=numpy.int64), self.network.slots
        total = numpy.zeros((len(every), len(self.held)), dtype=numpy.int64)
        for part in self.network.embedding:
            if part.source == "token":
                numbers, inside = part.row_numbers(every, numpy.ones_like(every))
                place = int(numpy.nonzero(self.held == slots.columns(part.slot).start)[0][0])
                rows = part.rule.rows(numbers, self.arithmetic) * inside[:, None]
                total[:, place : place + part.rule.width] += rows
        if int(numpy.abs(total).max(initial=0)) > self.arithmetic.largest**2:
            raise UnsupportedError("the embedding leaves the range; a larger Kc keeps it inside")
        return self.whole_numbers(total)

    def whole_numbers(self, rows: Raw) -> Raw:
        """Raw numbers as whole ones, or a refusal."""
        if (rows % self.arithmetic.largest).any():
            raise UnsupportedError("the embedding has numbers that are not whole; the method needs whole ones")
        return rows // self.arithmetic.largest

    @cached_property
    def largest(self) -> int:
        """The largest number that a token or a class holds, and at least 1."""
        held = int(numpy.abs(self.tokens).max(initial=0))
        placed = self.whole_numbers(numpy.concatenate([self.kinds, self.origin[None, :]]))
        return max(1, held, int(numpy.abs(placed).max(initial=0)))

    @cached_property
    def layer(self) -> tuple[Raw, Raw, Raw, Raw]:
        """The feed-forward in whole numbers: inner, its bias, and the rows of the outer matrix and bias it writes."""
        what = "the first feed-forward"
        inner, outer = whole(self.placing.inner, what), whole(self.placing.outer, what)
        bias, shift = whole(self.placing.inner_bias, what)[:, 0], whole(self.placing.outer_bias, what)[:, 0]
        require_range(inner, bias, self.largest, outer, self.arithmetic, what)
        return inner, bias, outer[self.columns], shift[self.columns]

    def values(self, kind: int, own: Raw) -> Raw:
        """What the feed-forward writes for tokens that hold ``own``, at a class: (tokens, columns), zeros and ones."""
        return self.written(self.kinds[kind], own)

    def written(self, placed: Raw, own: Raw) -> Raw:
        """The same for what a position holds."""
        inner, bias, outer, shift = self.layer
        constant = inner[:, self.placed] @ self.whole_numbers(placed) + bias
        reading = inner[:, self.held]
        most = numpy.maximum(reading, 0) @ own.max(axis=0) + numpy.minimum(reading, 0) @ own.min(axis=0) + constant
        # Units that no token makes positive add nothing.
        units = numpy.nonzero(most > 0)[0]
        hidden = numpy.maximum(own @ reading[units].T + constant[units], 0)
        used = numpy.nonzero(outer[:, units].any(axis=1))[0]
        written = numpy.broadcast_to(shift, (len(own), len(shift))).copy()
        written[:, used] += hidden @ outer[used][:, units].T
        if not bool(((written == 0) | (written == 1)).all()):
            raise UnsupportedError("the values of the attention are not all 0 or 1; the method needs that")
        return written

    def chunks(self) -> Iterator[tuple[int, Raw]]:
        """All numbers, some at a time: the first token and what they hold."""
        for first in range(1, self.count + 1, AT_A_TIME):
            yield first, self.tokens[first : first + AT_A_TIME]

    def active(self) -> Raw:
        """Which coordinates some number uses, by class: (classes, columns), zeros and ones."""
        used = numpy.zeros((len(self.kinds), len(self.columns)), dtype=numpy.int64)
        for _, own in self.chunks():
            for kind in range(len(self.kinds)):
                used[kind] |= self.values(kind, own).max(axis=0)
        return used

    def dummy(self) -> Raw:
        """The dummy's own values, at position 0."""
        return self.written(self.origin, self.tokens[:1])


def require_range(inner: Raw, bias: Raw, size: int, outer: Raw, arithmetic: FixedPoint, what: str) -> None:
    """Refuse a feed-forward that could leave the range on inputs up to ``size``; its sums are added up exactly."""
    # Python's integers, so that nothing overflows here either.
    sums = numpy.abs(inner).astype(object).sum(axis=1).tolist() if inner.size else [0] * len(bias)
    before = [size * int(total) + abs(int(each)) for total, each in zip(sums, bias, strict=True)]
    heaviest = numpy.abs(outer).max(axis=0, initial=0).tolist()
    after = [weight * reach for weight, reach in zip(heaviest, before, strict=True)]
    if max([0, *before, *after]) > arithmetic.largest:
        raise UnsupportedError(f"{what} may leave the range ±{arithmetic.largest}; a larger Kc keeps it inside")


def restored(layer: FeedForward, used: Raw, intervals: Sequence[tuple[int, int]], arithmetic: FixedPoint) -> str | None:
    """Whether the layer makes 0 of the first raw interval and 1 of the second, coordinate by coordinate."""
    what, one = "the second feed-forward", arithmetic.largest
    inner, outer = whole(layer.inner, what), whole(layer.outer, what)
    bias, shift = whole(layer.inner_bias, what)[:, 0], whole(layer.outer_bias, what)[:, 0]
    largest = -(-max(high for _, high in intervals) // one)
    require_range(inner, bias, max(1, largest), outer, arithmetic, what)
    known: dict[tuple[tuple[int, int, int], ...], bool] = {}
    for column in used.tolist():
        units = numpy.nonzero(inner[:, column] | outer[column])[0]
        if (numpy.count_nonzero(inner[units], axis=1) > 1).any() or (inner[units, column] == 0).any():
            raise UnsupportedError("the second feed-forward mixes coordinates; the method covers one at a time")
        if (numpy.count_nonzero(outer[:, units], axis=0) > 1).any() or shift[column]:
            raise UnsupportedError("the second feed-forward mixes coordinates; the method covers one at a time")
        shape = tuple(sorted((int(inner[u, column]), int(bias[u]) * one, int(outer[column, u])) for u in units))
        if shape not in known:
            known[shape] = all(
                _constant(shape, low, high, target * one) for target, (low, high) in enumerate(intervals)
            )
        if not known[shape]:
            shares = ", ".join(f"{low / one:.3g} to {high / one:.3g}" for low, high in intervals)
            return f"bits 0 and 1 average to {shares}, which does not restore them"
    return None


def _constant(shape: tuple[tuple[int, int, int], ...], low: int, high: int, value: int) -> bool:
    """Whether x + Σ weight · ReLU(slope · x + bias) is ``value`` for all whole x from ``low`` to ``high``.

    The function is linear between the places where a unit changes its side, so these and the ends decide.
    """
    ends = {low, high}
    for slope, bias, _ in shape:
        # The two whole numbers around the change: between whole numbers nothing is asked.
        ends |= {x for x in (-bias // slope, -bias // slope + 1) if low <= x <= high}
    return low <= high and all(x + sum(w * max(s * x + b, 0) for s, b, w in shape) == value for x in ends)


def check_search(
    layer: FeedForward, network: Network, numbers: Numbers, inputs: MatchingInputs, arithmetic: FixedPoint
) -> str | None:
    """Whether the readout after the layer exceeds 1/2 exactly when two present classes complete the own number."""
    what, size = "the last feed-forward", inputs.modulus
    inner, bias = whole(layer.inner, what), whole(layer.inner_bias, what)[:, 0]
    readout = whole(network.readout.matrix, "the readout")
    weights = (readout @ whole(layer.outer, what))[0]
    if network.readout.bias.parameters or (readout @ whole(layer.outer_bias, what)).any():
        raise UnsupportedError("the method covers searches without a constant in the readout")
    if int(numpy.abs(readout).sum()) != 1 or (readout < 0).any():
        raise UnsupportedError("the method covers a readout of one coordinate")
    units = numpy.nonzero(weights)[0]
    unknown = inner[units].copy()
    unknown[:, numbers.columns], unknown[:, numbers.held] = 0, 0
    if unknown.any():
        raise UnsupportedError("the search reads something that is neither the own number nor the window")
    require_range(inner, bias, numbers.largest, whole(layer.outer, what), arithmetic, what)
    forms, places = numpy.unique(inner[units], axis=0, return_inverse=True)
    bends: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for unit, place in zip(units.tolist(), places.reshape(-1).tolist(), strict=True):
        bends[place].append((int(bias[unit]), int(weights[unit])))
    factors, constants, start = _parts(forms, numbers, inputs)
    kinds, seen = len(numbers.kinds), set[tuple[int, ...]]()
    functions: dict[tuple[object, ...], str | None] = {}
    for place in range(len(forms)):
        pair = tuple(kind for kind in range(kinds) for _ in range(int(factors[kind, place])))
        if len(pair) != 2 or any(constants[kind, place] for kind in range(kinds) if kind not in pair):
            return "a unit of the search does not add two numbers of the window to the own one"
        seen.add(pair)
        present = [int(constants[kind, place]) for kind in sorted(set(pair))]
        key = (tuple(sorted(bends[place])), tuple(present), int(start[place]), len(set(pair)))
        if key not in functions:
            functions[key] = _bump(sorted(bends[place]), present, int(start[place]), size)
        if functions[key] is not None:
            return functions[key]
    if seen != set(combinations_with_replacement(range(kinds), 2)):
        return "the search leaves out a pair of places"
    return None


def _parts(forms: Raw, numbers: Numbers, inputs: MatchingInputs) -> tuple[Raw, Raw, Raw]:
    """Each form as start + own residue + Σ over classes of (factor · residue + constant): (classes, forms) twice."""
    shape = (len(numbers.kinds), len(forms))
    factors, constants, start = (numpy.zeros(each, dtype=numpy.int64) for each in (shape, shape, len(forms)))
    # Token M has residue 0, token 1 residue 1.
    ends = [numbers.tokens[-1:], numbers.tokens[1:2]]
    start = (ends[0] @ forms[:, numbers.held].T)[0]
    for kind in range(shape[0]):
        zero, one = (numbers.values(kind, each) @ forms[:, numbers.columns].T for each in ends)
        constants[kind], factors[kind] = zero[0], one[0] - zero[0]
    for first, own in numbers.chunks():
        residues = (numpy.arange(first, first + len(own)) % inputs.modulus)[:, None]
        if (own @ forms[:, numbers.held].T != residues + start).any():
            raise UnsupportedError("the search does not read the own number as its residue")
        for kind in range(shape[0]):
            values = numbers.values(kind, own)
            used = numpy.nonzero(values.any(axis=0))[0]
            given = values[:, used] @ forms[:, numbers.columns[used]].T
            if (given != residues * factors[kind] + constants[kind]).any():
                raise UnsupportedError("the search does not read numbers of the window as their residues")
    if (factors < 0).any():
        raise UnsupportedError("the search subtracts numbers; the method covers sums")
    return factors, constants, start


def _bump(bends: list[tuple[int, int]], present: list[int], start: int, size: int) -> str | None:
    """Whether the units of one form answer rightly for every sum and every choice of present classes.

    With two classes each is present or not; with one, it counts twice, and so does its absence.
    """
    if 7 * size * len(bends) > MOST_POINTS:
        raise UnsupportedError(f"a modulus of {size} has too many sums to try")

    def answers(first: int, count: int) -> Raw:
        points = numpy.arange(first, first + count, dtype=numpy.int64)
        total = numpy.zeros(count, dtype=numpy.int64)
        for bias, weight in bends:
            total += weight * numpy.maximum(points + bias, 0)
        return total

    both = answers(start + sum(present), 3 * size - 2)
    matching = numpy.arange(3 * size - 2) % size == 0
    if (both[~matching] != 0).any() or (both[matching] < 1).any():
        return "the search mistakes a sum that is no multiple of M for one, or the other way round"
    absent = [answers(start, size)] + ([answers(start + each, 2 * size - 1) for each in present] * (len(present) > 1))
    if any(each.any() for each in absent):
        return "the search finds a triple with a number that is not there"
    return None
