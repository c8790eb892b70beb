"""The second proof of BHBK24 Theorem 11: automata for INEQ over {0,1}^N have at least 2^(N/2) states.

Lemma 4 turns a recurrent model whose transition does not depend on time into an automaton with 2^(mp) states. An
automaton that agrees with INEQ on {0,1}^N, and does anything on other words, must be in different states after any two
different first halves, because one of the two makes the second half a copy. Here the automaton that accepts exactly the
unequal words of length N is built as a tree, minimised by automata-lib, and the states it reaches after N/2 symbols are
counted: minimisation merges what no word tells apart, so they can only be fewer than the first halves if the argument
is wrong. Only words of length N are used to tell them apart, so that the count holds for every automaton that agrees on
{0,1}^N.
"""

import importlib
from dataclasses import dataclass
from itertools import product
from typing import Any

from separatrix.errors import SeparatrixError

LARGEST_LENGTH = 12
"""A tree of 2^13 states is minimised in seconds."""


@dataclass(frozen=True)
class InequalityAutomaton:
    """The minimal automaton of the unequal words of length N."""

    length: int
    states: int
    states_after_half: int

    @property
    def holds(self) -> bool:
        """Whether every first half has a state of its own."""
        return self.states_after_half == 2 ** (self.length // 2)


def inequality_automaton(length: int) -> InequalityAutomaton:
    """Build and minimise the automaton; N even, up to 12.

    >>> inequality_automaton(4)
    InequalityAutomaton(length=4, states=12, states_after_half=4)
    """
    if length % 2 or not 2 <= length <= LARGEST_LENGTH:
        raise SeparatrixError(f"length {length} is out of range; choose an even length from 2 to {LARGEST_LENGTH}")
    automata: Any = importlib.import_module("automata.fa.dfa")
    half = length // 2
    sink = "sink"
    transitions: dict[str, dict[str, str]] = {sink: {"0": sink, "1": sink}}
    words = ["".join(word) for size in range(length + 1) for word in product("01", repeat=size)]
    for word in words:
        transitions[word] = {bit: word + bit if len(word) < length else sink for bit in "01"}
    minimal = automata.DFA(
        states=set(transitions),
        input_symbols={"0", "1"},
        transitions=transitions,
        initial_state="",
        final_states={word for word in words if len(word) == length and word[:half] != word[half:]},
    ).minify()
    reached = {minimal.initial_state}
    for _ in range(half):
        reached = {minimal.transitions[state][bit] for state in reached for bit in "01"}
    return InequalityAutomaton(length, len(minimal.states), len(reached))
