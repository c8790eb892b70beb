"""Equality: are the two halves of a string the same?

BHBK24 §4.2 and Appendix F: EQ over {0,1}^N, N even, no separator; INEQ is its complement (``inequality.py``).
The papers give no data generation for the plain form: half of the samples are equal, the other half differ in a
number of positions uniform in 1 … N/2, so that near misses are common.

Lemma 5 (Appendix F.4) asks for equality over any balanced partition of the positions: ``alice`` names the positions of
the first half, counted from 1 and separated by commas, and the others are the second half, both in ascending order.
"""

from dataclasses import dataclass
from typing import Any, Literal

from separatrix.tasks.arrays import Array, integers, namespace_of, random_order
from separatrix.tasks.draws import Draws
from separatrix.tasks.problems._decision import Decision, split_at
from separatrix.tasks.problems._halves import draw_halves
from separatrix.tasks.problems._rows import whole_numbers
from separatrix.tasks.space import Space, cells
from separatrix.tasks.task import Answers, CommunicationSplit, Row, Split, check_alphabet, require
from separatrix.tasks.vocabulary import BASE64, Vocabulary, alphabet_of


@dataclass(frozen=True, kw_only=True)
class Equality(Decision):
    """I[first half = second half], or its complement when ``answer_one`` is "unequal".

    ``alice``: the positions of the first half, such as "1,3,6,7"; None: 1 … N/2.
    """

    name: str = "equality"
    title: str = "String equality"
    source: str = "BHBK24 §4.2, Appendix F"
    question: str = "Are the first and the second half of the string equal?"
    minimum_length: int = 2
    length_step: int = 2
    alphabet: int = 2
    answer_one: Literal["equal", "unequal"] = "equal"
    alice: str | None = None

    def __post_init__(self) -> None:
        check_alphabet("alphabet", self.alphabet, 2)
        require(
            self.answer_one in ("equal", "unequal"),
            f"answer_one={self.answer_one!r}; choose 'equal' or 'unequal'",
        )
        if self.alice is not None:
            chosen = sorted(whole_numbers(str(self.alice), ",", "positions such as 1,3,6,7"))
            require(
                chosen == sorted(set(chosen)) and min(chosen) >= 1,
                f"alice={self.alice} is not a set of positions; give different numbers from 1 on",
            )
            # One spelling for each partition, so that tasks with the same one are equal.
            object.__setattr__(self, "alice", ",".join(map(str, chosen)))

    def check_length(self, length: int) -> None:
        super().check_length(length)
        if self.alice is not None:
            self.halves(length)

    def halves(self, length: int) -> tuple[list[int], list[int]]:
        """Return the positions of both halves, counted from 0 and ascending."""
        if self.alice is None:
            return list(range(length // 2)), list(range(length // 2, length))
        first = [int(word) - 1 for word in self.alice.split(",")]
        require(
            len(first) == length // 2 and first[-1] < length,
            f"alice={self.alice} names {len(first)} positions up to {first[-1] + 1}; length {length} needs "
            f"{length // 2} of 1 to {length}",
        )
        return first, sorted(set(range(length)) - set(first))

    def vocabulary(self, length: int) -> Vocabulary:
        del length
        return Vocabulary((alphabet_of(self.alphabet),))

    def layout(self, length: int) -> str:
        if self.alice is not None:
            return f"x_1 … x_{length}, of which x_i for i in {self.alice} are the first half; read at the last symbol"
        return (
            f"first half x_1 … x_{length // 2}, second half x_{length // 2 + 1} … x_{length}; read at the last symbol"
        )

    def positions(self, length: int) -> int:
        return length

    def solve(self, row: Row, length: int) -> Answers:
        first, second = self.halves(length)
        equal = [row[place] for place in first] == [row[place] for place in second]
        return [None] * (len(row) - 1) + [int(equal == (self.answer_one == "equal"))]

    def specification(self, length: int) -> dict[str, Any]:
        symbols, (first, second) = self.alphabet, self.halves(length)
        differ = [int(a != b) for a in range(symbols) for b in range(symbols)]
        equal = int(self.answer_one == "equal")
        places = [list(pair) for pair in zip(first, second, strict=True)]
        return {
            "inputs": [{"count": length, "tokens": [0, symbols]}],
            "answer": {
                "kind": "count",
                "conditions": [{"places": places, "table": differ}],
                "answers": [[0, equal], [1, 1 - equal]],
            },
        }

    def decide(self, inputs: Array, length: int) -> Array:
        xp = namespace_of(inputs)
        if self.alice is None:
            equal = xp.all(inputs[:, : length // 2] == inputs[:, length // 2 :], axis=1)
        else:
            first, second = self.halves(length)
            equal = xp.all(inputs[:, first] == inputs[:, second], axis=1)
        return equal if self.answer_one == "equal" else ~equal

    def generate(self, draws: Draws, count: int, length: int, split: Split) -> Array:
        del split
        half = length // 2
        first = integers(draws.uniform(count, half), 0, self.alphabet)
        xp = namespace_of(first)
        shift = integers(draws.uniform(count, half), 1, self.alphabet)
        differing = integers(draws.uniform(count, 1), 1, half + 1)
        differing = xp.where(draws.uniform(count, 1) < 0.5, 0, differing)
        changed = random_order(draws.uniform(count, half)) < differing
        second = xp.where(changed, (first + shift) % self.alphabet, first)
        inputs = xp.concat([first, second], axis=1)
        if self.alice is None:
            return inputs
        alice, bob = self.halves(length)
        order = [*alice, *bob]
        return inputs[:, sorted(range(length), key=order.__getitem__)]

    def space(self, length: int) -> Space:
        return Space(cells(range(self.alphabet), length))

    def communication(self, length: int) -> CommunicationSplit:
        note = "each party holds one half (BHBK24 Fact 2, Theorems 11 and 12)"
        if self.alice is None:
            return split_at("EQ", length // 2, length, note)
        first, second = self.halves(length)
        return CommunicationSplit("EQ", tuple(first), tuple(second), one_way=False, note=f"{note}; Lemma 5")

    def picture(self, row: Row, length: int) -> str:
        words = self.vocabulary(length).texts(row)
        first, second = ([words[place] for place in half] for half in self.halves(length))
        drawn = draw_halves(first, second, lambda a, b: " " if a == b else "≠")
        return f"{drawn.rstrip()}\nanswer {self.solve(row, length)[-1]} (1 means {self.answer_one})"

    @property
    def joiner(self) -> str:
        """Single characters need nothing between them."""
        return "" if self.alphabet <= len(BASE64) else " "


TASK = Equality()
