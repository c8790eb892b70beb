"""The rule for sums over named sets: attention whose queries are dual certificates of sets (``sets``).

All numbers are raw, S is the number 1, and N cells name sets of q positions each. One head without a mask matters; its
queries read α·w, the embedding of the cell's set, its keys the sign vector u_j of position j, and nothing else writes
to the coordinates that they read. Each coordinate is compared once: the query's coordinate is one of α·w times a, the
key's the same one of u_j times b, for factors a, b > 0.

1. ALL SETS. Sign vectors have k signs, and those of a linear code agree in ⟨u_i, u_j⟩ = k - 2·|word of i xor j|. For
   one i and several j these are different ones of the 2^t - 1 numbers that the words 1 … 2^t - 1 give, where 2^t ≥ N.
   Let n·k be the sum of the q - 1 least of them, negated, and m·k that of the q largest, where numbers of the other
   sign count as 0. RULE: m + n < 1. Let E_ij = ⟨u_i, u_j⟩ / k for different i, j of a set. The absolute values of a row
   of E add up to less than 1, so I + E has an inverse. Let x = (I + E)⁻¹ 1, that is x_i = 1 - Σ_j E_ij x_j, and let M
   and μ be the largest of all x_i and 0, and of all -x_i and 0. If μ > 0, the equation of the least x_i says
   -μ ≥ 1 - m M - n μ, that of the largest one M ≤ 1 + n M + m μ (also if M = 0). Together (M + μ)(1 - n) ≤ m (M + μ),
   a contradiction. So all x_i ≥ 0, and then M ≤ 1 + n M. The set's w = Σ x_i u_i / k therefore has the product 1 with
   its own sign vectors, at most c = m / (1 - n) < 1 with all others, and coordinates of at most q / (k - n k).
2. ROUNDING. A coordinate is off by an error of less than 1 (down) or at most 1/2 (nearest) when α·w is encoded, when it
   is multiplied by a, unless a is whole, and when the product with ±b is rounded, unless b is whole. For two positions
   products differ only where signs do, at D coordinates at most. There the first two errors appear with both signs, and
   the third ones differ by at most 1. So two scores differ by S·a·b·α times the difference of exact products, up to
   r = D (h b (a + [a not whole]) + [b not whole]), h = 2 for rounding down and 1 to nearest. RULE: nothing may leave
   the range on the way.
3. WEIGHTS. So scores on a set differ by at most r, and others are behind each of them by g = S·a·b·α (1 - c) - r or
   more. RULE: g ≥ 0. A weight is S·(its share) / (the sum of all shares), rounded: it grows with its own share and
   falls with the others. RULE: L > 0. Let B = T + (q - 1) L.
   Softmax: the best score is on the set. So shares, which are powers, are from L = exp(-r) to T = S there, one of them
   is S, and they are at most P = exp(-g) elsewhere: the exponential of the arithmetic is monotone. A weight on the set
   is at most S T / B and at least S L / (L + (q - 1) T + (N - q) P).
   ReLU: shares are scores. RULE: they add up to no more than the range. On the set they are at least T = S·a·b·α - e,
   where e is all errors of 2 together, and elsewhere at most P = max(0, S·a·b·α + e - g). Let L = T - r. If one on
   the set is z, the others there are from z - r to z + r. Both z / (z + (q - 1)(z - r)), which is largest for z = T,
   and z / (z + (q - 1)(z + r) + (N - q) P), which grows with z ≥ T ≥ L, are within the same bounds.
   In both cases shares on the set add up to B or more. So a weight elsewhere is at most S P / (P + B), and all N - q
   add up to at most S (N - q) P / ((N - q) P + B), and half a unit for each if weights are rounded to nearest.
4. VALUES. What the head reads, averages and writes, and the readout, are linear in the vectors v_j, up to counted
   errors: 1 for each product that may not be exact. An entry of the average is Σ_j w_j·(a linear form of v_j), with an
   error of 1 for each key unless that form gives multiples of S. RULE: nothing may leave the range on the way.
5. ANSWER. A coordinate of the readout is Σ_j w_j (s·v_j) + bias + error, with s known. So it differs from S times the
   sum of the named v_j by at most R (q (largest |w_j s_own - S| + w_j Σ |other s|) + (weights elsewhere)·Σ |s|) +
   |bias| + error. RULE: this is less than S/2. Then rounding gives the sum.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor
from typing import TYPE_CHECKING

from separatrix_kernel.network import Attention, Feature, Head, Matrix, Part, Row
from separatrix_kernel.reading import RefusedError, require
from separatrix_kernel.sets import FRACTION_STEPS, Dual, NamedSums

if TYPE_CHECKING:
    from separatrix_kernel.layers import Layers


@dataclass(frozen=True)
class Line:
    """A number that is Σ slopes·v up to an ``error``, and whose absolute value is at most ``reach``."""

    slopes: Mapping[int, Fraction]
    error: Fraction
    reach: Fraction


@dataclass(frozen=True)
class Weights:
    """The least and the greatest weight on a set, and the most that all others add up to."""

    least: int
    most: int
    outside: int


class Averaging:
    """The rule for one network."""

    def __init__(self, rule: "Layers") -> None:
        spec = rule.claim.answers
        assert isinstance(spec, NamedSums)
        self.spec, self.network, self.numbers = spec, rule.network, rule.numbers
        self.live = rule.live[-1]
        rule.state(0, "average")
        self.writers = (*self.network.parts, *self.network.features, *self.network.duals)

    def check(self) -> None:
        """Refuse unless every answer is right."""
        network, spec, one = self.network, self.spec, self.numbers.scale
        layer = network.layers[0]
        assert isinstance(layer, Attention)
        require(len(network.layers) == 1 and not network.prefix, "feed-forwards before or after averages")
        require(not layer.residual, "averages are added to something")
        heads = [head for head in layer.heads if any(head.output.rows[place] for place in self.live)]
        require(len(heads) == 1, f"{len(heads)} heads write what is read, not one")
        head = heads[0]
        known = head.scoring in ("softmax", "relu") and head.mask == "none"
        require(known, "the rule is about softmax and ReLU attention without a mask")
        weights = self._weights(head)
        averages = self._averages(head, weights)
        outputs = {place: self._line(head.output.rows[place], averages) for place in self.live}
        for axis, (row, bias) in enumerate(zip(network.readout.matrix.rows, network.readout.bias, strict=True)):
            line = self._line(row, outputs)
            self._inside(line.reach + abs(bias), "a readout")
            own = line.slopes.get(axis, Fraction(0))
            every = sum(map(abs, line.slopes.values()))
            inside = max(abs(weights.least * own - one), abs(weights.most * own - one))
            inside += weights.most * (every - abs(own))
            error = spec.norm * (spec.named * inside + weights.outside * every) + abs(bias) + line.error
            require(2 * error < one, f"coordinate {axis} of a sum may be off by 1/2 or more")

    def _inside(self, reach: Fraction, what: str) -> None:
        require(reach <= self.numbers.limit, f"{what} may leave the range")

    def _sole(self, column: int) -> Part | Feature | Dual:
        """The only part of the embedding that writes to a coordinate."""
        self.numbers.work.spend(1 + len(self.writers))
        found = [each for each in self.writers if 0 <= column - each.start < each.width]
        require(len(found) == 1, f"coordinate {column} is written by {len(found)} parts of the embedding, not one")
        return found[0]

    # -- weights ---------------------------------------------------------------------------------------------------

    def _weights(self, head: Head) -> Weights:
        """Bounds of the weights, for all sets."""
        numbers, spec, one = self.numbers, self.spec, self.numbers.scale
        dual, a, b = self._compared(head)
        inner = self._inner_products(dual)
        q, width, others = spec.named, dual.width, spec.positions - spec.named
        least = sum(max(-each, 0) for each in inner[: q - 1])
        most = sum(max(each, 0) for each in inner[-q:])
        require(most + least < width, f"the sign vectors of some {q} positions may have no good dual certificate")
        # 2. Encoded coordinates of α·w, those of queries, and scores stay inside the range.
        coordinate = one * dual.gain * q / (width - least) + 1
        asked = a * coordinate + 1
        self._inside(max(coordinate, asked, width * (b * asked + 1)), "a score")
        distance = (width - min(inner, default=width)) // 2
        twice = 2 if numbers.rounding == "down" else 1
        first, third = b * (a + (a.denominator > 1)), b.denominator > 1
        apart, score = distance * (twice * first + third), one * a * b * dual.gain
        # Scores are whole numbers, and on a set their exact parts are equal.
        spread, behind = floor(apart), ceil(score * (1 - Fraction(most, width - least)) - apart)
        require(behind >= 0, "positions outside of a set may have the best score")
        if head.scoring == "softmax":
            # 3. Differences of scores beyond the range are cut off.
            top, low, high = one, *(numbers.power(-min(each, numbers.limit)) for each in (spread, behind))
        else:
            slack = width * (first + third)
            top, best = ceil(score - slack), floor(score + slack)
            low, high = top - spread, max(0, best - behind)
            self._inside(Fraction(q * best + others * high), "a sum of scores")
        require(low > 0, "a position of a set may have no weight")
        rest, base = others * high, top + (q - 1) * low
        each, halves = numbers.quotient(one * high, high + base), others if numbers.rounding == "nearest" else 0
        together = (2 * one * rest + halves * (rest + base)) // (2 * (rest + base))
        return Weights(
            numbers.quotient(one * low, low + (q - 1) * top + rest),
            numbers.quotient(one * top, base),
            min(others * each, together),
        )

    def _compared(self, head: Head) -> tuple[Dual, Fraction, Fraction]:
        """The embedding of sets, and the factors a and b with which queries and keys are read."""
        spec = self.spec
        asked, a = self._factor(head.query)
        held, b = self._factor(head.key)
        dual, key = self._sole(asked[0]), self._sole(held[0])
        if not isinstance(dual, Dual) or not isinstance(key, Part):
            raise RefusedError("queries do not read sets, or keys not positions")
        alone = all(self._sole(each) is dual for each in asked) and all(self._sole(each) is key for each in held)
        places = [each - dual.start for each in asked]
        require(alone and places == [each - key.start for each in held], "queries and keys read different coordinates")
        require(sorted(places) == list(range(dual.width)), "queries do not read each coordinate of a set once")
        require(dual.columns == (1, 1 + spec.named) and dual.first == 1, "sets are not those that cells name")
        require(dual.gain > 0, "the sets' factor is not positive")
        numbered = not key.by_token and key.indices is None and key.positions[0] == 0
        there = key.at_token(0) is not None and key.positions[1] >= spec.positions
        require(numbered and there and key.signs == dual.signs, "keys are not the sign vectors of their positions")
        return dual, a, b

    def _factor(self, matrix: Matrix) -> tuple[list[int], Fraction]:
        """The coordinates that a matrix reads, one in each row, and the positive factor that they have in common."""
        found = {row[0][1] if len(row) == 1 else 0 for row in matrix.rows}
        require(len(found) == 1 and min(found) > 0, "queries or keys are not single coordinates times one factor")
        return [row[0][0] for row in matrix.rows], Fraction(min(found), self.numbers.scale)

    def _inner_products(self, dual: Dual) -> list[int]:
        """⟨u_0, u_w⟩ for the words w below the power of two from N on, without 0; of equal ones no more than q."""
        bits = (self.spec.positions - 1).bit_length()
        self.numbers.work.spend((1 + dual.width // 64) << bits)
        found, word = Counter[int](), 0
        for number in range(1, 1 << bits):
            # A Gray code: each word differs from the last one in one bit, and none comes twice.
            word ^= dual.signs.words[(number & -number).bit_length() - 1]
            found[dual.width - 2 * word.bit_count()] += 1
        return sorted(each for each, count in found.items() for _ in range(min(count, self.spec.named)))

    # -- values ----------------------------------------------------------------------------------------------------

    def _line(self, row: Row, before: Mapping[int, Line]) -> Line:
        """A row of a matrix, applied to such numbers."""
        numbers, slopes = self.numbers, dict[int, Fraction]()
        numbers.work.spend(FRACTION_STEPS * (1 + len(row)) * (2 + self.spec.dimension))
        error = reach = Fraction(0)
        for column, weight in row:
            factor, line, rounded = Fraction(weight, numbers.scale), before[column], weight % numbers.scale != 0
            for axis, slope in line.slopes.items():
                slopes[axis] = slopes.get(axis, Fraction(0)) + factor * slope
            error += abs(factor) * line.error + rounded
            reach += abs(factor) * line.reach + rounded
        self._inside(reach, "a value or an output")
        return Line(slopes, error, reach)

    def _averages(self, head: Head, weights: Weights) -> dict[int, Line]:
        """Entries of the average that are written, as lines in the vectors times their weights."""
        one, found = self.numbers.scale, dict[int, Line]()
        # The share of 1 that all weights have together; rounded up they may have more.
        share = Fraction(self.spec.named * weights.most + weights.outside, one)
        for entry in sorted({entry for place in self.live for entry, _ in head.output.rows[place]}):
            row = head.value.rows[entry]
            line = self._line(row, {column: self._embedded(column) for column, _ in row})
            whole = line.error == 0 and all(slope % one == 0 for slope in line.slopes.values())
            rounded = 0 if whole else self.spec.positions
            slopes = {axis: slope / one for axis, slope in line.slopes.items()}
            found[entry] = Line(slopes, share * line.error + rounded, share * line.reach + rounded)
            self._inside(found[entry].reach, "an average")
        return found

    def _embedded(self, column: int) -> Line:
        """What a cell's vector adds to the stream at a coordinate into which nothing else writes."""
        spec, one, feature = self.spec, self.numbers.scale, self._sole(column)
        if not isinstance(feature, Feature):
            raise RefusedError("values do not come from cells")
        row, first = feature.rows[column - feature.start], 1 + spec.named
        require(all(place >= first for place, _ in row), "values depend on the cell's number or its set")
        slopes = {place - first: Fraction(one * weight, feature.denominator) for place, weight in row}
        error = Fraction(any(slope.denominator > 1 for slope in slopes.values()))
        reach = spec.norm * sum(map(abs, slopes.values())) + error
        self._inside(reach, "an embedded value")
        return Line(slopes, error, reach)
