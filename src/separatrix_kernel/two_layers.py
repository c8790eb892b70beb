"""A trained Transformer of two layers that looks something up: right on every input whose asked group is one of these.

An input is made of N groups of places and a last place that asks. The specification is a ``select``, where a group is
one symbol and the last token names it, or a ``recall`` with one query, where a group is a key with its label. A case is
a group p with its symbols; all other groups hold whatever the specification allows, in a recall another key than the
asked one. Each case has as many inputs as any other.

FIRST LAYER. The mask is causal: place t sees the places up to t. Fix its token and those before it in its group, and
let the places of earlier groups hold any tokens. That is a layer that is read at the last of t + 1 places, so that
``Chosen.leak`` bounds what its attention adds, on every text, and ``Answers.halfway`` what its feed-forward makes of
that: a box for each place and each choice of the group's symbols up to there, and one for each token that asks.

SECOND LAYER. It is read at the last place, and its keys are those boxes: the symbol of a place is the choice of its
group's symbols up to there. Centres are known, and the largest radii of normed keys are an error of every score and
value, next to that of float32. The symbols of all places are chosen one by one, which allows more than the inputs do,
as two places of one group may then disagree. So the rest is ``Chosen.prove``: boxes, linear forms with λ, and splits.

Nothing is lost of float32: boxes hold whatever a float32 evaluation may have there, from the first layer on. Masked
keys add exact zeros to sums and do not count as terms; inputs are shorter than one block of keys.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product
from math import prod
from typing import Any, NamedTuple

from separatrix_kernel.balls import Balls
from separatrix_kernel.heads import KEYS_IN_A_BLOCK, MOST_NUMBERS, MOST_STEPS
from separatrix_kernel.lookup import Chosen
from separatrix_kernel.reading import Budget, RefusedError, fields, hashed, integer, integers, items, require, text
from separatrix_kernel.specification import Inputs, Recall, Select, read_specification
from separatrix_kernel.trained import TWO_LAYERS_FORMAT
from separatrix_kernel.transformer import Weights

TWO_LAYERS_FIELDS = ("format", "task", "length", "specification", "sha256", "certified", "counterexamples", "open")
MOST_CASES = 1 << 22
Listener = Callable[[int, int], None]
Case = tuple[int, tuple[int, ...]]
"""The number of the asked group, and its tokens."""


class Groups(NamedTuple):
    """What the places of each group hold, how many groups there are, and what asks at the last place."""

    tokens: tuple[range, ...]
    number: int
    asking: range
    named: bool
    """Whether a question names the group by its number; else by the token at its first place, which no other has."""
    first_answer: int
    """The token, at a group's last place, that is the answer 0."""

    @property
    def size(self) -> int:
        """How many places a group has."""
        return len(self.tokens)

    @property
    def cases(self) -> int:
        """How many cases there are."""
        return self.number * prod(map(len, self.tokens))

    def every(self) -> list[Case]:
        """All cases."""
        return [(p, held) for p in range(self.number) for held in product(*self.tokens)]

    def question(self, case: Case) -> int:
        """The number of the token that asks for a case."""
        return case[0] if self.named else case[1][0] - self.asking.start

    def answer(self, case: Case) -> int:
        """The right answer."""
        return case[1][-1] - self.first_answer

    def asked(self, row: Sequence[int]) -> Case:
        """The case of an input."""
        groups = [tuple(row[start : start + self.size]) for start in range(0, len(row) - 1, self.size)]
        keys = [held[0] for held in groups]
        p = row[-1] - self.asking.start if self.named else keys.index(row[-1])
        return p, groups[p]

    def numbered(self, held: Sequence[int]) -> int:
        """The number of a group's first tokens among all choices of so many."""
        found = 0
        for tokens, token in zip(self.tokens, held, strict=False):
            found = found * len(tokens) + tokens.index(token)
        return found

    def sets(self, case: Case) -> list[list[int]]:
        """The symbols of each place, as the second layer numbers them, on every input of a case."""
        p, own = case
        free = [[*product(*self.tokens[: i + 1])] for i in range(self.size)]
        others = [[self.numbered(held) for held in each if self.named or held[0] != own[0]] for each in free]
        fixed = [[self.numbered(own[: i + 1])] for i in range(self.size)]
        return [each for group in range(self.number) for each in (fixed if group == p else others)]


