"""What the two recall tasks share: keys and labels interleaved, and the way they are written.

BHBK24 Appendices C.1 and G. A key is token 0 … keys - 1, label y is token keys + y.
"""

from separatrix.tasks.arrays import Array, namespace_of, take_rows
from separatrix.tasks.problems._rows import LARGEST_LISTING, find_in_rows
from separatrix.tasks.task import require
from separatrix.tasks.vocabulary import Symbols, Vocabulary

LARGEST_KEYS = 1 << 31
"""Up to here a row number times the number of keys stays far below 2^63."""


def check_recall(name: str, keys: int | None, labels: int) -> None:
    """Raise a one-line error for parameters out of range."""
    require(
        keys is None or 1 <= keys <= LARGEST_KEYS,
        f"keys={keys} is out of range; {name} takes 1 to 2^31 keys, or None for a number that grows with N",
    )
    require(
        2 <= labels <= LARGEST_LISTING,
        f"labels={labels} is out of range; {name} needs 2 to {LARGEST_LISTING} labels",
    )


def recall_vocabulary(keys: int, labels: int) -> Vocabulary:
    """Keys k0, k1, … and labels 0, 1, …."""
    return Vocabulary((Symbols("keys", keys, prefix="k"), Symbols("labels", labels)))


def interleave(first: Array, second: Array) -> Array:
    """x_1 y_1 x_2 y_2 …: two arrays (count, n) give one (count, 2n)."""
    xp = namespace_of(first)
    return xp.reshape(xp.stack([first, second], axis=2), (first.shape[0], 2 * first.shape[1]))


def look_up(keys: Array, values: Array, queries: Array, bound: int) -> Array:
    """The value stored under each query; keys and values (count, n), queries (count, w), keys distinct.

    Sorting and one binary search: n log n work where comparing all pairs needs n². A query that is no key gets
    some value of the row; the promise of the tasks excludes it.
    """
    xp = namespace_of(keys)
    order = xp.argsort(keys, axis=1, stable=True)
    place = xp.clip(find_in_rows(take_rows(keys, order), queries, bound), 0, keys.shape[1] - 1)
    return take_rows(values, take_rows(order, place))


def distinct_rows(keys: Array) -> Array:
    """Which rows have no repeated value (bool, (count,))."""
    xp = namespace_of(keys)
    ascending = xp.sort(keys, axis=1)
    return xp.all(ascending[:, 1:] != ascending[:, :-1], axis=1)
