"""A feed-forward that looks for triples among bits which another feed-forward has placed.

A number z at a position of class κ writes zeros and ones into the coordinates of its class. Each unit of the search is
ReLU(t + bias) with a linear form t of such bits. Its forms are evaluated on every number at every class: t must be
z_i + r_c + r_c' + constants that say which classes are present. For all whole numbers t that can occur, the units of a
form add up to 0, or to at least 1 exactly when z_i + r_c + r_c' ≡ 0 and both are present. Weights are whole numbers and
bits exact, so everything is; results that could leave the fixed point's range are refused.
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations_with_replacement

import numpy

from separatrix.arithmetic import FixedPoint, distinct
from separatrix.certificates.methods._numbers import Raw, whole, whole_part
from separatrix.certificates.methods._streams import columns, filled, reads
from separatrix.certificates.verdict import UnsupportedError
from separatrix.networks import ExactMatrix, FeedForward, Network, affine
from separatrix.progress import tracked

AT_A_TIME = 1 << 13
MOST_POINTS = 1 << 27


@dataclass(frozen=True)
class Units:
    """The layer at a position: the ``places`` among the columns that it can write, all others staying 0; which of the
    tokens' own coordinates it reads and what else, the same for all tokens; and its weights and biases for these."""

    places: Raw
    own: Raw
    added: Raw
    inner: tuple[ExactMatrix, ExactMatrix]
    outer: tuple[ExactMatrix, ExactMatrix]

    @cached_property
    def key(self) -> tuple[bytes, ...]:
        """Equal for positions at which all tokens write the same, perhaps to other places."""
        return (
            self.own.tobytes(),
            self.added.tobytes(),
            *(each.numerators.tobytes() for each in self.inner + self.outer),
        )


