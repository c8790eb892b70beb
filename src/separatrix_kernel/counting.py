"""A second attention layer that adds up: its average is a sum of local functions, and the answer a function of a count.

RULE (count). Let every vector that the layer reads be one point for each choice of tokens at a few places, let every
key and the last position's query be the same for all choices. Then the weights w_j of the last position are the same on
every input, and a coordinate of a head's average is the saturation of F(x) = Σ_j round(w_j · v_j(x)), a sum of
functions of the tokens at a few places each. Let K(x) be how many of the specification's conditions hold. If
F = a·K + b for all x, the rest of the network sees a·K + b and nothing else of x (its own vector, where the layer has a
residual, is taken as a box that holds all of them). So it is enough to run the rest on every value that K may take.

F = a·K + b is an identity of functions. Each function of the tokens at distinct places is written as a sum of products
of indicators [token at p is the i-th of p], i ≥ 1: start from its table, and along each axis subtract entry 0 from the
others. If all coefficients of F - a·K - b cancel, it is 0 everywhere. One product of K gives a, the constants give b.
"""

from collections import Counter
from collections.abc import Callable
from functools import lru_cache
from itertools import product
from typing import TypeAlias, cast

from separatrix_kernel.boxes import Box
from separatrix_kernel.evaluation import score
from separatrix_kernel.network import Attention, Head, Matrix, Row
from separatrix_kernel.numbers import Numbers
from separatrix_kernel.reading import require
from separatrix_kernel.specification import Count, Inputs

Local: TypeAlias = tuple[tuple[int, ...], list[Box]]
"""Distinct places, and one box for each choice of tokens there, the last place's fastest."""
Line: TypeAlias = tuple[int, int]
"""(a, b) of a·K + b."""


