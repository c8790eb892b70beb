"""Networks run by the definition, one number at a time: Python's integers and fractions, no numpy, no fast path.

It shares no arithmetic with the package, so that what the fuzzer holds a verdict to is not what made the verdict. Fixed
point is BHBK24 B.2 with the softmax of Appendix D; over the reals exponentials are decimals of eighty digits, and a
number that they do not tell apart raises :class:`OpenError`.
"""

from collections.abc import Callable, Sequence
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from functools import cache
from typing import Any

from separatrix.arithmetic import Arithmetic, Balls, FixedPoint
from separatrix.networks import (
    AnyNetwork,
    Attention,
    ExactMatrix,
    FeedForward,
    GraphAttention,
    Network,
    RecurrentNetwork,
    SignRows,
    ThirdOrderAttention,
)

Vector = list[Any]
DIGITS = 80
NEAR = Fraction(1, 10**60)
"""What decimals are trusted to tell apart."""


class OpenError(Exception):
    """Two numbers lie too near to each other."""


@cache
def power_of_e(numerator: int, denominator: int) -> Fraction:
    """e^(numerator/denominator) to about eighty digits."""
    with localcontext(Context(prec=DIGITS + 20, Emin=-(10**9), Emax=10**9)):
        return Fraction((Decimal(numerator) / Decimal(denominator)).exp())


class Fixed:
    """Raw integers v for v / scale; every product rounded and cut off, sums exact and cut off once."""

    def __init__(self, given: FixedPoint) -> None:
        self.scale, self.nearest = given.length**given.exponent, given.rounding == "nearest"
        self.limit = self.scale**2
        assert given.softmax_rule == "appendix-d"

    def rounded(self, value: Fraction) -> int:
        """The whole number below, or the nearest one with ties to even."""
        return round(value) if self.nearest else value.numerator // value.denominator

    def cut(self, value: int) -> int:
        """The number, or the end of the range."""
        return max(-self.limit, min(self.limit, value))

    def encode(self, value: Fraction) -> int:
        """A number in this arithmetic."""
        return self.cut(self.rounded(value * self.scale))

    def add(self, left: int, right: int) -> int:
        """The sum."""
        return self.cut(left + right)

    def times(self, left: int, right: int) -> int:
        """The product."""
        return self.cut(self.rounded(Fraction(left * right, self.scale)))

    def total(self, values: Sequence[int]) -> int:
        """The sum of many."""
        return self.cut(sum(values))

    def over(self, left: int, right: int) -> int:
        """The quotient."""
        return self.cut(self.rounded(Fraction(left * self.scale, right)))

    def softmax(self, scores: Vector) -> Vector:
        """Weights that add up to one, but for rounding."""
        behind = [self.cut(each - max(scores)) for each in scores]
        powers = [self.rounded(power_of_e(each, self.scale) * self.scale) if each else self.scale for each in behind]
        return [self.rounded(Fraction(each * self.scale, sum(powers))) for each in powers]

    def plain(self, value: int) -> Fraction:
        """The number that is meant."""
        return Fraction(value, self.scale)


class Reals:
    """Fractions, exact but for exponentials."""

    def encode(self, value: Fraction) -> Fraction:
        """A number in this arithmetic."""
        return value

    def add(self, left: Fraction, right: Fraction) -> Fraction:
        """The sum."""
        return left + right

    def times(self, left: Fraction, right: Fraction) -> Fraction:
        """The product."""
        return left * right

    def total(self, values: Sequence[Fraction]) -> Fraction:
        """The sum of many."""
        return sum(values, Fraction(0))

    def over(self, left: Fraction, right: Fraction) -> Fraction:
        """The quotient."""
        return left / right

    def softmax(self, scores: Vector) -> Vector:
        """Weights that add up to one, but for rounding."""
        if len(set(scores)) == 1:
            return [Fraction(1, len(scores))] * len(scores)
        behind = [max(each - max(scores), Fraction(-400)) for each in scores]
        powers = [power_of_e(each.numerator, each.denominator) if each else Fraction(1) for each in behind]
        return [(each / sum(powers)).limit_denominator(10**75) for each in powers]

    def plain(self, value: Fraction) -> Fraction:
        """The number that is meant."""
        return value


def numbers_of(arithmetic: Arithmetic) -> Fixed | Reals:
    """The slow form of an arithmetic."""
    if isinstance(arithmetic, FixedPoint):
        return Fixed(arithmetic)
    assert isinstance(arithmetic, Balls)
    return Reals()


