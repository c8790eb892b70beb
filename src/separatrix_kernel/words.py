"""A trained recurrent network against an automaton: right after every word, of every length.

Networks of one layer: RNN, GRU and LSTM (``cells``), and Mamba (``selective``). The state starts at 0. With ``bits`` =
p > 0 the claim is about the network *with a rounded state*: after each token every number v of the state becomes the
nearest of 2^p levels, (2⌊v·2^(p-1)⌋ + 1)/2^p, and at most (2^p - 1)/2^p in size. With ``bits`` = 0 it is about the
network as it is. A part of Mamba's state are the inputs of its convolution at the last three tokens. These depend on
the tokens alone, so that the tokens are the state; they are not rounded.

RULE (invariant). A certificate lists boxes of states, each with a state of the automaton, and with the last tokens
(``last``) where these are a part of the network's state. Refused unless

1. the first box holds the state 0, has no last tokens and belongs to the automaton's start;
2. on every state of a box the answer that the automaton gives in the box's state is the only largest logit; and for
   Mamba, which reads its answer before the state is rounded, on every state that a token makes of those of a box the
   answer of the automaton's next state;
3. each box and token name a box: it belongs to the automaton's next state, has the last tokens of the first one and
   then this one, and holds whatever the network makes of any state of the first box, rounded where the claim is about
   rounded states.

By induction on the word the network's state is in a box of the automaton's state, and its answer is right, after the
empty word too, but for Mamba, which has no answer there. Nothing is searched: boxes, and which follows which, are in
the certificate. A single state is a box.

All numbers are balls (``balls``), so that this holds in exact arithmetic over the stored float32 weights and in
float32, with any order and grouping of the sums. Rounding is monotone, so that it is applied to the ends of a box.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

from separatrix_kernel.balls import BITS
from separatrix_kernel.cells import SELECTIVE, Cell
from separatrix_kernel.reading import Budget, Tensors, fields, hashed, integer, integers, items, require, text
from separatrix_kernel.specification import Automaton, automaton_of
from separatrix_kernel.trained import WORDS_FORMAT

if TYPE_CHECKING:
    from separatrix_kernel.selective import Selective

WORDS_FIELDS = ("format", "task", "sha256", "bits", "unit", "automaton", "boxes")
MOST_BITS = 16
FINEST_UNIT = 24
LARGEST_STATE = 16
MOST_WORK = 1 << 32
"""Products, each some 40 ns: a claim takes minutes at most, whatever its files hold."""
Listener = Callable[[int, int], None]


class Box(NamedTuple):
    """States between two ends, in units of 2^-unit of the claim."""

    state: int
    """Of the automaton."""
    last: tuple[int, ...]
    """The last tokens, where they are a part of the network's state."""
    followers: list[int]
    low: list[int]
    high: list[int]


def network_of(data: bytes) -> "Cell | Selective":
    """The network of a file."""
    about = Tensors(data).structure
    if isinstance(about, dict) and about.get("cell") == SELECTIVE:
        from separatrix_kernel.selective import Selective

        return Selective(data)
    return Cell(data)


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
        if self.cell == SELECTIVE:
            return f"with each number of h rounded to {self.bits} bits after every token, and its last three tokens"
        return f"with each number of its state rounded to {self.bits} bits after every token"

    def share_in_words(self) -> str:
        """On what it is right, for people."""
        return "every word, of every length" + (", but the empty one" if self.cell == SELECTIVE else "")

    def words(self) -> str:
        """The claim in plain words, one fact a line."""
        empty = "not the empty one" if self.cell == SELECTIVE else "also the empty one"
        name = self.cell.title() if self.cell == SELECTIVE else self.cell.upper()
        return "\n".join(
            [
                f"weights     weights.safetensors, SHA-256 {self.sha256}",
                f"network     {name} of width {self.width}, {self.state_in_words}",
                f"task        {self.task}: words over {len(self.automaton.steps[0])} tokens; right is what the "
                f"certificate's automaton with {len(self.automaton.steps)} states says",
                f"shown       the answer after every word, of every length, {empty}; {self.boxes} boxes",
                "arithmetic  exact over the stored float32 weights, and float32 in any order of summation",
            ]
        )


def read_automaton(value: Any) -> Automaton:
    """The specification, checked for its form."""
    return automaton_of(fields(value, "the automaton", ["start", "steps", "answers"]))


