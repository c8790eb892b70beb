"""Disjointness: do two sets, given as bit vectors a and b, meet?

BHBK24 §4.2 and Appendix B.1: DISJ(a, b) = max a_i b_i = I[aᵀb > 0], so 1 means that the sets *intersect*. SHT23 uses
the opposite polarity (DISJ = 1 when no a_i ∧ b_i). ``answer_one`` names which is meant; the default is BHBK24's.
The input is a followed by b, N/2 bits each. The papers give no data generation: coordinates are uniform over the
three pairs that do not meet, and in half of the inputs one uniform coordinate is made to meet, so that every
intersection is unique. The number of ones still tells something at small N: a best guess from it alone is right on 66%
of the inputs at N = 24 and on 54% at N = 400.
"""

from dataclasses import dataclass
from typing import Literal

from separatrix.tasks.arrays import Array, columns, integers, namespace_of
from separatrix.tasks.draws import Draws
from separatrix.tasks.problems._decision import Decision, split_at
from separatrix.tasks.problems._halves import draw_halves
from separatrix.tasks.space import Space, cells
from separatrix.tasks.task import Answers, CommunicationSplit, Row, Split, require
from separatrix.tasks.vocabulary import Symbols, Vocabulary


def barely_intersecting_halves(draws: Draws, count: int, half: int) -> Array:
    """Return bits (count, 2·half): two disjoint sets, in half of the rows changed to meet in exactly one place."""
    pair = draws.digits(3, count, half)
    xp = namespace_of(pair)
    place = integers(draws.uniform(count, 1), 0, half)
    meeting = integers(draws.uniform(count, 1), 0, 2)
    meet = meeting * xp.astype(columns(pair, half) == place, xp.int64)
    # Pairs (0,0), (1,0), (0,1) are numbered 0, 1, 2.
    first = xp.astype(pair == 1, xp.int64)
    second = xp.astype(pair == 2, xp.int64)
    return xp.concat([first + meet * (1 - first), second + meet * (1 - second)], axis=1)


@dataclass(frozen=True, kw_only=True)
class Disjointness(Decision):
    """I[aᵀb > 0], or its complement when ``answer_one`` is "disjoint"."""

    name: str = "disjointness"
    title: str = "Set disjointness"
    source: str = "BHBK24 §4.2, Appendix B.1 (Fact 1); SHT23 (opposite polarity)"
    question: str = "Do the sets given by the first and the second half of the bits intersect?"
    drawn: str = "sets that meet in at most one place"
    minimum_length: int = 2
    length_step: int = 2
    answer_one: Literal["intersecting", "disjoint"] = "intersecting"

    def __post_init__(self) -> None:
        require(
            self.answer_one in ("intersecting", "disjoint"),
            f"answer_one={self.answer_one!r}; choose 'intersecting' (BHBK24) or 'disjoint' (SHT23)",
        )

    def vocabulary(self, length: int) -> Vocabulary:
        del length
        return Vocabulary((Symbols("bits", 2, texts="01"),))

    @property
    def joiner(self) -> str:
        """Bits need nothing between them."""
        return ""

    def layout(self, length: int) -> str:
        return f"a_1 … a_{length // 2}, then b_1 … b_{length // 2}; read at the last bit"

    def positions(self, length: int) -> int:
        return length

    def solve(self, row: Row, length: int) -> Answers:
        del length
        half = len(row) // 2
        intersecting = any(row[i] == 1 and row[half + i] == 1 for i in range(half))
        return [None] * (len(row) - 1) + [int(intersecting == (self.answer_one == "intersecting"))]

    def decide(self, inputs: Array, length: int) -> Array:
        xp = namespace_of(inputs)
        half = length // 2
        intersecting = xp.any((inputs[:, :half] * inputs[:, half:]) > 0, axis=1)
        return intersecting if self.answer_one == "intersecting" else ~intersecting

    def generate(self, draws: Draws, count: int, length: int, split: Split) -> Array:
        del split
        return barely_intersecting_halves(draws, count, length // 2)

    def space(self, length: int) -> Space:
        return Space(cells((0, 1), length))

    def communication(self, length: int) -> CommunicationSplit:
        return split_at("DISJ", length // 2, length, "Alice holds a, Bob holds b (BHBK24 Fact 1)")

    def picture(self, row: Row, length: int) -> str:
        words = self.vocabulary(length).texts(row)
        half = len(words) // 2
        drawn = draw_halves(words[:half], words[half:], lambda a, b: "^" if a == b == "1" else " ")
        return f"{drawn.rstrip()}\nanswer {self.solve(row, length)[-1]} (1 means {self.answer_one})"


TASK = Disjointness()
