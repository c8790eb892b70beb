"""A trained recurrent network against an automaton: right after every word, of every length.

One layer of torch's RNN, GRU or LSTM and a linear readout of its hidden vector. The state is the hidden vector h, and
with an LSTM also the cell c; it starts at 0. With ``bits`` = p > 0 the claim is about the network *with a rounded
state*: after each token every number v of the state becomes the nearest of 2^p levels, (2⌊v·2^(p-1)⌋ + 1)/2^p, and at
most (2^p - 1)/2^p in size. With ``bits`` = 0 it is about the network as it is.

RULE (invariant). A certificate lists boxes of states, each with a state of the automaton. Refused unless

1. the first box holds the state 0 and belongs to the automaton's start;
2. on every state of a box the answer that the automaton gives in the box's state is the only largest logit;
3. each box and token name a box: it belongs to the automaton's next state, and holds whatever the network makes of any
   state of the first box, rounded where the claim is about rounded states.

By induction on the word the network's state is in a box of the automaton's state, and its answer is right, after the
empty word too. Nothing is searched: boxes, and which follows which, are in the certificate. A single state is a box.

All numbers are balls (``balls``), so that this holds in exact arithmetic over the stored float32 weights and in
float32, with any order and grouping of the sums. Rounding is monotone, so that it is applied to the ends of a box. Here
tanh and the logistic function σ are taken to be right within 32u absolutely, u = 2^-24: for σ = 1/(1 + exp(-x)) that
follows from exp and division within 8u, and for σ = (1 + tanh(x/2))/2 from tanh.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from separatrix_kernel.balls import BITS, ONE, ROUNDOFF_BITS, Balls, Linear, dot, exponentials, fixed, slack
from separatrix_kernel.reading import Budget, Tensors, fields, hashed, integer, integers, items, require, text
from separatrix_kernel.specification import Automaton, automaton_of

WORDS_FORMAT = "separatrix-words-1"
WORDS_FIELDS = ("format", "task", "sha256", "bits", "unit", "automaton", "boxes")
STRUCTURE = ("kind", "cell", "width", "vocabulary", "classes")
GATES = {"rnn": 1, "gru": 3, "lstm": 4}
MOST_WIDTH = 512
MOST_CLASSES = 1 << 10
MOST_WEIGHTS = 1 << 22
MOST_BITS = 16
FINEST_UNIT = 24
LARGEST_STATE = 16
MOST_WORK = 1 << 32
"""Products, each some 40 ns: a claim takes minutes at most, whatever its files hold."""
ABSOLUTE = 32 << (BITS - ROUNDOFF_BITS)
"""32u: how far float32's tanh and σ may be off."""
Range = tuple[int, int]
Listener = Callable[[int, int], None]


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


def _size(ends: Range) -> int:
    return max(abs(ends[0]), abs(ends[1]))


def _wider(ends: Range, terms: int, size: int) -> Range:
    """With what float32 may add in so many roundings of numbers that are together at most this large."""
    extra = slack(terms, size) + 1
    return ends[0] - extra, ends[1] + extra


class Box(NamedTuple):
    """States between two ends, in units of 2^-unit of the claim."""

    low: list[int]
    high: list[int]


