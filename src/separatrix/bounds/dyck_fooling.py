"""The fooling set of BHBK24 Lemma 1: all strings of Dyck-(n,2), odd positions with Alice, even positions with Bob.

*How many.* The paper counts 2^(N-1) strings of Dyck-(2,2) for even N, and that is what the walk over the automaton
counts; in general n^(N/2) · 2^(N/2 - 1) for depth 2: cut the string where the depth is 0; a block of length 2j opens
and closes with one of n types and holds j - 1 pairs, n^j choices whatever j is, and there are 2^(N/2 - 1) ways to cut
N/2 into blocks. For odd N there are none.

*Why it fools.* Depth 2 makes one half of a string determine the other. After an odd number of symbols the depth is 1.
Given the odd positions, read left to right: the symbol at 1 opens, say type t. When the symbol at 2j + 1 closes, the
one at 2j opened the same type inside t; when it opens, depth 0 stood before it, so the one at 2j closed t, and the new
symbol is the next t. The last symbol closes t. Given the even positions, reverse the string and exchange opening and
closing: that maps the language to itself and, N being even, even positions to odd ones. So no x and no y occurs twice,
in both directions as the fooling argument needs (E14), and a crossing of two different strings is not in the language.

Deeper languages do not have this property ("((()))" and "()(())" share their odd positions), but strings of depth 1 do
in every Dyck-(n,k): n^(N/2) of them, all opening at odd and closing at even positions, of which a crossing of two
different ones mismatches a pair.
"""

import numpy

from separatrix.catalog import ExecutedClaim
from separatrix.communication import FoolingVerdict, Integers, from_task, verify_by_uniqueness, verify_strings
from separatrix.errors import SeparatrixError
from separatrix.tasks import Task, tasks

LARGEST_COUNT = 1 << 20
FOOLING_SET = ExecutedClaim(
    "BHBK24 Lemma 1",
    "fooling set",
    "dyck-fooling-set",
    "separatrix bound dyck --model transformer-1layer --length 400",
    __file__,
)


def dyck_strings(length: int, types: int = 2) -> Integers:
    """Return all strings of Dyck-(types, 2) of a length: int64 (count, length), by a walk over the automaton.

    A state is the stack of at most two types. Memory grows with count · length.

    >>> len(dyck_strings(6)), len(dyck_strings(7))
    (32, 0)
    """
    if length % 2:
        return numpy.zeros((0, length), dtype=numpy.int64)
    count = dyck_count(length, types)
    if count > LARGEST_COUNT:
        raise SeparatrixError(f"{count} strings are more than 2^20; choose a length below {length}")
    strings = numpy.zeros((1, length), dtype=numpy.int64)
    outer = numpy.full(1, -1, dtype=numpy.int64)
    inner = numpy.full(1, -1, dtype=numpy.int64)
    for place in range(length):
        open_brackets = (outer >= 0).astype(numpy.int64) + (inner >= 0)
        # Opening must leave enough places to close again.
        may_open = numpy.flatnonzero((open_brackets < 2) & (open_brackets + 1 <= length - place - 1))
        may_close = numpy.flatnonzero(open_brackets > 0)
        opened = numpy.repeat(may_open, types)
        kinds = numpy.tile(numpy.arange(types), len(may_open))
        chosen = numpy.concatenate([opened, may_close])
        top = numpy.where(inner >= 0, inner, outer)
        grown = strings[chosen]
        grown[:, place] = numpy.concatenate([kinds, types + top[may_close]])
        deeper = outer[opened] >= 0
        new_outer = numpy.where(deeper, outer[opened], kinds)
        new_inner = numpy.where(deeper, kinds, -1)
        left_outer = numpy.where(inner[may_close] >= 0, outer[may_close], -1)
        strings = grown
        outer = numpy.concatenate([new_outer, left_outer])
        inner = numpy.concatenate([new_inner, numpy.full(len(may_close), -1)])
    return strings[outer < 0]


def dyck_count(length: int, types: int = 2) -> int:
    """Return how many strings Dyck-(types, 2) has of a length: n^(N/2) · 2^(N/2 - 1) for even N, none for odd N."""
    return 0 if length % 2 else types ** (length // 2) * 2 ** (length // 2 - 1)


def fooling_bits(task: Task, length: int) -> int:
    """⌊log2⌋ of the fooling set for a Dyck task: N - 1 for two types and depth 2 (Lemma 1), in integers.

    Depth 2: n^(N/2) · 2^(N/2 - 1) strings. Other depths: the n^(N/2) strings of depth 1. For a number of types that is
    no power of two its logarithm is rounded down, so that lengths of any size cost nothing.
    """
    types, depth = int(task.parameters()["types"]), int(task.parameters()["depth"])
    pairs = length // 2
    each = types.bit_length() - 1
    return pairs * each + (pairs - 1 if depth == 2 else 0)


def verify_literally(length: int, types: int = 2) -> FoolingVerdict:
    """Return every pair of strings crossed and decided by the task itself; |S|² evaluations."""
    task = tasks()["dyck"].with_parameters(types=types)
    return verify_strings(from_task(task, length), dyck_strings(length, types), 1)


def verify_both_ways(length: int, types: int = 2) -> FoolingVerdict:
    """Odd from even and even from odd: no half occurs twice among all strings of the language."""
    strings = dyck_strings(length, types)
    return verify_by_uniqueness(strings[:, 0::2], strings[:, 1::2])
