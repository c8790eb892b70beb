"""Recurrent cells for ``words``: what a token makes of all states between two ends, and which answer wins on them.

One layer of torch's RNN, GRU or LSTM and a linear readout of its hidden vector. The state is the hidden vector h, and
with an LSTM also the cell c; it starts at 0.

All numbers are balls (``balls``), or ranges with both ends in units of 2^-40. Here tanh and the logistic function σ are
taken to be right within 32u absolutely, u = 2^-24: for σ = 1/(1 + exp(-x)) that follows from exp and division within
8u, and for σ = (1 + tanh(x/2))/2 from tanh.
"""

from collections.abc import Sequence

from separatrix_kernel.balls import BITS, ONE, ROUNDOFF_BITS, Balls, Linear, dot, exponentials, fixed, slack
from separatrix_kernel.reading import Budget, Tensors, fields, integer, require, text

STRUCTURE = ("kind", "cell", "width", "vocabulary", "classes")
SELECTIVE = "mamba"
"""The cell that ``selective`` reads in place of this file."""
GATES = {"rnn": 1, "gru": 3, "lstm": 4}
MOST_WIDTH = 512
MOST_CLASSES = 1 << 10
MOST_WEIGHTS = 1 << 22
ABSOLUTE = 32 << (BITS - ROUNDOFF_BITS)
"""32u: how far float32's tanh and σ may be off."""
Range = tuple[int, int]


def squashed(value: int) -> Range:
    """Units a, b with a ≤ 2^40 · σ(value / 2^40) ≤ b, in exact arithmetic."""
    low, high = exponentials(abs(value))
    if value >= 0:
        return ONE * ONE // (ONE + high), ONE * ONE // (ONE + low) + 1
    return ONE * low // (ONE + low), ONE * high // (ONE + high) + 1


def sigmoids(low: int, high: int) -> Range:
    """Where σ is between these ends, in float32 too."""
    return squashed(low)[0] - ABSOLUTE, squashed(high)[1] + ABSOLUTE


def tanhs(low: int, high: int) -> Range:
    """Where tanh is between these ends, in float32 too: tanh(x) = 2σ(2x) - 1."""
    return 2 * squashed(2 * low)[0] - ONE - ABSOLUTE, 2 * squashed(2 * high)[1] - ONE + ABSOLUTE


def products(left: Range, right: Range) -> Range:
    """Where the product of two numbers is, in exact arithmetic."""
    ends = [a * b for a in left for b in right]
    return min(ends) >> BITS, (max(ends) >> BITS) + 1