@lru_cache(maxsize=1 << 12)
def coefficients(table: tuple[int, ...], sizes: tuple[int, ...]) -> tuple[tuple[tuple[tuple[int, int], ...], int], ...]:
    """The products ((axis, i), …) of indicators with i ≥ 1, and their coefficients, of a table's function."""
    found = list(table)
    stride = len(table)
    for size in sizes:
        stride //= size
        for entry in range(len(found)):
            if entry // stride % size:
                found[entry] -= found[entry - entry // stride % size * stride]
    choices = product(*map(range, sizes))
    named = zip(choices, found, strict=True)
    return tuple((tuple((axis, i) for axis, i in enumerate(each) if i), value) for each, value in named if value)


class Polynomial:
    """A sum of functions of tokens, as the coefficients of products of indicators [token at place is its i-th]."""

    def __init__(self, inputs: Inputs) -> None:
        self.inputs = inputs
        self.terms: dict[tuple[tuple[int, int], ...], int] = {}

    def add(self, places: tuple[int, ...], table: tuple[int, ...]) -> None:
        """Add a function of the tokens at distinct places; the last place's token is the fastest in its table."""
        sizes = tuple([len(self.inputs.tokens[place]) for place in places])
        for axes, coefficient in coefficients(table, sizes):
            name = tuple(sorted((places[axis], i) for axis, i in axes))
            self.terms[name] = self.terms.get(name, 0) + coefficient

    def line_of(self, count: "Polynomial") -> Line | None:
        """Whole numbers (a, b) with this = a · count + b everywhere; None where the coefficients show none."""
        slope = 0
        for name, value in count.terms.items():
            if name and value:
                slope = self.terms.get(name, 0) // value
                break
        names = self.terms.keys() | count.terms.keys()
        left = {name: self.terms.get(name, 0) - slope * count.terms.get(name, 0) for name in names}
        constant = left.pop((), 0)
        return None if any(left.values()) else (slope, constant)


class CountLayer:
    """The rule for one layer, on the local functions of all positions."""

    def __init__(self, layer: Attention, live: list[int], after: list[int], spec: Count, numbers: Numbers) -> None:
        self.layer, self.spec, self.numbers, self.after = layer, spec, numbers, after
        place = {coordinate: number for number, coordinate in enumerate(live)}

        def on_live(matrix: Matrix) -> Matrix:
            rows = (tuple((place[c], w) for c, w in row) for row in matrix.rows)
            return Matrix(tuple(rows), len(live))

        self.own = [place[each] for each in after] if layer.residual else []
        self.count = Polynomial(spec.inputs)
        for places, table in spec.conditions:
            self.count.add(places, table)
        self.heads: list[tuple[Head, Matrix, Matrix, Matrix, list[Row]]] = []
        for head in layer.heads:
            rows = [head.output.rows[each] for each in after]
            used = {entry for row in rows for entry, _ in row}
            if used:
                # Entries of the value that no live coordinate uses do not matter; all columns of the others are live.
                value = tuple(row if entry in used else () for entry, row in enumerate(head.value.rows))
                parts = on_live(head.query), on_live(head.key), on_live(Matrix(value, head.value.columns))
                self.heads.append((head, *parts, rows))

    def check(self, local: list[Local], rest: Callable[[Box], int | None]) -> None:
        """Refuse unless ``rest`` of the network answers rightly whatever the count is."""
        lines = [self._lines(parts, local, f"the counting layer, head {n}") for n, parts in enumerate(self.heads)]
        _, boxes = local[-1]
        base = [(min(box[each][0] for box in boxes), max(box[each][1] for box in boxes)) for each in self.own]
        tables = [table for _, table in self.spec.conditions]
        for count in range(sum(map(min, tables)), sum(map(max, tables)) + 1):
            answer, right = rest(self._after(base, lines, count)), self.spec.of_count(count)
            require(answer == right, f"inputs on which {count} conditions hold are answered {answer}, not {right}")

    def _lines(
        self, parts: tuple[Head, Matrix, Matrix, Matrix, list[Row]], local: list[Local], what: str
    ) -> list[Line]:
        """(a, b) of each coordinate of a head's average."""
        head, query, key, value, _ = parts
        numbers = self.numbers
        known: dict[tuple[int, Box], tuple[int, ...]] = {}

        def point(which: int, matrix: Matrix, box: Box) -> tuple[int, ...]:
            """A projection of a box, which must be a point where the matrix reads."""
            if (which, box) not in known:
                sure = all(box[column][0] == box[column][1] for column in matrix.reads)
                require(sure, f"{what}: a vector that it reads is not known exactly")
                known[which, box] = tuple(matrix.apply([low for low, _ in box], numbers))
            return known[which, box]

        keys: list[tuple[int, ...]] = []
        for position, (_, boxes) in enumerate(local):
            found = {point(0, key, box) for box in boxes}
            require(len(found) == 1, f"{what}: the key of position {position + 1} depends on tokens")
            keys.append(found.pop())
        asked = {point(1, query, box) for box in local[-1][1]}
        require(len(asked) == 1, f"{what}: the last position's query depends on tokens")
        (own,), visible = asked, head.visible(len(local) - 1, len(local))
        known_scores = {each: score(list(own), list(each), numbers) for each in set(keys)}
        scores = [known_scores[each] for each in keys[:visible]]
        weights = numbers.weights(head.scoring, Counter(scores))
        # A box is looked up by all of its numbers.
        each = 1 + max((len(boxes[0]) for _, boxes in local if boxes), default=0)
        numbers.work.spend(len(value.rows) * sum(len(boxes) for _, boxes in local) * each)
        lines: list[Line] = []
        for place in range(len(value.rows)):
            total = Polynomial(self.spec.inputs)
            for (places, boxes), each in zip(local, scores, strict=False):
                total.add(places, tuple([numbers.product(weights[each], point(2, value, box)[place]) for box in boxes]))
            line = total.line_of(self.count)
            require(line is not None, f"{what}: the sum does not follow from the specification's count")
            lines.append(cast("Line", line))
        return lines

    def _after(self, base: list[tuple[int, int]], lines: list[list[Line]], count: int) -> Box:
        """The live coordinates after the layer when so many conditions hold."""
        numbers = self.numbers
        box = list(base) if self.layer.residual else [(0, 0)] * len(self.after)
        for (*_, rows), line in zip(self.heads, lines, strict=True):
            sums = [numbers.saturate(a * count + b) for a, b in line]
            for place, more in enumerate(Matrix(tuple(rows), len(sums)).apply(sums, numbers)):
                box[place] = numbers.saturate(box[place][0] + more), numbers.saturate(box[place][1] + more)
        return tuple(box)
