"""Mamba's layer for ``words``: what a token makes of its state, and which answer wins, as a function of four tokens.

    [u, z] = W_in norm x,  u ← silu(conv₄ u),  [r, B, C] = W_x u,  Δ = softplus(W_Δ r + b_Δ)
    h' = exp(ΔA) ⊙ h + Δ u Bᵀ,  y = h'C + D ⊙ u,  logits = W norm(x + W_out (y ⊙ silu z)) + b,  A = -exp a

x is the embedding of a token, norm the root mean square norm with a gain. In a single layer the convolution sees inputs
that depend on one token each. So everything but h is a function of the last four tokens, and for these h' is an affine
function of h, number by number, with a factor from 0 to 1; and the logits come from a linear form of h', of which the
last norm only takes a multiple. What a box becomes is again a box, without loss, and the least difference of two logits
is known up to that multiple. The state is h, which starts at 0, and the last three tokens; before the first one the
convolution reads 0. There is no answer before the first token.

A ball is a centre and a radius in units of 2^-40 and holds the exact number and float32's, as in ``balls``. In addition
to what is assumed there and in ``cells``, softplus is taken to be at least 0 and right within 32u(1 + its value): that
follows from exp and log within 8u, for log(1 + exp x) and for max(x, 0) + log(1 + exp -|x|). Nothing overflows: all
numbers on the way are at most 2^20, or the weights are refused. float32 means the recurrence as it is written above,
token by token; a parallel scan over a whole word is another computation.
"""

from collections.abc import Sequence
from fractions import Fraction
from math import isqrt

from separatrix_kernel.balls import BITS, ONE, WORK, Balls, Linear, dot, exponentials, fixed, slack
from separatrix_kernel.cells import (
    ABSOLUTE,
    MOST_CLASSES,
    MOST_WEIGHTS,
    MOST_WIDTH,
    SELECTIVE,
    STRUCTURE,
    Range,
    balls_of,
    products,
    sigmoids,
    size,
    wider,
)
from separatrix_kernel.reading import Budget, Tensors, fields, integer, require, text

TAPS = 4
MOST_STATE = 256
MOST_EXPANSION = 8
EPSILON = Fraction(1, 100_000)
MOST_KEPT = 1 << 21
"""Numbers that are kept for the leads after four tokens: some 100 bytes each."""
LARGEST = ONE << 20
LARGEST_RATE = 16 * ONE
LOGARITHM_TERMS = 21
Ball = tuple[int, int]


def log_one_more(value: int) -> Range:
    """Units a, b with a ≤ 2^40 · log(1 + value / 2^40) ≤ b, for 0 ≤ value ≤ 2^40.

    log(1 + E) = 2 Σ y^(2k+1)/(2k+1) with y = E/(2 + E) ≤ 1/3. Powers are each too small by less than two units of
    2^-64, and quotients by another one, so that the sum misses less than 21 · 3; what is left out is below 2^-64.
    """
    y = (value << WORK) // (2 * ONE + value)
    square, power, total = y * y >> WORK, y, 0
    for number in range(LOGARITHM_TERMS):
        total += power // (2 * number + 1)
        power = power * square >> WORK
    return 2 * total >> (WORK - BITS), (2 * (total + 64) >> (WORK - BITS)) + 1


def softplus(value: int) -> Range:
    """Units a, b with a ≤ 2^40 · log(1 + exp(value / 2^40)) ≤ b, in exact arithmetic."""
    low, high = exponentials(abs(value))
    return max(value, 0) + log_one_more(low)[0], max(value, 0) + log_one_more(min(high, ONE))[1]


def softpluses(low: int, high: int) -> Range:
    """Where softplus is between these ends, in float32 too."""
    least, most = softplus(low)[0], softplus(high)[1]
    wrong = (ABSOLUTE * (ONE + most) >> BITS) + 1
    return max(0, least - wrong), most + wrong


def rates(value: int) -> Range:
    """Where exp of a number of at most 16 in size is, in float32 too."""
    require(abs(value) <= LARGEST_RATE, "a logarithm of a rate is larger than 16")
    low, high = exponentials(abs(value) + 1)[0], exponentials(max(0, abs(value) - 1))[1]
    if value > 0:
        low, high = ONE * ONE // high, ONE * ONE // low + 1
    return wider((low, high), 8, high)


def decays(step: Range, rate: Range) -> Range:
    """Where exp(-Δ · rate) is, in float32 too."""
    low, high = wider(products(step, rate), 2, size(step) * size(rate) >> BITS)
    least, most = exponentials(max(0, high))[0], exponentials(max(0, low))[1]
    low, high = wider((least, most), 8, most)
    return max(0, low), high


