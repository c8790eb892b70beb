"""Multi-query associative recall (MQAR): N/2 pairs, then their keys again in another order; every one is answered.

BHBK24 Appendix G (after Arora et al. 2023): the prompt x_1 y_1 … x_{N/2} y_{N/2} has distinct keys and the
other N/2 inputs are a permutation of them. G writes the task as a case of nearest neighbour, where queries are
also followed by labels; as in G's proof of Theorem 8 only the queries are kept here, so an input has 3N/2
tokens. The alphabet is Θ(N) in the paper, N keys by default here. Keys, labels and the order of the queries are
uniformly random; every input has length exactly N.
"""

import math
from dataclasses import dataclass
from typing import Any

from separatrix.tasks.arrays import Array, namespace_of, random_order, take_rows
from separatrix.tasks.draws import Draws
from separatrix.tasks.problems._recall import Recall, distinct_rows, interleave, recall_specification
from separatrix.tasks.problems._rows import arrangement_sizes, check_listing, decode_arrangements, distinct_values
from separatrix.tasks.space import Space, cells
from separatrix.tasks.task import CommunicationSplit, Row, Split


@dataclass(frozen=True, kw_only=True)
class MultiQueryRecall(Recall):
    """Recall of every label; ``keys`` symbols to choose keys from (None: N), ``labels`` different labels."""

    name: str = "mqar"
    title: str = "Multi-query associative recall"
    source: str = "BHBK24 §5.2, Appendix G, Theorem 8"
    question: str = "Given pairs of keys and labels and then all keys again in any order, which label has each?"
    promise: str = "the keys are distinct and the queries are a permutation of them"
    minimum_length: int = 2
    length_step: int = 2

    def pairs(self, length: int) -> int:
        return length // 2

    def default_keys(self, length: int) -> int:
        return length

    def layout(self, length: int) -> str:
        half = length // 2
        return (
            f"x_1 y_1 … x_{half} y_{half} (distinct keys, labels), then the same {half} keys in another order; "
            "read at each of these queries"
        )

    def positions(self, length: int) -> int:
        return length + length // 2

    def specification(self, length: int) -> dict[str, Any]:
        return recall_specification(self, length)

    def generate(self, draws: Draws, count: int, length: int, split: Split) -> Array:
        del split
        bound, half = self.key_symbols(length), length // 2
        keys = distinct_values(draws, count, half, bound)
        xp = namespace_of(keys)
        pairs = interleave(keys, bound + draws.digits(self.labels, count, half))
        return xp.concat([pairs, take_rows(keys, random_order(draws.uniform(count, half)))], axis=1)

    def space(self, length: int) -> Space:
        check_listing(self.listed(length), "choices of keys")
        half = length // 2
        codes = [*arrangement_sizes(self.key_symbols(length), half), *arrangement_sizes(half, half)]
        return Space((*(cells(choices, 1)[0] for choices in codes), *cells(range(self.labels), half)))

    def count(self, length: int) -> int:
        # The same number as of the space, without listing the keys.
        self.check_length(length)
        half = length // 2
        return math.perm(self.key_symbols(length), half) * math.factorial(half) * self.labels**half

    def assemble(self, values: Array, length: int) -> Array:
        xp = namespace_of(values)
        half = length // 2
        keys = decode_arrangements(values[:, :half])
        queries = take_rows(keys, decode_arrangements(values[:, half:length]))
        return xp.concat([interleave(keys, self.key_symbols(length) + values[:, length:]), queries], axis=1)

    def admissible(self, inputs: Array, length: int) -> Array:
        xp = namespace_of(inputs)
        keys = inputs[:, 0:length:2]
        same = xp.all(xp.sort(keys, axis=1) == xp.sort(inputs[:, length:], axis=1), axis=1)
        return distinct_rows(keys) & same

    def communication(self, length: int) -> CommunicationSplit:
        return CommunicationSplit(
            problem="DISJ",
            alice=tuple(range(length)),
            bob=tuple(range(length, length + length // 2)),
            one_way=True,
            note="Alice holds the pairs, Bob the queries; he learns every label and so decides DISJ on N/2 bits "
            "(BHBK24 Theorem 8)",
        )

    def picture(self, row: Row, length: int) -> str:
        words = self.vocabulary(length).texts(row)
        pairs = ", ".join(f"{words[place]} = {words[place + 1]}" for place in range(0, length, 2))
        answers = self.solve(row, length)[length:]
        lines = [f"{query} -> {answer}" for query, answer in zip(words[length:], answers, strict=True)]
        return "\n".join([pairs, *lines])


TASK = MultiQueryRecall()