def groups_of(specification: tuple[Inputs, Any]) -> Groups:
    """The groups of a specification; refuses one that has none."""
    inputs, answer = specification
    *held, asking = inputs.tokens
    if isinstance(answer, Recall) and answer.queries == 1:
        return Groups((answer.keys, answer.labels), answer.pairs, asking, False, answer.labels.start)
    if not isinstance(answer, Select):
        raise RefusedError("the specification is neither a selection nor a recall of one query")
    right = answer.by == len(held) and asking == range(answer.first, answer.first + len(held))
    require(right, "the last token does not name each of the places before it")
    require(len(set(held)) == 1, "places hold different symbols")
    return Groups((*set(held),), len(held), asking, True, 0)


class Second(Chosen):
    """The second layer, whose keys and questions are the boxes that the first one leaves."""

    def __init__(self, weights: Weights, boxes: Sequence[Sequence[Balls]], asked: Sequence[Balls]) -> None:
        super().__init__(weights, [range(len(each)) for each in boxes], range(len(asked)), layer=1)
        self.boxes = [*boxes, asked]

    def vector(self, token: int, place: int) -> Balls:
        """The box of a symbol at a place; behind the keys that of a question."""
        return self.boxes[place][token]


class TwoLayers:
    """A model of two layers, and inputs that are made of groups."""

    def __init__(self, weights: Weights, groups: Groups) -> None:
        places = groups.number * groups.size
        # Numbers in a small file: nothing is made of them before they are known to be some of the model's.
        require(places < weights.positions, f"the model has positions for inputs of {weights.positions} cells alone")
        require(places < KEYS_IN_A_BLOCK, f"inputs of two layers have at most {KEYS_IN_A_BLOCK} cells")
        Budget(MOST_CASES, "cases").spend(groups.cases)
        require(groups.tokens[-1][-1] - groups.first_answer < weights.classes, "an answer is not a class of the model")
        self.weights, self.groups = weights, groups
        choices = [prod(map(len, groups.tokens[: i + 1])) for i in range(groups.size)]
        self.boxes_count = groups.number * sum(choices) + len(groups.asking)
        Budget(MOST_NUMBERS, "numbers in all boxes").spend(2 * weights.width * self.boxes_count)
        # A box of the first layer looks at all keys before it; and each place goes through all tokens before it.
        keys = groups.number * sum(map(len, groups.tokens))
        forms = weights.width + weights.hidden
        work = self.boxes_count * weights.heads * (keys * forms + 4 * weights.width * weights.hidden)
        work += places * keys * forms * weights.width * (1 + weights.heads)
        Budget(MOST_STEPS, "steps in the first layer").spend(work)

    def boxes(self) -> tuple[list[list[Balls]], list[Balls]]:
        """Behind the first layer: of each place by its group's symbols up to there, and of each token that asks."""
        groups, found = self.groups, list[list[Balls]]()
        places = [tokens for _ in range(groups.number) for tokens in groups.tokens]
        for place, tokens in enumerate([*places, groups.asking]):
            layer = Chosen(self.weights, places[:place], tokens)
            # The place that asks is behind the last group, and begins one.
            start = place - place % groups.size
            free = [list(each) for each in places[:start]]
            found.append(
                [
                    layer.answers.halfway(layer.leak(p, [*free, *([each] for each in held)])).z
                    for held in product(*places[start:place])
                    for p in range(len(tokens))
                ]
            )
        return found[:-1], found[-1]

    @cached_property
    def second(self) -> Second:
        """The second layer."""
        return Second(self.weights, *self.boxes())

    def prove(self, case: Case, proof: Any) -> None:
        """Check the proof of one case."""
        groups = self.groups
        self.second.prove(groups.question(case), groups.sets(case), groups.answer(case), proof)


