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
from itertools import combinations_with_replacement

import numpy

from separatrix.arithmetic import FixedPoint
from separatrix.certificates.methods._numbers import Raw, whole, whole_part
from separatrix.certificates.methods._streams import columns, filled, reads
from separatrix.certificates.verdict import UnsupportedError
from separatrix.networks import ExactMatrix, FeedForward, Network
from separatrix.networks.evaluate import affine
from separatrix.progress import tracked

AT_A_TIME = 1 << 17
MOST_POINTS = 1 << 27


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

    def own(self, tokens: Raw) -> Raw:
        """What tokens hold themselves: (tokens, coordinates of the slots)."""
        rows = filled(self.network, self.slots, tokens, numpy.ones_like(tokens), self.arithmetic)
        return whole_part(rows, self.arithmetic, "embedded tokens")

    def bits(self, tokens: Raw, position: int) -> tuple[Raw, Raw]:
        """What is written for tokens at a position, by the network's own evaluation: places among ``columns``, and what
        is written there, (tokens, places); all other coordinates stay 0."""
        slots, layer = reads(self.network, self.layer.inner), self.layer
        stream = filled(self.network, slots, tokens, numpy.full(len(tokens), position), self.arithmetic)
        inner = whole(layer.inner, "the first feed-forward")[:, columns(self.network, slots)].astype(object)
        most = numpy.maximum(inner, 0) @ stream.max(axis=0) + numpy.minimum(inner, 0) @ stream.min(axis=0)
        # Units that no token makes positive add nothing, and a coordinate without any unit or bias has nothing.
        on = numpy.nonzero(most + whole(layer.inner_bias, "a bias", self.arithmetic.largest)[:, 0] > 0)[0]
        outer, bias = layer.outer.numerators[self.columns], layer.outer_bias.numerators[self.columns, 0]
        places = numpy.nonzero(outer[:, on].any(axis=1) | (bias != 0))[0]

        def part(matrix: ExactMatrix, *which: Raw) -> ExactMatrix:
            return ExactMatrix(matrix.numerators[numpy.ix_(*which)], matrix.denominator)

        first, there = numpy.zeros(1, dtype=numpy.int64), self.columns[places]
        inside = part(layer.inner, on, columns(self.network, slots)), part(layer.inner_bias, on, first)
        outside = part(layer.outer, there, on), part(layer.outer_bias, there, first)
        hidden = self.arithmetic.relu(affine(*inside, stream, self.arithmetic))
        written = affine(*outside, hidden, self.arithmetic)
        if ((written != 0) & (written != self.arithmetic.largest)).any():
            raise UnsupportedError("the values of the attention are not all 0 or 1; the method needs that")
        return places, written // self.arithmetic.largest

    def chunks(self) -> Iterator[Raw]:
        """All numbers, some at a time."""
        return (
            numpy.arange(first, min(first + AT_A_TIME, self.modulus + 1))
            for first in tracked(range(1, self.modulus + 1, AT_A_TIME), "numbers")
        )

    def used(self) -> Raw:
        """Which coordinates some number uses, by class: (classes, columns), zeros and ones."""
        found = numpy.zeros((len(self.members), len(self.columns)), dtype=numpy.int64)
        for tokens in self.chunks():
            for kind, position in enumerate(self.members):
                places, bits = self.bits(tokens, position)
                found[kind, places] |= bits.max(axis=0)
        return found


def wrong_search(layer: FeedForward, placed: Placed) -> str | None:
    """Whether the readout after the layer exceeds 1/2 exactly when two present classes complete the own number."""
    network, what, arithmetic = placed.network, "the last feed-forward", placed.arithmetic
    inner, bias, outer = whole(layer.inner, what), whole(layer.inner_bias, what)[:, 0], whole(layer.outer, what)
    readout = whole(network.readout.matrix, "the readout")
    if network.readout.bias.parameters or (readout @ whole(layer.outer_bias, what)).any():
        raise UnsupportedError("the method covers searches without a constant in the readout")
    if int(numpy.abs(readout).sum()) != 1 or (readout < 0).any():
        raise UnsupportedError("the method covers a readout of one coordinate")
    weights, held = (readout @ outer)[0], columns(network, placed.slots)
    units = numpy.nonzero(weights)[0]
    unknown = inner[units].copy()
    unknown[:, placed.columns], unknown[:, held] = 0, 0
    if unknown.any():
        raise UnsupportedError("the search reads something that is neither the own number nor the window")
    largest = max([1, *(int(numpy.abs(placed.own(tokens)).max(initial=0)) for tokens in placed.chunks())])
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
    ends = numpy.array([placed.modulus, 1])
    start = placed.own(ends)[0] @ own.T
    written = [placed.bits(ends, position) for position in placed.members]
    values = numpy.stack([bits @ window[:, places].T for places, bits in written])
    constants, factors = values[:, 0], values[:, 1] - values[:, 0]
    for tokens in placed.chunks():
        residues = (tokens % placed.modulus)[:, None]
        if (placed.own(tokens) @ own.T != residues + start).any():
            raise UnsupportedError("the search does not read the own number as its residue")
        for kind, position in enumerate(placed.members):
            places, bits = placed.bits(tokens, position)
            if (bits @ window[:, places].T != residues * factors[kind] + constants[kind]).any():
                raise UnsupportedError("the search does not read numbers of the window as their residues")
    if (factors < 0).any():
        raise UnsupportedError("the search subtracts numbers; the method covers sums")
    return factors, constants, start


def _bump(bends: list[tuple[int, int]], present: tuple[int, ...], start: int, size: int) -> str | None:
    """Whether the units of one form answer rightly for every sum and every choice of present classes.

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