class Cell:
    """The weights of a recurrent network in units of 2^-40, and what a token makes of a box of states."""

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

        def rows(name: str, count: int, size: int) -> list[list[int]]:
            flat = take(name, count, size)
            return [flat[start : start + size] for start in range(0, count * size, size)]

        self.embedding = rows("embedding.weight", self.vocabulary, width)
        entering = _transposed(rows("blocks.0.mixer.input_weight", outputs, width))
        recurrent = _transposed(rows("blocks.0.mixer.state_weight", outputs, width))
        biases = [take(f"blocks.0.mixer.{name}_bias", outputs) for name in ("input", "state")]
        self.readout_rows = rows("readout.weight", width, self.classes)
        self.readout = Linear(self.readout_rows, take("readout.bias", self.classes))
        tensors.finish()
        # Biases are rows for two inputs that are 1: so they may be added at any place of the sum.
        if self.kind == "gru":
            both = 2 * width
            together = [row[:both] for row in [*entering, *recurrent, *biases]]
            self.gates = Linear(together, [0] * both)
            self.entering = Linear([row[both:] for row in [*entering, biases[0]]], [0] * width)
            self.recurrent = Linear([row[both:] for row in [*recurrent, biases[1]]], [0] * width)
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

    def after(self, token: int, state: Sequence[Range]) -> list[Range]:
        """Where the state is after one more token, if it was between these ends, in units of 2^-40."""
        hidden = state[: self.width]
        centres, radii = balls_of(hidden)
        x = self.embedding[token]
        both = Balls([*x, *centres, ONE, ONE], [*([1] * self.width), *radii, 0, 0])
        sums = _ranges(self.gates, both)
        if self.kind == "rnn":
            return [tanhs(*each) for each in sums]
        if self.kind == "gru":
            given = _ranges(self.entering, Balls([*x, ONE], [*([1] * self.width), 0]))
            kept = _ranges(self.recurrent, Balls([*centres, ONE], [*radii, 0]))
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


def _transposed(rows: list[list[int]]) -> list[list[int]]:
    return [list(column) for column in zip(*rows, strict=True)]


def _ranges(linear: Linear, x: Balls) -> list[Range]:
    balls, _ = linear.apply(x)
    return [(centre - radius, centre + radius) for centre, radius in zip(balls.centres, balls.radii, strict=True)]


def gated(terms: int, reset: Range, update: Range, given: Range, kept: Range, hidden: Range) -> Range:
    """A GRU's new number: n = tanh(given + r·kept), then n + z(h - n), which is (1 - z)n + zh.

    ``terms`` are the roundings that r·kept goes through; those of ``given`` are in its ends.
    """
    scaled = products(sigmoids(*reset), kept)
    inner = _wider((given[0] + scaled[0], given[1] + scaled[1]), terms, _size(given) + _size(scaled))
    low, high = tanhs(*inner)
    # z is a number from 0 to 1 and an error; for those z the value grows with n and with h.
    z_low, z_high = (min(max(each, 0), ONE) for each in sigmoids(*update))
    least = min(low * ONE + z * (hidden[0] - low) for z in (z_low, z_high)) >> BITS
    most = (max(high * ONE + z * (hidden[1] - high) for z in (z_low, z_high)) >> BITS) + 1
    size = _size((low, high)) + _size(hidden)
    wrong = (ABSOLUTE * size >> BITS) + 1
    return _wider((least - wrong, most + wrong), 4, 2 * size)


def _remembered(enter: Range, forget: Range, new: Range, leave: Range, cell: Range) -> tuple[Range, Range]:
    """An LSTM's new numbers h and c: c' = f·c + i·g, h' = o·tanh(c')."""
    held, added = products(sigmoids(*forget), cell), products(sigmoids(*enter), tanhs(*new))
    after = _wider((held[0] + added[0], held[1] + added[1]), 3, _size(held) + _size(added))
    shown = products(sigmoids(*leave), tanhs(*after))
    return _wider(shown, 2, _size(shown)), after


@dataclass(frozen=True)
class WordsAccepted:
    """What was shown about a trained recurrent network."""

    task: str
    sha256: str
    cell: str
    width: int
    bits: int
    automaton: Automaton
    boxes: int

    @property
    def state_in_words(self) -> str:
        """What the claim's network is."""
        if not self.bits:
            return "as it is"
        return f"with each number of its state rounded to {self.bits} bits after every token"

    def share_in_words(self) -> str:
        """On what it is right, for people."""
        return "every word, of every length"

    def words(self) -> str:
        """The claim in plain words, one fact a line."""
        return "\n".join(
            [
                f"weights     weights.safetensors, SHA-256 {self.sha256}",
                f"network     {self.cell.upper()} of width {self.width}, {self.state_in_words}",
                f"task        {self.task}: words over {len(self.automaton.steps[0])} tokens; right is what the "
                f"certificate's automaton with {len(self.automaton.steps)} states says",
                f"shown       the answer after every word, of every length, also the empty one; {self.boxes} boxes",
                "arithmetic  exact over the stored float32 weights, and float32 in any order of summation",
            ]
        )