@dataclass(frozen=True)
class Placed:
    """What the first feed-forward writes for every number 1 … M at every class of positions.

    ``columns`` are the coordinates that it writes, ``slots`` those that tokens fill, ``members`` one position a class.
    """

    network: Network
    arithmetic: FixedPoint
    layer: FeedForward
    columns: Raw
    slots: set[str]
    members: tuple[int, ...]
    modulus: int

    def held(self, tokens: Raw) -> Raw:
        """What tokens hold themselves, the dummy at position 0: raw numbers (tokens, coordinates of the slots)."""
        return filled(self.network, self.slots, tokens, numpy.minimum(tokens, 1), self.arithmetic)

    def own(self, held: Raw) -> Raw:
        """The same as whole numbers."""
        return whole_part(held, self.arithmetic, "embedded tokens")

    @cached_property
    def ends(self) -> tuple[Raw, Raw]:
        """The least and the largest number that tokens hold in each coordinate."""
        dummy = self.held(numpy.zeros(1, dtype=numpy.int64))
        spans = [dummy, *(self.held(tokens) for tokens in self.chunks())]
        return tuple(side([side(each, axis=0) for each in spans], axis=0) for side in (numpy.min, numpy.max))

    def units(self, position: int) -> Units:
        """What the layer does at a position, whichever token stands there."""
        layer, fixed = self.layer, reads(self.network, self.layer.inner) - self.slots
        nothing = numpy.zeros(1, dtype=numpy.int64)
        there = filled(self.network, fixed, nothing, nothing + position, self.arithmetic)[0]
        read = numpy.concatenate([columns(self.network, slots) for slots in (self.slots, fixed)])
        inner = whole(layer.inner, "the first feed-forward")[:, read].astype(object)
        low, high = (numpy.concatenate([side, there]) for side in self.ends)
        most = numpy.maximum(inner, 0) @ high + numpy.minimum(inner, 0) @ low
        reach = abs(inner) @ numpy.maximum(abs(low), abs(high)).astype(object)
        # Units that no token makes positive add nothing, and a coordinate without any unit or bias has nothing. Where
        # products may be cut off before they are added, this sum says nothing about the unit.
        positive = most + whole(layer.inner_bias, "a bias", self.arithmetic.largest)[:, 0] > 0
        on = numpy.nonzero(positive | (reach > self.arithmetic.largest**2))[0]
        outer, bias = layer.outer.numerators[self.columns], layer.outer_bias.numerators[self.columns, 0]
        places = numpy.nonzero(outer[:, on].any(axis=1) | (bias != 0))[0]
        kept, own = numpy.nonzero(inner[on].any(axis=0))[0], len(self.ends[0])

        def part(matrix: ExactMatrix, *which: Raw) -> ExactMatrix:
            return ExactMatrix(matrix.numerators[numpy.ix_(*which)], matrix.denominator)

        inside = part(layer.inner, on, read[kept]), part(layer.inner_bias, on, nothing)
        outside = part(layer.outer, self.columns[places], on), part(layer.outer_bias, self.columns[places], nothing)
        return Units(places, kept[kept < own], there[kept[kept >= own] - own], inside, outside)

    @cached_property
    def classes(self) -> tuple[Units, ...]:
        """What the layer does at each class of positions."""
        return tuple(self.units(position) for position in self.members)

    def bits(self, held: Raw, units: Units) -> Raw:
        """What is written for tokens, by the network's own evaluation: (tokens, places)."""
        constant = numpy.broadcast_to(units.added, (len(held), len(units.added)))
        stream = numpy.concatenate([held[:, units.own], constant], axis=1)
        hidden = self.arithmetic.relu(affine(*units.inner, stream, self.arithmetic))
        written = affine(*units.outer, hidden, self.arithmetic)
        bits = written // self.arithmetic.largest
        if (bits * self.arithmetic.largest != written).any() or (bits & ~1).any():
            raise UnsupportedError("the values of the attention are not all 0 or 1; the method needs that")
        return bits

    def chunks(self) -> Iterator[Raw]:
        """All numbers, some at a time."""
        return (
            numpy.arange(first, min(first + AT_A_TIME, self.modulus + 1))
            for first in tracked(range(1, self.modulus + 1, AT_A_TIME), "numbers")
        )

    def used(self) -> Raw:
        """Which coordinates numbers may use, by class: (classes, columns), zeros and ones."""
        found = numpy.zeros((len(self.members), len(self.columns)), dtype=numpy.int64)
        for kind, units in enumerate(self.classes):
            found[kind, units.places] = 1
        return found


def wrong_search(layer: FeedForward, placed: Placed) -> str | None:
    """Whether the readout after the layer exceeds 1/2 exactly when two present classes complete the own number."""
    network, what, arithmetic = placed.network, "the last feed-forward", placed.arithmetic
    inner, bias, outer = whole(layer.inner, what), whole(layer.inner_bias, what)[:, 0], whole(layer.outer, what)
    readout = whole(network.readout.matrix, "the readout")
    if network.readout.bias.parameters or (readout @ whole(layer.outer_bias, what)).any():
        raise UnsupportedError("the method covers searches without a constant in the readout")
    if sum(map(abs, readout.reshape(-1).tolist())) != 1 or (readout < 0).any():
        raise UnsupportedError("the method covers a readout of one coordinate")
    weights, held = (readout @ outer)[0], columns(network, placed.slots)
    units = numpy.nonzero(weights)[0]
    unknown = inner[units].copy()
    unknown[:, placed.columns], unknown[:, held] = 0, 0
    if unknown.any():
        raise UnsupportedError("the search reads something that is neither the own number nor the window")
    largest = max([1, *(int(numpy.abs(placed.own(side)).max(initial=0)) for side in placed.ends)])
    # Python's integers, so that nothing overflows here either.
    before = [largest * sum(map(abs, row)) + abs(each) for row, each in zip(inner.tolist(), bias.tolist(), strict=True)]
    after = [each * reach for each, reach in zip(numpy.abs(outer).max(axis=0).tolist(), before, strict=True)]
    if max([0, *before, *after]) > arithmetic.largest:
        raise UnsupportedError(f"{what} may leave the range ±{arithmetic.largest}; a larger Kc keeps it inside")
    forms, which = numpy.unique(inner[units], axis=0, return_inverse=True)
    bends: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for unit, form in zip(units.tolist(), which.reshape(-1).tolist(), strict=True):
        bends[form].append((int(bias[unit]), int(weights[unit])))
    factors, constants, start = _parts(forms[:, held], forms[:, placed.columns], placed)
    kinds, seen = range(len(placed.members)), set[tuple[int, ...]]()
    known: dict[tuple[object, ...], str | None] = {}
    for form in range(len(forms)):
        pair = tuple(kind for kind in kinds for _ in range(int(factors[kind, form])))
        if len(pair) != 2 or any(constants[kind, form] for kind in kinds if kind not in pair):
            return "a unit of the search does not add two numbers of the window to the own one"
        seen.add(pair)
        present = tuple(int(constants[kind, form]) for kind in sorted(set(pair)))
        key = (tuple(sorted(bends[form])), present, int(start[form]))
        if key not in known:
            known[key] = _bump(sorted(bends[form]), present, int(start[form]), placed.modulus)
        if known[key] is not None:
            return known[key]
    complete = seen == set(combinations_with_replacement(kinds, 2))
    return None if complete else "the search leaves out a pair of places"


