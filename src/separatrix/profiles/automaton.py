"""The smallest automaton for all lengths up to N: the states that BHBK24 Lemma 4 turns into state bits.

Where the function is defined at every length 1 … N, two strings must lead to different states when a common suffix,
within length N, gives them different values. Strings are compared under suffixes of length at most j, for j = 0, 1, …;
the number of classes among strings of length at most N − j is a lower bound for every automaton that agrees with the
function up to length N. If for some j the classes are closed under one more symbol, they are the states of an
automaton, which is then run on every string up to length N: if it agrees everywhere, it is the smallest one, exactly.

Strings of all lengths are the nodes of the A-ary tree in level order, so the extensions of node k are A·k + 1 … A·k + A
and a refinement by one more symbol is one fold over a contiguous array.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy

from separatrix.communication import Integers
from separatrix.profiles.residuals import WholeNumbers, renumbered


@dataclass(frozen=True, eq=False)
class SmallestAutomaton:
    """An automaton with outputs at its states; ``exact``: it agrees with the function on all strings up to N.

    ``states``: its size if exact, else a lower bound. ``transitions``: (states, symbols), ``outputs``: (states,) value
    numbers, −1 where a state is only the start and the empty string has no value; empty arrays when not exact.
    """

    states: int
    exact: bool
    separated_by: int
    transitions: Integers
    outputs: Integers
    start: int


def smallest_automaton(values: Sequence[WholeNumbers | None], symbols: int) -> SmallestAutomaton | None:
    """Return the smallest automaton of value arrays of the lengths 0 … N; None where a length from 1 on has no values.

    ``values[n]``: (A^n,) value numbers, or None; the empty string may have none. Memory is about twenty bytes for each
    string up to length N − 1.
    """
    longest = len(values) - 1
    filled = [each for each in values[1:] if each is not None]
    if longest < 2 or len(filled) != longest:
        return None
    first = values[0]
    # Without a value of its own the empty string is left out of every comparison.
    skipped = int(first is None)
    tree: WholeNumbers = numpy.concatenate([numpy.zeros(1, dtype=numpy.uint8) if first is None else first, *filled])
    own = int(tree.max()) + 1
    ids, count, _ = renumbered(tree, own, None)
    best = 0
    for suffix in range(longest):
        # ids: classes of strings of length ≤ N − suffix under suffixes of length ≤ suffix.
        best = max(best, len(_first_places(ids[skipped:], count)[0]))
        found = _closed(tree, ids, count, symbols, longest - suffix - 1, skipped)
        if found is not None and _agrees(tree, found, symbols, longest, skipped):
            return replace(found, separated_by=suffix)
        inner = _nodes(symbols, longest - suffix - 1)
        keys, bound = tree[:inner].astype(numpy.int64), own
        for symbol in range(symbols):
            keys, bound, _ = renumbered(keys * count + ids[1 + symbol :: symbols][:inner], bound * count, None)
        ids, count = keys, bound
    nothing = numpy.zeros(0, dtype=numpy.int64)
    return SmallestAutomaton(best, False, 0, nothing.reshape(0, symbols), nothing, 0)


def _nodes(symbols: int, longest: int) -> int:
    """Return how many strings have length at most ``longest``."""
    return sum(symbols**length for length in range(longest + 1))


def _first_places(ids: Integers, count: int) -> tuple[Integers, Integers]:
    """Return the numbers 0 … count − 1 that occur, ascending, and the first place of each."""
    first = numpy.full(count, -1, dtype=numpy.int64)
    first[ids[::-1]] = numpy.arange(len(ids) - 1, -1, -1)
    present = numpy.flatnonzero(first >= 0)
    return present, first[present]


def _closed(
    tree: WholeNumbers, ids: Integers, count: int, symbols: int, shorter: int, skipped: int
) -> SmallestAutomaton | None:
    """Return the automaton whose states are these classes of strings of length ≤ ``shorter``, if their extensions
    fit."""
    inner = _nodes(symbols, shorter)
    mine = ids[skipped:inner]
    states, places = _first_places(mine, count)
    if not len(states) or len(states) != len(_first_places(ids[skipped:], count)[0]):
        return None
    number = numpy.full(count, -1, dtype=numpy.int64)
    number[states] = numpy.arange(len(states))
    nodes = places + skipped
    transitions = number[numpy.stack([ids[symbols * nodes + 1 + symbol] for symbol in range(symbols)], axis=1)]
    outputs = tree[nodes].astype(numpy.int64)
    for symbol in range(symbols):
        extended = ids[1 + symbol :: symbols][skipped:inner]
        if (transitions[number[mine], symbol] != number[extended]).any():
            return None
    start = int(number[ids[0]])
    if skipped:
        # The empty string shares a state with the same extensions, or needs one more.
        wanted = number[ids[1 : symbols + 1]]
        same = numpy.flatnonzero((transitions == wanted).all(axis=1))
        start = int(same[0]) if len(same) else len(transitions)
        if not len(same):
            transitions = numpy.concatenate([transitions, wanted[None, :]])
            outputs = numpy.append(outputs, -1)
    return SmallestAutomaton(len(transitions), True, 0, transitions, outputs, start)


def _agrees(tree: WholeNumbers, found: SmallestAutomaton, symbols: int, longest: int, skipped: int) -> bool:
    """Run the automaton on every string up to the longest length and compare all values."""
    small = found.transitions.astype(numpy.int32)
    outputs = found.outputs.astype(numpy.int64)
    at = numpy.array([found.start], dtype=numpy.int32)
    begin = 0
    for length in range(longest + 1):
        if length >= skipped and (outputs[at] != tree[begin : begin + len(at)]).any():
            return False
        begin += len(at)
        if length < longest:
            at = small[at].reshape(-1)
    return True
