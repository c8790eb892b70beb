"""Row-wise helpers of several tasks: distinct random values, lookups in rows, bounded memory.

Nothing here follows a paper. Everything runs on numpy and torch, and no loop goes over examples or positions:
loops run over chunks of rows, over rounds of redrawing, or over the entries of one arrangement.
"""

from collections.abc import Callable, Iterator, Sequence

from separatrix.errors import SeparatrixError
from separatrix.tasks.arrays import Array, full_like, integers, namespace_of, random_order, take_rows
from separatrix.tasks.draws import Draws
from separatrix.tasks.task import require

CHUNK_ENTRIES = 1 << 21
"""No temporary array of the labels has many more entries than this (16 MiB of int64)."""

LARGEST_LISTING = 1_000_000
"""A space lists no more choices than this; larger ones are only counted."""


def check_listing(choices: int, what: str) -> None:
    """Raise a one-line error when a space would have to list too many choices."""
    require(choices <= LARGEST_LISTING, f"{choices} {what} are too many to list; choose fewer or a smaller length")


def slices(total: int, cost: int) -> Iterator[slice]:
    """Cut ``range(total)`` into slices of at most CHUNK_ENTRIES // cost items; an empty range gives one slice.

    >>> [(part.start, part.stop) for part in slices(5, CHUNK_ENTRIES // 2)]
    [(0, 2), (2, 4), (4, 5)]
    """
    step = max(1, CHUNK_ENTRIES // max(1, cost))
    for start in range(0, max(total, 1), step):
        yield slice(start, min(start + step, total))


def in_chunks(function: Callable[[Array], Array], array: Array, cost: int) -> Array:
    """``function(array)`` computed over chunks of rows, where one row needs ``cost`` temporary entries."""
    xp = namespace_of(array)
    return xp.concat([function(array[part]) for part in slices(array.shape[0], cost)], axis=0)


def row_numbers(like: Array, count: int) -> Array:
    """Return the column vector 0 .. count-1 (shape ``(count, 1)``, int64) on the device of ``like``."""
    xp = namespace_of(like)
    return xp.reshape(xp.arange(count, dtype=xp.int64, device=like.device), (count, 1))


def find_in_rows(ascending: Array, wanted: Array, bound: int) -> Array:
    """Return for every wanted value the column of the first entry of its row that is not smaller.

    ``ascending`` (rows, n) has sorted rows with values in 0 .. bound - 1, ``wanted`` (rows, w) values of the
    same range; the answer (rows, w) lies in 0 .. n. Adding row·bound makes all rows one sorted list, so that one
    binary search serves them all.
    """
    xp = namespace_of(ascending)
    rows, width = ascending.shape
    row = row_numbers(ascending, rows)
    flat = xp.reshape(ascending + row * bound, (-1,))
    place = xp.searchsorted(flat, xp.reshape(wanted + row * bound, (-1,)))
    return xp.reshape(xp.astype(place, xp.int64), tuple(wanted.shape)) - row * width


def contained_in_rows(values: Array, wanted: Array, bound: int) -> Array:
    """Return which wanted values (rows, w) occur in their row of ``values`` (rows, n); all in 0 .. bound - 1.

    A table of booleans answers fastest and is used while it takes no more memory than ``wanted`` (eight times
    as many entries of one byte); a binary search serves larger ranges.
    """
    xp = namespace_of(values)
    rows, width = values.shape
    if not rows or not width:
        return full_like(values, tuple(wanted.shape), 0) == 1
    if bound <= 8 * wanted.shape[1]:
        present = xp.zeros((rows * bound,), dtype=xp.bool, device=values.device)
        row = row_numbers(values, rows) * bound
        present[xp.reshape(values + row, (-1,))] = True
        return present[wanted + row]
    ascending = xp.sort(values, axis=1)
    # A value above its whole row is compared with the largest entry and found different.
    place = xp.clip(find_in_rows(ascending, wanted, bound), 0, width - 1)
    return take_rows(ascending, place) == wanted


def distinct_values(draws: Draws, count: int, size: int, bound: int) -> Array:
    """``count`` uniformly random ordered selections of ``size`` different values of 0 .. bound - 1.

    Small ranges are shuffled whole. In large ones every value is drawn freely and repetitions are drawn again
    until none is left: which entries are redrawn depends only on which entries are equal, so the result keeps
    the symmetry between all values and is exactly as uniform as the single draws.
    """
    if bound <= 4 * size:
        return random_order(draws.uniform(count, bound))[:, :size]
    values = integers(draws.uniform(count, size), 0, bound)
    xp = namespace_of(values)
    while True:
        order = xp.argsort(values, axis=1, stable=True)
        ascending = take_rows(values, order)
        row, column = xp.nonzero(ascending[:, 1:] == ascending[:, :-1])
        if not row.shape[0]:
            return values
        values[row, order[row, column + 1]] = integers(draws.uniform(row.shape[0]), 0, bound)


def arrangement_sizes(bound: int, size: int) -> Sequence[range]:
    """Return the choices left for each entry of an ordered selection of ``size`` of ``bound`` values, in turn."""
    return [range(bound - turn) for turn in range(size)]


def decode_arrangements(codes: Array) -> Array:
    """Ordered selections without repetition from their codes: entry t says how many free values to skip.

    Shape (rows, size) in and out. With these codes an enumeration needs ``size`` small blocks instead of one
    block of bound!/(bound - size)! rows. The loop runs over the entries of one arrangement, of which a space
    that can be walked through has at most twenty.
    """
    xp = namespace_of(codes)
    values = codes
    for turn in range(codes.shape[1] - 2, -1, -1):
        later = values[:, turn + 1 :]
        later = later + xp.astype(later >= values[:, turn : turn + 1], xp.int64)
        values = xp.concat([values[:, : turn + 1], later], axis=1)
    return values


def whole_numbers(text: str, separator: str, what: str) -> list[int]:
    """Return the integers written in ``text``; raises a one-line error that names what was expected."""
    try:
        return [int(word) for word in text.split(separator)]
    except ValueError:
        raise SeparatrixError(f"{text!r} is not {what}") from None
