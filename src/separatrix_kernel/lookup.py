"""A trained Transformer of one layer that looks up the symbol at an asked position: bounds of its answer over contexts.

The model reads s_1 … s_N and a question @p at the last place, and answers there. GPT-2's layer: x + attention(norm x),
then x + W_2 GELU(W_1 norm x), a last norm, a linear readout. Positions are added to the embedding. Fix the question p
and the symbol c at its place; each other symbol is any of a set. With e_j(s) the exponential of a score (less a fixed
number) and o_j(s) what key j adds through the head and the output map, a head gives

    Σ_j e_j(s_j) o_j(s_j) / Σ_j e_j(s_j),

where the question itself is one more key. For a linear form w of it, and any number λ: the form is at least λ on all
contexts if Σ_j min_s e_j(s) (w·o_j(s) - λ) ≥ 0, since the symbols are chosen one by one. That inequality is all that
is checked; who found λ does not matter. A cheaper bound takes no λ: what keys other than the fixed ones get together is
at most T/(D + T), D the least sum of the fixed keys' e and T the sum over other keys of their largest e.

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
    Packed,
    dot,
    fixed,
    gelu,
    norm,
    power_range,
    slack,
)
from separatrix_kernel.reading import Budget, Tensors, fields, integer, integers, require, text

STRUCTURE = ("kind", "width", "heads", "hidden", "epsilon", "vocabulary", "classes", "positions")
MOST_WIDTH = 1024
KEYS_IN_A_BLOCK = 256
STATED_BITS = 20
DEEPEST = 200
MOST_NUMBERS = 1 << 26
MOST_STEPS = 1 << 34
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
    seen: tuple[list[int], ...]
    """The same through ``inward``."""
    seen_base: Balls
    """The base through ``inward``."""


class Box(NamedTuple):
    """Where the vector behind the attention is, on some texts."""

    y: Balls
    forms: list[tuple[int, int]]
    """The least and the greatest of each form a_i, see ``Lookup.inward``."""
    reach: int
    """At least its distance from the centre."""


class Halfway(NamedTuple):
    """A box behind the attention and what it becomes before the last norm."""

    y: Balls
    reach: int
    normed: Normed
    hidden: Balls
    hidden_noise: list[int]
    bends: list[Bend]
    active: list[int]
    """Radii of the GELUs' values."""
    z: Balls
    z_noise: list[int]
    z_reach: int