def _parts(own: Raw, window: Raw, placed: Placed) -> tuple[Raw, Raw, Raw]:
    """Each form as start + own residue + Σ over classes of (factor · residue + constant): (classes, forms) twice."""
    # Token M has residue 0, token 1 residue 1.
    ends = placed.held(numpy.array([placed.modulus, 1]))
    start = placed.own(ends)[0] @ own.T
    values = numpy.stack([placed.bits(ends, each) @ window[:, each.places].T for each in placed.classes])
    constants, factors = values[:, 0], values[:, 1] - values[:, 0]
    # One of the forms that read the same in the own number, and in the numbers of each class.
    alike = (distinct(read)[1] for read in (own, *(window[:, each.places] for each in placed.classes)))
    mine, *others = (numpy.unique(each, return_index=True)[1] for each in alike)
    for tokens in placed.chunks():
        residues, held, known = (tokens % placed.modulus)[:, None], placed.held(tokens), dict[tuple[bytes, ...], Raw]()
        if (placed.own(held) @ own[mine].T != residues + start[mine]).any():
            raise UnsupportedError("the search does not read the own number as its residue")
        for kind, (units, some) in enumerate(zip(placed.classes, others, strict=True)):
            if units.key not in known:
                known[units.key] = placed.bits(held, units)
            read = known[units.key] @ window[numpy.ix_(some, units.places)].T
            if (read != residues * factors[kind, some] + constants[kind, some]).any():
                raise UnsupportedError("the search does not read numbers of the window as their residues")
    if (factors < 0).any():
        raise UnsupportedError("the search subtracts numbers; the method covers sums")
    return factors, constants, start


def _bump(bends: list[tuple[int, int]], present: tuple[int, ...], start: int, size: int) -> str | None:
    """Whether the units of one form answer correctly for every sum and every choice of present classes.

    With two classes each is present or not; with one, it counts twice, and so does its absence.
    """
    if 7 * size * len(bends) > MOST_POINTS:
        raise UnsupportedError(f"a modulus of {size} has too many sums to try")

    def answers(first: int, count: int) -> Raw:
        points = numpy.arange(first, first + count, dtype=numpy.int64)
        return sum((w * numpy.maximum(points + b, 0) for b, w in bends), numpy.zeros(count, dtype=numpy.int64))

    both = answers(start + sum(present), 3 * size - 2)
    matching = numpy.arange(3 * size - 2) % size == 0
    if (both[~matching] != 0).any() or (both[matching] < 1).any():
        return "the search mistakes a sum that is no multiple of M for one, or the other way round"
    absent = [answers(start, size)] + ([answers(start + each, 2 * size - 1) for each in present] * (len(present) > 1))
    if any(each.any() for each in absent):
        return "the search finds a triple with a number that is not there"
    return None
