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

from math import gcd

import numpy

from separatrix.arithmetic import FixedPoint
from separatrix.certificates.meanings.matchings import MatchingInputs, matching_inputs
from separatrix.certificates.methods._bounded_softmax import Group, answers
from separatrix.certificates.methods._boxes import Box
from separatrix.certificates.methods._numbers import Raw, fixed_point, whole, whole_part
from separatrix.certificates.methods._streams import columns, filled, only_by_token, projected, reads
from separatrix.certificates.verdict import Claim, Method, SuspicionError, UnsupportedError
from separatrix.networks import ExactMatrix, Network, ThirdOrderAttention, pair_products
from separatrix.progress import tracked

CHUNK = 1 << 20
LARGEST_MODULUS = 1 << 14


class TripleMatching(Method):
    """One third-order unit and feed-forwards."""

    name = "triple-matching"
    order = 30

    def prove(self, network: Network, claim: Claim) -> str:
        """Examine every query token with and without a match."""
        inputs = matching_inputs(claim, ("match3",))
        if inputs.modulus > LARGEST_MODULUS:
            raise UnsupportedError(f"modulus {inputs.modulus} is beyond {LARGEST_MODULUS}; the method lists M² pairs")
        _Examination(network, inputs, fixed_point(claim)).run()
        return f"{inputs.modulus}^{inputs.length}"


