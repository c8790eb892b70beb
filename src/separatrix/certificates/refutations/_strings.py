"""A string that a recurrent network answers otherwise than the automaton of its task.

Both read the same tokens; pairs of their states are listed breadth first, for as many steps as the string has. A pair
on which they disagree is *bad*. Going back from the bad pairs, once for each token, gives a string of the length.
"""

from collections.abc import Iterator
from typing import Any

import numpy
from numpy.typing import NDArray

from separatrix.arithmetic import FixedPoint
from separatrix.certificates.verdict import Claim, Tokens
from separatrix.networks import RecurrentCell, RecurrentNetwork, decode
from separatrix.progress import tracked
from separatrix.tasks import own_specification

MOST_PAIRS = 1 << 14
MOST_HISTORY = 1 << 28
"""Pairs times tokens of the string."""
NO_PAIR = -1


def wrong_string(network: RecurrentNetwork, claim: Claim) -> Iterator[Tokens]:
    """The string, if there is one and there are not too many pairs to find it."""
    stated = own_specification(claim.task, claim.length)
    if stated is None or stated["answer"]["kind"] != "automaton" or not isinstance(claim.arithmetic, FixedPoint):
        return
    found = pairs_of(network, claim, stated["answer"])
    if found is None or len(found[0]) * claim.length > MOST_HISTORY:
        return
    following, bad = found
    # can_fail[t]: the pairs from which some t tokens lead to a bad pair; a missing successor leads nowhere.
    can_fail: list[NDArray[numpy.bool_]] = [bad]
    for _ in tracked(range(claim.length), "strings that fail"):
        can_fail.append(numpy.asarray(numpy.append(can_fail[-1], False)[following].any(axis=1)))
    if not can_fail[-1][0]:
        return
    place, tokens = 0, numpy.zeros(claim.length, dtype=numpy.int64)
    for position in range(claim.length):
        choices = numpy.append(can_fail[claim.length - position - 1], False)[following[place]]
        tokens[position] = int(choices.argmax())
        place = int(following[place, tokens[position]])
    yield tokens


def pairs_of(
    network: RecurrentNetwork, claim: Claim, automaton: dict[str, Any]
) -> tuple[Tokens, NDArray[numpy.bool_]] | None:
    """For each pair of states the next pair by token, -1 beyond the length, and whether its answers disagree."""
    steps: list[list[int]] = automaton["steps"]
    cell, symbols = RecurrentCell(network, claim.arithmetic), len(steps[0])
    numbers: dict[tuple[tuple[int, ...], int], int] = {(tuple(cell.initial.tolist()), automaton["start"]): 0}
    listed = list(numbers)
    following: list[list[int]] = []
    for _ in range(claim.length):
        fresh = listed[len(following) :]
        if not fresh:
            break
        states = numpy.repeat(numpy.array([state for state, _ in fresh]), symbols, axis=0)
        after: list[list[int]] = cell.step(
            states, numpy.tile(numpy.arange(symbols, dtype=numpy.int64), len(fresh))
        ).tolist()
        for place, (_, other) in enumerate(fresh):
            row = after[place * symbols : (place + 1) * symbols]
            pairs = [(tuple(state), steps[other][token]) for token, state in enumerate(row)]
            for pair in pairs:
                if pair not in numbers:
                    numbers[pair] = len(listed)
                    listed.append(pair)
            following.append([numbers[pair] for pair in pairs])
        if len(listed) > MOST_PAIRS:
            return None
    following += [[NO_PAIR] * symbols] * (len(listed) - len(following))
    answers = decode(network, cell.read(numpy.array([state for state, _ in listed])), claim.arithmetic)
    right = numpy.array([automaton["answers"][other] for _, other in listed])
    return numpy.array(following, dtype=numpy.int64), answers != right