def silu(ball: Ball) -> Ball:
    """x σ(x), in float32 too."""
    low, high = ball[0] - ball[1], ball[0] + ball[1]
    found = products((low, high), sigmoids(low, high))
    return _ball(wider(found, 4, size(found)))


def _ball(ends: Range) -> Ball:
    centre = (ends[0] + ends[1]) // 2
    return centre, ends[1] - centre


def _ends(ball: Ball) -> Range:
    return ball[0] - ball[1], ball[0] + ball[1]


def _most(ball: Ball) -> int:
    return abs(ball[0]) + ball[1]


def _product(left: Ball, right: Ball) -> Ball:
    """The product in exact arithmetic."""
    (a, r), (b, s) = left, right
    return a * b >> BITS, ((abs(a) * s + abs(b) * r + r * s) >> BITS) + 2


def _computed(ball: Ball, terms: int, most: int | None = None) -> Ball:
    """With what so many roundings of numbers add that are together at most this large."""
    return ball[0], ball[1] + slack(terms, _most(ball) if most is None else most) + 1


def _bounded(balls: Sequence[Ball]) -> Sequence[Ball]:
    require(all(_most(each) <= LARGEST for each in balls), "a number on the way is larger than 2^20")
    return balls


def _apply(linear: Linear, x: Sequence[Ball]) -> list[Ball]:
    found, _ = linear.apply(Balls([c for c, _ in x], [r for _, r in x]))
    return list(zip(found.centres, found.radii, strict=True))


def _deviations(x: Sequence[Ball]) -> Range:
    """Where the root of the mean square and ε is, in float32 too: mean within γ_{n+2} relatively, root within 8u."""
    width = len(x)
    low = sum(max(0, abs(c) - r) ** 2 for c, r in x) // width
    high = sum((abs(c) + r) ** 2 for c, r in x) // width + 1
    small = ONE * ONE * EPSILON.numerator // EPSILON.denominator
    least, most = isqrt(low + small), isqrt(high + small + 1) + 1
    return least - slack(width + 24, least) - 1, most + slack(width + 24, most) + 1