class _Examination:
    """One run of the method; attributes are what its steps share."""

    def __init__(self, network: Network, inputs: MatchingInputs, arithmetic: FixedPoint) -> None:
        self.network, self.inputs, self.arithmetic = network, inputs, arithmetic
        layer = network.layers[0] if network.layers else None
        if not isinstance(layer, ThirdOrderAttention) or len(layer.heads) != 1 or layer.residual:
            raise UnsupportedError("the method covers networks that begin with one third-order unit without residual")
        if network.readout.at != "every":
            raise UnsupportedError("match3 is covered when read at every position")
        self.head = head = layer.heads[0]
        both = (head.first_key, head.second_key, head.first_value, head.second_value)
        only_by_token(network, reads(network, head.query, *both))
        self.queries, self.first, self.second = (self.project(each, inputs.numbers) for each in (head.query, *both[:2]))

    def project(self, matrix: ExactMatrix, tokens: Raw) -> Raw:
        """W x for these tokens."""
        return projected(matrix, self.network, tokens, numpy.zeros_like(tokens), self.arithmetic)

    def run(self) -> None:
        """Raise unless every input is answered correctly."""
        head, arithmetic, length, numbers = self.head, self.arithmetic, self.inputs.length, self.inputs.numbers
        match, other, best = self.bounds()
        nothing = numpy.zeros(1, dtype=numpy.int64)
        keys = [self.project(each, nothing) for each in (head.first_key, head.second_key)]
        alone = arithmetic.matmul(self.queries, arithmetic.multiply(*keys).T)[:, 0]
        # Pairs of the dummy and a number, in either order.
        sides = arithmetic.multiply(keys[0], self.second), arithmetic.multiply(self.first, keys[1])
        different = numpy.unique(numpy.concatenate(sides), axis=0)
        lowest = numpy.full(len(alone), -(arithmetic.largest**2), dtype=numpy.int64)
        mixed = lowest
        for rows in tracked(self.chunks(len(different)), "pairs with the dummy"):
            mixed = numpy.maximum(mixed, arithmetic.matmul(self.queries, different[rows].T).max(axis=1))
        (dummy, number), (second_dummy, second_number) = (
            (self.project(each, nothing), numpy.unique(self.project(each, numbers), axis=0))
            for each in (head.first_value, head.second_value)
        )
        half = numpy.concatenate([self.values(dummy, second_number), self.values(number, second_dummy)])
        constant = [
            Group(1, alone, alone, self.values(dummy, second_dummy)), Group(2 * length, lowest, mixed, half),
        ]  # fmt: skip
        for right, (low, high) in enumerate(((lowest, other), (match, numpy.maximum(best, other)))):
            groups = [Group(length**2, low, high, self.values(number, second_number)), *constant]
            given = answers(groups, head, self.network, arithmetic, "the third-order unit")
            bad = numpy.nonzero(given != right)[0]
            if len(bad):
                how = "with a match" if right else "without a match"
                raise SuspicionError(f"{int(bad[0]) + 1} {how} is not always answered {right}", queries=bad)

    def values(self, first: Raw, second: Raw) -> Raw:
        """The values of all pairs of two lists of vectors, as whole numbers."""
        return whole_part(pair_products(first, second, self.arithmetic), self.arithmetic, "the values of the unit")

    def chunks(self, count: int) -> list[Raw]:
        """The numbers below ``count``, few enough at a time that a table of them and all M numbers fits."""
        size = max(1, CHUNK // self.inputs.modulus)
        return [numpy.arange(start, min(start + size, count)) for start in range(0, count, size)]

    def bounds(self) -> tuple[Raw, Raw, Raw]:
        """For each number: a lower bound at its matches, an upper one at all other pairs, an upper one at matches."""
        # Coordinates in which no pair of numbers has a key, such as the dummy's, add nothing.
        active = numpy.nonzero(self.first.any(axis=0) & self.second.any(axis=0))[0]
        weights = whole(self.head.query, "the query matrix")[active]
        read = numpy.nonzero(weights.any(axis=0))[0]
        if not len(read):
            raise UnsupportedError("no query meets a key of numbers; the method covers units that compare numbers")
        factor = gcd(*numpy.unique(weights[:, read]).tolist())
        weights, numbers, modulus = weights[:, read] // factor, self.inputs.numbers, self.inputs.modulus
        slots = reads(self.network, self.head.query)
        stream = filled(self.network, slots, numbers, numpy.zeros_like(numbers), self.arithmetic)
        x, classes = stream[:, numpy.isin(columns(self.network, slots), read)], self.classes(active, weights)
        # Sums of |x h| and of the scores' terms stay below 2^62 and inside the range.
        reach = numpy.maximum(abs(classes.low).max(axis=0), abs(classes.high).max(axis=0)).tolist()
        largest, one, terms = abs(x).max(axis=0).tolist(), self.arithmetic.largest, len(weights)
        keys = int(abs(self.first).max()) * int(abs(self.second).max()) // one + 1
        exact = factor * max(map(sum, abs(weights).tolist())) * max(largest)
        if max(exact, sum(a * b for a, b in zip(reach, largest, strict=True))) >= 2**62:
            raise UnsupportedError("queries or scores exceed 62 bits before rounding; choose a smaller Kc")
        if (x @ (weights * factor).T != self.queries[:, active]).any():
            raise UnsupportedError("queries are rounded or cut off; the method needs exact ones")
        if terms * (int(abs(self.queries).max()) * keys // one + 1) > one**2:
            raise UnsupportedError("scores may leave the range; a larger Kc keeps them inside")
        match, other, best = (numpy.zeros(len(numbers), dtype=numpy.int64) for _ in range(3))
        for rows in tracked(self.chunks(len(numbers)), "pairs of numbers"):
            place, partner = rows - rows[0], (-numbers[rows]) % modulus
            low, high = (numpy.zeros((len(rows), modulus), dtype=numpy.int64) for _ in range(2))
            for c in range(len(read)):
                ends = x[rows, c, None] * classes.low[None, :, c], x[rows, c, None] * classes.high[None, :, c]
                low, high = low + numpy.minimum(*ends), high + numpy.maximum(*ends)
            match[rows], best[rows] = low[place, partner], high[place, partner]
            high[place, partner] = numpy.iinfo(numpy.int64).min
            other[rows] = high.max(axis=1)

        def rounded(sums: Raw, slack: int) -> Raw:
            # Python's integers: the factor may take a sum beyond 64 bits, and nothing after the division does.
            return numpy.array([factor * each // one + slack for each in sums.tolist()], dtype=numpy.int64)

        return rounded(match, -terms), rounded(other, terms), rounded(best, terms)

    def classes(self, active: Raw, weights: Raw) -> Box:
        """A box around h = W'ᵀ k of all pairs of each class t = 0 … M-1: (M, directions)."""
        modulus, numbers = self.inputs.modulus, self.inputs.numbers
        low = numpy.full((modulus, weights.shape[1]), numpy.iinfo(numpy.int64).max)
        high = numpy.full((modulus, weights.shape[1]), numpy.iinfo(numpy.int64).min)
        product = int(abs(self.first).max()) * int(abs(self.second).max()) // self.arithmetic.largest + 1
        if max(map(sum, abs(weights).T.tolist())) * product >= 2**62:
            raise UnsupportedError("keys times weights exceed 62 bits; choose a smaller Kc")
        for rows in tracked(self.chunks(modulus), "residues"):
            keys = self.arithmetic.multiply(self.first[rows][:, None, active], self.second[None, :, active])
            # For a fixed z' each class has exactly one z'': class t the residue t - z', whose token stands one before.
            second = (numpy.arange(modulus)[None, :] - numbers[rows][:, None] - 1) % modulus
            arranged = numpy.take_along_axis(keys @ weights, second[:, :, None], axis=1)
            low, high = numpy.minimum(low, arranged.min(axis=0)), numpy.maximum(high, arranged.max(axis=0))
        return Box(low, high)


METHOD = TripleMatching()
