"""The rule for the nearest point: a first layer that compares points by their coordinates, and recall's second layer.

A cell of the input holds a point x, or a label, which is one of finitely many. Of a point only the promise is known:
|x|² ≤ n, and that a query's product with the nearest point x_* exceeds its product with any other earlier point by
a > 0 or more. Let C be the coordinates of the stream into which some feature writes numbers of points.

RULE (told apart by kind). Replace cells by tokens: 0 for a point, 1 + y for the label y. Outside of C the embedding is
that of the cells, because a point adds 0 there. In C its row at token 0 does not exist; whoever asks for it is refused.
So all other rules apply to this network, and what they show is independent of the points.

RULE (products). A head of the first layer has a strict mask. Let every coordinate q_i of a query read either no
coordinate of C, and be the same for all queries, or coordinates of C alone, into which nothing but one feature F_c
writes; the same of keys k_i. Write S for one, D for the denominator of the features that a side reads, and everything
as raw numbers. The embedded e_c is S · F_c · x / D rounded; so it is off by 1 at most, and by 0 if D divides S. It is
at most S · |F_c| · √n / D + 1. A product round(Q_ic · e_c / S) is off by 1 at most, and by 0 if S divides Q_ic or e_c;
the latter if D = 1. Hence

    |q_i - P_i · x / D| ≤ α_i / S,    P_i = Σ_c Q_ic F_c,    α_i = Σ_c |Q_ic| [D does not divide S] + S [inexact],

and likewise |k_i - R_i · x' / D'| ≤ β_i / S. The product round(q_i · k_i / S) is exact if q_i or k_i is a multiple of
S for certain, and off by 1 at most otherwise. A constant that meets a coordinate of C must be 0. With M = Σ_i P_iᵀ R_i,
which must be μ times the identity with μ ≥ 0, and by Cauchy and Schwarz, a score is

    μ ⟨x, x'⟩ / (S D D') + (the constants' products) ± ε,    inexact products alone adding 1 each to
    ε = (‖α‖ ‖R‖ √n / (S D') + ‖β‖ ‖P‖ √n / (S D) + Σ α_i β_i / S²) / S,

where ‖P‖² is at most (largest sum of a row) · (largest sum of a column) of absolute values. Nothing is saturated: the
bounds of every coordinate, product and sum must stay in the range. So the score of the nearest point exceeds that of
every other earlier point by μ a / (S D D') - 2ε or more, and is -μ n / (S D D') + constants - ε or more, while scores
of labels have an upper bound, because their keys are known.

RULE (groups). Weights depend on differences of scores alone. So the rule of ``content`` applies to scores minus that of
the nearest point: a known key with 0, and two groups: other points, at most the number of all points minus 2, and
labels, at most that number minus 1. This bounds the query's vector after the first layer, as a function of which point
is nearest. The rule of ``fetching`` does the rest.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction
from functools import partial
from math import ceil, floor, isqrt
from typing import TYPE_CHECKING

from separatrix_kernel.attention import written
from separatrix_kernel.boxes import Box, exactly
from separatrix_kernel.content import Group, Grouped
from separatrix_kernel.embedding import Projection, View
from separatrix_kernel.fetching import Fetching
from separatrix_kernel.network import Attention, Feature, Head, Matrix, Part, Row, Transformer
from separatrix_kernel.numbers import Numbers
from separatrix_kernel.points import Nearest
from separatrix_kernel.reading import RefusedError, require
from separatrix_kernel.specification import Inputs

if TYPE_CHECKING:
    from separatrix_kernel.layers import Layers

MOST_POINTS = 1 << 10


def root(value: int) -> int:
    """The least whole number whose square is at least a value."""
    return isqrt(value - 1) + 1 if value else 0


def unknown(number: int) -> list[int]:
    """The row of a coordinate that depends on a point."""
    del number
    raise RefusedError("a coordinate that depends on points is read otherwise than by comparing them")


def of_points(network: Transformer) -> set[int]:
    """C: the coordinates that depend on numbers of points."""
    rows = ((each.start + place, row) for each in network.features for place, row in enumerate(each.rows))
    return {place for place, row in rows if any(column >= 2 for column, _ in row)}


def told_apart(network: Transformer, spec: Nearest, numbers: Numbers) -> tuple[Transformer, Inputs]:
    """The network on tokens in the place of cells, and these."""
    require(not network.prefix, "a feed-forward before the first attention changes points")
    tokens, everywhere = 1 + len(spec.labels), (0, network.positions)
    parts: list[Part] = []
    for part in network.parts:
        require(not part.by_token, "cells of several numbers have no tokens by which rows could be named")
        if part.at_token(0) is not None:
            parts.append(replace(part, tokens=(0, tokens)))
    for feature in network.features:
        row = partial(label_row, feature, numbers)
        parts.append(Part(feature.start, len(feature.rows), True, (1, tokens), everywhere, None, row))
    parts += [Part(each, 1, True, (0, 1), everywhere, None, unknown) for each in sorted(of_points(network))]
    held = [range(1, tokens) if position % 2 else range(1) for position in range(network.positions)]
    return replace(network, parts=tuple(parts), features=()), Inputs(held, [])


def label_row(feature: Feature, numbers: Numbers, label: int) -> list[int]:
    """What a feature adds for a label's cell."""
    return feature.of([1, label, *[0] * (feature.columns - 2)], numbers)