@dataclass(frozen=True)
class TwoLayersAccepted:
    """What was shown about trained weights of two layers."""

    task: str
    length: int
    """Like the task's name this is for people; the specification decides."""
    sha256: str
    specification: tuple[Inputs, Select | Recall]
    certified: tuple[Case, ...]
    cases: int
    counterexamples: tuple[tuple[int, ...], ...]
    """Inputs that are stated to fail; whoever believes that runs them."""
    left_open: int

    @property
    def share(self) -> Fraction:
        """The share of all inputs that are certified: each case has as many as any other."""
        return Fraction(len(self.certified), self.cases)

    def share_in_words(self) -> str:
        """That share for people."""
        return "all inputs" if self.share == 1 else f"{self.share} of all inputs"

    def words(self) -> str:
        """The claim in plain words, one fact a line."""
        inputs, answer = self.specification
        return "\n".join(
            [
                f"weights     weights.safetensors, SHA-256 {self.sha256}",
                f"task        {self.task}, length {self.length}",
                f"inputs      {answer.covered(inputs)} of {len(inputs.tokens)} tokens; right is {answer.words()}",
                f"shown       {len(self.certified)} of {self.cases} cases, an asked group and its tokens, each for all "
                f"of its inputs: {self.share_in_words()}",
                f"not shown   {self.cases - len(self.certified)} cases; {len(self.counterexamples)} inputs, it says, "
                "fail",
                "arithmetic  exact over the stored float32 weights, and float32 in any order of summation",
            ]
        )


def read_lookup(value: Any) -> tuple[Inputs, Select | Recall]:
    """A specification that looks something up."""
    specification = read_specification(value)
    groups_of(specification)
    inputs, answer = specification
    assert isinstance(answer, Select | Recall)
    return inputs, answer


def _case(value: Any, groups: Groups) -> Case:
    p, held = items(value, "a case", 2)
    own = tuple(integers(held, "a case's tokens"))
    right = len(own) == groups.size and all(each in some for each, some in zip(own, groups.tokens, strict=True))
    require(right, "a case's tokens are not those of a group")
    return integer(p, "a case's group", 0, groups.number - 1), own


def check_two_layers(content: Any, data: bytes, listen: Listener | None = None) -> TwoLayersAccepted:
    """Check the content of ``trained.json`` against the bytes of the weights; refuses with the case that failed."""
    found = fields(content, "trained.json", TWO_LAYERS_FIELDS)
    text(found["format"], "the format", [TWO_LAYERS_FORMAT])
    digest = hashed(found["sha256"], data, "the weights have")
    task = text(found["task"], "the task")
    require(len(task) <= 200 and task.isprintable(), "the task is not a short name")
    length = integer(found["length"], "the length", 1)
    inputs, answer = read_lookup(found["specification"])
    groups = groups_of((inputs, answer))
    model = TwoLayers(Weights(data, layers=2), groups)
    rows = [items(each, "a certified case", 3) for each in items(found["certified"], "the certified cases")]
    claimed = [(_case(row[:2], groups), row[2]) for row in rows]
    cases = {case for case, _ in claimed}
    require(len(cases) == len(claimed), "a case is listed twice")
    left = {_case(each, groups) for each in items(found["open"], "the open cases")}
    require(not left & cases, "an open case is certified")
    failing: list[tuple[int, ...]] = []
    for each in items(found["counterexamples"], "the counterexamples"):
        row = tuple(integers(each, "a counterexample"))
        right = len(row) == len(inputs.tokens) and all(a in b for a, b in zip(row, inputs.tokens, strict=True))
        require(right and answer.admits(row), "a counterexample is not an input")
        require(groups.asked(row) not in cases, "a counterexample is of a certified case")
        failing.append(row)
    # In the order of questions, so that the scores of each are computed once.
    claimed.sort(key=lambda one: groups.question(one[0]))
    for number, (case, proof) in enumerate(claimed):
        if listen is not None:
            listen(number, len(claimed))
        model.prove(case, proof)
    shown = tuple(case for case, _ in claimed)
    return TwoLayersAccepted(task, length, digest, (inputs, answer), shown, groups.cases, tuple(failing), len(left))
