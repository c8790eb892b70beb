"""A trained Transformer of one layer that looks up the symbol at an asked position: bounds of its answer over contexts.

The model reads s_1 … s_N and a question @p at the last place, and answers there. GPT-2's layer: x + attention(norm x),
then x + W_2 GELU(W_1 norm x), a last norm, a linear readout. Positions are added to the embedding. Fix the question p
and the symbol c at its place; each other symbol is any of a set. With e_j(s) the exponential of a score (less a fixed
number) and o_j(s) what key j adds through the head and the output map, a head gives

    Σ_j e_j(s_j) o_j(s_j) / Σ_j e_j(s_j),

where the question itself is one more key. For a linear form w of it, and any number λ: the form is at least λ on all
contexts if Σ_j min_s e_j(s) (w·o_j(s) - λ) ≥ 0, since the symbols are chosen one by one. That inequality is all that
is checked; who found λ does not matter. A cheaper bound takes no λ: what other keys than p and the question get
together is at most T/(D + T), D the least of e_p(c) + e_question and T the sum over other keys of their largest e.

Behind the head a vector is in a box. Norms, GELU and readout take boxes to boxes; where that is too coarse for a class,
its margin over the answer is bounded by a linear form of the head's output plus what the tangents of norms and GELUs
leave out. All numbers are balls (``balls``), so that bounds hold for exact arithmetic and for float32.
"""

from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property, lru_cache
from math import isqrt
from typing import Any, NamedTuple

from separatrix_kernel.balls import (
    BITS,
    ONE,
    ROUNDOFF_BITS,
    Balls,
    Bend,
    Linear,
    Normed,
    dot,
    fixed,
    gelu,
    norm,
    power_range,
    slack,
)
from separatrix_kernel.reading import Tensors, fields, integer, integers, require, text

STRUCTURE = ("kind", "width", "heads", "hidden", "epsilon", "vocabulary", "classes", "positions")
MOST_WIDTH = 1024
KEYS_IN_A_BLOCK = 256
Sets = Sequence[Sequence[int]]
"""The symbols that are possible at each place of the text."""


class Weights:
    """The weights of a model in units of 2^-40, read strictly from a safetensors file of float32 numbers."""

    def __init__(self, data: bytes) -> None:
        self._tensors = Tensors(data)
        about = fields(self._tensors.structure, "the model's structure", STRUCTURE)
        text(about["kind"], "the model's kind", ["transformer"])
        self.width = integer(about["width"], "the width", 1, MOST_WIDTH)
        self.heads = integer(about["heads"], "the number of heads", 1, self.width)
        require(self.width % self.heads == 0, "the heads do not divide the width")
        self.hidden = integer(about["hidden"], "the feed-forward's width", 1, 4 * MOST_WIDTH)
        self.vocabulary = integer(about["vocabulary"], "the vocabulary", 1)
        self.classes = integer(about["classes"], "the number of classes", 2)
        self.positions = integer(about["positions"], "the number of positions", 1)
        small = integers(about["epsilon"], "the norms' epsilon", 1)
        require(len(small) == 2 and small[0] <= small[1], "the norms' epsilon is not a fraction up to 1")
        self.epsilon = Fraction(*small)
        width = self.width
        self.embedding = self._matrix("embedding.weight", self.vocabulary, width)
        self.places = self._matrix("positions.table", self.positions, width)
        self.first_norm = self._affine("blocks.0.norm")
        self.project = self._map("blocks.0.mixer.project", width, 3 * width)
        self.output = self._map("blocks.0.mixer.output", width, width)
        self.second_norm = self._affine("blocks.0.feed_forward_norm")
        self.inner = self._map("blocks.0.feed_forward.inner", width, self.hidden)
        self.outer = self._map("blocks.0.feed_forward.outer", self.hidden, width)
        self.last_norm = self._affine("norm")
        self.readout = self._map("readout", width, self.classes)
        self._tensors.finish()

    def _matrix(self, name: str, rows: int, columns: int) -> list[list[int]]:
        shape, values = self._tensors.take(name, "F32", 2, name)
        require(shape == [rows, columns], f"{name} has the shape {shape}, not {[rows, columns]}")
        return [[fixed(each) for each in values[row * columns : (row + 1) * columns]] for row in range(rows)]

    def _vector(self, name: str, count: int) -> list[int]:
        shape, values = self._tensors.take(name, "F32", 1, name)
        require(shape == [count], f"{name} has the shape {shape}, not {[count]}")
        return [fixed(each) for each in values]

    def _affine(self, name: str) -> tuple[list[int], list[int]]:
        return self._vector(f"{name}.weight", self.width), self._vector(f"{name}.bias", self.width)

    def _map(self, name: str, inputs: int, outputs: int) -> tuple[list[list[int]], list[int]]:
        return self._matrix(f"{name}.weight", inputs, outputs), self._vector(f"{name}.bias", outputs)


