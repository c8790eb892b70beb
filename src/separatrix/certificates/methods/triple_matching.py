"""Triple matching by a third-order unit: all M^N inputs at once.

A query z gives the pair (z', z'') the score Σ_c round(q_c(z) k_c(z', z'')), k_c the rounded product of two keys. There
are M³ such scores. The pairs are put into classes by t = z' + z'' mod M; z matches exactly the pairs of class -z. With
a query matrix W = g·W' of whole numbers q = W x is exact for the stream x(z), so that the sum before rounding is

    Σ_c q_c k_c = g · ⟨x(z), h(z', z'')⟩,   h = W'ᵀ k(z', z''),

and rounding adds less than one step for each c. All M² vectors h are computed exactly and enclosed in one box for each
class; in these few directions a class is nearly a point, although its keys k are not. The M² pairs (z, class) then
give, for every z, bounds of the scores at matches and at all other pairs. Pairs with the dummy are computed exactly.

From there on it is as in ``pair_matching``: with a match the row's largest score is at least the bound there, without
one every pair of numbers is at most the bound of the others; ``_bounded_softmax`` and the feed-forwards do the rest.
"""

from collections.abc import Iterator
from math import gcd

import numpy

from separatrix.arithmetic import FixedPoint
from separatrix.certificates.methods._bounded_softmax import Group, averages, written
from separatrix.certificates.methods._boxes import Box, Raw, whole
from separatrix.certificates.methods._counting import live_columns
from separatrix.certificates.methods._layers import projected
from separatrix.certificates.methods._matching_tasks import (
    MatchingInputs,
    candidates,
    matching_inputs,
    require_token_slots,
)
from separatrix.certificates.methods._positions import Stream
from separatrix.certificates.methods._tail import decided, run_feed_forwards
from separatrix.certificates.verdict import Claim, Method, SuspicionError, UnsupportedError
from separatrix.networks import ExactMatrix, Network, ThirdOrderAttention
from separatrix.networks.third_order import pair_products

CHUNK = 1 << 20
LARGEST_MODULUS = 1 << 14


class TripleMatching(Method):
    """One third-order unit and feed-forwards."""

    name = "triple-matching"
    order = 30

    def prove(self, network: Network, claim: Claim) -> str:
        """Examine every query token with and without a match."""
        inputs, arithmetic = matching_inputs(network, claim, ("match3",))
        if inputs.modulus > LARGEST_MODULUS:
            raise UnsupportedError(f"modulus {inputs.modulus} is beyond {LARGEST_MODULUS}; the method lists M² pairs")
        _Examination(network, claim, inputs, arithmetic).run()
        return f"{inputs.modulus}^{inputs.length}"


