"""Random balanced strings of depth at most 2, several brackets at a time from a table.

The stack walk of BHBK24 Appendix H.1 for n types and depth 2, the paper's own case, read in pairs of steps. After an
odd number of steps exactly one bracket is open, of some type c. The next two steps are one of

* open type u and close it again: probability 1/(n+1) for each of the n types u;
* close c, and open a new type at depth 0: probability 1/(n+1) together, the new type uniform.

So one digit uniform in 0 … n(n+1) − 1 decides a pair: digit // n is the type u, or n for "close", and digit % n gives
the new type. The new type is c + digit % n modulo n, uniform and independent all the same; what a run of pairs does to
c is then a sum modulo n, and the types at the starts of all runs are running sums: no loop over positions.

A table over all digit strings of one run and all c holds the brackets; a string of N brackets takes about N/10 look-ups
for n = 2. ``_bounded_stack.fill_types`` does the same for every depth, bracket by bracket.
"""

from functools import cache
from typing import Any

from separatrix.tasks.arrays import Array, namespace_of
from separatrix.tasks.draws import Draws

LARGEST_TABLE = 1 << 14
"""Rows of the table: with 10 brackets each it stays in a processor's second cache."""


def pairs_in_a_run(kinds: int) -> int:
    """Return how many pairs one table look-up gives; 0 where there are too many types for a table."""
    pairs = 0
    while kinds * (kinds * (kinds + 1)) ** (pairs + 1) <= LARGEST_TABLE:
        pairs += 1
    return pairs


@cache
def _table(xp: Any, device: Any, kinds: int, pairs: int) -> tuple[Array, Array]:
    """Brackets (kinds · codes, 2 · pairs) int8 for every open type and code, and the turn (codes,) of the open type.

    A pure function of its arguments, kept because a sampler needs it at every call; at most 2^14 rows.
    """
    base = kinds * (kinds + 1)
    code = xp.arange(base**pairs, dtype=xp.int64, device=device)
    open_type = xp.reshape(xp.arange(kinds, dtype=xp.int64, device=device), (kinds, 1))
    start = open_type + 0 * code
    brackets: list[Array] = []
    for _ in range(pairs):
        rest = code // base
        digit = code - rest * base
        code = rest
        inner, fresh = digit // kinds, digit % kinds
        closes = xp.astype(inner == kinds, xp.int64)
        after = (open_type + closes * fresh) % kinds
        brackets.append(closes * (kinds + open_type) + (1 - closes) * inner)
        brackets.append(closes * after + (1 - closes) * (kinds + inner))
        open_type = after
    rows = xp.stack(brackets, axis=-1)
    turn = ((open_type - start) % kinds)[0, :]
    return xp.astype(xp.reshape(rows, (-1, 2 * pairs)), xp.int8), xp.astype(turn, xp.int32)


def shallow_strings(draws: Draws, count: int, length: int, kinds: int) -> Array:
    """Balanced strings of depth at most 2: (count, length) int8, the law of the stack walk of Appendix H.1.

    The string is cut out of one that starts a bracket earlier and ends a bracket later, so that it is whole pairs: the
    first and the last pair are made to close, which opens the first bracket and closes the last.
    """
    pairs = pairs_in_a_run(kinds)
    base = kinds * (kinds + 1)
    runs = -(-(length // 2 + 1) // pairs)
    uniform = draws.uniform(count, runs)
    xp = namespace_of(uniform)
    table, turn = _table(xp, uniform.device, kinds, pairs)
    codes = xp.astype(uniform * base**pairs, xp.int32)
    for column, place in ((0, 1), (runs - 1, base ** ((length // 2) % pairs))):
        digit = codes[:, column] // place % base
        codes[:, column] = codes[:, column] + (kinds * kinds - digit // kinds * kinds) * place
    turns = xp.cumulative_sum(xp.reshape(xp.take(turn, xp.reshape(codes, (-1,))), codes.shape), axis=1, dtype=xp.int32)
    # The type open at the start of a run: what the runs before it have turned 0 into.
    before = xp.concat([turns[:, :1] * 0, turns[:, :-1]], axis=1)
    before = before - before // kinds * kinds
    found = xp.take(table, xp.reshape(before * base**pairs + codes, (-1,)), axis=0)
    return xp.reshape(found, (count, 2 * pairs * runs))[:, 1 : length + 1]