class Selective:
    """The weights of a one-layer Mamba in units of 2^-40."""

    kind = SELECTIVE
    memory = TAPS - 1
    answers_before = False

    def __init__(self, data: bytes) -> None:
        tensors = Tensors(data)
        about = fields(tensors.structure, "the model's structure", (*STRUCTURE, "state", "expansion"))
        text(about["kind"], "the model's kind", ["recurrent"])
        text(about["cell"], "the cell", [SELECTIVE])
        self.width = width = integer(about["width"], "the width", 1, MOST_WIDTH)
        self.vocabulary = integer(about["vocabulary"], "the vocabulary", 1)
        self.classes = integer(about["classes"], "the number of classes", 2, MOST_CLASSES)
        self.state = state = integer(about["state"], "the state", 1, MOST_STATE)
        self.expansion = integer(about["expansion"], "the expansion", 1, MOST_EXPANSION)
        self.inner = inner = self.expansion * width
        self.rank = rank = -(-width // 16)
        weights = (self.vocabulary + 3 * inner + self.classes + 2) * width + self.classes
        weights += inner * (2 * rank + 3 * state + TAPS + 3)
        Budget(MOST_WEIGHTS, "weights").spend(weights)

        def take(name: str, *wanted: int) -> list[int]:
            shape, values = tensors.take(name, "F32", len(wanted), name)
            require(shape == list(wanted), f"{name} has the shape {shape}, not {list(wanted)}")
            return [fixed(each) for each in values]

        def rows(name: str, count: int, length: int) -> list[list[int]]:
            flat = take(name, count, length)
            return [flat[start : start + length] for start in range(0, count * length, length)]

        mixer = "blocks.0.mixer"
        self.embedding = rows("embedding.weight", self.vocabulary, width)
        self.gain = take("blocks.0.norm.weight", width)
        self.project_in = Linear(rows(f"{mixer}.project_in.weight", width, 2 * inner), [0] * (2 * inner))
        self.taps = rows(f"{mixer}.convolution.weight", inner, TAPS)
        self.tap_bias = take(f"{mixer}.convolution.bias", inner)
        outputs = rank + 2 * state
        self.select = Linear(rows(f"{mixer}.project_selection.weight", inner, outputs), [0] * outputs)
        steps = rows(f"{mixer}.project_step.weight", rank, inner)
        self.steps = Linear(steps, take(f"{mixer}.step_bias", inner))
        self.rates = [rates(each) for each in take(f"{mixer}.log_rate", inner, state)]
        self.skip = take(f"{mixer}.skip", inner)
        self.out_rows = rows(f"{mixer}.project_out.weight", inner, width)
        self.project_out = Linear(self.out_rows, [0] * width)
        self.last_gain = take("norm.weight", width)
        self.readout_rows = rows("readout.weight", width, self.classes)
        self.readout_bias = take("readout.bias", self.classes)
        tensors.finish()

    @property
    def numbers(self) -> int:
        """How many numbers the state has, next to the tokens."""
        return self.inner * self.state

    @property
    def work(self) -> int:
        """What one step of a box takes with its answer, in products."""
        return self.numbers * (48 + 4 * self.classes) + self.width * (self.inner + 64)

    @property
    def answer_work(self) -> int:
        """What the answer in a box takes: there is none but after a token."""
        return 0

    def window_work(self, answers: int) -> int:
        """What is done once for four tokens, where the automaton has so many answers."""
        inner, width, outputs = self.inner, self.width, self.rank + 2 * self.state
        pairs = answers * self.classes
        Budget(MOST_KEPT, "numbers in leads").spend(self.numbers * pairs)
        maps = inner * (8 * width + outputs + self.rank + 2048)
        return maps + self.numbers * (256 + 64 * pairs) + pairs * width * (inner + 64)

    def entered(self, token: int | None) -> tuple[Sequence[Ball], Sequence[Ball]]:
        """u before the convolution and z; before the first token 0."""
        if token is None:
            return [(0, 0)] * self.inner, []
        x = [(each, 1) for each in self.embedding[token]]
        low, high = _deviations(x)
        normed: list[Ball] = []
        for each, gain in zip(x, self.gain, strict=True):
            top = _ends(_product(each, (gain, 1)))
            ends = [end * ONE // deviation for end in top for deviation in (low, high)]
            normed.append(_computed(_ball((min(ends), max(ends) + 1)), 8))
        found = _bounded(_apply(self.project_in, normed))
        return found[: self.inner], found[self.inner :]

    def step(self, last: tuple[int, ...], token: int) -> "Step":
        """What this token does after those: three, or all if there were fewer."""
        before = [self.entered(each)[0] for each in (*[None] * (self.memory - len(last)), *last)]
        entering, gate = self.entered(token)
        used: list[Ball] = []
        for taps, bias, *parts in zip(self.taps, self.tap_bias, *before, entering, strict=True):
            terms = [_product((tap, 1), part) for tap, part in zip(taps, parts, strict=True)]
            centre, radius = (sum(column) for column in zip((bias, 1), *terms, strict=True))
            most = abs(bias) + 1 + sum(map(_most, terms))
            used.append(silu(_computed((centre, radius), TAPS + 4, most)))
        selected = _bounded(_apply(self.select, _bounded(used)))
        low, write, query = selected[: self.rank], selected[self.rank : -self.state], selected[-self.state :]
        deltas = [softpluses(*_ends(each)) for each in _bounded(_apply(self.steps, low))]
        found = Step(self, token, used, [silu(each) for each in gate], query)
        for number, (delta, own) in enumerate(zip(deltas, used, strict=True)):
            given = _product(_ball(delta), own)
            for place, each in enumerate(write, number * self.state):
                found.factors.append(decays(delta, self.rates[place]))
                found.given.append(_ends(_computed(_product(given, each), 4)))
        return found


class Step:
    """A token after three others: what it makes of h, and the answers."""

    def __init__(
        self, model: Selective, token: int, used: list[Ball], gates: list[Ball], query: Sequence[Ball]
    ) -> None:
        self.model, self.gates, self.query = model, _bounded(gates), query
        self.x = [(each, 1) for each in model.embedding[token]]
        self.skipped = [_product((skip, 1), each) for skip, each in zip(model.skip, used, strict=True)]
        self.factors = list[Range]()
        self.given = list[Range]()
        self._forms: dict[tuple[int, int], Form] = {}

    def after(self, state: Sequence[Range]) -> list[Range]:
        """Where h is after the token, if it was between these ends."""
        found: list[Range] = []
        for (low, high), (least, most), given in zip(state, self.factors, self.given, strict=True):
            kept = (
                low * (least if low >= 0 else most) >> BITS,
                (high * (most if high >= 0 else least) >> BITS) + 1,
            )
            total = size(kept) + size(given)
            found.append(wider((kept[0] + given[0], kept[1] + given[1]), 4, total))
        return found

    def answers(self, after: Sequence[Range], answer: int) -> bool:
        """Whether this answer's logit is the only largest one wherever h is between these ends after the token."""
        return all(self.lead(after, answer, other) > 0 for other in range(self.model.classes) if other != answer)

    def lead(self, after: Sequence[Range], answer: int, other: int) -> int:
        """At most what one logit has more than another one there, in units."""
        middles, reach = balls_of(after)
        most = [max(abs(low), abs(high)) for low, high in after]
        if (answer, other) not in self._forms:
            self._forms[answer, other] = Form(self, answer, other)
        return self._forms[answer, other].lead(middles, reach, most, self._deviations(middles, reach, most))

    def _deviations(self, middles: list[int], reach: list[int], most: list[int]) -> Range:
        """Where the last norm's deviation is."""
        state = self.model.state
        centres, radii = [c for c, _ in self.query], [r for _, r in self.query]
        sizes = [abs(c) for c in centres]
        mixed: list[Ball] = []
        for number, (skipped, gate) in enumerate(zip(self.skipped, self.gates, strict=True)):
            part = slice(number * state, (number + 1) * state)
            total = (dot(sizes, most[part]) + dot(radii, most[part]) >> BITS) + _most(skipped) + 1
            centre = (dot(centres, middles[part]) >> BITS) + skipped[0]
            radius = (dot(sizes, reach[part]) + dot(radii, most[part]) >> BITS) + skipped[1] + 2
            y = _computed((centre, radius), state + 4, total)
            mixed.append(_computed(_product(y, gate), 2))
        out = _apply(self.model.project_out, _bounded(mixed))
        added = [(a[0] + b[0], a[1] + b[1]) for a, b in zip(out, self.x, strict=True)]
        sizes = [_most(a) + _most(b) for a, b in zip(out, self.x, strict=True)]
        return _deviations([_computed(each, 2, total) for each, total in zip(added, sizes, strict=True)])


class Form:
    """The difference of two logits: a linear form of h, divided by the last norm's deviation, and a constant.

    With G_i the gain times the difference of the readout's weights, Q = W_out G and s = silu z, the form's coefficients
    are Q_c s_c C_n, and its constant Σ G_i x_i + Σ Q_c s_c D_c u_c. C, s and D u are the same numbers wherever they are
    used, so that their radii count once. A float32 evaluation rounds each product on a way from h, or x, to the two
    logits at most as often as ``terms`` says, so that it misses at most γ_terms · Σ|products|, where the products are
    those of all ways; the deviation is one number for all of them.
    """

    def __init__(self, step: Step, answer: int, other: int) -> None:
        model = step.model
        self.terms = model.state + model.inner + model.width + 32
        rows = [(row[answer], row[other]) for row in model.readout_rows]
        gains = [_product((gain, 1), (a - b, 1)) for gain, (a, b) in zip(model.last_gain, rows, strict=True)]
        ways = [
            ((abs(gain) + 1) * (abs(a) + abs(b) + 2) >> BITS) + 1
            for gain, (a, b) in zip(model.last_gain, rows, strict=True)
        ]
        centres, radii = [c for c, _ in gains], [r for _, r in gains]
        spread = sum(map(_most, gains))
        constant = [_product(gain, x) for gain, x in zip(gains, step.x, strict=True)]
        total = sum((way * _most(x) >> BITS) + 1 for way, x in zip(ways, step.x, strict=True))
        self.centres, self.sizes, self.errors = list[int](), list[int](), list[int]()
        for row, gate, skipped in zip(model.out_rows, step.gates, step.skipped, strict=True):
            sizes = [abs(each) + 1 for each in row]
            # Weights are known within half a unit, and what they are multiplied with within its radius.
            column = dot(centres, row) >> BITS, (dot(radii, sizes) + spread >> BITS) + 2
            way = (dot(ways, sizes) >> BITS) + 1
            shown, through = _product(column, gate), (way * _most(gate) >> BITS) + 1
            constant.append(_product(shown, skipped))
            total += (through * _most(skipped) >> BITS) + 1
            for query in step.query:
                centre, radius = _product(shown, query)
                self.centres.append(centre)
                self.sizes.append(abs(centre))
                self.errors.append(radius + slack(self.terms, (through * _most(query) >> BITS) + 1))
        centre, radius = (sum(column) for column in zip(*constant, strict=True))
        self.constant = centre - radius - slack(self.terms, total) - 1
        a, b = model.readout_bias[answer], model.readout_bias[other]
        self.apart = a - b - 1 - slack(self.terms, abs(a) + abs(b) + 2)

    def lead(self, middles: list[int], reach: list[int], most: list[int], deviations: Range) -> int:
        """At most the difference on a box, in units."""
        around = dot(self.sizes, reach) + dot(self.errors, most)
        least = self.constant + (dot(self.centres, middles) - around >> BITS)
        return least * ONE // deviations[1 if least >= 0 else 0] + self.apart