class Passed(NamedTuple):
    """The same through the last norm."""

    half: Halfway
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
        # What is kept of each place and symbol, and of each pair of classes.
        looks = width + self.heads * (2 * width + weights.hidden)
        room = alphabet * (length * looks + alphabet * 2 * width)
        Budget(MOST_NUMBERS, "numbers about all places, symbols and classes").spend(room)
        # One box: what all keys add, and the way through the feed-forward; one form takes as much again.
        self.steps = self.heads * length * (alphabet + width + weights.hidden) + 4 * width * (weights.hidden + alphabet)
        self.work = Budget(MOST_STEPS, "steps in all leaves")
        columns = weights.project[0]
        parts = [[row[start : start + width] for row in columns] for start in (0, width, 2 * width)]
        biases = [weights.project[1][start : start + width] for start in (0, width, 2 * width)]
        self.query, self.key, self.value = (
            Linear(part, bias, weights.first_norm) for part, bias in zip(parts, biases, strict=True)
        )
        self.first = Linear(*weights.inner, weights.second_norm)
        self.second = Linear(*weights.outer)
        self.readout = Linear(*weights.readout, weights.last_norm)
        self.first_rows = Packed([list(row) for row in zip(*self.first.columns, strict=True)])
        self.outer_rows = Packed(weights.outer[0])
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
        found = [[self._row(symbol, place) for symbol in range(self.alphabet)] for place in range(self.length)]
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
    def packed_rows(self) -> Packed:
        """``rows`` of all places and symbols as columns."""
        return Packed([row for place in self.rows for row in place])

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
        maps = [Packed(columns) for columns in self.through]
        return [[[each.floors(row) for row in place] for place in self.rows] for each in maps]

    @cached_property
    def inward(self) -> Packed:
        """The coordinates and then the forms a_i, the centred columns of the feed-forward's first map, as one map.

        a_i·y is σ times what unit i gets, without its bias, up to ``_form_error``.
        """
        width = self.width
        unit = [[ONE if i == k else 0 for k in range(width)] for i in range(width)]
        return Packed(unit + [[w - sum(column) // width for w in column] for column in self.first.columns])

    @cached_property
    def inward_sizes(self) -> Packed:
        """The same with the sizes of all entries."""
        return Packed([[abs(each) for each in column] for column in self.inward.columns])

    @cached_property
    def seen(self) -> list[list[list[list[int]]]]:
        """``adds`` through ``inward``: within a unit."""
        return [[[self.inward.floors(vector) for vector in place] for place in head] for head in self.adds]

    @cached_property
    def place_hulls(self) -> list[list[tuple[list[int], list[int]]]]:
        """Of each head and place the least and the greatest of each coordinate and form of ``seen``."""
        return [[_ends(place) for place in head] for head in self.seen]

    @cached_property
    def hulls(self) -> list[tuple[list[int], list[int]]]:
        """The same over all places."""
        return [
            (_ends([part[0] for part in head])[0], _ends([part[1] for part in head])[1]) for head in self.place_hulls
        ]

    @cached_property
    def rounds(self) -> list[tuple[list[int], int]]:
        """Of each head a point, and at least the distance of every vector of ``adds`` from it."""
        found: list[tuple[list[int], int]] = []
        for head in self.adds:
            vectors = [vector for place in head for vector in place]
            point = [sum(each) // len(vectors) for each in zip(*vectors, strict=True)]
            found.append((point, max(_distance(vector, point) for vector in vectors)))
        return found

    @cached_property
    def packed_adds(self) -> list[Packed]:
        """Of each head ``adds`` of all places and symbols as columns."""
        return [Packed([vector for place in head for vector in place]) for head in self.adds]

    @cached_property
    def value_sizes(self) -> list[int]:
        """At least Σ|x||W_V| + |b| of each coordinate between value and output, on all keys."""
        _ = self.rows
        pairs = zip(self.value.sizes, self.value.bias_sizes, strict=True)
        return [(dot(sizes, self.sizes) >> BITS) + bias + 1 for sizes, bias in pairs]

    @cached_property
    def key_sizes(self) -> list[int]:
        """The same between key and score."""
        _ = self.rows
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
        _ = self.through
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
        _ = self.rows
        width, inner = self.width, self.inner
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
            apart = [
                a + (dot(k, size) >> BITS) // ONE + 3 for a, k in zip(apart, zip(*sizes, strict=True), strict=True)
            ]
            whole = (dot(size, self.key_sizes[part]) >> BITS) * (root + 1) >> BITS
            error = (dot(apart, self.sizes) >> BITS) + 4
            error += sum(abs(c) + a for c, a in zip(u, apart, strict=True)) * self.row_error >> BITS
            error += slack(2 * width + inner + 32 + 8 * blocks, whole + 1)
            error += (16 * blocks * ONE >> ROUNDOFF_BITS) + 1
            flat = self.packed_rows.floors(u)
            scores.append([flat[start : start + self.alphabet] for start in range(0, len(flat), self.alphabet)])
            own.append(dot(u, normed.centres) >> BITS)
            errors.append(error)
        added = tuple([dot(normed.centres, column) >> BITS for column in columns] for columns in self.through)
        base = self._base(x)
        seen = tuple(self.inward.floors(each) for each in added)
        through = Balls(self.inward.floors(base.centres), [r + 2 for r in self.inward_sizes.floors(base.radii)])
        return Question(base, tuple(scores), tuple(own), tuple(errors), added, seen, through)

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

    def leak(self, p: int, sets: Sets) -> Box:
        """The box for all texts with these symbols, from what the keys get together whose symbols are not fixed.

        A head gives (1 - ε)·base + ε·average. The base is the average over keys with a single symbol and the question,
        with their powers e; it differs from the one with powers m by Σ(e - m)(v - base)/Σe. The other average is of
        vectors that other keys add, and ε is at most T/(D + T), D the least Σe of the first keys and T the greatest of
        the others. So it is with every linear form of what the head gives.
        """
        found, width = self.question(p), self.width
        low, high = list(found.seen_base.centres), list(found.seen_base.centres)
        reach, start = 0, list(found.base.centres)
        for head in range(self.heads):
            scores, own, error = found.scores[head], found.own[head], found.error[head]
            largest = [max(map(place.__getitem__, some)) for place, some in zip(scores, sets, strict=True)]
            most = max(own, *largest)
            powers = [power_range(each - most, error) for each in largest]
            fixed_at = [place for place, some in enumerate(sets) if len(some) == 1]
            keys = [power_range(own - most, error), *(powers[place] for place in fixed_at)]
            vectors = [found.seen[head], *(self.seen[head][place][sets[place][0]] for place in fixed_at)]
            others = sum(power[1] for place, power in enumerate(powers) if len(sets[place]) > 1)
            least = sum(key[0] for key in keys)
            require(least > 0, "the fixed keys may get no weight")
            leaks = others * ONE // (least + others) + 1 if others else 0
            middles, spreads = [a + b for a, b in keys], [b - a for a, b in keys]
            whole = sum(middles)
            base = [dot(middles, each) // whole for each in zip(*vectors, strict=True)]
            apart = [
                sum(s * (abs(v - b) + 1) for s, v in zip(spreads, each, strict=True)) // (2 * least) + 2
                for each, b in zip(zip(*vectors, strict=True), base, strict=True)
            ]
            lowest, highest = self._hull(head, sets) if leaks else (base, base)
            for i, (b, r) in enumerate(zip(base, apart, strict=True)):
                first, last = b - r, b + r + 1
                low[i] += first + min(0, leaks * (lowest[i] - first) >> BITS) - 1
                high[i] += last + max(0, leaks * (highest[i] + 1 - last) >> BITS) + 2
            point, distance = self.rounds[head]
            start = [v + b for v, b in zip(start, base, strict=False)]
            wide = isqrt(dot(apart[:width], apart[:width])) + 1
            reach += wide + (leaks * (distance + _distance(base[:width], point) + wide) >> BITS) + width + 4
        centres = [(a + b) // 2 for a, b in zip(low[:width], high[:width], strict=True)]
        radii = found.base.radii
        spread = [(b - a + 1) // 2 + r + 1 for a, b, r in zip(low[:width], high[:width], radii, strict=True)]
        errors = found.seen_base.radii[width:]
        forms = [(a - r, b + r) for a, b, r in zip(low[width:], high[width:], errors, strict=True)]
        reach += _distance(start, centres) + isqrt(dot(radii, radii)) + 1
        return Box(Balls(centres, spread), forms, min(reach, isqrt(dot(spread, spread)) + 1))

    def _hull(self, head: int, sets: Sets) -> tuple[list[int], list[int]]:
        """The least and the greatest of what keys add that are not fixed; of all keys where almost none is fixed."""
        if sum(len(some) == self.alphabet for some in sets) >= self.length - 1:
            return self.hulls[head]
        parts = [
            self.place_hulls[head][place]
            if len(some) == self.alphabet
            else _ends([self.seen[head][place][s] for s in some])
            for place, some in enumerate(sets)
            if len(some) > 1
        ]
        return _ends([part[0] for part in parts])[0], _ends([part[1] for part in parts])[1]

    def verify(self, p: int, head: int, sets: Sets, form: Sequence[int], least: int) -> None:
        """That a linear form of what a head gives is nowhere below ``least``, on texts with these symbols."""
        powers, itself = self.powers(p, head)
        total = _term(itself, self.own_value(p, head, form) - least)
        for place, some, numbers in zip(powers, sets, self.values(head, form), strict=True):
            total += min(_term(place[s], numbers[s] - least) for s in some)
        require(total >= 0, f"question {p}: a bound of head {head} does not hold")

    # -- behind the attention --------------------------------------------------------------------------------

    def passed(self, box: Box) -> Passed:
        """A box through feed-forward and last norm."""
        epsilon, y = self.weights.epsilon, box.y
        normed = norm(y, epsilon, box.reach)
        hidden, hidden_noise = self.first.apply(normed.balls)
        hidden = Balls(hidden.centres, self._narrowed(box, normed, hidden, hidden_noise))
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
        z, reach = Balls(centres, radii), isqrt(dot(radii, radii)) + 1
        half = Halfway(y, box.reach, normed, hidden, hidden_noise, bends, active, z, noise, reach)
        last = norm(z, epsilon, reach, self._least_deviation(half))
        return Passed(half, last, self._wrong(last))

    def _least_deviation(self, half: Halfway) -> int:
        """At most every σ(z): σ is convex, so that it is above its tangent, which is a linear form of z."""
        centre = norm(Balls(half.z.centres, [0] * self.width), self.weights.epsilon)
        tangent, error = _tangent(centre, self.width)
        form, loss = self.pulled(half, tangent)
        loss += (error * sum(half.z.radii) >> BITS) + 1
        across = dot(map(abs, form), half.y.radii) >> BITS
        length = (isqrt(dot(form, form)) + 1) * half.reach >> BITS
        return centre.deviation - 2 - loss - min(across, length) - 1

    def _narrowed(self, box: Box, normed: Normed, hidden: Balls, noise: list[int]) -> list[int]:
        """Radii of what the feed-forward's units get, from the ranges of the forms a_i where they are smaller.

        A unit gets a_i·y/σ and its bias, up to noise. a_i differs from the true column by its error and by the
        rounding of its mean, on numbers that add up to at most twice Σ|y|.
        """
        size = sum(abs(c) + r for c, r in zip(box.y.centres, box.y.radii, strict=True))
        error = ((self.first.error + 4) * 2 * size >> BITS) + 2
        inverses = ONE * ONE // normed.most, ONE * ONE // normed.least + 1
        caused = self.first.packed_sizes.floors(normed.noise)
        radii: list[int] = []
        for i, (low, high) in enumerate(box.forms):
            low, high = low - error, high + error
            least = low * inverses[low < 0] >> BITS
            most = (high * inverses[high > 0] >> BITS) + 1
            centre = hidden.centres[i] - self.first.bias[i]
            own = max(most - centre, centre - least) + caused[i] + noise[i] + 2
            radii.append(min(own, hidden.radii[i]))
        return radii

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
        radii = passed.half.z.radii
        value -= (dot(sizes, radii) + (2 * self.readout.error + 4) * sum(radii) >> BITS) + 1
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

        The margin at the centre, plus D·dz + δdσ. For δ ≥ 0 the tangent of σ is below it. Else σ exceeds its tangent by
        at most |dz|²/(2·width·σ), and its value at the centre by at most |dz|/√width.
        """
        half, last, width = passed.half, passed.last, self.width
        row, _, bias = self._differences[c][k]
        value, row_error, bias_error = self._centre(passed, c, k)
        w, error, size = row, row_error, abs(bias) + bias_error
        bulge, away = _bulge(half.z_reach, last, width), isqrt(half.z_reach**2 // width) + 2
        if bias >= bias_error or bulge < away:
            tangent, tangent_error = _tangent(last, width)
            w = [d + (bias * t >> BITS) for d, t in zip(row, tangent, strict=True)]
            error += (abs(bias) * tangent_error >> BITS) + bias_error + 3
            value -= 0 if bias >= bias_error else (size * bulge >> BITS) + 1
        else:
            value -= (size * away >> BITS) + 1
        form, loss = self.pulled(half, w)
        value -= loss + (error * sum(half.z.radii) >> BITS) + 1
        base = self.question(p).base
        value += dot(form, [b - a for a, b in zip(half.y.centres, base.centres, strict=True)]) >> BITS
        value -= (dot(map(abs, form), base.radii) >> BITS) + 1
        return form, value - passed.wrong[c] - passed.wrong[k]

    def pulled(self, half: Halfway, w: list[int]) -> tuple[list[int], int]:
        """A form f and a loss: w·(z - its centre) ≥ f·(y - its centre) - loss.

        The gradient, and what it leaves out. The numbers in it are chosen; where one is not the true derivative, the
        difference times a radius is lost. σ is convex with second derivative at most 1/(width·σ), so that it exceeds
        its tangent by 0 to |distance|²/(2·width·σ). With q = κ·u the quotient q/σ is, around the centre,
        q_0/σ_0 + dq/σ_0 - q_0 dσ/σ_0² - dq dσ/(σσ_0) + q_0 dσ²/(σσ_0²).
        """
        width, y, normed = self.width, half.y, half.normed
        # z is y plus the feed-forward's output.
        loss = (dot(map(abs, w), half.z_noise) >> BITS) + 1
        v = self.outer_rows.floors(w)
        loss += (sum(half.active) >> BITS) + 1
        loss -= sum(min(f * bend.low, f * bend.high) for f, bend in zip(v, half.bends, strict=True)) >> BITS
        t = [f * bend.slope >> BITS for f, bend in zip(v, half.bends, strict=True)]
        loss += (sum(half.hidden.radii) + dot(map(abs, t), half.hidden_noise) >> BITS) + 2
        kappa = self.first_rows.floors(t)
        sizes = list(map(abs, kappa))
        loss += (sum(normed.balls.radii) + dot(sizes, normed.noise) >> BITS) + 2
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
        total, square = sum(y.radii), ONE * ONE
        error = 2 * ONE // sigma + 4 * max(map(abs, kappa)) * ONE // (sigma * sigma) + 4
        error += q_error * square // (sigma * sigma) + q_size * slope_error * ONE // (sigma * sigma)
        error += 8 * q_size * square // (sigma * sigma * sigma) + 4 * ONE // sigma + 8
        loss += (error * total >> BITS) + 1
        # σ changes by at most |distance|/√width; κ·u by at most that of κ, and by what each coordinate allows.
        bulge, away = _bulge(half.reach, normed, width), isqrt(half.reach**2 // width) + 2
        length = isqrt(dot(kappa, kappa)) + width
        moved = min(dot(map(abs, kappa), y.radii) + total >> BITS, length * half.reach >> BITS) + 2
        loss += moved * away * ONE // (least * sigma) + 1
        loss += q_size * away * away * ONE // (least * sigma * sigma) + 1
        loss += q_size * bulge * ONE // (sigma * sigma) + 1
        return form, loss

    def values(self, head: int, form: Sequence[int]) -> list[list[int]]:
        """A linear form of what each place adds with each symbol, rounded down."""
        flat = self.packed_adds[head].floors(form)
        return [flat[start : start + self.alphabet] for start in range(0, len(flat), self.alphabet)]

    def own_value(self, p: int, head: int, form: Sequence[int]) -> int:
        """The same of what the question itself adds."""
        return dot(form, self.question(p).added[head]) >> BITS


def _term(power: tuple[int, int], value: int) -> int:
    return (power[0] if value >= 0 else power[1]) * value


def _tangent(normed: Normed, width: int) -> tuple[list[int], int]:
    """The gradient of σ at the centre, u/(width·σ), and how far its entries may be off; they are at most 1 in size."""
    sigma = normed.deviation
    return [c * ONE // (width * sigma) for c in normed.centred], 4 * ONE // (sigma - 2) + 4


def _bulge(reach: int, normed: Normed, width: int) -> int:
    """How far σ can exceed its tangent within this distance from the centre."""
    return reach**2 // (2 * width * normed.least) + 1


def _ends(vectors: Sequence[Sequence[int]]) -> tuple[list[int], list[int]]:
    """The least and the greatest of each coordinate."""
    columns = list(zip(*vectors, strict=True))
    return [min(each) for each in columns], [max(each) for each in columns]


def _distance(left: Sequence[int], right: Sequence[int]) -> int:
    """At least the distance of two points."""
    return isqrt(sum((a - b) ** 2 for a, b in zip(left, right, strict=True))) + 1


def everything(alphabet: int, length: int, p: int, c: int) -> list[list[int]]:
    """All contexts of a pair, as sets."""
    return [[c] if place == p else list(range(alphabet)) for place in range(length)]


def proved(model: Lookup, p: int, c: int, proof: Any) -> None:
    """Check the proof of one pair: on every text that has the symbol c at place p the answer to the question p is c.

    A proof is ``["leaf", classes]``, with [class, λ of each head] for those classes that boxes leave in doubt, λ in
    units of 2^-20; or ``["split", place, symbols, proof, proof]``: the place holds one of these symbols, or another.
    """
    _walk(model, p, c, everything(model.alphabet, model.length, p, c), proof)


def _walk(model: Lookup, p: int, c: int, sets: list[list[int]], proof: Any, depth: int = 0) -> None:
    require(isinstance(proof, list) and len(proof) > 0, "a proof is not a list")
    require(depth <= DEEPEST, f"a proof has splits within more than {DEEPEST} splits")
    if text(proof[0], "the kind of a proof", ["leaf", "split"]) == "split":
        require(len(proof) == 5, "a split has other than five entries")
        place = integer(proof[1], "a split's place", 0, model.length - 1)
        some = set(integers(proof[2], "a split's symbols", 0, model.alphabet - 1))
        for side, rest in ((True, proof[3]), (False, proof[4])):
            kept = [s for s in sets[place] if (s in some) == side]
            if kept:
                _walk(model, p, c, [*sets[:place], kept, *sets[place + 1 :]], rest, depth + 1)
        return
    require(len(proof) == 2 and isinstance(proof[1], list), "a leaf has other than a list of classes")
    stated: dict[int, list[int]] = {}
    for each in proof[1]:
        numbers = integers(each, "a class's bounds")
        require(len(numbers) == 1 + model.heads, "a class has other than one bound for each head")
        stated[numbers[0]] = [number << (BITS - STATED_BITS) for number in numbers[1:]]
    model.work.spend(model.steps)
    passed = model.passed(model.leak(p, sets))
    for k, margin in enumerate(model.margins(passed, c)):
        if k == c or margin > 0:
            continue
        require(k in stated, f"question {p}, symbol {c}: class {k} may win")
        model.work.spend(model.steps)
        form, rest = model.form(p, passed, c, k)
        for head, least in enumerate(stated[k]):
            model.verify(p, head, sets, form, least)
        require(rest + sum(stated[k]) > 0, f"question {p}, symbol {c}: class {k} may win")