class Slow:
    """One network in one arithmetic."""

    def __init__(self, network: AnyNetwork, arithmetic: Arithmetic) -> None:
        self.network = network
        # Integers or fractions, as the arithmetic has them.
        self.numbers: Any = numbers_of(arithmetic)
        self._known: dict[int, list[Vector]] = {}

    def entries(self, matrix: ExactMatrix) -> list[Vector]:
        """The rows of a matrix in the arithmetic."""
        if id(matrix) not in self._known:
            rows = matrix.numerators.tolist()
            self._known[id(matrix)] = [
                [self.numbers.encode(Fraction(each, matrix.denominator)) for each in row] for row in rows
            ]
        return self._known[id(matrix)]

    def apply(self, matrix: ExactMatrix, vector: Vector) -> Vector:
        """W x."""
        return [self.product(row, vector) for row in self.entries(matrix)]

    def product(self, left: Vector, right: Vector) -> Any:
        """⟨x, y⟩."""
        return self.numbers.total([self.numbers.times(a, b) for a, b in zip(left, right, strict=True)])

    def plus(self, left: Vector, right: Vector) -> Vector:
        """x + y."""
        return [self.numbers.add(a, b) for a, b in zip(left, right, strict=True)]

    def affine(self, matrix: ExactMatrix, bias: ExactMatrix, vector: Vector) -> Vector:
        """W x + b."""
        return self.plus(self.apply(matrix, vector), [row[0] for row in self.entries(bias)])

    def answers(self, row: Sequence[Any]) -> list[Any]:
        """The answers to one input, at the positions that are read."""
        network = self.network
        if isinstance(network, RecurrentNetwork):
            stream = self.states(network, row)
        else:
            stream = [self.embedded(network, cell, place) for place, cell in enumerate(row)]
            for layer in network.layers:
                stream = self.layer(layer, stream, row)
        if network.readout.at == "last":
            stream = stream[-1:]
        readout = network.readout
        return [self.decoded(self.affine(readout.matrix, readout.bias, each)) for each in stream]

    def states(self, network: RecurrentNetwork, row: Sequence[int]) -> list[Vector]:
        """The state after each token."""
        state, found = [each[0] for each in self.entries(network.initial)], list[Vector]()
        for token in row:
            state = state + self.entries(network.embedding)[token]
            for each in network.cell:
                state = [max(one, 0) for one in self.affine(each.weights, each.bias, state)]
            found.append(state)
        return found

    def embedded(self, network: Network, cell: Any, place: int) -> Vector:
        """What is at a position before the first layer."""
        token = 0 if isinstance(cell, list) else cell
        stream = [self.numbers.encode(Fraction(0))] * network.slots.width
        starts = {name: sum(w for _, w in network.slots.parts[:at]) for at, (name, _) in enumerate(network.slots.parts)}

        def write(slot: str, values: Vector) -> None:
            for offset, value in enumerate(values):
                stream[starts[slot] + offset] = self.numbers.add(stream[starts[slot] + offset], value)

        for part in network.embedding:
            if part.tokens[0] <= token < part.tokens[1] and part.positions[0] <= place < part.positions[1]:
                number = token - part.tokens[0] if part.source == "token" else place - part.positions[0]
                number = number if part.indices is None else int(part.indices[number])
                if isinstance(part.rule, SignRows):
                    rows = part.rule.generator.tolist()
                    bits = [
                        sum(r[c] for b, r in enumerate(rows) if number >> b & 1) % 2 for c in range(part.rule.width)
                    ]
                    write(part.slot, [self.numbers.encode(Fraction(1 - 2 * bit)) for bit in bits])
                else:
                    write(part.slot, self.entries(part.rule.table)[number])
        for part in network.feature_parts:
            rows = part.matrix.numerators.tolist()
            sums = [sum(w * x for w, x in zip(each, cell, strict=True)) for each in rows]
            write(part.slot, [self.numbers.encode(Fraction(each, part.matrix.denominator)) for each in sums])
        assert not network.dual_parts, "dual certificates are not run here"
        return stream

    def layer(self, layer: Any, stream: list[Vector], row: Sequence[Any]) -> list[Vector]:
        """The stream after a layer."""
        zero = [self.numbers.encode(Fraction(0))] * len(stream[0])
        if isinstance(layer, FeedForward):
            written = [
                self.affine(
                    layer.outer,
                    layer.outer_bias,
                    [max(each, 0) for each in self.affine(layer.inner, layer.inner_bias, x)],
                )
                for x in stream
            ]
            return [self.plus(x, each) for x, each in zip(stream, written, strict=True)] if layer.residual else written
        result = [list(each) for each in stream] if layer.residual else [zero] * len(stream)
        for head in layer.heads:
            entries, scored = self.head(layer, head, stream, row)
            for query in range(len(stream)):
                scores, seen = scored(query)
                weights = self.weights(head.scoring, scores, seen)
                columns = zip(*entries, strict=True)
                average = [self.product(weights, list(column)) for column in columns]
                result[query] = self.plus(result[query], self.apply(head.output, average))
        return result

    def head(
        self, layer: Any, head: Any, stream: list[Vector], row: Sequence[Any]
    ) -> tuple[list[Vector], Callable[[int], tuple[Vector, list[bool]]]]:
        """The values of all entries, and the scores and visible entries of each query."""
        places = range(len(stream))
        if isinstance(layer, Attention):
            keys, queries = ([self.apply(each, x) for x in stream] for each in (head.key, head.query))

            def plain(query: int) -> tuple[Vector, list[bool]]:
                last = {"none": len(stream), "causal": query + 1, "strict": query}[head.mask]
                return [self.product(queries[query], key) for key in keys], [place < last for place in places]

            return [self.apply(head.value, x) for x in stream], plain
        first, second = ([self.apply(each, x) for x in stream] for each in (head.first_value, head.second_value))
        pairs = [(j, k) for j in places for k in places]
        values = [[self.numbers.times(a, b) for a, b in zip(first[j], second[k], strict=True)] for j, k in pairs]
        if isinstance(layer, ThirdOrderAttention):
            one, two = ([self.apply(each, x) for x in stream] for each in (head.first_key, head.second_key))
            keys = [[self.numbers.times(a, b) for a, b in zip(one[j], two[k], strict=True)] for j, k in pairs]
            queries = [self.apply(head.query, x) for x in stream]
            return values, lambda query: ([self.product(queries[query], key) for key in keys], [True] * len(keys))
        assert isinstance(layer, GraphAttention)
        table, dummy = self.entries(head.scores)[0], self.entries(head.dummy)[0][0]

        def on_graph(i: int) -> tuple[Vector, list[bool]]:
            scores = [table[4 * row[i][j] + 2 * row[j][k] + row[k][i]] for j, k in pairs]
            return [*scores, dummy], [True] * (len(pairs) + 1)

        return [*values, [self.numbers.encode(Fraction(0))] * len(values[0])], on_graph

    def weights(self, scoring: str, scores: Vector, seen: list[bool]) -> Vector:
        """Attention weights of all entries, 0 where nothing is seen."""
        numbers, nothing = self.numbers, self.numbers.encode(Fraction(0))
        one = numbers.encode(Fraction(1))
        kept = [score for score, there in zip(scores, seen, strict=True) if there]
        if not kept:
            return [nothing] * len(scores)
        if scoring == "linear":
            found = kept
        elif scoring == "relu":
            positive = [max(each, nothing) for each in kept]
            total = numbers.total(positive)
            found = [numbers.over(each, total) for each in positive] if total else [nothing] * len(kept)
        elif scoring == "softmax":
            found = numbers.softmax(kept)
        else:
            best = [each == max(kept) for each in kept]
            if scoring == "leftmost":
                best = [place == best.index(True) for place in range(len(best))]
            ones = [one if each else nothing for each in best]
            found = [numbers.over(each, numbers.total(ones)) for each in ones]
        rest = iter(found)
        return [next(rest) if there else nothing for there in seen]

    def decoded(self, raw: Vector) -> Any:
        """The answer in a readout."""
        decoding, values = self.network.readout.decoding, [self.numbers.plain(each) for each in raw]
        if isinstance(self.numbers, Reals) and decoding != "argmax":
            for each in values:
                edges = {"bits": (Fraction(1, 2),), "exact": (Fraction(0), Fraction(1))}.get(decoding, ())
                if any(0 < abs(each - edge) < NEAR for edge in edges):
                    raise OpenError
        if decoding == "round":
            return [(each + Fraction(1, 2)).__floor__() for each in values]
        if decoding == "argmax":
            return values.index(max(values))
        bits = sum((each > Fraction(1, 2)) << place for place, each in enumerate(reversed(values)))
        if decoding == "bits":
            return bits
        assert decoding == "exact"
        return bits if all(each in (0, 1) for each in values) else -1


def right_on(network: AnyNetwork, arithmetic: Arithmetic, row: Sequence[Any], solved: Sequence[Any]) -> bool:
    """Whether an input is answered as the task's own slow solution does."""
    given = Slow(network, arithmetic).answers(row)
    wanted = [list(each) if isinstance(each, tuple) else each for each in solved]
    every = given if network.readout.at == "every" else [None] * (len(wanted) - 1) + given
    return all(one == asked for one, asked in zip(every, wanted, strict=True) if asked is not None)
