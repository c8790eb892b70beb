"""A second, slow evaluation of network files, written from the documents and not from the kernel.

Numbers are whole multiples of the arithmetic's step, every operation is spelled out, exponentials come from the decimal
module, and a file is read without the kernel's readers. Tests hold what the kernel accepts to this on every input.
"""

import json
import struct
from collections.abc import Callable, Iterator
from decimal import Context, Decimal
from fractions import Fraction
from functools import cache
from itertools import chain, combinations, islice, pairwise, product
from math import floor
from typing import Any, TypeAlias

from tests.kernel.files import CODES

DIGITS = Context(prec=120)
Vector: TypeAlias = list[int]
Vectors: TypeAlias = list[Vector]


class Slow:
    """One network file in one arithmetic."""

    def __init__(self, data: bytes, arithmetic: str) -> None:
        size = int.from_bytes(data[:8], "little")
        header, self._body = json.loads(data[8 : 8 + size]), data[8 + size :]
        self.about: dict[str, Any] = json.loads(header.pop("__metadata__")["separatrix"])
        self._header: dict[str, Any] = header
        base, power, self._rounding = (part.split("=")[-1] for part in arithmetic.removeprefix("fixed:").split(","))
        self.one = int(base) ** int(power)
        self._exponentials: dict[int, int] = {}
        self._products: dict[tuple[int, ...], Vector] = {}
        self._read: dict[str, list[int]] = {}

    def rounded(self, top: int, bottom: int) -> int:
        """The whole number that top / bottom is rounded to, cut off at both ends."""
        whole = top // bottom
        if self._rounding == "nearest":
            # floor(y + 1/2) is the nearest whole number; on a tie, where that is exact, the even one is meant.
            whole = (2 * top + bottom) // (2 * bottom)
            if whole * 2 * bottom == 2 * top + bottom and whole & 1:
                whole -= 1
        return self.cut(whole)

    def cut(self, value: int) -> int:
        """A sum, which needs no rounding, cut off at both ends: N^Kc and -N^Kc."""
        return min(self.one**2, max(-(self.one**2), value))

    def dot(self, left: Vector, right: Vector) -> int:
        """Every product is rounded, the sum is cut off once."""
        return self.cut(sum(self.rounded(a * b, self.one) for a, b in zip(left, right, strict=True)))

    def times(self, matrix: Vectors, vector: Vector) -> Vector:
        """W x. Many inputs have vectors in common; the matrices of a network live as long as this does."""
        key = (id(matrix), *vector)
        if key not in self._products:
            self._products[key] = [self.dot(row, vector) for row in matrix]
        return self._products[key]

    def plus(self, left: Vector, right: Vector) -> Vector:
        """The sum, cut off."""
        return [self.cut(a + b) for a, b in zip(left, right, strict=True)]

    def numbers(self, name: str) -> tuple[list[int], list[int]]:
        """The shape and the entries of a tensor."""
        entry = self._header[name]
        if name not in self._read:
            start, stop = entry["data_offsets"]
            code, width = CODES[entry["dtype"]]
            self._read[name] = list(struct.unpack(f"<{(stop - start) // width}{code}", self._body[start:stop]))
        return entry["shape"], self._read[name]

    def matrix(self, value: dict[str, Any]) -> Vectors:
        """A matrix of weights, each rounded."""
        (rows, columns), entries = self.numbers(value["numerators"])
        known = {each: self.rounded(each * self.one, value["denominator"]) for each in set(entries)}
        return [[known[entries[row * columns + column]] for column in range(columns)] for row in range(rows)]

    def vector(self, value: dict[str, Any]) -> Vector:
        """A matrix of one column."""
        return [row[0] for row in self.matrix(value)]

    def exponential(self, value: int) -> int:
        """exp, rounded; far from every tie with the digits at hand, or this fails."""
        if value not in self._exponentials:
            real = DIGITS.exp(DIGITS.divide(Decimal(value), Decimal(self.one)))
            ends = {Fraction(real) * self.one * (1 + Fraction(error, 10**100)) for error in (-1, 1)}
            found = {self.rounded(each.numerator, each.denominator) for each in ends}
            assert value == 0 or len(found) == 1
            self._exponentials[value] = self.one if value == 0 else found.pop()
        return self._exponentials[value]

    def network(self) -> Callable[[tuple[Any, ...]], int | None]:
        """The function from an input to the answer at the last position, None where there is no answer."""
        answers = self.everywhere()
        return lambda tokens: answers(tokens)[-1]

    def everywhere(self) -> Callable[[tuple[Any, ...]], list[Any]]:
        """The function from an input to the answers at all positions; a recurrent network has a last one alone."""
        read = self._recurrent() if self.about["format"] == "separatrix-recurrent-1" else self._transformer()
        readout = self.about["readout"]
        weights, bias = self.matrix(readout["matrix"]), self.vector(readout["bias"])

        def answer(vector: Vector) -> Any:
            found = self.plus(self.times(weights, vector), bias)
            if readout["decoding"] == "power-sums":
                return self._triple([Fraction(each, self.one) for each in found], *readout["power_sums"])
            if readout["decoding"] == "round":
                return tuple(floor(Fraction(each, self.one) + Fraction(1, 2)) for each in found)
            if readout["decoding"] == "argmax":
                return max(range(len(found)), key=lambda place: (found[place], -place))
            if readout["decoding"] == "exact" and not set(found) <= {0, self.one}:
                return None
            return int("".join("1" if 2 * each > self.one else "0" for each in found), 2)

        return lambda tokens: [answer(vector) for vector in read(tokens)]

    def _triple(self, numbers: list[Fraction], modulus: int, prime: int) -> int:
        """Whether two of the numbers that the power sums stand for complete a triple with the first number.

        The sketch is inverted by division: Σ_j 1 / (1 - y_j X) is the series of the power sums, and that series is
        -D' / D for the polynomial D = Π (1 - y_j X), which gives D coefficient by coefficient.
        """
        own, *sums = [(2 * each + 1) // 2 for each in numbers]
        series = [1]
        for degree in range(1, len(sums) + 1):
            total = -sum(sums[place] * series[degree - 1 - place] for place in range(degree))
            series.append(next(each for each in range(prime) if (each * degree - total) % prime == 0))
        roots = [
            each
            for each in range(modulus)
            if sum(factor * each ** (len(sums) - place) for place, factor in enumerate(series)) % prime == 0
        ]
        return int(any((own + a + b) % modulus == 0 for a in roots for b in roots))

    def _recurrent(self) -> Callable[[tuple[int, ...]], Vectors]:
        embedding, initial = self.matrix(self.about["embedding"]), self.vector(self.about["initial"])
        cell = [(self.matrix(each["weights"]), self.vector(each["bias"])) for each in self.about["cell"]]

        def read(tokens: tuple[int, ...]) -> Vectors:
            state = initial
            for token in tokens:
                state = state + embedding[token]
                for weights, bias in cell:
                    state = [max(0, each) for each in self.plus(self.times(weights, state), bias)]
            return [state]

        return read

    def _feature(self, part: dict[str, Any]) -> tuple[list[int], Vectors, int]:
        """The places that a part writes numbers of cells to, its numerators and its denominator."""
        slots = [name for name, size in self.about["slots"] for _ in range(size)]
        (rows, columns), entries = self.numbers(part["matrix"]["numerators"])
        lines = [entries[row * columns :][:columns] for row in range(rows)]
        return [n for n, name in enumerate(slots) if name == part["slot"]], lines, part["matrix"]["denominator"]

    def _dual(self, part: dict[str, Any]) -> tuple[list[int], Callable[[list[int]], Vector]]:
        """The places that a part writes to, and what it writes for a cell.

        The vector of least norm is built up by the parts of sign vectors that are orthogonal to those before: each one
        corrects the product with its own vector and changes none of the products before.
        """
        slots = [name for name, size in self.about["slots"] for _ in range(size)]
        (bits, width), generator = self.numbers(part["generator"])
        gain = Fraction(*part["gain"])

        def product(left: list[Fraction], right: list[Fraction]) -> Fraction:
            return sum((a * b for a, b in zip(left, right, strict=True)), Fraction(0))

        @cache
        def embedded(members: tuple[int, ...]) -> Vector:
            found, before = [Fraction(0)] * width, list[list[Fraction]]()
            for member in members:
                signs = [
                    Fraction((-1) ** sum(generator[bit * width + column] * (member >> bit) % 2 for bit in range(bits)))
                    for column in range(width)
                ]
                own = signs
                for other in before:
                    share = product(signs, other) / product(other, other)
                    own = [a - share * b for a, b in zip(own, other, strict=True)]
                if not any(own):
                    return [0] * width
                step = (1 - product(found, signs)) / product(own, own)
                found = [a + step * b for a, b in zip(found, own, strict=True)]
                before.append(own)
            exact = [gain * each * self.one for each in found]
            return [self.rounded(each.numerator, each.denominator) for each in exact]

        first, stop = part["range"]
        return [n for n, name in enumerate(slots) if name == part["slot"]], lambda cell: embedded(
            tuple(each - part["number"] for each in cell[first:stop])
        )

    def _transformer(self) -> Callable[[tuple[Any, ...]], Vectors]:
        embed = self._embedding()
        kinds = {"feed-forward": self._feed, "attention": self._heads, "third-order-attention": self._pair_heads}
        on_graphs = any(each["kind"] == "graph-attention" for each in self.about["layers"])
        self.graph: dict[tuple[int, int], int] = {}
        features = [self._feature(each) for each in self.about["features"]]
        duals = [self._dual(each) for each in self.about.get("duals", [])]
        layers = [kinds.get(each["kind"], self._edge_heads)(each) for each in self.about["layers"]]

        def read(tokens: tuple[Any, ...]) -> Vectors:
            if on_graphs:
                vertices = range(self.about["positions"])
                self.graph = dict(zip([(i, j) for i in vertices for j in vertices if i != j], tokens, strict=True))
                tokens = (0,) * len(vertices)
            cells, tokens = tokens, (0,) * len(tokens) if features else tokens
            stream = [embed(token, position) for position, token in enumerate(tokens)]
            for places, numbers, bottom in features:
                for vector, cell in zip(stream, cells, strict=True):
                    for place, row in zip(places, numbers, strict=True):
                        more = self.rounded(sum(a * b for a, b in zip(row, cell, strict=True)) * self.one, bottom)
                        vector[place] = self.cut(vector[place] + more)
            for places, written in duals:
                for vector, cell in zip(stream, cells, strict=True):
                    for place, more in zip(places, written(cell), strict=True):
                        vector[place] = self.cut(vector[place] + more)
            for layer in layers:
                stream = layer(stream)
            return stream

        return read

    def _embedding(self) -> Callable[[int, int], Vector]:
        slots = [name for name, size in self.about["slots"] for _ in range(size)]
        parts: list[tuple[dict[str, Any], Vectors | None, tuple[list[int], list[int]]]] = []
        for part in self.about["embedding"]:
            rule = part["rule"]
            table = self.matrix(rule["table"]) if rule["kind"] == "table" else None
            parts.append((part, table, ([], []) if table is not None else self.numbers(rule["generator"])))

        @cache
        def embedded(token: int, position: int) -> Vector:
            stream = [0] * len(slots)
            for part, table, (shape, generator) in parts:
                (a, b), (c, d) = part["tokens"], part["positions"]
                if not (a <= token < b and c <= position < d):
                    continue
                number = token - a if part["source"] == "token" else position - c
                if part["indices"] is not None:
                    number = self.numbers(part["indices"])[1][number]
                places = [place for place, name in enumerate(slots) if name == part["slot"]]
                for column, place in enumerate(places):
                    if table is not None:
                        more = table[number][column]
                    else:
                        bits = sum(generator[row * shape[1] + column] * (number >> row & 1) for row in range(shape[0]))
                        more = (-1) ** bits * self.one
                    stream[place] = self.cut(stream[place] + more)
            return stream

        return lambda token, position: list(embedded(token, position))

    def _feed(self, layer: dict[str, Any]) -> Callable[[Vectors], Vectors]:
        inner, outer = self.matrix(layer["inner"]), self.matrix(layer["outer"])
        bias, shift = self.vector(layer["inner_bias"]), self.vector(layer["outer_bias"])

        def one(vector: Vector) -> Vector:
            hidden = [max(0, each) for each in self.plus(self.times(inner, vector), bias)]
            result = self.plus(self.times(outer, hidden), shift)
            return self.plus(vector, result) if layer["residual"] else result

        return lambda stream: [one(vector) for vector in stream]

    def _heads(self, layer: dict[str, Any]) -> Callable[[Vectors], Vectors]:
        names = ("query", "key", "value", "output")
        heads = [(head, *(self.matrix(head[name]) for name in names)) for head in layer["heads"]]

        def run(stream: Vectors) -> Vectors:
            total = [vector if layer["residual"] else [0] * len(vector) for vector in stream]
            for head, query, key, value, output in heads:
                keys = [self.times(key, vector) for vector in stream]
                values = [self.times(value, vector) for vector in stream]
                for position, vector in enumerate(stream):
                    more = {"none": len(stream), "causal": position + 1, "strict": position}[head["mask"]]
                    asked = self.times(query, vector)
                    weights = self.weights(head["scoring"], [self.dot(asked, each) for each in keys[:more]])
                    average = [self.dot(weights, [each[row] for each in values[:more]]) for row in range(len(value))]
                    total[position] = self.plus(total[position], self.times(output, average))
            return total

        return run

    def _pair_heads(self, layer: dict[str, Any]) -> Callable[[Vectors], Vectors]:
        names = ("query", "first_key", "second_key", "first_value", "second_value", "output")
        heads = [(head, *(self.matrix(head[name]) for name in names)) for head in layer["heads"]]

        def joined(first: Vectors, second: Vectors, stream: Vectors) -> Vectors:
            """One vector for each pair of positions, the products of both of its parts."""
            left, right = ([self.times(matrix, vector) for vector in stream] for matrix in (first, second))
            return [[self.rounded(a * b, self.one) for a, b in zip(x, y, strict=True)] for x in left for y in right]

        def run(stream: Vectors) -> Vectors:
            total = [vector if layer["residual"] else [0] * len(vector) for vector in stream]
            for head, query, first_key, second_key, first_value, second_value, output in heads:
                keys, values = joined(first_key, second_key, stream), joined(first_value, second_value, stream)
                for position, vector in enumerate(stream):
                    asked = self.times(query, vector)
                    weights = self.weights(head["scoring"], [self.dot(asked, each) for each in keys])
                    average = [self.dot(weights, [each[row] for each in values]) for row in range(len(first_value))]
                    total[position] = self.plus(total[position], self.times(output, average))
            return total

        return run

    def _edge_heads(self, layer: dict[str, Any]) -> Callable[[Vectors], Vectors]:
        names = ("scores", "dummy", "first_value", "second_value", "output")
        heads = [(head, *(self.matrix(head[name]) for name in names)) for head in layer["heads"]]

        def run(stream: Vectors) -> Vectors:
            total = [vector if layer["residual"] else [0] * len(vector) for vector in stream]
            everyone = range(len(stream))
            for head, (scores,), ((dummy,),), first, second, output in heads:
                left, right = ([self.times(matrix, vector) for vector in stream] for matrix in (first, second))
                for i in everyone:
                    given, values = list[int](), list[Vector]()
                    for j, k in product(everyone, repeat=2):
                        edges = [self.graph.get(edge, 0) for edge in ((i, j), (j, k), (k, i))]
                        given.append(scores[int("".join(map(str, edges)), 2)])
                        values.append([self.rounded(a * b, self.one) for a, b in zip(left[j], right[k], strict=True)])
                    weights = self.weights(head["scoring"], [*given, dummy])
                    values.append([0] * len(first))
                    average = [self.dot(weights, [each[row] for each in values]) for row in range(len(first))]
                    total[i] = self.plus(total[i], self.times(output, average))
            return total

        return run

    def weights(self, scoring: str, scores: Vector) -> Vector:
        """The weights of the keys that a query sees."""
        if scoring == "linear" or not scores:
            return scores
        if scoring == "relu":
            shares = [max(0, each) for each in scores]
            total = self.cut(sum(shares))
        elif scoring == "softmax":
            shares = [self.exponential(self.cut(each - max(scores))) for each in scores]
            total = sum(shares)
        else:
            shares = [self.one * (each == max(scores)) for each in scores]
            if scoring == "leftmost":
                first = scores.index(max(scores))
                shares = [self.one * (place == first) for place in range(len(scores))]
            total = self.cut(sum(shares))
        return [self.rounded(each * self.one, total) if total else 0 for each in shares]


def inputs_of(specification: dict[str, Any]) -> Iterator[tuple[int, ...]]:
    """Every input of a specification that keeps its promise."""
    every = product(*[range(*run["tokens"]) for run in specification["inputs"] for _ in range(run["count"])])
    if specification.get("answer", {}).get("kind") == "nearest":
        return filter(lambda tokens: promised(specification["answer"], tokens), every)
    if specification.get("answer", {}).get("kind") == "named-sums":
        return named_inputs(specification["answer"])
    if specification.get("answer", {}).get("kind") != "recall":
        return every
    end = 2 * specification["answer"]["pairs"]

    def kept(tokens: tuple[int, ...]) -> bool:
        keys, queries = tokens[:end:2], tokens[end:]
        return len({*keys}) == len(keys) and len({*queries}) == len(queries) and all(each in keys for each in queries)

    return filter(kept, every)


def points_of(answer: dict[str, Any], tokens: tuple[int, ...]) -> tuple[Vectors, tuple[int, ...]]:
    """The points and labels that tokens stand for."""
    size = answer["dimension"]
    ends = [number * size for number in range(answer["points"] + 1)]
    points = [[answer["first"] + answer["step"] * each for each in tokens[a:b]] for a, b in pairwise(ends)]
    return points, tokens[ends[-1] :]


def ranked(answer: dict[str, Any], points: Vectors) -> list[list[tuple[int, int]]]:
    """For each query the products with earlier points and these points' numbers, the largest product first."""
    return [
        sorted(((sum(a * b for a, b in zip(points[q], points[i], strict=True)), i) for i in range(q)), reverse=True)
        for q in range(answer["points"] - answer["queries"], answer["points"])
    ]


def promised(answer: dict[str, Any], tokens: tuple[int, ...]) -> bool:
    """Whether norms and products are as the specification promises."""
    points, (low, high) = points_of(answer, tokens)[0], answer["norms"]
    order = ranked(answer, points)
    return all(low <= sum(each * each for each in point) <= high for point in points) and all(
        len(each) < 2 or each[0][0] - each[1][0] >= answer["ahead"] for each in order
    )


def told(answer: dict[str, Any], tokens: tuple[int, ...]) -> list[tuple[tuple[int, ...], Vector]]:
    """The sets and the vectors that tokens stand for."""
    every, cells = iter(tokens), range(answer["cells"])
    sets = [tuple(islice(every, answer["named"])) for _ in cells]
    return [(members, [each - answer["norm"] for each in islice(every, answer["dimension"])]) for members in sets]


def named_inputs(answer: dict[str, Any]) -> Iterator[tuple[int, ...]]:
    """Every input of sets that ascend and vectors that are short enough."""
    far, cells = answer["norm"], answer["cells"]
    sets = list(combinations(range(cells), answer["named"]))
    cube = product(range(-far, far + 1), repeat=answer["dimension"])
    ball = [tuple(each + far for each in vector) for vector in cube if sum(each**2 for each in vector) <= far**2]
    for some, held in product(product(sets, repeat=cells), product(ball, repeat=cells)):
        yield (*chain(*some), *chain(*held))


def cells_of(specification: dict[str, Any], tokens: tuple[int, ...]) -> tuple[Any, ...]:
    """What a network reads where tokens are an input: cells of points and labels in turn, or the tokens."""
    answer = specification["answer"]
    if answer["kind"] == "named-sums":
        held = enumerate(told(answer, tokens))
        return tuple([place + 1, *[each + 1 for each in members], *vector] for place, (members, vector) in held)
    if answer["kind"] != "nearest":
        return tokens
    points, labels = points_of(answer, tokens)
    found: list[Vector] = []
    for number, point in enumerate(points):
        found += [[0, 0, *point], *([1, labels[number], *(0 for _ in point)] for _ in labels[number : number + 1])]
    return tuple(found)


def right_answers(specification: dict[str, Any], tokens: tuple[int, ...]) -> list[Any]:
    """The right answers at some last positions, straight from the same table."""
    answer = specification["answer"]
    if answer["kind"] == "recall":
        end = 2 * answer["pairs"]
        first = [run["tokens"][0] for run in specification["inputs"] for _ in range(run["count"])][1]
        return [tokens[tokens[:end:2].index(query) * 2 + 1] - first for query in tokens[end:]]
    if answer["kind"] == "nearest":
        points, labels = points_of(answer, tokens)
        return [labels[each[0][1]] for each in ranked(answer, points)]
    if answer["kind"] == "named-sums":
        held = told(answer, tokens)
        return [tuple(map(sum, zip(*[held[each][1] for each in members], strict=True))) for members, _ in held]
    if answer["kind"] == "cycles":
        vertices = range(answer["vertices"])
        listed = [(i, j) for i in vertices for j in vertices if i != j]
        edges = {edge for edge, token in zip(listed, tokens, strict=True) if token}
        return [int(any({(i, j), (j, k), (k, i)} <= edges for j in vertices for k in vertices)) for i in vertices]
    if answer["kind"] not in ("sums", "nearby-sums"):
        return [right_answer(specification, tokens)]
    held = tokens[slice(*answer["window"])]
    far, more = answer.get("reach", len(held)), answer["terms"] - 1
    near = [[other for at, other in enumerate(held) if abs(at - place) <= far] for place in range(len(held))]
    found = [
        any((each + sum(rest)) % answer["modulus"] == 0 for rest in product(some, repeat=more))
        for each, some in zip(held, near, strict=True)
    ]
    return [int(any(found))] if answer.get("asked") == "any" else [int(each) for each in found]


def right_answer(specification: dict[str, Any], tokens: tuple[int, ...]) -> int:
    """The right answer at the last position, straight from the table of forms in docs/kernel.md."""
    answer = specification["answer"]
    ranges = [run["tokens"] for run in specification["inputs"] for _ in range(run["count"])]

    def place(chosen: list[int]) -> int:
        number = 0
        for each in chosen:
            first, stop = ranges[each]
            number = number * (stop - first) + tokens[each] - first
        return number

    if answer["kind"] == "select":
        return tokens[tokens[answer["by"]] - answer["first"]]
    if answer["kind"] == "table":
        return answer["answers"][place(list(range(len(ranges))))]
    if answer["kind"] == "automaton":
        state = answer["start"]
        for token in tokens:
            state = answer["steps"][state][token]
        return answer["answers"][state]
    held = sum(group["table"][place(places)] for group in answer["conditions"] for places in group["places"])
    return [then for least, then in answer["answers"] if least <= held][-1]


def wrong_input(content: dict[str, Any], data: bytes) -> tuple[int, ...] | None:
    """The first input that a network answers wrongly, None where it answers every one rightly."""
    answers = Slow(data, content["arithmetic"]).everywhere()
    specification = content["specification"]
    stride = 2 if specification["answer"]["kind"] == "nearest" else 1
    for each in inputs_of(specification):
        right = right_answers(specification, each)
        if answers(cells_of(specification, each))[::-1][: len(right) * stride : stride][::-1] != right:
            return each
    return None