def read_automaton(value: Any) -> Automaton:
    """The specification, checked for its form."""
    return automaton_of(fields(value, "the automaton", ["start", "steps", "answers"]))


def rounded(value: int, bits: int) -> int:
    """The level of a number in units of 2^-40, in units of 2^-bits.

    >>> [rounded(round(each * ONE), 2) for each in (-5, -0.6, -0.01, 0, 0.49, 0.5, 1)]
    [-3, -3, -1, 1, 1, 3, 3]
    """
    most = (1 << bits) - 1
    return min(max(2 * (value >> (BITS + 1 - bits)) + 1, -most), most)


def check_words(content: Any, data: bytes, listen: Listener | None = None) -> WordsAccepted:
    """Check the content of ``trained.json`` against the bytes of the weights; refuses with the box that failed."""
    found = fields(content, "trained.json", WORDS_FIELDS)
    text(found["format"], "the format", [WORDS_FORMAT])
    digest = hashed(found["sha256"], data, "the weights have")
    task = text(found["task"], "the task")
    require(len(task) <= 200 and task.isprintable(), "the task is not a short name")
    bits = integer(found["bits"], "the bits of a number", 0, MOST_BITS)
    unit = integer(found["unit"], "the unit", bits, FINEST_UNIT)
    require(bits in (0, unit), "states that are rounded have their own unit")
    automaton, cell = read_automaton(found["automaton"]), Cell(data)
    tokens = len(automaton.steps[0])
    require(tokens <= cell.vocabulary, "the automaton reads more tokens than the model has")
    require(max(automaton.answers) < cell.classes, "the automaton gives an answer that the model has no class for")
    listed = items(found["boxes"], "the boxes")
    Budget(MOST_WORK, "products").spend(len(listed) * (tokens * cell.work + cell.answer_work))
    boxes = [_read_box(each, cell.numbers, unit, len(automaton.steps), tokens, len(listed)) for each in listed]
    require(len(boxes) > 0, "there are no boxes")
    state, first, _ = boxes[0]
    require(state == automaton.start, "the first box is not of the automaton's start")
    require(max(first.low) <= 0 <= min(first.high), "the first box does not hold the state 0")
    shift = BITS - unit
    for number, (state, box, followers) in enumerate(boxes):
        if listen is not None:
            listen(number, len(boxes))
        ends = [(low << shift, high << shift) for low, high in zip(box.low, box.high, strict=True)]
        require(cell.answers(ends, automaton.answers[state]), f"box {number}: another answer may win")
        for token, follower in enumerate(followers):
            after, target, _ = boxes[follower]
            require(after == automaton.steps[state][token], f"box {number}, token {token}: a box of another state")
            held = True
            for (low, high), least, most in zip(cell.after(token, ends), target.low, target.high, strict=True):
                if bits:
                    held = held and least <= rounded(low, bits) and rounded(high, bits) <= most
                else:
                    held = held and least << shift <= low and high <= most << shift
            require(held, f"box {number}, token {token}: the network may leave box {follower}")
    return WordsAccepted(task, digest, cell.kind, cell.width, bits, automaton, len(boxes))


def _read_box(value: Any, numbers: int, unit: int, states: int, tokens: int, count: int) -> tuple[int, Box, list[int]]:
    """``[state, followers, low, high]``; high is left out where it is low."""
    row = items(value, "a box")
    require(len(row) in (3, 4), "a box has other than three or four entries")
    followers = integers(row[1], "a box's followers", 0, count - 1)
    require(len(followers) == tokens, "a box has other than one follower for each token")
    most = LARGEST_STATE << unit
    low = integers(row[2], "a box's least numbers", -most, most)
    high = integers(row[3], "a box's greatest numbers", -most, most) if len(row) == 4 else low
    require(len(low) == len(high) == numbers, "a box has another number of coordinates than the state")
    require(all(a <= b for a, b in zip(low, high, strict=True)), "a box ends before it begins")
    return integer(row[0], "a box's state", 0, states - 1), Box(low, high), followers
