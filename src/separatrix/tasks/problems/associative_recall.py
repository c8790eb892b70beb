"""Associative recall: x_1 y_1 … x_N y_N followed by a query x_q; the answer is y_q.

BHBK24 Appendix C.1 (after Ba et al. 2016): the keys x_1 … x_N are distinct and the query is one of them. The
paper gives neither an alphabet nor data: by default there are 2N keys, so that which keys appear is itself
information, and two labels; keys are a uniformly random arrangement, labels and query are uniform. Every input
has exactly N pairs.
"""

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from separatrix.tasks.arrays import Array, integers, namespace_of, take_rows
from separatrix.tasks.draws import Draws
from separatrix.tasks.problems._recall import Recall, distinct_rows, interleave, recall_specification
from separatrix.tasks.problems._rows import arrangement_sizes, check_listing, decode_arrangements, distinct_values
from separatrix.tasks.space import Space, cells
from separatrix.tasks.task import CommunicationSplit, Row, Split


@dataclass(frozen=True, kw_only=True)
class AssociativeRecall(Recall):
    """Recall of one label; ``keys`` symbols to choose keys from (None: 2N), ``labels`` different labels."""

    name: str = "associative-recall"
    title: str = "Associative recall"
    source: str = "BHBK24 Appendix C.1, Proposition 9"
    question: str = "Given pairs of keys and labels and then one of the keys, which label came with it?"
    promise: str = "the keys are distinct and the query is one of them"

    asks_last: ClassVar[bool] = True

    def pairs(self, length: int) -> int:
        return length

    def default_keys(self, length: int) -> int:
        return 2 * length

    def layout(self, length: int) -> str:
        return f"x_1 y_1 … x_{length} y_{length} (distinct keys, labels), then a query key; read at the query"

    def positions(self, length: int) -> int:
        return 2 * length + 1

    def specification(self, length: int) -> dict[str, Any]:
        return recall_specification(self, length)

    def generate(self, draws: Draws, count: int, length: int, split: Split) -> Array:
        del split
        bound = self.key_symbols(length)
        keys = distinct_values(draws, count, length, bound)
        xp = namespace_of(keys)
        pairs = interleave(keys, bound + draws.digits(self.labels, count, length))
        query = take_rows(keys, integers(draws.uniform(count, 1), 0, length))
        return xp.concat([pairs, query], axis=1)

    def ask(self, draws: Draws, inputs: Array, count: int, length: int) -> tuple[Array, Array]:
        place = 2 * integers(draws.uniform(inputs.shape[0], count), 0, length)
        return take_rows(inputs, place), take_rows(inputs, place + 1) - self.key_symbols(length)

    def space(self, length: int) -> Space:
        check_listing(self.listed(length), "choices of keys")
        codes = [cells(choices, 1)[0] for choices in arrangement_sizes(self.key_symbols(length), length)]
        return Space((*codes, *cells(range(self.labels), length), *cells(range(length), 1)))

    def count(self, length: int) -> int:
        # The same number as of the space, without listing the keys.
        self.check_length(length)
        return math.perm(self.key_symbols(length), length) * self.labels**length * length

    def assemble(self, values: Array, length: int) -> Array:
        xp = namespace_of(values)
        keys = decode_arrangements(values[:, :length])
        pairs = interleave(keys, self.key_symbols(length) + values[:, length : 2 * length])
        return xp.concat([pairs, take_rows(keys, values[:, 2 * length :])], axis=1)

    def admissible(self, inputs: Array, length: int) -> Array:
        del length
        xp = namespace_of(inputs)
        keys = inputs[:, 0:-1:2]
        return distinct_rows(keys) & xp.any(keys == inputs[:, -1:], axis=1)

    def communication(self, length: int) -> CommunicationSplit:
        return CommunicationSplit(
            problem="INDEX",
            alice=tuple(range(2 * length)),
            bob=(2 * length,),
            one_way=True,
            note="Alice holds the pairs, Bob the query; the keys are fixed in advance (BHBK24 Proposition 9)",
        )

    def picture(self, row: Row, length: int) -> str:
        words = self.vocabulary(length).texts(row)
        pairs = [f"{words[place]} = {words[place + 1]}" for place in range(0, len(row) - 1, 2)]
        marked = [f"{pair}  <- {words[-1]}?" if pair.split()[0] == words[-1] else pair for pair in pairs]
        return "\n".join([*marked, f"answer {self.solve(row, length)[-1]}"])


TASK = AssociativeRecall()
