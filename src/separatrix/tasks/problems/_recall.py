"""What the two recall tasks share: keys and labels interleaved, then queries; BHBK24 Appendices C.1 and G.

A key is token 0 … keys - 1, label y is token keys + y. An input is x_1 y_1 … x_n y_n with distinct keys and then its
queries, which are keys again and are answered with their labels. How many pairs a length has and which queries follow
is left to the task.
"""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

from separatrix.tasks.arrays import Array, full_like, namespace_of, take_rows
from separatrix.tasks.problems._rows import LARGEST_LISTING, find_in_rows
from separatrix.tasks.task import Answers, Row, Task, require
from separatrix.tasks.vocabulary import Symbols, Vocabulary

LARGEST_KEYS = 1 << 31
"""Up to here a row number times the number of keys stays far below 2^63."""


@dataclass(frozen=True, kw_only=True)
class Recall(Task):
    """Recall of labels; ``keys`` symbols to choose keys from (None: a number that grows with N), ``labels`` labels."""

    keys: int | None = None
    labels: int = 2

    def __post_init__(self) -> None:
        require(
            self.keys is None or 1 <= self.keys <= LARGEST_KEYS,
            f"keys={self.keys} is out of range; {self.name} takes 1 to 2^31 keys, or None for a number that grows "
            "with N",
        )
        require(
            2 <= self.labels <= LARGEST_LISTING,
            f"labels={self.labels} is out of range; {self.name} needs 2 to {LARGEST_LISTING} labels",
        )

    @abstractmethod
    def pairs(self, length: int) -> int:
        """Return how many pairs of keys and labels there are at this length."""

    @abstractmethod
    def default_keys(self, length: int) -> int:
        """Return how many key symbols there are where no number is given."""

    def key_symbols(self, length: int) -> int:
        """Return how many key symbols there are at this length."""
        keys, needed = self.default_keys(length) if self.keys is None else self.keys, self.pairs(length)
        require(keys >= needed, f"{needed} distinct keys cannot come from keys={keys}; give at least {needed} or None")
        return keys

    def check_length(self, length: int) -> None:
        super().check_length(length)
        self.key_symbols(length)

    def vocabulary(self, length: int) -> Vocabulary:
        """Return keys k0, k1, … and labels 0, 1, …."""
        return Vocabulary((Symbols("keys", self.key_symbols(length), prefix="k"), Symbols("labels", self.labels)))

    def classes(self, length: int) -> int:
        del length
        return self.labels

    def solve(self, row: Row, length: int) -> Answers:
        first_label, end = self.key_symbols(length), 2 * self.pairs(length)
        stored = {row[place]: row[place + 1] - first_label for place in range(0, end, 2)}
        nothing: Answers = [None] * end
        return [*nothing, *(stored[query] for query in row[end:])]

    def label(self, inputs: Array, length: int) -> tuple[Array, Array]:
        keys, end = self.key_symbols(length), 2 * self.pairs(length)
        targets = full_like(inputs, tuple(inputs.shape), 0)
        read = targets == 1
        read[:, end:] = True
        targets[:, end:] = look_up(inputs[:, 0:end:2], inputs[:, 1:end:2] - keys, inputs[:, end:], keys)
        return targets, read

    def offered(self, inputs: Array, length: int) -> Array:
        return inputs[:, 1 : 2 * self.pairs(length) : 2] - self.key_symbols(length)

    def listable(self, length: int) -> bool:
        return super().listable(length) and self.listed(length) <= LARGEST_LISTING

    def listed(self, length: int) -> int:
        """Return how many choices of keys the space lists, over all places."""
        return self.key_symbols(length) * self.pairs(length)


def recall_specification(task: Recall, length: int) -> dict[str, Any]:
    """Return keys and labels in turn, then queries; what is promised of them belongs to the form ``recall``."""
    keys, pairs, positions = task.key_symbols(length), task.pairs(length), task.positions(length)
    key, label = {"count": 1, "tokens": [0, keys]}, {"count": 1, "tokens": [keys, keys + task.labels]}
    queries = {"count": positions - 2 * pairs, "tokens": [0, keys]}
    return {"inputs": [*[key, label] * pairs, queries], "answer": {"kind": "recall", "pairs": pairs}}


def interleave(first: Array, second: Array) -> Array:
    """x_1 y_1 x_2 y_2 …: two arrays (count, n) give one (count, 2n)."""
    xp = namespace_of(first)
    return xp.reshape(xp.stack([first, second], axis=2), (first.shape[0], 2 * first.shape[1]))


def look_up(keys: Array, values: Array, queries: Array, bound: int) -> Array:
    """Return the value stored under each query; keys and values (count, n), queries (count, w), keys distinct.

    Sorting and one binary search: n log n work where comparing all pairs needs n². A query that is not a key gets
    some value of the row; the promise of the tasks excludes it.
    """
    xp = namespace_of(keys)
    order = xp.argsort(keys, axis=1, stable=True)
    place = xp.clip(find_in_rows(take_rows(keys, order), queries, bound), 0, keys.shape[1] - 1)
    return take_rows(values, take_rows(order, place))


def distinct_rows(keys: Array) -> Array:
    """Return which rows have no repeated value (bool, (count,))."""
    xp = namespace_of(keys)
    ascending = xp.sort(keys, axis=1)
    return xp.all(ascending[:, 1:] != ascending[:, :-1], axis=1)
