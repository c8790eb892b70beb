"""What the three equality experiments of BHBK24 Appendix H.2 share: two halves with [SEP] between them.

In training the length k is uniform in N/10, N/10 + 2, …, N; in evaluation it is exactly N. The vocabulary size is
the paper's |Σ|, which counts [SEP] (Eq-random has Σ = {0, 1, [SEP]}).
"""

from abc import abstractmethod
from dataclasses import dataclass

from separatrix.tasks.arrays import Array, columns, integers, namespace_of
from separatrix.tasks.draws import Draws
from separatrix.tasks.problems._decision import split_at
from separatrix.tasks.problems._halves import draw_halves, half_lengths, halves_of, lay_out
from separatrix.tasks.space import Space, cells, constant
from separatrix.tasks.task import Answers, CommunicationSplit, Row, Split, Task, check_alphabet
from separatrix.tasks.vocabulary import BASE64, Symbols, Vocabulary


@dataclass(frozen=True, kw_only=True)
class SeparatedEquality(Task):
    """Two halves around a separator; subclasses say how second halves are made and what is asked."""

    minimum_length: int = 2
    length_step: int = 2
    vocabulary_size: int = 1024

    def __post_init__(self) -> None:
        # Two symbols and [SEP] make three.
        check_alphabet("vocabulary_size", self.vocabulary_size, 3)

    @property
    def symbols(self) -> int:
        """How many tokens are not [SEP]."""
        return self.vocabulary_size - 1

    def vocabulary(self, length: int) -> Vocabulary:
        del length
        texts = "01" if self.symbols == 2 else BASE64
        return Vocabulary(
            (
                Symbols("symbols", self.symbols, prefix="s", texts=texts),
                Symbols("separator", 1, texts="|"),
                Symbols("padding", 1, texts="·"),
            )
        )

    def layout(self, length: int) -> str:
        half = length // 2
        return f"first half of {half} symbols, [SEP] (written |), second half of {half} symbols; {self.asked()}"

    @abstractmethod
    def asked(self) -> str:
        """Return where the task is read, in words."""

    @abstractmethod
    def second_half(self, draws: Draws, first: Array, halves: Array) -> Array:
        """Second halves for these first halves; both (count, N/2), real up to ``halves`` (count, 1)."""

    def positions(self, length: int) -> int:
        return length + 1

    def padding(self, length: int) -> int:
        del length
        return self.symbols + 1

    def generate(self, draws: Draws, count: int, length: int, split: Split) -> Array:
        first = draws.digits(self.symbols, count, length // 2)
        xp = namespace_of(first)
        halves = half_lengths(draws, first, count, length, train=split == "train")
        second = self.second_half(draws, first, halves)
        if split == "eval":
            return xp.concat([first, xp.ones_like(halves) * self.symbols, second], axis=1)
        return lay_out(first, second, halves, separator=self.symbols, padding=self.padding(length))

    def space(self, length: int) -> Space:
        half = cells(range(self.symbols), length // 2)
        return Space(half + constant(self.symbols) + half)

    def communication(self, length: int) -> CommunicationSplit:
        note = "Alice holds the first half and [SEP], Bob the second half (BHBK24 Fact 2)"
        return split_at("EQ", length // 2 + 1, length + 1, note)

    @property
    def joiner(self) -> str:
        """Single characters need nothing between them."""
        return "" if self.symbols <= len(BASE64) else " "

    def halves_in_words(self, row: Row, length: int) -> str:
        """Return both halves over each other with differences marked."""
        words = self.vocabulary(length).texts(row)
        half = len(words) // 2
        return draw_halves(words[:half], words[half + 1 :], lambda a, b: " " if a == b else "≠").rstrip()


@dataclass(frozen=True, kw_only=True)
class SeparatedDecision(SeparatedEquality):
    """Is the second half equal to the first? Asked at the last symbol."""

    def asked(self) -> str:
        return "read at the last symbol"

    def classes(self, length: int) -> int:
        del length
        return 2

    def solve(self, row: Row, length: int) -> Answers:
        del length
        middle = list(row).index(self.symbols)
        return [None] * (len(row) - 1) + [int(list(row[:middle]) == list(row[middle + 1 :]))]

    def label(self, inputs: Array, length: int) -> tuple[Array, Array]:
        xp = namespace_of(inputs)
        first, second, inside, halves = halves_of(inputs, length, self.padding(length))
        equal = xp.all((first == second) | ~inside, axis=1, keepdims=True)
        read = columns(inputs, inputs.shape[1]) == 2 * halves
        return xp.astype(equal & read, xp.int64), read

    def picture(self, row: Row, length: int) -> str:
        verdict = "equal" if self.solve(row, length)[-1] else "not equal"
        return f"{self.halves_in_words(row, length)}\nthe halves are {verdict}"


def coin(draws: Draws, count: int) -> Array:
    """Return a fair coin for each row: int64 (count, 1)."""
    return integers(draws.uniform(count, 1), 0, 2)
