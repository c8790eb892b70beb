"""Bounded stacks without a loop over positions: random walks, matching brackets, validity, all vectorised.

Follows BHBK24 Appendix H.1 ("the stack walk") for any number of bracket types n and any depth k. Tokens: opening
bracket of type i is i, its closing bracket is n + i.

Three observations replace the loop over positions:

* The depth after an odd number of steps is odd, so between odd times a pair of steps is a map on the (k+1)//2 odd
  depths, fixed by the draws. For k ≤ 2 there is one odd depth and nothing to compose; for larger k the maps are
  composed by doubling, and since random maps coalesce the doubling usually ends early.
* A sum of independent uniform numbers modulo n stays uniform and independent when one more is added. So the type
  of the bracket now open at a level is a running sum, modulo n, of the numbers drawn where that level opens.
* A string of right depths is balanced exactly when the open types, read as digits of a number with one digit for
  each level, never leave a digit behind: see :func:`types_match`.

Masks enter as factors and small integer types are used inside, because a branching ``where`` on random masks
costs an order of magnitude more than the arithmetic.
"""

from typing import Any

from separatrix.bit_counts import bits_for
from separatrix.tasks.arrays import Array, namespace_of, small_integers


def random_depths(opens: Array, depth: int) -> Array:
    """Depths of the reflected walk that ends at 0: (rows, steps) bools give (rows, steps + 1) small integers.

    ``opens`` says what a step does where both are possible; at depth 0 it always opens; at the bound, and when only as
    many steps are left as brackets are open, it always closes. Column t is the depth after t steps; an even number of
    steps ends at 0.
    """
    xp = namespace_of(opens)
    rows, steps = opens.shape
    small = small_integers(xp, depth + 1)
    move = xp.astype(opens, small) * 2 - 1
    pairs = steps // 2
    # The highest depth after each step from which the steps that are left still reach 0.
    bound = xp.flip(xp.arange(steps, dtype=xp.int64, device=opens.device))
    bound = xp.astype(xp.minimum(bound, xp.full_like(bound, depth)), small)
    odd = _odd_depths(xp, move, bound, depth)
    even = _step(xp, odd[:, :pairs], move[:, 1::2], bound[1::2])
    depths = xp.zeros((rows, steps + 1), dtype=small, device=opens.device)
    depths[:, 1::2] = odd
    depths[:, 2::2] = even
    return depths


