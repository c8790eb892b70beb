"""What tasks on two halves of a string share: the walk over lengths, the comparison, the drawing.

BHBK24 Appendix H.2: an input is first half, [SEP], second half.
"""

from collections.abc import Callable, Sequence

from separatrix.tasks.arrays import Array, columns, full_like, integers, namespace_of, take_rows
from separatrix.tasks.draws import Draws


def half_lengths(draws: Draws, like: Array, count: int, length: int, train: bool) -> Array:
    """Half lengths, shape (count, 1): in training k/2 for k uniform in N/10, N/10 + 2, …, N (H.2), else N/2.

    N/10 is rounded up to an even number, at least 2, because strings have even length.
    """
    if not train:
        return full_like(like, (count, 1), length // 2)
    shortest = max(1, -(-length // 20))
    return integers(draws.uniform(count, 1), shortest, length // 2 + 1)


def lay_out(first: Array, second: Array, halves: Array, separator: int, padding: int) -> Array:
    """First half, separator, second half, padding; halves (count, 1), the rest (count, N/2).

    Columns beyond a row's half length are ignored in ``first`` and ``second``.
    """
    xp = namespace_of(first)
    width = 2 * first.shape[1] + 1
    column = columns(first, width)
    offset = xp.clip(column - halves - 1, 0, first.shape[1] - 1)
    wide_first = xp.concat([first, full_like(first, (first.shape[0], width - first.shape[1]), padding)], axis=1)
    laid = xp.where(column < halves, wide_first, take_rows(second, xp.broadcast_to(offset, wide_first.shape)))
    laid = xp.where(column == halves, separator, laid)
    return xp.where(column <= 2 * halves, laid, padding)


def halves_of(inputs: Array, length: int, padding: int) -> tuple[Array, Array, Array, Array]:
    """Return both halves aligned (count, N/2), the mask of real columns, and the half lengths (count, 1)."""
    xp = namespace_of(inputs)
    used = xp.sum(xp.astype(inputs != padding, xp.int64), axis=1, keepdims=True)
    halves = (used - 1) // 2
    column = columns(inputs, length // 2)
    inside = column < halves
    partner = xp.clip(column + halves + 1, 0, inputs.shape[1] - 1)
    return inputs[:, : length // 2], take_rows(inputs, xp.broadcast_to(partner, inside.shape)), inside, halves


def draw_halves(first: Sequence[str], second: Sequence[str], mark: Callable[[str, str], str]) -> str:
    """Return two lines of symbols over each other and a line of marks below."""
    width = max([len(word) for word in [*first, *second]] or [1])

    def line(words: Sequence[str]) -> str:
        return " ".join(word.rjust(width) for word in words)

    return "\n".join([line(first), line(second), line([mark(a, b) for a, b in zip(first, second, strict=True)])])
