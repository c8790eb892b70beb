"""Multi-query associative recall as Arora et al. 2023 publish it (Zoology, arXiv 2312.04927): the preset mqar:zoology.

The data settings are those of their Figure 2: 8,192 tokens, N/16 pairs (64 tokens and 4 pairs, 128 and 8, 256 and 16),
a = 0.01, blanks between the queries. Token 0 is the blank, keys are 1 … V/2 − 1, values V/2 … V − 1. An input has
exactly N tokens: pairs of distinct keys and distinct values, both uniform, and then every key once more, the i-th key
2·g_i tokens behind the pairs; the g_i are drawn one after the other, without replacement, with probabilities in
proportion to (g + 1)^(a − 1). The value is the answer at its key; it does not follow it in the text. Later experiments
of the same authors put random tokens in the place of the blanks: ``filler=random``.

Deviation: a random token that happens to be one of the keys is asked too; there it is passed over.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Literal

from separatrix.errors import SeparatrixError
from separatrix.tasks.arrays import Array, columns, full_like, namespace_of
from separatrix.tasks.draws import Draws
from separatrix.tasks.problems._recall import distinct_rows, interleave
from separatrix.tasks.problems._rows import distinct_values
from separatrix.tasks.space import Space, cells
from separatrix.tasks.task import Answers, CommunicationSplit, Row, Split, Task, require
from separatrix.tasks.vocabulary import Symbols, Vocabulary

BLANK = 0


@dataclass(frozen=True, kw_only=True)
class ZoologyRecall(Task):
    """Recall with queries at random gaps; ``pairs`` of keys and values (None: N/16), ``symbols`` tokens in all."""

    name: str = "mqar:zoology"
    title: str = "Multi-query associative recall, Zoology's settings"
    source: str = "Arora et al. 2023 (Zoology), Figure 2"
    question: str = "Given pairs of keys and values and then every key again somewhere, which value has each?"
    promise: str = "keys and values are distinct, and every key is asked once"
    minimum_length: int = 4
    length_step: int = 2
    pairs: int | None = None
    symbols: int = 8192
    power: str = "0.01"
    filler: Literal["blank", "random"] = "blank"
    small: ClassVar[Mapping[str, Any]] = {"symbols": 6}

    def __post_init__(self) -> None:
        require(
            self.symbols % 2 == 0 and 6 <= self.symbols <= 1 << 20, f"symbols={self.symbols} must be even, 6 to 2^20"
        )
        require(self.pairs is None or self.pairs >= 1, f"pairs={self.pairs} must be at least 1, or None for N/16")
        try:
            good = 0 < Fraction(self.power) <= 1
        except (ValueError, ZeroDivisionError):
            good = False
        if not good:
            raise SeparatrixError(f"power={self.power} is not above 0 and up to 1; 0.01 is Zoology's, 1 is uniform")

    def stored(self, length: int) -> int:
        """Return how many pairs there are."""
        return max(1, length // 16) if self.pairs is None else self.pairs

    def check_length(self, length: int) -> None:
        super().check_length(length)
        stored = self.stored(length)
        require(4 * stored <= length, f"{stored} pairs and their queries need a length of {4 * stored}, not {length}")
        require(self.symbols > length, f"symbols={self.symbols} must be more than the length {length}")
        require(stored < self.symbols // 2, f"{stored} distinct keys cannot come from {self.symbols // 2 - 1}")

    def vocabulary(self, length: int) -> Vocabulary:
        half = self.symbols // 2
        keys = Symbols("keys", half - 1, prefix="k", first=1)
        return Vocabulary((Symbols("blank", 1, texts="_"), keys, Symbols("values", half, prefix="v")))

    def layout(self, length: int) -> str:
        stored = self.stored(length)
        return f"{stored} pairs of a key and a value, then {length - 2 * stored} tokens with every key once; read there"

    def positions(self, length: int) -> int:
        return length

    def classes(self, length: int) -> int:
        return self.symbols // 2

    def solve(self, row: Row, length: int) -> Answers:
        end, half = 2 * self.stored(length), self.symbols // 2
        stored = {row[place]: row[place + 1] - half for place in range(0, end, 2)}
        return [*[None] * end, *(stored.get(token) for token in row[end:])]

    def label(self, inputs: Array, length: int) -> tuple[Array, Array]:
        end, half = 2 * self.stored(length), self.symbols // 2
        xp = namespace_of(inputs)
        targets = full_like(inputs, tuple(inputs.shape), 0)
        read = targets == 1
        for place in range(0, end, 2):
            asked = inputs[:, end:] == inputs[:, place : place + 1]
            targets[:, end:] += xp.astype(asked, xp.int64) * (inputs[:, place + 1 : place + 2] - half)
            read[:, end:] |= asked
        return targets, read

    def offered(self, inputs: Array, length: int) -> Array:
        return inputs[:, 1 : 2 * self.stored(length) : 2] - self.symbols // 2

    def generate(self, draws: Draws, count: int, length: int, split: Split) -> Array:
        del split
        stored, half = self.stored(length), self.symbols // 2
        keys = 1 + distinct_values(draws, count, stored, half - 1)
        values = half + distinct_values(draws, count, stored, half)
        xp = namespace_of(keys)
        # The smallest of u^(1/w), written as -log(u)/w, come in the order of draws without replacement by weights w.
        room = (length - 2 * stored) // 2
        rates = xp.astype(columns(keys, room) + 1, xp.float64) ** (1 - float(Fraction(self.power)))
        waits = -xp.log1p(-draws.uniform(count, room)) * rates
        gaps = xp.argsort(waits, axis=1, stable=True)[:, :stored]
        if self.filler == "random":
            rest = draws.digits(self.symbols, count, length - 2 * stored)
        else:
            rest = full_like(keys, (count, length - 2 * stored), BLANK)
        where = 2 * gaps
        for number in range(stored):
            here = columns(keys, length - 2 * stored) == where[:, number : number + 1]
            rest = xp.where(here, keys[:, number : number + 1], rest)
        return xp.concat([interleave(keys, values), rest], axis=1)

    def space(self, length: int) -> Space:
        return Space(cells(range(self.symbols), length))

    def listable(self, length: int) -> bool:
        return self.symbols**length <= 1 << 62

    def admissible(self, inputs: Array, length: int) -> Array:
        xp = namespace_of(inputs)
        end, half = 2 * self.stored(length), self.symbols // 2
        keys, values, rest = inputs[:, 0:end:2], inputs[:, 1:end:2], inputs[:, end:]
        good = xp.all((keys >= 1) & (keys < half), axis=1) & xp.all(values >= half, axis=1)
        good = good & distinct_rows(keys) & distinct_rows(values)
        for place in range(keys.shape[1]):
            asked = xp.astype(rest == keys[:, place : place + 1], xp.int64)
            at_even = xp.sum(asked[:, 0::2], axis=1)
            once = at_even == 1 if self.filler == "blank" else at_even >= 1
            good = good & once & ((self.filler == "random") | (xp.sum(asked, axis=1) == 1))
        if self.filler == "blank":
            good = good & (xp.sum(xp.astype(rest != BLANK, xp.int64), axis=1) == keys.shape[1])
        return good

    def communication(self, length: int) -> CommunicationSplit:
        end = 2 * self.stored(length)
        return CommunicationSplit(
            problem="INDEX", alice=tuple(range(end)), bob=tuple(range(end, length)), one_way=True,
            note="Alice holds the pairs, Bob the queries; he learns the value of the key that he queries first",
        )  # fmt: skip

    def write_answer(self, answer: object, length: int) -> str:
        return f"v{answer}"

    def picture(self, row: Row, length: int) -> str:
        words, answers, end = self.vocabulary(length).texts(row), self.solve(row, length), 2 * self.stored(length)
        pairs = ", ".join(f"{words[place]} = {words[place + 1]}" for place in range(0, end, 2))
        asked = [
            f"{words[place]} at {place} -> {self.write_answer(answer, length)}"
            for place, answer in enumerate(answers)
            if answer is not None
        ]
        return "\n".join([pairs, *asked])