class Side:
    """The queries or the keys of some points. For a row i that reads C: P_i, α_i, and a bound of what it gives."""

    def __init__(
        self, matrix: Matrix, network: Transformer, told: Transformer, spec: Nearest, numbers: Numbers
    ) -> None:
        self.network, self.spec, self.numbers = network, spec, numbers
        self.matrix, points = matrix, of_points(network)
        self.linear: dict[int, Counter[int]] = {}
        self.error: dict[int, int] = {}
        self.reach: dict[int, int] = {}
        self.whole: dict[int, bool] = {}
        self.denominator = 0
        plain = list[Row]()
        for number, row in enumerate(matrix.rows):
            mixed = {column in points for column, _ in row}
            require(len(mixed) <= 1, "a query's or key's coordinate mixes points with something else")
            plain.append(() if True in mixed else row)
            if True in mixed:
                self._read(number, row)
        self.denominator = self.denominator or 1
        self.plain = Projection(told, Matrix(tuple(plain), matrix.columns), numbers)

    def _read(self, number: int, row: Row) -> None:
        numbers, one = self.numbers, self.numbers.scale
        linear, error, reach, whole = Counter[int](), 0, 0, True
        for column, weight in row:
            feature, own = self._source(column)
            numbers.work.spend(1 + len(own))
            d = self.denominator = feature.denominator
            for place, each in own:
                linear[place] += weight * each
            size = sum(each * each for _, each in own)
            most = root(one * one * size * self.spec.norms[1]) // d + 2
            require(most <= numbers.limit, "a point's coordinate may leave the range")
            exact = weight % one == 0 or d == 1
            error += abs(weight) * (one % d != 0) + one * (not exact)
            reach += abs(weight) * most // one + 1
            whole = whole and d == 1 and weight % one == 0
        require(reach <= numbers.limit, "a query's or key's coordinate may leave the range")
        self.linear[number], self.error[number], self.reach[number], self.whole[number] = linear, error, reach, whole

    def _source(self, column: int) -> tuple[Feature, Row]:
        """The one feature that writes to a coordinate of C, and its numbers of points."""
        self.numbers.work.spend(len(self.network.features) + len(self.network.parts))
        found = [each for each in self.network.features if 0 <= column - each.start < len(each.rows)]
        others = [part for part in self.network.parts if 0 <= column - part.start < part.width]
        require(len(found) == 1 and not others, "several parts of the embedding write where points are compared")
        alike = self.denominator in (0, found[0].denominator)
        require(alike, "points are compared in different units")
        return found[0], tuple((c, w) for c, w in found[0].rows[column - found[0].start] if c >= 2)

    def constants(self, positions: range) -> list[int]:
        """The rows that do not read C, at points at these positions; those that do are 0 here."""
        looks = {self.plain.position(position) for position in positions}
        found = {tuple(self.plain.project(each, self.plain.token(0))) for each in looks}
        require(len(found) == 1, "queries or keys that are to be compared depend on their positions")
        return list(found.pop())

    def largest(self, rows: Iterable[int]) -> int:
        """A bound of ‖P‖² for some rows."""
        columns, widest = Counter[int](), 0
        for row in rows:
            sizes = {place: abs(each) for place, each in self.linear[row].items()}
            columns.update(sizes)
            widest = max(widest, sum(sizes.values()))
        return widest * max(columns.values(), default=0)