class Question(NamedTuple):
    """What is fixed once the question is."""

    base: Balls
    """The vector behind the attention without what the keys add; radii hold all errors, also those of the keys."""
    scores: tuple[list[list[int]], ...]
    """Of each head the scores of each place and symbol."""
    own: tuple[int, ...]
    """Of each head the question's score of itself."""
    error: tuple[int, ...]
    """Of each head how far scores may be off."""
    added: tuple[list[int], ...]
    """Of each head what the question itself adds."""


class Passed(NamedTuple):
    """A box behind the attention and what it becomes."""

    y: Balls
    normed: Normed
    hidden: Balls
    hidden_noise: list[int]
    bends: list[Bend]
    active: list[int]
    """Radii of the GELUs' values."""
    z: Balls
    z_noise: list[int]
    last: Normed
    wrong: list[int]
    """How far each logit of float32 may be off, times the last norm's largest deviation."""


class Lookup:
    """A model and a length; places and symbols count from 0."""

    def __init__(self, weights: Weights, alphabet: int, length: int) -> None:
        require(weights.classes == alphabet, f"the model has {weights.classes} classes, not {alphabet}")
        require(weights.vocabulary >= alphabet + length, "the model's vocabulary has no token for each question")
        require(weights.positions > length, f"the model has positions for inputs of {weights.positions} cells alone")
        self.weights, self.alphabet, self.length = weights, alphabet, length
        self.width, self.heads = weights.width, weights.heads
        self.inner = weights.width // weights.heads
        width = self.width
        columns = weights.project[0]
        parts = [[row[start : start + width] for row in columns] for start in (0, width, 2 * width)]
        biases = [weights.project[1][start : start + width] for start in (0, width, 2 * width)]
        self.query, self.key, self.value = (
            Linear(part, bias, weights.first_norm) for part, bias in zip(parts, biases, strict=True)
        )
        self.first = Linear(*weights.inner, weights.second_norm)
        self.second = Linear(*weights.outer)
        self.readout = Linear(*weights.readout, weights.last_norm)
        self.first_rows = [list(row) for row in zip(*self.first.columns, strict=True)]
        self.question = lru_cache(maxsize=4)(self._question)
        self.powers = lru_cache(maxsize=4)(self._powers)

    def _embedded(self, token: int, place: int) -> Balls:
        """The vector of a token at a place, as float32 may round the sum."""
        centres = [a + b for a, b in zip(self.weights.embedding[token], self.weights.places[place], strict=True)]
        return Balls(centres, [slack(1, abs(c)) + 1 for c in centres])

    # -- what does not depend on the question ---------------------------------------------------------------

    @cached_property
    def rows(self) -> list[list[list[int]]]:
        """Of each place and symbol the normed vector; its errors are below ``row_error``."""
        self.row_error, self.sizes = 0, [0] * self.width
        found = [
            [self._row(symbol, place) for symbol in range(self.alphabet)] for place in range(self.length)
        ]
        for question in range(self.length):
            self._row(self.alphabet + question, self.length)
        self.sizes = [each + self.row_error for each in self.sizes]
        return found

    def _row(self, token: int, place: int) -> list[int]:
        balls = norm(self._embedded(token, place), self.weights.epsilon).balls
        self.row_error = max(self.row_error, *balls.radii)
        self.sizes = [max(size, abs(c)) for size, c in zip(self.sizes, balls.centres, strict=True)]
        return balls.centres

    @cached_property
    def through(self) -> list[list[list[int]]]:
        """Of each head the columns of W_V W_O, behind the norm's gain; entries are within ``through_error``."""
        width, inner, output = self.width, self.inner, self.weights.output[0]
        rows = [list(row) for row in zip(*self.value.columns, strict=True)]
        self.through_error = 0
        found: list[list[list[int]]] = []
        for head in range(self.heads):
            own = slice(head * inner, (head + 1) * inner)
            columns = [[row[i] for row in output[own]] for i in range(width)]
            found.append([[dot(row[own], column) >> BITS for row in rows] for column in columns])
            # Entries of W_V are known within ``error``, those of W_O within a unit.
            most = max(sum(map(abs, column)) for column in columns)
            far = max(sum(map(abs, row[own])) for row in rows)
            self.through_error = max(self.through_error, (self.value.error * (most + inner) + far >> BITS) + 2)
        return found

    @cached_property
    def adds(self) -> list[list[list[list[int]]]]:
        """Of each head, place and symbol the vector that it adds when it gets all weight, without the bias."""
        return [
            [[[dot(row, column) >> BITS for column in columns] for row in place] for place in self.rows]
            for columns in self.through
        ]

    @cached_property
    def hulls(self) -> list[tuple[list[int], list[int]]]:
        """Of each head the least and the greatest of each coordinate of ``adds``."""
        every = [[vector for place in head for vector in place] for head in self.adds]
        return [
            ([min(each) for each in zip(*vectors, strict=True)], [max(each) for each in zip(*vectors, strict=True)])
            for vectors in every
        ]

    @cached_property
    def value_sizes(self) -> list[int]:
        """At least Σ|x||W_V| + |b| of each coordinate between value and output, on all keys."""
        assert self.rows
        pairs = zip(self.value.sizes, self.value.bias_sizes, strict=True)
        return [(dot(sizes, self.sizes) >> BITS) + bias + 1 for sizes, bias in pairs]

    @cached_property
    def key_sizes(self) -> list[int]:
        """The same between key and score."""
        assert self.rows
        pairs = zip(self.key.sizes, self.key.bias_sizes, strict=True)
        return [(dot(sizes, self.sizes) >> BITS) + bias + 1 for sizes, bias in pairs]

    @cached_property
    def attention_noise(self) -> tuple[list[int], list[int]]:
        """Errors of each coordinate behind the output map that attention causes, and its size there.

        A weight of float32 is that of its scores (whose errors count in e) times 1 ± γ_{N+8}. Averaging and W_V come in
        either order: at most 2N + 2·width + 32 roundings on a path, on terms that together are at most the value's
        size. A key's vector is within ``row_error``, and W_V W_O within ``through_error``.
        """
        output, bias = self.weights.output
        value = self.value_sizes
        assert self.through
        lost = [slack(2 * self.length + 2 * self.width + 32, each) for each in value]
        away = self.heads * ((self.through_error * sum(self.sizes) >> BITS) + 2)
        noise, sizes = list[int](), list[int]()
        for i in range(self.width):
            column = [abs(row[i]) + 1 for row in output]
            size = (dot(column, value) >> BITS) + abs(bias[i]) + 2
            own = (dot(column, lost) >> BITS) + slack(self.width + 8, size + (dot(column, lost) >> BITS)) + 4
            moved = sum(
                (sum(abs(m) + self.through_error for m in columns[i]) * self.row_error >> BITS) + 1
                for columns in self.through
            )
            noise.append(own + moved + away)
            sizes.append(size + own)
        return noise, sizes

    # -- what depends on the question ------------------------------------------------------------------------

    def _question(self, p: int) -> Question:
        """Scores, and the vector to which the keys add; see ``error`` for what scores may be off by.

        A score is u·x with u = W_K q/√m; the key's bias adds the same to all keys. In float32 its two products come in
        either order, with the bias or without, at most 2·width + m + 32 roundings on a path and 8 for each block of
        keys in which the softmax is put together; its subtraction of the largest score is one of them, of a number
        below twice the size of a score. Its exp is right within 8u, once for each block and once more.
        """
        rows, width, inner = self.rows, self.width, self.inner
        x = self._embedded(self.alphabet + p, self.length)
        normed = norm(x, self.weights.epsilon).balls
        q, _ = self.query.apply(normed)
        root = isqrt(ONE * ONE // inner)
        blocks = 2 + self.length // KEYS_IN_A_BLOCK
        scores, own, errors = list[list[list[int]]](), list[int](), list[int]()
        for head in range(self.heads):
            part = slice(head * inner, (head + 1) * inner)
            columns, sizes = self.key.columns[part], self.key.sizes[part]
            centre, radius = q.centres[part], q.radii[part]
            size = [abs(c) + r for c, r in zip(centre, radius, strict=True)]
            u = [(dot(k, centre) >> BITS) * root >> BITS for k in zip(*columns, strict=True)]
            apart = [(dot(k, radius) >> BITS) + 2 for k in zip(*sizes, strict=True)]
            apart = [(a + (sum(size) * self.key.error >> BITS)) * (root + 1) >> BITS for a in apart]
            # The root is known within a unit.
            apart = [a + (dot(k, size) >> BITS) // ONE + 3 for a, k in zip(apart, zip(*sizes, strict=True), strict=True)]
            whole = (dot(size, self.key_sizes[part]) >> BITS) * (root + 1) >> BITS
            error = (dot(apart, self.sizes) >> BITS) + 4
            error += sum(abs(c) + a for c, a in zip(u, apart, strict=True)) * self.row_error >> BITS
            error += slack(2 * width + inner + 32 + 8 * blocks, whole + 1)
            error += (16 * blocks * ONE >> ROUNDOFF_BITS) + 1
            scores.append([[dot(u, row) >> BITS for row in place] for place in rows])
            own.append(dot(u, normed.centres) >> BITS)
            errors.append(error)
        added = tuple([dot(normed.centres, column) >> BITS for column in columns] for columns in self.through)
        return Question(self._base(x), tuple(scores), tuple(own), tuple(errors), added)

    def _base(self, x: Balls) -> Balls:
        output, bias = self.weights.output
        noise, sizes = self.attention_noise
        centres, radii = list[int](), list[int]()
        for i in range(self.width):
            column = [row[i] for row in output]
            lasting = (sum(map(abs, column)) * self.value.bias_error + sum(self.value.bias_sizes) >> BITS) + 4
            centres.append(x.centres[i] + bias[i] + (dot(column, self.value.bias) >> BITS))
            radii.append(x.radii[i] + noise[i] + lasting + slack(2, abs(x.centres[i]) + x.radii[i] + sizes[i]))
        return Balls(centres, radii)

    def _powers(self, p: int, head: int) -> tuple[list[list[tuple[int, int]]], tuple[int, int]]:
        """Exponentials of a head's scores, of each place and symbol and of the question: less the largest score."""
        found = self.question(p)
        error, own = found.error[head], found.own[head]
        most = max(own, max(max(place) for place in found.scores[head]))
        every = [[power_range(score - most, error) for score in place] for place in found.scores[head]]
        return every, power_range(own - most, error)

    # -- boxes behind the attention --------------------------------------------------------------------------

    def leak(self, p: int, c: int) -> Balls:
        """The box for all contexts, from what other keys get together."""
        found = self.question(p)
        low, high = list(found.base.centres), list(found.base.centres)
        for head in range(self.heads):
            scores, own, error = found.scores[head], found.own[head], found.error[head]
            largest = [max(place) for place in scores]
            most = max(own, *largest)
            others = sum(power_range(each - most, error)[1] for place, each in enumerate(largest) if place != p)
            (asked, asked_most), (itself, itself_most) = (
                power_range(each - most, error) for each in (scores[p][c], own)
            )
            require(asked > 0, "the asked key may get no weight")
            leaks = others * ONE // (asked + itself + others) + 1
            # The question's share of what the two get: between these.
            least, share = itself * ONE // (itself + asked_most), itself_most * ONE // (itself_most + asked) + 1
            vector, lowest, highest = self.adds[head][p][c], *self.hulls[head]
            for i, (a, b) in enumerate(zip(vector, found.added[head], strict=True)):
                ends = (least * (b - a) >> BITS, share * (b - a) >> BITS)
                first, last = a + min(ends), a + max(ends) + 1
                low[i] += first + min(0, leaks * (lowest[i] - first) >> BITS) - 1
                high[i] += last + max(0, leaks * (highest[i] - last) >> BITS) + 2
        return self._box(low, high, found.base.radii)

    def boxed(self, p: int, sets: Sets, boxes: Sequence[Sequence[Sequence[int]]]) -> Balls:
        """The box whose ends were stated for each head and coordinate, once they are verified."""
        found = self.question(p)
        low, high = list(found.base.centres), list(found.base.centres)
        for head, ends in enumerate(boxes):
            for i, (least, most) in enumerate(ends):
                values = [[self.adds[head][j][s][i] for s in some] for j, some in enumerate(sets)]
                own = found.added[head][i]
                self.verify(p, head, sets, values, own, least)
                self.verify(p, head, sets, [[-v for v in some] for some in values], -own, -most)
                low[i] += least
                high[i] += most
        return self._box(low, high, found.base.radii)

    @staticmethod
    def _box(low: list[int], high: list[int], radii: list[int]) -> Balls:
        centres = [(a + b) // 2 for a, b in zip(low, high, strict=True)]
        return Balls(centres, [(b - a + 1) // 2 + r + 1 for a, b, r in zip(low, high, radii, strict=True)])

    def verify(self, p: int, head: int, sets: Sets, values: Sequence[Sequence[int]], own: int, least: int) -> None:
        """That a head's average of values, one for each place and symbol of its set, is nowhere below ``least``."""
        powers, itself = self.powers(p, head)
        total = _term(itself, own - least)
        for place, some, numbers in zip(powers, sets, values, strict=True):
            total += min(_term(place[s], value - least) for s, value in zip(some, numbers, strict=True))
        require(total >= 0, f"question {p}: a bound of head {head} does not hold")

    # -- behind the attention --------------------------------------------------------------------------------

    def passed(self, y: Balls) -> Passed:
        """A box through feed-forward and last norm."""
        epsilon = self.weights.epsilon
        normed = norm(y, epsilon)
        hidden, hidden_noise = self.first.apply(normed.balls)
        bends = [gelu(c, r) for c, r in zip(hidden.centres, hidden.radii, strict=True)]
        active = [
            (abs(bend.slope) * r >> BITS) + 1 + max(-bend.low, bend.high)
            for bend, r in zip(bends, hidden.radii, strict=True)
        ]
        out, out_noise = self.second.apply(Balls([bend.value for bend in bends], active))
        centres = [a + b for a, b in zip(y.centres, out.centres, strict=True)]
        noise = [
            n + slack(2, abs(a) + abs(b) + r + q)
            for n, a, b, r, q in zip(out_noise, y.centres, out.centres, y.radii, out.radii, strict=True)
        ]
        radii = [r + q + n for r, q, n in zip(y.radii, out.radii, noise, strict=True)]
        z = Balls(centres, radii)
        last = norm(z, epsilon)
        return Passed(y, normed, hidden, hidden_noise, bends, active, z, noise, last, self._wrong(last))

    def _wrong(self, last: Normed) -> list[int]:
        """Of each class how far a logit of float32 may be off, times the norm's largest deviation."""
        terms = self.readout.terms
        off = [
            n + slack(terms, abs(c) + r)
            for n, c, r in zip(last.noise, last.balls.centres, last.balls.radii, strict=True)
        ]
        pairs = zip(self.readout.sizes, self.readout.bias_noise, strict=True)
        return [((dot(sizes, off) >> BITS) + own + 1) * last.most // ONE + 1 for sizes, own in pairs]

    @cached_property
    def _differences(self) -> list[list[tuple[list[int], list[int], int]]]:
        """Of answer and class: the rows' difference, less its mean, the sizes of that, and the biases' difference."""
        return [[self._difference(c, k) for k in range(self.alphabet)] for c in range(self.alphabet)]

    def _difference(self, c: int, k: int) -> tuple[list[int], list[int], int]:
        rows, bias = self.readout.columns, self.readout.bias
        apart = [a - b for a, b in zip(rows[c], rows[k], strict=True)]
        mean = sum(apart) // self.width
        centred = [each - mean for each in apart]
        return centred, [abs(each) for each in centred], bias[c] - bias[k]

    def margins(self, passed: Passed, c: int) -> list[int]:
        """Of each other class a lower bound of what c has more, times σ, where boxes are all that is known.

        With D the centred difference of rows and δ of biases, the margin times σ is D·u(z) + δσ(z).
        """
        return [0 if k == c else self._margin(passed, c, k) for k in range(self.alphabet)]

    def _margin(self, passed: Passed, c: int, k: int) -> int:
        _, sizes, bias = self._differences[c][k]
        value, _, bias_error = self._centre(passed, c, k)
        last = passed.last
        value -= (dot(sizes, passed.z.radii) + (2 * self.readout.error + 4) * sum(passed.z.radii) >> BITS) + 1
        # |σ(z) - σ(centre)|, where the sign of the bias says which side matters.
        down, up = last.deviation - last.least + 2, last.most - last.deviation + 2
        value -= (abs(bias) + bias_error) * (down if bias >= 0 else up) + bias_error * max(down, up) + ONE >> BITS
        return value - passed.wrong[c] - passed.wrong[k]

    def _centre(self, passed: Passed, c: int, k: int) -> tuple[int, int, int]:
        """The margin times σ at the centre, from below; and the errors of the rows' and biases' difference."""
        row, sizes, bias = self._differences[c][k]
        centred, deviation = passed.last.centred, passed.last.deviation
        row_error, bias_error = 2 * self.readout.error + 4, 2 * self.readout.bias_error
        value = dot(row, centred) + bias * deviation >> BITS
        lost = row_error * sum(map(abs, centred)) + 2 * sum(sizes) + bias_error * deviation + 2 * abs(bias)
        return value - (lost >> BITS) - 6, row_error, bias_error

    def form(self, p: int, passed: Passed, c: int, k: int) -> tuple[list[int], int]:
        """A linear form w and a number b: c's margin over k, times σ, is at least b plus w of what the heads give.

        The margin at the centre, plus the gradients along the way back (last norm, GELU, norm), less what they leave
        out. The numbers in a gradient are chosen; where one is not the true derivative, the difference times the box's
        radius is taken off. σ is convex with second derivative at most 1/(width·σ), so that between a point and the
        centre it exceeds its tangent by 0 to |distance|²/(2·width·σ). With q = κ·u the quotient q/σ is, around the
        centre, q_0/σ_0 + dq/σ_0 - q_0 dσ/σ_0² - dq dσ/(σσ_0) + q_0 dσ²/(σσ_0²).
        """
        width, y, z, last, normed = self.width, passed.y, passed.z, passed.last, passed.normed
        row, _, bias = self._differences[c][k]
        value, row_error, bias_error = self._centre(passed, c, k)
        total = sum(z.radii)
        tangent, tangent_error = _tangent(last, width)
        w = [d + (bias * t >> BITS) for d, t in zip(row, tangent, strict=True)]
        error = row_error + (abs(bias) * tangent_error >> BITS) + bias_error + 3
        value -= (error * total >> BITS) + 1
        if bias < bias_error:
            value -= ((abs(bias) + bias_error) * _bulge(z, last, width) >> BITS) + 1
        # z is y plus the feed-forward's output.
        value -= (dot(map(abs, w), passed.z_noise) >> BITS) + 1
        v = [dot(each, w) >> BITS for each in self.weights.outer[0]]
        value -= (sum(passed.active) >> BITS) + 1
        value += sum(min(f * bend.low, f * bend.high) for f, bend in zip(v, passed.bends, strict=True)) >> BITS
        t = [f * bend.slope >> BITS for f, bend in zip(v, passed.bends, strict=True)]
        value -= (sum(passed.hidden.radii) + dot(map(abs, t), passed.hidden_noise) >> BITS) + 2
        kappa = [dot(each, t) >> BITS for each in self.first_rows]
        sizes = list(map(abs, kappa))
        value -= (sum(normed.balls.radii) + dot(sizes, normed.noise) >> BITS) + 2
        # κ·u/σ as a function of y.
        sigma, least = normed.deviation - 2, min(normed.least, normed.deviation - 2)
        q = dot(kappa, normed.centred) >> BITS
        q_error = (2 * sum(sizes) >> BITS) + 2
        q_size = abs(q) + q_error
        slope, slope_error = _tangent(normed, width)
        mean = sum(kappa) // width
        kappa = [each - mean for each in kappa]
        first = [each * ONE // normed.deviation for each in kappa]
        share = q * ONE // normed.deviation
        second = [(share * s >> BITS) * ONE // normed.deviation for s in slope]
        form = [a + b - d for a, b, d in zip(w, first, second, strict=True)]
        total = sum(y.radii)
        square = ONE * ONE
        error = 2 * ONE // sigma + 4 * max(map(abs, kappa)) * ONE // (sigma * sigma) + 4
        error += q_error * square // (sigma * sigma) + q_size * slope_error * ONE // (sigma * sigma)
        error += 8 * q_size * square // (sigma * sigma * sigma) + 4 * ONE // sigma + 8
        value -= (error * total >> BITS) + 1
        bulge = _bulge(y, normed, width)
        away = (dot(map(abs, slope), y.radii) + slope_error * total >> BITS) + bulge + 2
        moved = (dot(map(abs, kappa), y.radii) + total >> BITS) + 2
        value -= moved * away * ONE // (least * sigma) + 1
        value -= q_size * away * away * ONE // (least * sigma * sigma) + 1
        value -= q_size * bulge * ONE // (sigma * sigma) + 1
        base = self.question(p).base
        value += dot(form, [b - a for a, b in zip(y.centres, base.centres, strict=True)]) >> BITS
        value -= (dot(map(abs, form), base.radii) >> BITS) + 1
        return form, value - passed.wrong[c] - passed.wrong[k]

    def values(self, head: int, form: Sequence[int], sets: Sets) -> list[list[int]]:
        """A linear form of what each place adds with each symbol of its set, rounded down."""
        return [[dot(form, self.adds[head][j][s]) >> BITS for s in some] for j, some in enumerate(sets)]

    def own_value(self, p: int, head: int, form: Sequence[int]) -> int:
        """The same of what the question itself adds."""
        return dot(form, self.question(p).added[head]) >> BITS


def _term(power: tuple[int, int], value: int) -> int:
    return (power[0] if value >= 0 else power[1]) * value


def _tangent(normed: Normed, width: int) -> tuple[list[int], int]:
    """The gradient of σ at the centre, u/(width·σ), and how far its entries may be off; they are at most 1 in size."""
    sigma = normed.deviation
    return [c * ONE // (width * sigma) for c in normed.centred], 4 * ONE // (sigma - 2) + 4


def _bulge(x: Balls, normed: Normed, width: int) -> int:
    """How far σ can exceed its tangent in the box."""
    return dot(x.radii, x.radii) // (2 * width * normed.least) + 1


def everything(alphabet: int, length: int, p: int, c: int) -> list[list[int]]:
    """All contexts of a pair, as sets."""
    return [[c] if place == p else list(range(alphabet)) for place in range(length)]


def proved(model: Lookup, p: int, c: int, proof: Any) -> None:
    """Check the proof of one pair: on every text that has the symbol c at place p the answer to the question p is c.

    A proof is ``["leak"]``; or ``["leaf", boxes, classes]`` with the ends of the box or null for that of the leak, and
    for some classes [class, λ of each head]; or ``["split", place, symbols, proof, proof]``: the place holds one of
    these symbols, or another one. Ends and λ count in 2^-20.
    """
    _walk(model, p, c, everything(model.alphabet, model.length, p, c), proof)


def _walk(model: Lookup, p: int, c: int, sets: list[list[int]], proof: Any) -> None:
    require(isinstance(proof, list) and len(proof) > 0, "a proof is not a list")
    kind = text(proof[0], "the kind of a proof", ["leak", "leaf", "split"])
    if kind == "split":
        require(len(proof) == 5, "a split has other than five entries")
        place = integer(proof[1], "a split's place", 0, model.length - 1)
        some = set(integers(proof[2], "a split's symbols", 0, model.alphabet - 1))
        for side, rest in ((True, proof[3]), (False, proof[4])):
            kept = [s for s in sets[place] if (s in some) == side]
            if kept:
                _walk(model, p, c, [*sets[:place], kept, *sets[place + 1 :]], rest)
        return
    boxes, classes = (None, []) if kind == "leak" else _leaf(model, proof)
    passed = model.passed(model.leak(p, c) if boxes is None else model.boxed(p, sets, boxes))
    stated = dict(classes)
    for k, margin in enumerate(model.margins(passed, c)):
        if k == c or margin > 0:
            continue
        require(k in stated, f"question {p}, symbol {c}: class {k} may win")
        form, rest = model.form(p, passed, c, k)
        for head, least in enumerate(stated[k]):
            values = model.values(head, form, sets)
            model.verify(p, head, sets, values, model.own_value(p, head, form), least)
        require(rest + sum(stated[k]) > 0, f"question {p}, symbol {c}: class {k} may win")


STATED_BITS = 20


def _leaf(model: Lookup, proof: Any) -> tuple[list[list[list[int]]] | None, list[tuple[int, list[int]]]]:
    require(len(proof) == 3 and isinstance(proof[2], list), "a leaf has other than a box and classes")
    shift = BITS - STATED_BITS
    boxes: list[list[list[int]]] | None = None
    if proof[1] is not None:
        require(isinstance(proof[1], list) and len(proof[1]) == model.heads, "a box is not one list for each head")
        boxes = []
        for head in proof[1]:
            ends = [integers(each, "the ends of a box") for each in head] if isinstance(head, list) else []
            require(len(ends) == model.width and all(len(each) == 2 for each in ends), "a box has no two ends each")
            boxes.append([[end << shift for end in each] for each in ends])
    classes: list[tuple[int, list[int]]] = []
    for each in proof[2]:
        numbers = integers(each, "a class's bounds")
        require(len(numbers) == 1 + model.heads, "a class has other than one bound for each head")
        classes.append((numbers[0], [number << shift for number in numbers[1:]]))
    return boxes, classes