class _Examination:
    """One run of the method; attributes are what its steps share."""

    def __init__(self, network: Network, claim: Claim, inputs: MatchingInputs, arithmetic: FixedPoint) -> None:
        self.network, self.claim, self.inputs, self.arithmetic = network, claim, inputs, arithmetic
        self.stream = Stream(network, arithmetic)
        layer = network.layers[0] if network.layers else None
        if not isinstance(layer, ThirdOrderAttention) or len(layer.heads) != 1 or layer.residual:
            raise UnsupportedError("the method covers networks that begin with one third-order unit without residual")
        if network.readout.at != "every":
            raise UnsupportedError("match3 is covered when read at every position")
        self.head = head = layer.heads[0]
        read = [head.query, head.first_key, head.second_key, head.first_value, head.second_value]
        require_token_slots(network, self.stream, read, "the first layer")
        self.queries = self.project(head.query, inputs.numbers)
        self.first, self.second = (self.project(each, inputs.numbers) for each in (head.first_key, head.second_key))

    def project(self, matrix: ExactMatrix, tokens: Raw) -> Raw:
        """W x for these tokens, rounded as the arithmetic does."""
        return projected(matrix, self.network, self.stream, tokens, numpy.zeros(len(tokens), dtype=numpy.int64))

    def run(self) -> None:
        """Raise unless every input is answered correctly."""
        head, arithmetic, length = self.head, self.arithmetic, self.inputs.length
        match, other, best = self.bounds()
        numbers, nothing = self.inputs.numbers, numpy.zeros(1, dtype=numpy.int64)
        keys = [self.project(each, nothing) for each in (head.first_key, head.second_key)]
        values = [
            (self.project(each, nothing), numpy.unique(self.project(each, numbers), axis=0))
            for each in (head.first_value, head.second_value)
        ]
        alone = arithmetic.matmul(self.queries, arithmetic.multiply(*keys).T)[:, 0]
        mixed_keys = numpy.concatenate(
            [arithmetic.multiply(keys[0], self.second), arithmetic.multiply(self.first, keys[1])]
        )
        mixed = numpy.full(len(alone), -(arithmetic.largest**2), dtype=numpy.int64)
        for row in self.chunks(numpy.unique(mixed_keys, axis=0)):
            mixed = numpy.maximum(mixed, arithmetic.matmul(self.queries, row.T).max(axis=1))
        lowest = numpy.full(len(alone), -(arithmetic.largest**2), dtype=numpy.int64)
        both = self.values(values[0][1], values[1][1])
        one_sided = self.values(values[0][0], values[1][1]), self.values(values[0][1], values[1][0])
        half = numpy.concatenate(one_sided)
        none = self.values(values[0][0], values[1][0])
        constant = [
            Group(1, alone, alone, none[0], none[0]),
            Group(2 * length, lowest, mixed, half.min(axis=0), half.max(axis=0)),
        ]
        live = live_columns(self.network)
        for low, high, right in ((lowest, other, 0), (match, numpy.maximum(best, other), 1)):
            pairs = Group(length**2, low, high, both.min(axis=0), both.max(axis=0))
            average = averages([pairs, *constant], arithmetic, head.scoring, "the third-order unit")
            box = written(head.output, live, average, arithmetic, "the output matrix")
            box = run_feed_forwards(self.network, box, 1, len(self.network.layers), live, arithmetic)
            bad = numpy.nonzero(decided(self.network, box, live, arithmetic) != right)[0]
            if len(bad):
                how = "with a match" if right else "without a match"
                raise SuspicionError(f"{int(bad[0]) + 1} {how} is not always answered {right}", self.inputs_for(bad))

    def values(self, first: Raw, second: Raw) -> Raw:
        """The values of all pairs of two lists of vectors, as whole numbers."""
        raw = pair_products(first, second, self.arithmetic)
        if (raw % self.arithmetic.largest).any():
            raise UnsupportedError("the values of the third-order unit are not whole numbers; the method needs that")
        return raw // self.arithmetic.largest

    def chunks(self, rows: Raw) -> Iterator[Raw]:
        """Rows, few enough at a time that their scores for all queries fit."""
        size = max(1, CHUNK // len(self.queries))
        return (rows[start : start + size] for start in range(0, len(rows), size))

    def bounds(self) -> tuple[Raw, Raw, Raw]:
        """For each number: a lower bound at its matches, an upper one at all other pairs, an upper one at matches."""
        # Coordinates in which no pair of numbers has a key, such as the dummy's, add nothing.
        active = numpy.nonzero(self.first.any(axis=0) & self.second.any(axis=0))[0]
        weights = whole(self.head.query, "the query matrix")[active]
        read = numpy.nonzero(weights.any(axis=0))[0]
        if not len(read):
            raise UnsupportedError("no query meets a key of numbers; the method covers units that compare numbers")
        factor = gcd(*numpy.unique(weights[:, read]).tolist())
        weights = weights[:, read] // factor
        numbers = self.inputs.numbers
        full = numpy.zeros((len(numbers), self.network.slots.width), dtype=numpy.int64)
        for slot in self.network.slots.read_by(self.head.query):
            full[:, self.network.slots.columns(slot)] = self.stream.rows(slot, numbers, numpy.zeros_like(numbers))
        x, classes = full[:, read], self.classes(active, weights)
        # Sums of |x h| and of the scores' terms stay below 2^62 and inside the range.
        reach = [max(abs(int(classes.low[:, c].min())), abs(int(classes.high[:, c].max()))) for c in range(len(read))]
        largest = [int(abs(x[:, c]).max()) for c in range(len(read))]
        one, terms = self.arithmetic.largest, len(weights)
        keys = int(abs(self.first).max()) * int(abs(self.second).max()) // one + 1
        if sum(a * b for a, b in zip(reach, largest, strict=True)) >= 2**62:
            raise UnsupportedError("scores exceed 62 bits before rounding; choose a smaller Kc")
        if terms * (int(abs(self.queries).max()) * keys // one + 1) > one**2:
            raise UnsupportedError("scores may leave the range; a larger Kc keeps them inside")
        if factor * int(abs(weights).sum(axis=1).max()) * max(largest) >= 2**62:
            raise UnsupportedError("queries exceed 62 bits; choose a smaller Kc")
        if (x @ (weights * factor).T != self.queries[:, active]).any():
            raise UnsupportedError("queries are rounded or cut off; the method needs exact ones")
        match, other, best = (numpy.zeros(len(numbers), dtype=numpy.int64) for _ in range(3))
        for rows in self.chunks_of(len(numbers)):
            place = (-numbers[rows]) % self.inputs.modulus, rows - rows[0]
            low, high = (numpy.zeros((len(rows), self.inputs.modulus), dtype=numpy.int64) for _ in range(2))
            for c in range(len(read)):
                ends = x[rows, c, None] * classes.low[None, :, c], x[rows, c, None] * classes.high[None, :, c]
                low, high = low + numpy.minimum(*ends), high + numpy.maximum(*ends)
            match[rows], best[rows] = low[place[1], place[0]], high[place[1], place[0]]
            high[place[1], place[0]] = numpy.iinfo(numpy.int64).min
            other[rows] = high.max(axis=1)

        def rounded(sums: Raw, slack: int) -> Raw:
            # Python's integers: the factor may take a sum beyond 64 bits, and nothing after the division does.
            return numpy.array([factor * each // one + slack for each in sums.tolist()], dtype=numpy.int64)

        return rounded(match, -terms), rounded(other, terms), rounded(best, terms)

    def chunks_of(self, count: int) -> Iterator[Raw]:
        """Numbers of queries, few enough at a time."""
        size = max(1, CHUNK // self.inputs.modulus)
        return (numpy.arange(start, min(start + size, count)) for start in range(0, count, size))

    def classes(self, active: Raw, weights: Raw) -> Box:
        """A box around h = W'ᵀ k of all pairs of each class t = 0 … M-1: (M, directions)."""
        modulus, numbers = self.inputs.modulus, self.inputs.numbers
        low = numpy.full((modulus, weights.shape[1]), numpy.iinfo(numpy.int64).max)
        high = numpy.full((modulus, weights.shape[1]), numpy.iinfo(numpy.int64).min)
        product = int(abs(self.first).max()) * int(abs(self.second).max()) // self.arithmetic.largest + 1
        if int(abs(weights).sum(axis=0).max()) * product >= 2**62:
            raise UnsupportedError("keys times weights exceed 62 bits; choose a smaller Kc")
        for rows in self.chunks_of(modulus):
            keys = self.arithmetic.multiply(self.first[rows][:, None, active], self.second[None, :, active])
            directions = keys @ weights
            # For a fixed z' each class has exactly one z'': class t the residue t - z', whose token stands one before.
            second = (numpy.arange(modulus)[None, :] - numbers[rows][:, None] - 1) % modulus
            arranged = numpy.take_along_axis(directions, second[:, :, None], axis=1)
            low = numpy.minimum(low, arranged.min(axis=0))
            high = numpy.maximum(high, arranged.max(axis=0))
        return Box(low, high)

    def inputs_for(self, suspects: Raw) -> Iterator[Raw]:
        """Inputs worth trying: all others at numbers that nearly complete the first suspect query."""
        inputs = self.inputs
        # 3z ≡ ±1 makes a query a near miss with itself alone.
        third = sorted(
            suspects.tolist(),
            key=lambda place: min(
                3 * (place + 1) % inputs.modulus or inputs.modulus, -3 * (place + 1) % inputs.modulus or inputs.modulus
            ),
        )
        listed: list[tuple[int, list[int]]] = []
        for query in [third[0] + 1, int(suspects[0]) + 1]:
            near: list[int] = []
            for miss in (1, -1, 2):
                # z + 2u ≡ miss or as near to it as parity allows, so that every pair of others is a near miss.
                rest = (miss - query) % inputs.modulus
                near += [inputs.number((rest if rest % 2 == 0 else rest + inputs.modulus) // 2)]
            listed.append((query, near))
        return candidates(inputs, self.claim, listed)


METHOD = TripleMatching()