def behind(head: Head, network: Transformer, told: Transformer, spec: Nearest, numbers: Numbers) -> tuple[int, int]:
    """By how much the score of another point, and that of a label, exceeds the nearest point's at most."""
    require(head.mask == "strict", "a query sees itself or what comes after it")
    queries, keys = (Side(matrix, network, told, spec, numbers) for matrix in (head.query, head.key))
    asked = queries.constants(range(2 * spec.asking.start, network.positions, 2))
    held = keys.constants(range(0, network.positions - 2, 2))
    one, limit, n = numbers.scale, numbers.limit, spec.norms[1]
    both = sorted(queries.linear.keys() & keys.linear.keys())
    alone = all(held[row] == 0 for row in queries.linear.keys() - keys.linear.keys())
    alone = alone and all(asked[row] == 0 for row in keys.linear.keys() - queries.linear.keys())
    require(alone, "points are multiplied by constants")
    products, inexact = Counter[tuple[int, int]](), 0
    for row in both:
        left, right = queries.linear[row], keys.linear[row]
        numbers.work.spend(len(left) * len(right))
        for a, x in left.items():
            for b, y in right.items():
                products[a, b] += x * y
        inexact += not (queries.whole[row] or keys.whole[row])
        require(queries.reach[row] * keys.reach[row] // one + 1 <= limit, "a product of points may leave the range")
    factor = products[2, 2]
    places = range(2, network.cell_size)
    even = all(products[place, place] == factor for place in places) and factor >= 0
    require(even and not any(each for (a, b), each in products.items() if a != b), "a score is no product of points")
    alpha, beta = ([side.error[row] for row in both] for side in (queries, keys))
    error = Fraction(root(sum(a * a for a in alpha) * keys.largest(both) * n), one * keys.denominator)
    error += Fraction(root(sum(b * b for b in beta) * queries.largest(both) * n), one * queries.denominator)
    error = (error + Fraction(sum(a * b for a, b in zip(alpha, beta, strict=True)), one * one)) / one + inexact
    unit = Fraction(factor, one * queries.denominator * keys.denominator)
    constant = sum(numbers.product(a, b) for a, b in zip(asked, held, strict=True))
    require(abs(constant) + unit * n + error <= limit, "a score may leave the range")
    least = ceil(constant - unit * n - error)
    return floor(2 * error - unit * spec.ahead), labelled(head, told, queries, asked, numbers, spec) - least


def labelled(head: Head, told: Transformer, queries: Side, asked: list[int], numbers: Numbers, spec: Nearest) -> int:
    """The largest score that a label's key may have."""
    view, found = Projection(told, head.key, numbers), -numbers.limit
    for look in {view.position(position) for position in range(1, told.positions, 2)}:
        for label in range(1, 1 + len(spec.labels)):
            key = view.project(look, view.token(label))
            ends = [queries.reach.get(row, 0) for row in range(len(key))]
            pairs = zip(key, asked, ends, strict=True)
            tops = (numbers.product_range(k, a - end, a + end)[1] for k, a, end in pairs)
            found = max(found, numbers.saturate(sum(tops)))
    return found


class NearestHead(Grouped):
    """One head of the first layer: what it averages where a point is nearest."""

    def __init__(
        self, head: Head, network: Transformer, told: Transformer, inputs: Inputs, spec: Nearest, numbers: Numbers
    ) -> None:
        super().__init__(told, head.query, head.scoring, False, numbers)
        self.view = Projection(told, head.value, numbers)
        for first in (0, 1):
            kinds = {(self.view.position(p), inputs.tokens[p]) for p in range(first, network.positions - 1, 2)}
            self.room(sum(len(tokens) for _, tokens in kinds), head.value)
            values = [self.view.project(place, sign) for place, held in kinds for sign in self.view.signs(held)]
            self.values.append(self.ranges(values))
        point, label = behind(head, network, told, spec, numbers)
        others: list[Group] = [(spec.points - 2, None, point, 0)] if spec.points > 2 else []
        nearest = 0
        self.groups: tuple[Group, ...] = ((1, nearest, nearest, -1), *others, (spec.points - 1, None, label, 1))

    def average(self, pair: int) -> Box:
        """The bounds of the average where this point is nearest."""
        value = self.view.project(self.view.position(2 * pair), self.view.token(0))
        return self.bounded(self.groups, [self.ranges([value])])


class NearestPoint(Fetching):
    """The rule for the nearest point."""

    def __init__(self, layers: "Layers") -> None:
        spec = layers.claim.answers
        assert isinstance(spec, Nearest)
        require(spec.points <= MOST_POINTS, f"there are more than {MOST_POINTS} points, too many to check")
        network, numbers = layers.network, layers.numbers
        layers.network, layers.inputs = told_apart(network, spec, numbers)
        super().__init__(layers, range(1, 1 + len(spec.labels)))
        self.spec, told, live, first = spec, layers.network, layers.live[1], network.layers[0]
        assert isinstance(first, Attention)
        # ``Fetching`` refuses a first layer without residual.
        self.own_view = View(told, live, numbers)
        self.compared: list[tuple[NearestHead, list[Row]]] = []
        for head in first.heads:
            rows = [head.output.rows[place] for place in live]
            # A head that writes nothing live adds 0 to every live coordinate.
            if any(rows):
                self.compared.append((NearestHead(head, network, told, layers.inputs, spec, numbers), rows))

    def check(self) -> None:
        """Refuse unless every query is answered by the label of the nearest point, whichever it is."""
        alike: dict[tuple[int, ...], list[int]] = {}
        for query in self.spec.asking:
            own = self.own_view.vector(self.own_view.position(2 * query), self.own_view.token(0))
            alike.setdefault(tuple(own), []).append(query)
        for pair in range(self.spec.points - 1):
            averages = [(rows, head.average(pair)) for head, rows in self.compared]
            for own, queries in alike.items():
                box = written(tuple(map(exactly, own)), averages, self.numbers)
                box = self.layers.through(box, 1, self.layers.second)
                for query in queries:
                    if pair < query:
                        self.fetch(2 * query, pair, box)
            self.forget()
