"""Equality: are the two halves of a string the same?

BHBK24 §4.2 and Appendix F: EQ over {0,1}^N, N even, no separator; INEQ is its complement (``inequality.py``).
The papers give no data generation for the plain form: half of the samples are equal, the other half differ in a
number of positions uniform in 1 … N/2, so that near misses are common.
"""

from dataclasses import dataclass
from typing import Literal

from separatrix.tasks.arrays import Array, integers, namespace_of, random_order
from separatrix.tasks.draws import Draws
from separatrix.tasks.problems._decision import Decision, split_in_halves
from separatrix.tasks.problems._halves import draw_halves
from separatrix.tasks.space import Space, cells
from separatrix.tasks.task import Answers, CommunicationSplit, Row, Split, check_alphabet, require
from separatrix.tasks.vocabulary import Symbols, Vocabulary, letters


@dataclass(frozen=True, kw_only=True)
class Equality(Decision):
    """I[first half = second half], or its complement when ``answer_one`` is "unequal"."""

    name: str = "equality"
    title: str = "String equality"
    source: str = "BHBK24 §4.2, Appendix F"
    question: str = "Are the first and the second half of the string equal?"
    minimum_length: int = 2
    length_step: int = 2
    alphabet: int = 2
    answer_one: Literal["equal", "unequal"] = "equal"

    def __post_init__(self) -> None:
        check_alphabet("alphabet", self.alphabet, 2)
        require(
            self.answer_one in ("equal", "unequal"),
            f"answer_one={self.answer_one!r}; choose 'equal' or 'unequal'",
        )

    def vocabulary(self, length: int) -> Vocabulary:
        del length
        return Vocabulary(
            (Symbols("bits", 2, texts="01") if self.alphabet == 2 else letters("symbols", self.alphabet),)
        )

    def layout(self, length: int) -> str:
        return (
            f"first half x_1 … x_{length // 2}, second half x_{length // 2 + 1} … x_{length}; read at the last symbol"
        )

    def positions(self, length: int) -> int:
        return length

    def solve(self, row: Row, length: int) -> Answers:
        del length
        half = len(row) // 2
        equal = list(row[:half]) == list(row[half:])
        return [None] * (len(row) - 1) + [int(equal == (self.answer_one == "equal"))]

    def decide(self, inputs: Array, length: int) -> Array:
        xp = namespace_of(inputs)
        half = length // 2
        equal = xp.all(inputs[:, :half] == inputs[:, half:], axis=1)
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
        return xp.concat([first, second], axis=1)

    def space(self, length: int) -> Space:
        return Space(cells(range(self.alphabet), length))

    def communication(self, length: int) -> CommunicationSplit:
        note = "each party holds one half (BHBK24 Fact 2, Theorems 11 and 12)"
        return split_in_halves("EQ", length // 2, length, note)

    def picture(self, row: Row, length: int) -> str:
        words = self.vocabulary(length).texts(row)
        half = len(words) // 2
        drawn = draw_halves(words[:half], words[half:], lambda a, b: " " if a == b else "≠")
        return f"{drawn.rstrip()}\nanswer {self.solve(row, length)[-1]} (1 means {self.answer_one})"

    @property
    def joiner(self) -> str:
        """Single characters need nothing between them."""
        return "" if self.alphabet <= 64 else " "


TASK = Equality()
