"""True minima by exhaustive search, for inputs so small that every automaton or protocol can be tried.

What the profiler reports comes from theorems (residual classes, ranks, fooling sets). Here none of them is used: an
automaton is smallest because no assignment of fewer states to the strings works, a protocol is cheapest because every
tree was tried. Each search gives None where it would try more than ``PATIENCE`` steps; such a case proves nothing and
is counted as not searched.
"""

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import combinations
from typing import Any, TypeAlias

import numpy
from numpy.typing import NDArray

Labels: TypeAlias = Sequence[Sequence[int] | None]
"""For each length 0, 1, … the value of every string in lexicographic order, or None where strings have no value."""
Values: TypeAlias = NDArray[Any]

PATIENCE = 300_000


class _Tired(Exception):
    """More steps than a search may take."""


def smallest_automaton(labels: Labels, symbols: int, most: int = 7) -> int | None:
    """The fewest states of an automaton with outputs at its states that gives every string its value.

    Strings are read in level order and their states assigned; a transition that is not yet known may lead to every
    state that is in use or to one new state, so every automaton is met once up to the names of its states.

    >>> smallest_automaton([[0], [0, 1], [0, 1, 1, 0]], 2)
    2
    """
    for states in range(1, most + 1):
        found = automaton_exists(labels, symbols, states)
        if found is None:
            return None
        if found:
            return states
    return None


def automaton_exists(labels: Labels, symbols: int, states: int) -> bool | None:
    """Whether some automaton with so many states gives every string its value.

    >>> automaton_exists([[0], [0, 1], [0, 1, 1, 0]], 2, states=1)
    False
    """
    flat = [label for level, each in enumerate(labels) for label in (each or [None] * symbols**level)]
    transitions: dict[tuple[int, int], int] = {}
    output: dict[int, int] = {}
    at = [0] * len(flat)
    steps = 0

    def complete(node: int, used: int) -> bool:
        """Give states to the strings from ``node`` on; what does not lead to the end is undone."""
        nonlocal steps
        fresh: list[int] = []
        while node < len(flat):
            steps += 1
            if steps > PATIENCE:
                raise _Tired
            move = (at[(node - 1) // symbols], (node - 1) % symbols)
            if node and move not in transitions:
                for state in range(min(used + 1, states)):
                    transitions[move] = state
                    if complete(node, max(used, state + 1)):
                        return True
                    del transitions[move]
                break
            at[node] = transitions[move] if node else 0
            label = flat[node]
            if label is not None and at[node] not in output:
                output[at[node]] = label
                fresh.append(at[node])
            elif label is not None and output[at[node]] != label:
                break
            node += 1
        else:
            return True
        for state in fresh:
            del output[state]
        return False

    try:
        return complete(0, 1)
    except _Tired:
        return None


def of_one_length(values: Sequence[int], length: int, symbols: int) -> Labels:
    """The strings of one length with value 1 as a language: every other string has value 0.

    Strings up to twice the length and one more are enough: two different residual languages are distinguished by a
    string of at most the length, read after a string of at most the length and one.

    >>> smallest_automaton(of_one_length([0, 1], 1, 2), 2)
    3
    """
    return [list(values) if each == length else [0] * symbols**each for each in range(2 * length + 2)]


def fewest_messages(rows: Sequence[Sequence[int]]) -> int:
    """The fewest messages with which Alice lets Bob answer every column, by giving messages to her inputs in turn.

    >>> fewest_messages([(0, 1), (1, 0), (0, 1)])
    2
    """

    def enough(allowed: int, given: list[list[Sequence[int]]], left: Sequence[Sequence[int]]) -> bool:
        if not left:
            return True
        for number in range(min(len(given) + 1, allowed)):
            same = [*given, []] if number == len(given) else given
            # Bob sees the message and his column: all rows behind it must give him the same answer.
            if all(tuple(row) == tuple(left[0]) for row in same[number]):
                changed = [[*each, left[0]] if place == number else each for place, each in enumerate(same)]
                if enough(allowed, changed, left[1:]):
                    return True
        return False

    allowed = 1
    while not enough(allowed, [], rows):
        allowed += 1
    return allowed


def cheapest_protocol(values: Values) -> int:
    """The bits after which both know the answer, by trying every protocol tree; tiny matrices only.

    >>> cheapest_protocol(numpy.eye(2, dtype=int))
    2
    """

    @cache
    def cost(rows: tuple[int, ...], columns: tuple[int, ...]) -> int:
        if len(set(values[numpy.ix_(rows, columns)].ravel().tolist())) == 1:
            return 0
        best = 99
        for one, two in splits(rows):
            best = min(best, 1 + max(cost(one, columns), cost(two, columns)))
        for one, two in splits(columns):
            best = min(best, 1 + max(cost(rows, one), cost(rows, two)))
        return best

    return cost(tuple(range(values.shape[0])), tuple(range(values.shape[1])))


def splits(members: tuple[int, ...]) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """All ways to cut a set into two parts."""
    rest = members[1:]
    for size in range(len(rest)):
        for chosen in combinations(rest, size):
            first = (members[0], *chosen)
            yield first, tuple(each for each in members if each not in first)


def largest_fooling_set(values: Values, value: int) -> int:
    """The size of the largest fooling set of a value, by trying all sets; tiny matrices only."""
    pairs: list[tuple[int, int]] = [(int(x), int(y)) for x, y in numpy.argwhere(values == value).tolist()]

    def grow(chosen: list[tuple[int, int]], left: list[tuple[int, int]]) -> int:
        best = len(chosen)
        for place, (x, y) in enumerate(left):
            if all(values[x, y2] != value or values[x2, y] != value for x2, y2 in chosen):
                best = max(best, grow([*chosen, (x, y)], left[place + 1 :]))
        return best

    return grow([], pairs)


def rectangles(values: Values, value: int) -> list[frozenset[tuple[int, int]]]:
    """All rectangles on which the matrix has one value, each as its cells."""
    found: set[frozenset[tuple[int, int]]] = set()
    for rows in _parts(values.shape[0]):
        for columns in _parts(values.shape[1]):
            if (values[numpy.ix_(rows, columns)] == value).all():
                found.add(frozenset((row, column) for row in rows for column in columns))
    return sorted(found, key=lambda each: (-len(each), sorted(each)))


def fewest_rectangles(values: Values, value: int) -> int | None:
    """Into how few rectangles the cells of a value can be cut, by trying every way."""
    cells = frozenset((int(x), int(y)) for x, y in numpy.argwhere(values == value).tolist())
    every = rectangles(values, value)
    containing = {cell: [each for each in every if cell in each] for cell in cells}
    steps = 0

    def cut(left: frozenset[tuple[int, int]], allowed: int) -> bool:
        nonlocal steps
        if not left:
            return True
        steps += 1
        if steps > PATIENCE:
            raise _Tired
        if allowed == 0:
            return False
        return any(each <= left and cut(left - each, allowed - 1) for each in containing[min(left)])

    try:
        return next(allowed for allowed in range(len(cells) + 1) if cut(cells, allowed))
    except _Tired:
        return None


def _parts(size: int) -> list[tuple[int, ...]]:
    return [chosen for count in range(1, size + 1) for chosen in combinations(range(size), count)]