def _odd_depths(xp: Any, move: Array, bound: Array, depth: int) -> Array:
    """Depth after 1, 3, 5, … steps of the walk with these moves."""
    rows, steps = move.shape
    times = (steps + 1) // 2
    states = (depth + 1) // 2
    ones = xp.ones((rows, times), dtype=move.dtype, device=move.device)
    if states == 1 or times <= 1:
        return ones
    # maps[r, j, s]: index of the odd depth at time 2j+3 when it has index s at time 2j+1.
    start = xp.reshape(xp.arange(states, dtype=move.dtype, device=move.device) * 2 + 1, (1, 1, states))
    first = _step(xp, start, move[:, 1 : 2 * times - 1 : 2, None], bound[1 : 2 * times - 1 : 2, None])
    second = _step(xp, first, move[:, 2 : 2 * times : 2, None], bound[2 : 2 * times : 2, None])
    # Near the end a start above what the remaining steps allow is never reached; its image only has to be in range.
    reached = _compose_prefixes(xp, xp.clip((second - 1) // 2, 0, states - 1))
    return xp.concat([ones[:, :1], reached[:, :, 0] * 2 + 1], axis=1)


def _step(xp: Any, depths: Array, move: Array, bound: Array) -> Array:
    """Return one reflected step: from 0 always up, and down where up would pass the bound."""
    moved = depths + move
    return moved + xp.astype(moved < 0, moved.dtype) * 2 - xp.astype(moved > bound, moved.dtype) * 2


def _compose_prefixes(xp: Any, maps: Array) -> Array:
    """Prefix compositions along axis 1 of maps on a small set (last axis), by doubling.

    Stops as soon as every map that is still incomplete is constant: a constant map stays the same however it is
    extended to the left.
    """
    reach = 1
    while reach < maps.shape[1] and bool(xp.any(maps[:, reach:, :] != maps[:, reach:, :1])):
        earlier = xp.astype(maps[:, :-reach, :], xp.int64)
        composed = xp.take_along_axis(maps[:, reach:, :], earlier, axis=2)
        maps = xp.concat([maps[:, :reach, :], composed], axis=1)
        reach *= 2
    return maps


def fill_types(fresh: Array, opens: Array, after: Array, kinds: int, depth: int) -> Array:
    """Tokens of a balanced walk (rows, n), from one number below ``kinds`` for each position.

    ``opens`` bool (rows, n), ``after`` the depth after each step (rows, n). The tokens that open a level have
    independent uniform types when ``fresh`` has; a closing bracket has the type of the bracket it closes.
    """
    xp = namespace_of(fresh)
    small = small_integers(xp, max(2 * kinds, depth + 1))
    closes = xp.astype(~opens, small)
    level = xp.astype(after, small) + closes
    fresh = xp.astype(fresh, small)
    # At the bound nothing opens in between, so a closing bracket closes the one just before it.
    before = xp.concat([fresh[:, :1], fresh[:, :-1]], axis=1)
    types = (fresh + closes * (before - fresh)) * xp.astype(level == depth, small)
    for inner in range(1, depth):
        inside = xp.astype(level == inner, small)
        drawn = fresh * inside * (1 - closes)
        running = xp.cumulative_sum(xp.astype(drawn, xp.int32), axis=1, dtype=xp.int32)
        current = running - (running // kinds) * kinds
        types = types + xp.astype(current, small) * inside
    return types + closes * kinds


def is_balanced(tokens: Array, kinds: int, depth: int) -> Array:
    """Return which rows are in Dyck-(kinds, depth): (rows, n) tokens give (rows,) bool."""
    xp = namespace_of(tokens)
    closes = xp.astype(tokens >= kinds, xp.int32)
    after = xp.cumulative_sum(1 - closes * 2, axis=1, dtype=xp.int32)
    balanced = (xp.min(after, axis=1) >= 0) & (xp.max(after, axis=1) <= depth) & (after[:, -1] == 0)
    # Types are checked only where depths are right: few corrupted strings get that far.
    candidates = xp.nonzero(balanced)[0]
    if candidates.shape[0]:
        closes, after = closes[candidates], after[candidates]
        types = xp.astype(tokens[candidates], xp.int32) - closes * kinds
        balanced[candidates] = types_match(types, closes, after, kinds, depth)
    return balanced


def types_match(types: Array, closes: Array, after: Array, kinds: int, depth: int) -> Array:
    """Return whether closing brackets have the types they close, for rows whose depths are right; (rows,) bool.

    ``types``, ``closes`` (0 or 1) and ``after`` (depth after each bracket) are int32 of shape (rows, n).

    Let S(t) be the sum of type · 2^(b·level) over opening brackets up to t minus the same over closing ones, with
    types below 2^b. While all types match, the digits of S are the types now open, so 0 ≤ S < 2^(b·depth). The
    first bracket that closes level ℓ with a wrong type leaves (opened - closed) · 2^(bℓ) on top of lower digits:
    then S < 0 or S ≥ 2^(bℓ), and the depth after it is ℓ. Shifted right by b·depth (arithmetically), S is zero
    exactly when it is in range. Levels are taken in groups that fit the integer type.
    """
    xp = namespace_of(types)
    bits = max(1, bits_for(kinds))
    wide = xp.int32 if bits * depth <= 30 else xp.int64
    together = max(1, (30 if wide == xp.int32 else 62) // bits)
    signed = xp.astype(types * (1 - closes * 2), wide)
    level = xp.astype(after - 1 + closes, wide)
    after = xp.astype(after, wide)
    wrong = xp.zeros(types.shape[0], dtype=xp.bool, device=types.device)
    for lowest in range(0, depth, together):
        shift, below = level * bits, after * bits
        if depth > together:
            inside = xp.astype((level >= lowest) & (level < lowest + together), wide)
            shift = xp.clip(level - lowest, 0, together - 1) * bits * inside
            below = xp.clip(after - lowest, 0, together) * bits
            total = xp.cumulative_sum((signed * inside) << shift, axis=1, dtype=wide)
        else:
            total = xp.cumulative_sum(signed << shift, axis=1, dtype=wide)
        wrong = wrong | xp.any((total >> below) != 0, axis=1)
    return ~wrong
