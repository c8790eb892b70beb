"""Index lookup: s_1 … s_N followed by a position p; the answer is s_p.

BHBK24 §3 and Appendix C; data as in Appendix H.1: alphabet of 64 symbols; in training the length k is uniform
in 10 … N and the position uniform in 1 … k; in evaluation the length is exactly N. Deviation: H.1 says "sample
N symbols" after drawing k; since the position is at most k and evaluation is contrasted with "exactly N", k
symbols are meant and drawn. Below N = 10 all training inputs have length N.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from separatrix.tasks.arrays import Array, columns, first_true, integers, namespace_of, take_rows
from separatrix.tasks.draws import Draws
from separatrix.tasks.space import Space, cells
from separatrix.tasks.task import Answer, Answers, CommunicationSplit, Row, Split, Task, check_alphabet
from separatrix.tasks.vocabulary import Symbols, Vocabulary, alphabet_of

SHORTEST_TRAINING_LENGTH = 10


@dataclass(frozen=True, kw_only=True)
class IndexLookup(Task):
    """Index lookup over an alphabet; token p of the position group asks for symbol p (counted from 1)."""

    name: str = "index-lookup"
    title: str = "Index lookup"
    source: str = "BHBK24 §3, Appendix C; data: Appendix H.1"
    question: str = "Given s_1 … s_N and then a position p, which symbol is s_p?"
    alphabet: int = 64

    asks_last: ClassVar[bool] = True
    small: ClassVar[Mapping[str, Any]] = {"alphabet": 3}

    def __post_init__(self) -> None:
        check_alphabet("alphabet", self.alphabet, 2)

    def vocabulary(self, length: int) -> Vocabulary:
        return Vocabulary(
            (
                alphabet_of(self.alphabet),
                Symbols("positions", length, prefix="@", first=1),
                Symbols("padding", 1, texts="·"),
            )
        )

    def layout(self, length: int) -> str:
        return f"s_1 … s_{length} (symbols), then one position token @p with 1 ≤ p ≤ {length}; read at that token"

    def positions(self, length: int) -> int:
        return length + 1

    def classes(self, length: int) -> int:
        del length
        return self.alphabet

    def padding(self, length: int) -> int:
        return self.alphabet + length

    def solve(self, row: Row, length: int) -> Answers:
        del length
        symbols, position = list(row[:-1]), row[-1] - self.alphabet + 1
        return [None] * len(symbols) + [symbols[position - 1]]

    def specification(self, length: int) -> dict[str, Any]:
        symbols, asked = [0, self.alphabet], [self.alphabet, self.alphabet + length]
        return {
            "inputs": [{"count": length, "tokens": symbols}, {"count": 1, "tokens": asked}],
            "answer": {"kind": "select", "by": length, "first": self.alphabet},
        }

    def label(self, inputs: Array, length: int) -> tuple[Array, Array]:
        xp = namespace_of(inputs)
        read = (inputs >= self.alphabet) & (inputs < self.alphabet + length)
        answer = take_rows(inputs, take_rows(inputs, first_true(read)) - self.alphabet)
        return xp.astype(read, xp.int64) * answer, read

    def offered(self, inputs: Array, length: int) -> Array:
        return inputs[:, :length]

    def generate(self, draws: Draws, count: int, length: int, split: Split) -> Array:
        symbols = draws.digits(self.alphabet, count, length)
        xp = namespace_of(symbols)
        if split == "eval":
            return xp.concat([symbols, self.alphabet + integers(draws.uniform(count, 1), 0, length)], axis=1)
        lengths = integers(draws.uniform(count, 1), min(SHORTEST_TRAINING_LENGTH, length), length + 1)
        asked = self.alphabet + integers(draws.uniform(count, 1), 0, lengths)
        column = columns(symbols, length + 1)
        tail = xp.where(column == lengths, asked, self.padding(length))
        return xp.where(column < lengths, xp.concat([symbols, asked], axis=1), tail)

    def ask(self, draws: Draws, inputs: Array, count: int, length: int) -> tuple[Array, Array]:
        ends = first_true(inputs >= self.alphabet)
        place = integers(draws.uniform(inputs.shape[0], count), 0, ends)
        return self.alphabet + place, take_rows(inputs, place)

    def space(self, length: int) -> Space:
        return Space(cells(range(self.alphabet), length) + cells(range(self.alphabet, self.alphabet + length), 1))

    def communication(self, length: int) -> CommunicationSplit:
        return CommunicationSplit(
            problem="INDEX",
            alice=tuple(range(length)),
            bob=(length,),
            one_way=True,
            note="Alice holds the symbols, Bob the position (BHBK24 Theorem 3)",
        )

    def write_answer(self, answer: Answer, length: int) -> str:
        return self.vocabulary(length).write(int(answer)) if isinstance(answer, int) else ""

    def picture(self, row: Row, length: int) -> str:
        words = self.vocabulary(length).texts(row)
        position: int = row[-1] - self.alphabet
        before = sum(len(word) + 1 for word in words[:position])
        marker = "^" * len(words[position])
        return f"{' '.join(words)}\n{' ' * before}{marker}\nsymbol {position + 1} is {words[position]}"


TASK = IndexLookup()
