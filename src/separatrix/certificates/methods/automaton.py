"""Recurrent networks as automata: all strings of a length at once, by exploring the states that really occur.

In an exact arithmetic a recurrent network whose numbers stay small has finitely many reachable states. They are found
by breadth-first search with the network's own evaluation, bit for bit, which turns the weights into an automaton. It is
compared with the automaton of the task, made from the definition of the language alone (``meanings.languages``), by
their product: a pair (state of the network, state of the language) on which the two answers differ is *bad*. If no
reachable pair is bad, the network is right on every string of every length. If some are, going back N times from them
decides whether a string of exactly the claimed length N ends in one, and gives that string.

The search stops after N steps, so a network whose states grow without end is still decided at small lengths.
"""

from dataclasses import dataclass
from typing import Any

import numpy
from numpy.typing import NDArray

from separatrix.arithmetic import FixedPoint, RawArray
from separatrix.certificates.meanings.languages import DyckLanguage, Stack, language_of
from separatrix.certificates.verdict import Claim, Method, SuspicionError, Tokens, UnsupportedError
from separatrix.networks import RecurrentCell, RecurrentNetwork, decode
from separatrix.progress import tracked

LARGEST_STATES = 1 << 17
LARGEST_HISTORY = 1 << 30
CHUNK_NUMBERS = 1 << 22
NO_STATE = -1


@dataclass(frozen=True)
class Automaton:
    """What a network does: the next state for each (state, token), -1 beyond the length, and each state's answer.

    State 0 is the initial one.
    """

    following: Tokens
    answers: Tokens


@dataclass(frozen=True)
class Product:
    """Pairs of states, pair 0 first: the next pair for each (pair, token), and which pairs disagree."""

    following: Tokens
    bad: NDArray[numpy.bool_]


class AutomatonMethod(Method):
    """The network's own automaton against the language's."""

    name = "automaton"
    order = 5
    kinds = (RecurrentNetwork,)

    def prove(self, network: RecurrentNetwork, claim: Claim) -> str:
        """Explore, compare, and give a string of the claimed length if one is answered wrongly."""
        language = language_of(claim.task)
        if not isinstance(claim.arithmetic, FixedPoint):
            raise UnsupportedError(f"{claim.arithmetic} is not a fixed point, in which the method computes; choose one")
        found = explore(network, claim, language.symbols)
        pairs = compare(found, language, claim.length)
        if pairs.bad.any():
            wrong = wrong_string(pairs, claim.length)
            if wrong is not None:
                raise SuspicionError(f"{int(pairs.bad.sum())} pairs of states disagree about membership", [wrong])
        return f"{language.symbols}^{claim.length}"


def explore(network: RecurrentNetwork, claim: Claim, symbols: int) -> Automaton:
    """All states that strings of up to the claimed length reach."""
    cell = RecurrentCell(network, claim.arithmetic)
    widest = max(each.weights.shape[0] for each in network.cell)
    at_once = max(1, CHUNK_NUMBERS // (widest * symbols))
    numbers: dict[tuple[Any, ...], int] = {tuple(cell.initial.tolist()): 0}
    frontier: RawArray = cell.initial[None, :]
    rows: list[list[int]] = []
    answers: list[int] = []
    for _ in tracked(range(claim.length), "tokens read"):
        fresh: list[RawArray] = []
        for first in range(0, len(frontier), at_once):
            states = frontier[first : first + at_once]
            answers += decode(network, cell.read(states), claim.arithmetic).tolist()
            after = cell.step(
                numpy.repeat(states, symbols, axis=0), numpy.tile(numpy.arange(symbols, dtype=numpy.int64), len(states))
            )
            reached: list[int] = []
            for row in after:
                state: tuple[Any, ...] = tuple(row.tolist())
                if state not in numbers:
                    numbers[state] = len(numbers)
                    fresh.append(row)
                reached.append(numbers[state])
            rows += [reached[start : start + symbols] for start in range(0, len(reached), symbols)]
            if len(numbers) > LARGEST_STATES:
                raise UnsupportedError(
                    f"the network reaches more than {LARGEST_STATES} states; the method lists them all"
                )
        if not fresh:
            break
        frontier = numpy.stack(fresh)
    # States first reached by the last token have no successors within the length.
    left = len(numbers) - len(rows)
    if left:
        answers += decode(network, cell.read(frontier), claim.arithmetic).tolist()
        rows += [[NO_STATE] * symbols] * left
    return Automaton(numpy.array(rows, dtype=numpy.int64), numpy.array(answers, dtype=numpy.int64))


def compare(found: Automaton, language: DyckLanguage, length: int) -> Product:
    """All pairs that one string can reach in both automata, within the length."""
    start: tuple[int, Stack] = (0, language.start)
    numbers = {start: 0}
    listed = [start]
    rows: list[list[int]] = []
    end_of_round, rounds = 1, 0
    while len(rows) < len(listed):
        if len(rows) == end_of_round:
            end_of_round, rounds = len(listed), rounds + 1
        if rounds == length:
            break
        state, stack = listed[len(rows)]
        row: list[int] = []
        for token, after in enumerate(found.following[state].tolist()):
            pair = (after, language.step(stack, token))
            if pair not in numbers:
                numbers[pair] = len(listed)
                listed.append(pair)
            row.append(numbers[pair])
        rows.append(row)
        if len(listed) > LARGEST_STATES:
            raise UnsupportedError(f"more than {LARGEST_STATES} pairs of states; the method lists them all")
    rows += [[NO_STATE] * language.symbols] * (len(listed) - len(rows))
    bad = [int(found.answers[state]) != int(language.accepts(stack)) for state, stack in listed]
    return Product(numpy.array(rows, dtype=numpy.int64), numpy.array(bad, dtype=bool))


def wrong_string(pairs: Product, length: int) -> Tokens | None:
    """A string of exactly this length that ends in a bad pair, or None if there is none."""
    if length * len(pairs.bad) > LARGEST_HISTORY:
        raise UnsupportedError(f"some string is answered wrongly, but none of length {length} was looked for: too long")
    # can_fail[t]: the pairs from which some t tokens lead to a bad pair; a missing successor leads nowhere.
    can_fail = [pairs.bad]
    for _ in tracked(range(length), "strings that fail"):
        after = numpy.append(can_fail[-1], False)[pairs.following]
        can_fail.append(numpy.asarray(after.any(axis=1)))
    if not can_fail[length][0]:
        return None
    place, tokens = 0, numpy.zeros(length, dtype=numpy.int64)
    for position in range(length):
        left = length - position - 1
        choices = numpy.append(can_fail[left], False)[pairs.following[place]]
        tokens[position] = int(numpy.argmax(choices))
        place = int(pairs.following[place, tokens[position]])
    return tokens


METHOD = AutomatonMethod()
