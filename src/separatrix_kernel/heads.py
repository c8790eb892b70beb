"""The attention of one layer of a trained Transformer, read at the last place, over all texts at once.

GPT-2's layer: x + attention(norm x), then what ``answers`` bounds. Positions are added to the embedding, or turn
queries and keys. The token at the last place asks; with it fixed, each other place holds one of some symbols. With
e_j(s) the exponential of a score (less a fixed number) and o_j(s) what key j adds through the head and the output map,
a head gives

    Σ_j e_j(s_j) o_j(s_j) / Σ_j e_j(s_j),

where the asking token itself is one more key. For a linear form w of it, and any number λ: the form is at least λ on
some texts if Σ_j e_j(s_j) (w·o_j(s_j) - λ) ≥ 0 on them. ``lookup`` and ``thresholds`` say on which, and bound the sum.

All numbers are balls (``balls``), so that bounds hold for exact arithmetic and for float32.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, lru_cache
from math import isqrt
from typing import Any, NamedTuple

from separatrix_kernel.answers import Answers, Box
from separatrix_kernel.balls import (
    BITS,
    ONE,
    ROUNDOFF_BITS,
    Balls,
    Linear,
    Packed,
    dot,
    norm,
    power_range,
    slack,
)
from separatrix_kernel.reading import Budget, integer, integers, require, text
from separatrix_kernel.transformer import Weights

KEYS_IN_A_BLOCK = 256
DEEPEST = 200
MOST_NUMBERS = 1 << 26
MOST_STEPS = 1 << 34
Sets = Sequence[Sequence[int]]
"""The symbols that are possible at each place of the text."""
Power = tuple[int, int]
"""The least and the greatest of an exponential."""
Turns = tuple[list[list[int]], list[list[int]]]
"""Cosines and sines of each place."""


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
    """The same through ``Answers.inward``."""
    seen_base: Balls
    """The base through ``Answers.inward``."""


class Heads:
    """A layer, the symbols that each key may hold, and the tokens that may ask, which are numbered from 0 on."""

    def __init__(self, weights: Weights, held: Sequence[range], asking: range, layer: int = 0) -> None:
        length, alphabet = len(held), max((each.stop for each in held), default=1)
        require(weights.positions > length, f"the model has positions for inputs of {weights.positions} cells alone")
        fits = layer > 0 or max(alphabet, asking.stop) <= weights.vocabulary
        require(fits, "the model's vocabulary lacks tokens of the inputs")
        self.weights, self.held, self.asking = weights, held, asking
        self.alphabet, self.length = alphabet, length
        self.width, self.heads = weights.width, weights.heads
        self.inner = weights.width // weights.heads
        width, classes = self.width, weights.classes
        # What is kept of each place and symbol, and of each pair of classes.
        looks = width + self.heads * (2 * width + weights.hidden)
        room = alphabet * length * looks + classes * classes * 2 * width
        Budget(MOST_NUMBERS, "numbers about all places, symbols and classes").spend(room)
        # One box: what all keys add, and the way through the feed-forward; one form takes as much again.
        self.steps = self.heads * length * (alphabet + width + weights.hidden) + 4 * width * (weights.hidden + classes)
        self.work = Budget(MOST_STEPS, "steps in all leaves")
        (columns, bias), before = weights.layers[layer].project, weights.layers[layer].first_norm
        parts = [[row[start : start + width] for row in columns] for start in (0, width, 2 * width)]
        biases = [bias[start : start + width] for start in (0, width, 2 * width)]
        self.query, self.key, self.value = (
            Linear(part, bias, before) for part, bias in zip(parts, biases, strict=True)
        )
        self.output = weights.layers[layer].output
        self.answers = Answers(weights, layer)
        self.question = lru_cache(maxsize=4)(self._question)
        self.powers = lru_cache(maxsize=4)(self._powers)

    def vector(self, token: int, place: int) -> Balls:
        """What the layer gets of a token at a place: their sum, as float32 may round it."""
        centres = [a + b for a, b in zip(self.weights.embedding[token], self.weights.places[place], strict=True)]
        return Balls(centres, [slack(1, abs(c)) + 1 for c in centres])

    # -- what does not depend on the question ---------------------------------------------------------------

    @cached_property
    def rows(self) -> list[list[list[int]]]:
        """Of each place and symbol the normed vector, 0 where it cannot be; coordinates are within ``row_errors``."""
        self.row_errors, self.sizes = [0] * self.width, [0] * self.width
        nothing = [0] * self.width
        found = [
            [self._row(symbol, place) if symbol in some else nothing for symbol in range(self.alphabet)]
            for place, some in enumerate(self.held)
        ]
        for token in self.asking:
            self._row(token, self.length)
        self.sizes = [size + error for size, error in zip(self.sizes, self.row_errors, strict=True)]
        return found

    def _row(self, token: int, place: int) -> list[int]:
        balls = self._normed(self.vector(token, place))
        self.row_errors = [max(error, r) for error, r in zip(self.row_errors, balls.radii, strict=True)]
        self.sizes = [max(size, abs(c)) for size, c in zip(self.sizes, balls.centres, strict=True)]
        return balls.centres

    def _normed(self, x: Balls) -> Balls:
        return norm(x, self.weights.epsilon, isqrt(dot(x.radii, x.radii)) + 1).balls

    @cached_property
    def packed_rows(self) -> Packed:
        """``rows`` of all places and symbols as columns."""
        return Packed([row for place in self.rows for row in place])

    @cached_property
    def packed_places(self) -> list[Packed]:
        """``rows`` of each place as columns."""
        return [Packed(place) for place in self.rows]

    @cached_property
    def through(self) -> list[list[list[int]]]:
        """Of each head the columns of W_V W_O, behind the norm's gain; entries are within ``through_error``."""
        width, inner, output = self.width, self.inner, self.output[0]
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
    def seen(self) -> list[list[list[list[int]]]]:
        """``adds`` through ``Answers.inward``: within a unit."""
        return [[[self.answers.inward.floors(vector) for vector in place] for place in head] for head in self.adds]

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
        size. A key's vector is within ``row_errors``, and W_V W_O within ``through_error``.
        """
        output, bias = self.output
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
                (dot([abs(m) + self.through_error for m in columns[i]], self.row_errors) >> BITS) + 1
                for columns in self.through
            )
            noise.append(own + moved + away)
            sizes.append(size + own)
        return noise, sizes

    # -- what depends on the question ------------------------------------------------------------------------

    def _question(self, p: int) -> Question:
        """Scores, and the vector to which the keys add; see ``error`` for what scores may be off by.

        A score is u·x with u = W_K q/√m; the key's bias adds the same to all keys, unless they are turned. In float32
        its products come in any order, with the bias or without, at most 2·width + m + 32 roundings on a path, 8 more
        where keys are turned, and 8 for each block of keys in which the softmax is put together; its subtraction of the
        largest score is one of them, of a number below twice the size of a score. Its exp is right within 8u, once for
        each block and once more.
        """
        _ = self.rows
        inner = self.inner
        x = self.vector(self.asking[p], self.length)
        normed = self._normed(x)
        q, _ = self.query.apply(normed)
        blocks, turning = 2 + self.length // KEYS_IN_A_BLOCK, 0 if self.weights.turns is None else 8
        scores, own, errors = list[list[list[int]]](), list[int](), list[int]()
        for head in range(self.heads):
            part = slice(head * inner, (head + 1) * inner)
            asked = Balls(q.centres[part], q.radii[part])
            if self.weights.turns is None:
                size = [abs(c) + r for c, r in zip(*asked, strict=True)]
                u, error, whole = self._form(part, asked, size)
                flat = self.packed_rows.floors(u)
                scores.append([flat[start : start + self.alphabet] for start in range(0, len(flat), self.alphabet)])
                own.append(dot(u, normed.centres) >> BITS)
            else:
                found, error, whole = self._turned(part, asked, normed.centres, self.weights.turns)
                scores.append(found[:-1])
                own.append(found[-1][0])
            error += slack(2 * self.width + inner + 32 + 8 * blocks + turning, whole + 1)
            errors.append(error + (16 * blocks * ONE >> ROUNDOFF_BITS) + 1)
        added = tuple([dot(normed.centres, column) >> BITS for column in columns] for columns in self.through)
        base = self._base(x)
        seen = tuple(self.answers.inward.floors(each) for each in added)
        through = Balls(
            self.answers.inward.floors(base.centres), [r + 2 for r in self.answers.inward_sizes.floors(base.radii)]
        )
        return Question(base, tuple(scores), tuple(own), tuple(errors), added, seen, through)

    def _form(self, part: slice, q: Balls, size: Sequence[int]) -> tuple[list[int], int, int]:
        """Of a head and a query u = W_K q/√m, its error on all keys, and the size of a score.

        ``size`` is at least |q|, and at least what of each coordinate adds up before signs cancel.
        """
        columns, sizes = self.key.columns[part], self.key.sizes[part]
        root = isqrt(ONE * ONE // self.inner)
        u = [(dot(k, q.centres) >> BITS) * root >> BITS for k in zip(*columns, strict=True)]
        apart = [(dot(k, q.radii) >> BITS) + 2 for k in zip(*sizes, strict=True)]
        apart = [(a + (sum(size) * self.key.error >> BITS)) * (root + 1) >> BITS for a in apart]
        # The root is known within a unit.
        apart = [a + (dot(k, size) >> BITS) // ONE + 3 for a, k in zip(apart, zip(*sizes, strict=True), strict=True)]
        whole = (dot(size, self.key_sizes[part]) >> BITS) * (root + 1) >> BITS
        error = (dot(apart, self.sizes) >> BITS) + 4
        wide = [abs(c) + a for c, a in zip(u, apart, strict=True)]
        return u, error + (dot(wide, self.row_errors) >> BITS) + 1, whole

    def _turned(self, part: slice, q: Balls, itself: list[int], turns: Turns) -> tuple[list[list[int]], int, int]:
        """Of a head the scores of each place and symbol, and last of the question; their error, and their size.

        A key at place j is turned by R_j, so that its score is that of the query turned by R_j^T at the key as it is;
        its bias counts too. The work is a form for each place, some 300 ns a weight, and is charged as 12 steps.
        """
        self.work.spend(12 * (self.length + 1) * self.width * self.inner)
        ahead = turned(q, turns[0][self.length], turns[1][self.length])
        size = [abs(c) + r for c, r in zip(*ahead, strict=True)]
        root, bias = isqrt(ONE * ONE // self.inner), self.key.bias[part]
        scores, error, whole = list[list[int]](), 0, 0
        for j in range(self.length + 1):
            cosine, sine = turns[0][j], turns[1][j]
            back, sizes = turned(ahead, cosine, [-each for each in sine]), turned_sizes(size, cosine, sine)
            u, wrong, most = self._form(part, back, sizes)
            shift = (dot(bias, back.centres) >> BITS) * root >> BITS
            away = dot(self.key.bias_sizes[part], back.radii) + sum(sizes) * self.key.bias_error
            wrong += (((away >> BITS) + 2) * (root + 1) >> BITS) + 4
            # The root is known within a unit.
            wrong += (dot(sizes, self.key.bias_sizes[part]) >> BITS) // ONE
            found = self.packed_places[j].floors(u) if j < self.length else [dot(u, itself) >> BITS]
            scores.append([each + shift for each in found])
            error, whole = max(error, wrong), max(whole, most)
        return scores, error, whole

    def _base(self, x: Balls) -> Balls:
        output, bias = self.output
        noise, sizes = self.attention_noise
        centres, radii = list[int](), list[int]()
        for i in range(self.width):
            column = [row[i] for row in output]
            lasting = (sum(map(abs, column)) * self.value.bias_error + sum(self.value.bias_sizes) >> BITS) + 4
            centres.append(x.centres[i] + bias[i] + (dot(column, self.value.bias) >> BITS))
            radii.append(x.radii[i] + noise[i] + lasting + slack(2, abs(x.centres[i]) + x.radii[i] + sizes[i]))
        return Balls(centres, radii)

    def _powers(self, p: int, head: int) -> tuple[list[list[Power]], Power]:
        """Exponentials of a head's scores, of each place and symbol and of the question: less the largest score."""
        found = self.question(p)
        error, own = found.error[head], found.own[head]
        scores = found.scores[head]
        places = zip(scores, self.held, strict=True)
        most = lifted(max([own, *(max(place[s] for s in some) for place, some in places)]), error)
        every = [
            [power_range(score - most, error) if s in some else (0, 0) for s, score in enumerate(place)]
            for place, some in zip(scores, self.held, strict=True)
        ]
        return every, power_range(own - most, error)

    def boxed(self, p: int, low: Sequence[int], high: Sequence[int]) -> Box:
        """The box of vectors whose coordinates and forms are between these ends, without the errors of the base."""
        found, width = self.question(p), self.width
        centres = [(a + b) // 2 for a, b in zip(low[:width], high[:width], strict=True)]
        radii = found.base.radii
        spread = [(b - a + 1) // 2 + r + 1 for a, b, r in zip(low[:width], high[:width], radii, strict=True)]
        errors = found.seen_base.radii[width:]
        forms = [(a - r, b + r) for a, b, r in zip(low[width:], high[width:], errors, strict=True)]
        return Box(Balls(centres, spread), forms, isqrt(dot(spread, spread)) + 1)

    def values(self, head: int, form: Sequence[int]) -> list[list[int]]:
        """A linear form of what each place adds with each symbol, rounded down."""
        flat = self.packed_adds[head].floors(form)
        return [flat[start : start + self.alphabet] for start in range(0, len(flat), self.alphabet)]

    def own_value(self, p: int, head: int, form: Sequence[int]) -> int:
        """The same of what the question itself adds."""
        return dot(form, self.question(p).added[head]) >> BITS

    # -- proofs ----------------------------------------------------------------------------------------------

    def leaves(self, sets: Sets, proof: Any, depth: int = 0) -> Iterator[tuple[Sets, list[Any]]]:
        """The leaves of a proof, each with the symbols that it is about; together they are about all of ``sets``.

        A proof is ``["leaf", …]``, or ``["split", place, symbols, proof, proof]``: the place holds one of these
        symbols, or another. A side on which no symbol is left is about no text, and is not read.
        """
        require(isinstance(proof, list) and len(proof) > 0, "a proof is not a list")
        require(depth <= DEEPEST, f"a proof has splits within more than {DEEPEST} splits")
        if text(proof[0], "the kind of a proof", ["leaf", "split"]) == "leaf":
            yield sets, proof[1:]
            return
        require(len(proof) == 5, "a split has other than five entries")
        place = integer(proof[1], "a split's place", 0, self.length - 1)
        some = set(integers(proof[2], "a split's symbols", 0, self.alphabet - 1))
        for side, rest in ((True, proof[3]), (False, proof[4])):
            kept = [s for s in sets[place] if (s in some) == side]
            if kept:
                yield from self.leaves([*sets[:place], kept, *sets[place + 1 :]], rest, depth + 1)

    def show(self, p: int, right: int, box: Box, least: Callable[[int, int, list[int]], int]) -> None:
        """Refuse unless the right class has the only largest logit, with the vector behind the attention in a box.

        Of a class that the box leaves in doubt, ``least(class, head, form)`` is at most a form of what a head gives.
        """
        passed = self.answers.passed(box)
        for k, margin in enumerate(self.answers.margins(passed, right)):
            if k != right and margin <= 0:
                self.work.spend(self.steps)
                form, rest = self.answers.form(self.question(p).base, passed, right, k)
                rest += sum(least(k, head, form) for head in range(self.heads))
                require(rest > 0, f"last token {self.asking[p]}, answer {right}: class {k} may win")


def turned(x: Balls, cosine: Sequence[int], sine: Sequence[int]) -> Balls:
    """A vector whose pairs (i, i + m/2) are turned: (a, b) becomes (ac - bs, bc + as), as float32 may round it."""
    half = len(cosine)
    first, second = x.centres[:half], x.centres[half:]
    centres = [a * c - b * s >> BITS for a, b, c, s in zip(first, second, cosine, sine, strict=True)]
    centres += [b * c + a * s >> BITS for a, b, c, s in zip(first, second, cosine, sine, strict=True)]
    size = turned_sizes([abs(c) + r for c, r in zip(*x, strict=True)], cosine, sine)
    # Cosine and sine are known within half a unit.
    far = max(map(abs, x.centres)) // ONE + 2
    return Balls(
        centres, [r + far + slack(3, z) for r, z in zip(turned_sizes(x.radii, cosine, sine), size, strict=True)]
    )


def turned_sizes(size: Sequence[int], cosine: Sequence[int], sine: Sequence[int]) -> list[int]:
    """At least what the coordinates of a turned vector add up to before signs cancel."""
    half = len(cosine)
    first, second = size[:half], size[half:]
    ends = [abs(c) + 1 for c in cosine], [abs(s) + 1 for s in sine]
    found = [(a * c + b * s >> BITS) + 1 for a, b, c, s in zip(first, second, *ends, strict=True)]
    return found + [(b * c + a * s >> BITS) + 1 for a, b, c, s in zip(first, second, *ends, strict=True)]


def lifted(most: int, error: int) -> int:
    """What is taken from all scores, any number would do: the largest, or more where that is not known well."""
    return most + (error if 4 * error > ONE else 0)


def least_product(power: Power, value: int) -> int:
    """The least of an exponential times a number."""
    return (power[0] if value >= 0 else power[1]) * value