def balls_of(ranges: Sequence[Range]) -> Balls:
    """Balls that hold numbers between these ends; a centre is rounded down, so that the upper end is farther away."""
    centres = [(low + high) // 2 for low, high in ranges]
    return Balls(centres, [high - centre for (_, high), centre in zip(ranges, centres, strict=True)])


def size(ends: Range) -> int:
    """The largest size of a number between two ends."""
    return max(abs(ends[0]), abs(ends[1]))


def wider(ends: Range, terms: int, most: int) -> Range:
    """With what float32 may add in so many roundings of numbers that are together at most this large."""
    extra = slack(terms, most) + 1
    return ends[0] - extra, ends[1] + extra


class Cell:
    """The weights of a recurrent network in units of 2^-40, and what a token makes of a box of states."""

    memory = 0
    """How many of the last tokens are a part of the state."""
    answers_before = True
    """Whether there is an answer in a state, also in the first one; else it is given with a step."""

    def __init__(self, data: bytes) -> None:
        tensors = Tensors(data)
        about = fields(tensors.structure, "the model's structure", STRUCTURE)
        text(about["kind"], "the model's kind", ["recurrent"])
        self.kind = text(about["cell"], "the cell", GATES)
        self.width = width = integer(about["width"], "the width", 1, MOST_WIDTH)
        self.vocabulary = integer(about["vocabulary"], "the vocabulary", 1)
        self.classes = integer(about["classes"], "the number of classes", 2, MOST_CLASSES)
        outputs = GATES[self.kind] * width
        weights = self.vocabulary * width + outputs * (2 * width + 2) + (width + 1) * self.classes
        Budget(MOST_WEIGHTS, "weights").spend(weights)

        def take(name: str, *wanted: int) -> list[int]:
            shape, values = tensors.take(name, "F32", len(wanted), name)
            require(shape == list(wanted), f"{name} has the shape {shape}, not {list(wanted)}")
            return [fixed(each) for each in values]

        def rows(name: str, count: int, length: int) -> list[list[int]]:
            flat = take(name, count, length)
            return [flat[start : start + length] for start in range(0, count * length, length)]

        self.embedding = rows("embedding.weight", self.vocabulary, width)
        entering = transposed(rows("blocks.0.mixer.input_weight", outputs, width))
        recurrent = transposed(rows("blocks.0.mixer.state_weight", outputs, width))
        biases = [take(f"blocks.0.mixer.{name}_bias", outputs) for name in ("input", "state")]
        self.readout_rows = rows("readout.weight", width, self.classes)
        self.readout = Linear(self.readout_rows, take("readout.bias", self.classes))
        tensors.finish()
        # Biases are rows for two inputs that are 1: so they may be added at any place of the sum.
        if self.kind == "gru":
            both, nothing = 2 * width, [0] * width
            together = [row[:both] for row in [*entering, *recurrent, *biases]]
            self.gates = Linear(together, [0] * both)
            self.entering = Linear([row[both:] for row in [*entering, biases[0]]], nothing)
            self.recurrent = Linear([row[both:] for row in [*recurrent, biases[1]]], nothing)
        else:
            self.gates = Linear([*entering, *recurrent, *biases], [0] * outputs)

    @property
    def numbers(self) -> int:
        """How many numbers the state has."""
        return 2 * self.width if self.kind == "lstm" else self.width

    @property
    def work(self) -> int:
        """Products of one step; what is done to each sum takes as long as 256 of them."""
        return GATES[self.kind] * self.width * (2 * self.width + 258)

    @property
    def answer_work(self) -> int:
        """What the answer of one box takes, in products of a step."""
        return self.classes * (8 * self.width + 128)

    def window_work(self, answers: int) -> int:
        """What is done once for the last tokens: nothing."""
        del answers
        return 0

    def step(self, last: tuple[int, ...], token: int) -> "Entered":
        """This token after those that are a part of the state: none."""
        del last
        return Entered(self, token)

    def after(self, token: int, state: Sequence[Range]) -> list[Range]:
        """Where the state is after one more token, if it was between these ends, in units of 2^-40."""
        hidden = state[: self.width]
        centres, radii = balls_of(hidden)
        x = self.embedding[token]
        both = Balls([*x, *centres, ONE, ONE], [*([1] * self.width), *radii, 0, 0])
        sums = ranges(self.gates, both)
        if self.kind == "rnn":
            return [tanhs(*each) for each in sums]
        if self.kind == "gru":
            given = ranges(self.entering, Balls([*x, ONE], [*([1] * self.width), 0]))
            kept = ranges(self.recurrent, Balls([*centres, ONE], [*radii, 0]))
            resets, updates = sums[: self.width], sums[self.width :]
            # r·kept may be the first of a sum that all terms of ``given`` are then added to.
            terms = self.width + 2
            return [gated(terms, *each) for each in zip(resets, updates, given, kept, hidden, strict=True)]
        w = self.width
        parts = zip(sums[:w], sums[w : 2 * w], sums[2 * w : 3 * w], sums[3 * w :], state[w:], strict=True)
        found = [_remembered(*each) for each in parts]
        return [each[0] for each in found] + [each[1] for each in found]

    def answers(self, state: Sequence[Range], answer: int) -> bool:
        """Whether this answer's logit is the only largest one on all these states."""
        hidden = balls_of(state[: self.width])
        balls, noise = self.readout.apply(hidden)
        for other in range(self.classes):
            if other == answer:
                continue
            # Two weights are each known within half a unit.
            apart = [abs(row[answer] - row[other]) + 1 for row in self.readout_rows]
            spread = (dot(apart, hidden.radii) >> BITS) + 1
            if balls.centres[answer] - balls.centres[other] - spread - noise[answer] - noise[other] - 2 <= 0:
                return False
        return True


class Entered:
    """A token that a cell reads next."""

    def __init__(self, cell: Cell, token: int) -> None:
        self.cell, self.token = cell, token

    def after(self, state: Sequence[Range]) -> list[Range]:
        """Where the state is after the token, if it was between these ends."""
        return self.cell.after(self.token, state)

    def answers(self, after: Sequence[Range], answer: int) -> bool:
        """Whether this answer's logit is the only largest one on all these states."""
        return self.cell.answers(after, answer)


def transposed(rows: list[list[int]]) -> list[list[int]]:
    """Columns as rows."""
    return [list(column) for column in zip(*rows, strict=True)]


def ranges(linear: Linear, x: Balls) -> list[Range]:
    """Where the outputs of a map are."""
    balls, _ = linear.apply(x)
    return [(centre - radius, centre + radius) for centre, radius in zip(balls.centres, balls.radii, strict=True)]


def gated(terms: int, reset: Range, update: Range, given: Range, kept: Range, hidden: Range) -> Range:
    """A GRU's new number: n = tanh(given + r·kept), then n + z(h - n), which is (1 - z)n + zh.

    ``terms`` are the roundings that r·kept goes through; those of ``given`` are in its ends.
    """
    scaled = products(sigmoids(*reset), kept)
    inner = wider((given[0] + scaled[0], given[1] + scaled[1]), terms, size(given) + size(scaled))
    low, high = tanhs(*inner)
    # z is a number from 0 to 1 and an error; for those z the value grows with n and with h.
    z_low, z_high = (min(max(each, 0), ONE) for each in sigmoids(*update))
    least = min(low * ONE + z * (hidden[0] - low) for z in (z_low, z_high)) >> BITS
    most = (max(high * ONE + z * (hidden[1] - high) for z in (z_low, z_high)) >> BITS) + 1
    total = size((low, high)) + size(hidden)
    wrong = (ABSOLUTE * total >> BITS) + 1
    return wider((least - wrong, most + wrong), 4, 2 * total)


def _remembered(enter: Range, forget: Range, new: Range, leave: Range, cell: Range) -> tuple[Range, Range]:
    """An LSTM's new numbers h and c: c' = f·c + i·g, h' = o·tanh(c')."""
    held, added = products(sigmoids(*forget), cell), products(sigmoids(*enter), tanhs(*new))
    after = wider((held[0] + added[0], held[1] + added[1]), 3, size(held) + size(added))
    shown = products(sigmoids(*leave), tanhs(*after))
    return wider(shown, 2, size(shown)), after