def rounded(value: int, bits: int) -> int:
    """The level of a number in units of 2^-40, in units of 2^-bits.

    >>> [rounded(round(each * 2**40), 2) for each in (-5, -0.6, -0.01, 0, 0.49, 0.5, 1)]
    [-3, -3, -1, 1, 1, 3, 3]
    """
    most = (1 << bits) - 1
    return min(max(2 * (value >> (BITS + 1 - bits)) + 1, -most), most)


def check_words(content: Any, data: bytes, listen: Listener | None = None) -> WordsAccepted:
    """Check the content of ``trained.json`` against the bytes of the weights; refuses with the box that failed."""
    found = fields(content, "trained.json", WORDS_FIELDS, ["last"])
    text(found["format"], "the format", [WORDS_FORMAT])
    digest = hashed(found["sha256"], data, "the weights have")
    task = text(found["task"], "the task")
    require(len(task) <= 200 and task.isprintable(), "the task is not a short name")
    bits = integer(found["bits"], "the bits of a number", 0, MOST_BITS)
    unit = integer(found["unit"], "the unit", bits, FINEST_UNIT)
    require(bits in (0, unit), "states that are rounded have their own unit")
    automaton, network = read_automaton(found["automaton"]), network_of(data)
    tokens = len(automaton.steps[0])
    require(tokens <= network.vocabulary, "the automaton reads more tokens than the model has")
    require(max(automaton.answers) < network.classes, "the automaton gives an answer that the model has no class for")
    listed = items(found["boxes"], "the boxes")
    require(len(listed) > 0, "there are no boxes")
    require(("last" in found) == (network.memory > 0), "the last tokens are listed where they are in the state alone")
    budget = Budget(MOST_WORK, "products")
    budget.spend(len(listed) * (tokens * network.work + network.answer_work))
    lasts = _read_last(found.get("last", [[]] * len(listed)), network.memory, tokens, len(listed))
    budget.spend(len(set(lasts)) * tokens * network.window_work(len(set(automaton.answers))))
    boxes = [
        _read_box(each, last, network.numbers, unit, len(automaton.steps), tokens, len(listed))
        for each, last in zip(listed, lasts, strict=True)
    ]
    first = boxes[0]
    require(first.state == automaton.start, "the first box is not of the automaton's start")
    require(first.last == (), "the first box has last tokens")
    require(max(first.low) <= 0 <= min(first.high), "the first box does not hold the state 0")
    shift, done = BITS - unit, 0
    # What a token does is computed once for all boxes with the same last tokens.
    places = sorted(range(len(boxes)), key=lambda place: boxes[place].last)
    for last, group in groupby(places, lambda place: boxes[place].last):
        same = list(group)
        for token in range(tokens):
            step = network.step(last, token)
            follows = (*last, token)[-network.memory :] if network.memory else ()
            for number in same:
                if listen is not None and done % tokens == 0:
                    listen(done // tokens, len(boxes))
                done += 1
                box, what = boxes[number], f"box {number}, token {token}"
                target, after = boxes[box.followers[token]], automaton.steps[box.state][token]
                ends = [(low << shift, high << shift) for low, high in zip(box.low, box.high, strict=True)]
                if token == 0 and network.answers_before:
                    require(step.answers(ends, automaton.answers[box.state]), f"box {number}: another answer may win")
                require(target.state == after, f"{what}: a box of another state")
                require(target.last == follows, f"{what}: a box of other last tokens")
                image = step.after(ends)
                if not network.answers_before:
                    require(step.answers(image, automaton.answers[after]), f"{what}: another answer may win")
                held = True
                for (low, high), least, most in zip(image, target.low, target.high, strict=True):
                    if bits:
                        held = held and least <= rounded(low, bits) and rounded(high, bits) <= most
                    else:
                        held = held and least << shift <= low and high <= most << shift
                require(held, f"{what}: the network may leave box {box.followers[token]}")
    return WordsAccepted(task, digest, network.kind, network.width, bits, automaton, len(boxes))


def _read_last(value: Any, memory: int, tokens: int, count: int) -> list[tuple[int, ...]]:
    """The last tokens of each box."""
    found = [tuple(integers(each, "last tokens", 0, tokens - 1)) for each in items(value, "the last tokens", count)]
    require(all(len(each) <= memory for each in found), f"a box has more than {memory} last tokens")
    return found


def _read_box(value: Any, last: tuple[int, ...], numbers: int, unit: int, states: int, tokens: int, count: int) -> Box:
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
    return Box(integer(row[0], "a box's state", 0, states - 1), last, followers, low, high)
