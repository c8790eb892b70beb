"""Eq-ncp: string equality as next character prediction, which amounts to copying.

BHBK24 Appendix H.2 (iii): |Σ| = 1024, only strings of the language. After each prefix the model names the symbols
that may follow. In the first half every symbol may, which is trivial and not asked; from [SEP] on exactly one may,
and it is the target. A string counts as right only if every prefix is.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from separatrix.tasks.arrays import Array, columns, first_true, full_like, namespace_of
from separatrix.tasks.draws import Draws
from separatrix.tasks.problems._halves import halves_of
from separatrix.tasks.problems._separated_equality import SeparatedEquality
from separatrix.tasks.space import Space, cells
from separatrix.tasks.task import Answer, Answers, Examples, Row, Split


@dataclass(frozen=True, kw_only=True)
class EqNcp(SeparatedEquality):
    """Copy the first half after the separator, one symbol at a time."""

    name: str = "eq-ncp"
    title: str = "Equality, next character prediction"
    source: str = "BHBK24 Appendix H.2 (iii)"
    question: str = "After the separator, which symbol comes next if the first half is to be repeated?"
    promise: str = "the second half repeats the first"
    scoring: Literal["every read position", "every position of a string"] = "every position of a string"

    answers_follow: ClassVar[bool] = True
    small: ClassVar[Mapping[str, Any]] = {"vocabulary_size": 4}

    def asked(self) -> str:
        return "read at [SEP] and at every symbol after it but the last"

    def classes(self, length: int) -> int:
        del length
        return self.symbols

    def admissible(self, inputs: Array, length: int) -> Array:
        xp = namespace_of(inputs)
        first, second, inside, _ = halves_of(inputs, length, self.padding(length))
        return xp.all((first == second) | ~inside, axis=1)

    def second_half(self, draws: Draws, first: Array, halves: Array) -> Array:
        del draws, halves
        return first

    def labelled(self, draws: Draws, count: int, length: int, split: Split) -> Examples:
        """At exactly length N the answers are where the second half is, one place earlier."""
        inputs = self.generate(draws, count, length, split)
        if split == "train":
            return Examples(inputs, *self.label(inputs, length))
        xp = namespace_of(inputs)
        half = length // 2
        nothing = full_like(inputs, (count, half), 0)
        targets = xp.concat([nothing, inputs[:, :half], nothing[:, :1]], axis=1)
        asked = columns(inputs, length + 1)
        read = xp.broadcast_to((asked >= half) & (asked < length), (count, length + 1))
        return Examples(inputs, targets, xp.asarray(read, copy=True))

    def solve(self, row: Row, length: int) -> Answers:
        del length
        middle = list(row).index(self.symbols)
        return [None] * middle + list(row[:middle]) + [None]

    def label(self, inputs: Array, length: int) -> tuple[Array, Array]:
        xp = namespace_of(inputs)
        count, width = inputs.shape
        middle = first_true(inputs == self.symbols)[:, 0]
        column = columns(inputs, width)
        # In a large batch one mask for each place of the separator, from which each input takes a row, is cheaper than
        # a comparison for each input.
        shared = length // 2 + 1 < count
        place = xp.reshape(columns(inputs, length // 2 + 1), (-1, 1)) if shared else xp.reshape(middle, (-1, 1))
        read = (column >= place) & (column < 2 * place)
        read = xp.take(read, middle, axis=0) if shared else read
        # In the language the symbol that must follow is the symbol that does follow.
        following = xp.concat([inputs[:, 1:], full_like(inputs, (count, 1), 0)], axis=1)
        return following * xp.astype(read, xp.int64), read

    def space(self, length: int) -> Space:
        return Space(cells(range(self.symbols), length // 2))

    def assemble(self, values: Array, length: int) -> Array:
        del length
        xp = namespace_of(values)
        return xp.concat([values, full_like(values, (values.shape[0], 1), self.symbols), values], axis=1)

    def write_answer(self, answer: Answer, length: int) -> str:
        return self.vocabulary(length).write(int(answer)) if isinstance(answer, int) else ""

    def picture(self, row: Row, length: int) -> str:
        words = self.vocabulary(length).texts(row)
        half = len(words) // 2
        width = max(len(word) for word in words)
        seen = " ".join(word.rjust(width) for word in words[half:-1])
        asked = " ".join(word.rjust(width) for word in words[:half])
        return f"first half: {' '.join(words[:half])}\nsees: {seen}\nsays: {asked}"


TASK = EqNcp()
