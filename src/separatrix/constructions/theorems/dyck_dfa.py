"""Bounded Dyck languages by their minimal automaton as a recurrent network: BHBK24 §4.1 and Appendix E.

The paper: "an RNN can represent any DFA with k states with a hidden state of size log k", any function being allowed as
the transition. Here the transition is two ReLU maps with whole-number weights. The first has one unit for each
transition (s, a) → q, which is 1 exactly when the state is s and the token is a; the second adds up the codes of the q.

* Default: the state is the number of the automaton's state in binary, ⌈log2(number of states)⌉ coordinates, all 0 or 1.
* Variant ``one-hot``: one coordinate for each state.

Erratum E8: the complete minimal automaton of Dyck-(n,k) has Σ_{i≤k} n^i + 1 states: every stack of at most k brackets,
and a sink for strings that no continuation repairs. For (2,2) that is 8, not 7, and O(2^k) holds for n = 2 only. The
hidden size for (2,2) is 3 either way. In the binary code the sink is the zero vector, which needs no units at all.
"""

from dataclasses import dataclass

import numpy

from separatrix.bit_counts import bits_for
from separatrix.constructions.construction import Construction, Growth, Options
from separatrix.constructions.exponents import least_exponent
from separatrix.constructions.pieces import binary_rows
from separatrix.constructions.theorems._brackets import check_range
from separatrix.errors import SeparatrixError
from separatrix.networks import ExactMatrix, Integers, Readout, RecurrentNetwork, ReluMap, zeros
from separatrix.tasks import Task

LARGEST_STATES = 4096
LARGEST_WORK = 1 << 33
"""Multiplications in a run over all transitions, each through the whole cell: what a checker has to do, about 20 s."""
SINK = 0
EMPTY = 1


def state_count(types: int, depth: int) -> int:
    """Σ_{i≤k} n^i + 1: all stacks of at most k brackets, and the sink.

    >>> state_count(2, 2), state_count(3, 2), state_count(2, 3)
    (8, 14, 16)
    """
    stacks, level = 1, 1
    for _ in range(depth):
        level *= types
        stacks += level
        if stacks >= LARGEST_STATES:
            raise SeparatrixError(
                f"the automaton of Dyck-({types},{depth}) has over {LARGEST_STATES} states; dyck-rnn needs no table"
            )
    return stacks + 1


def transition_table(types: int, depth: int) -> Integers:
    """Return the automaton as a table (states, tokens): state 0 is the sink, state 1 the empty stack, in order of
    length."""
    table = numpy.full((state_count(types, depth), 2 * types), SINK, dtype=numpy.int64)
    first, size, following = EMPTY, 1, EMPTY + 1
    for _ in range(depth):
        for state in range(first, first + size):
            for bracket in range(types):
                table[state, bracket] = following
                table[following, types + bracket] = state
                following += 1
        first, size = first + size, size * types
    return table


@dataclass(frozen=True, kw_only=True)
class DyckAutomaton(Construction):
    """State size ⌈log2(Σ_{i≤k} n^i + 1)⌉, the same for every N."""

    name: str = "dyck-dfa"
    title: str = "Bounded Dyck, the minimal automaton as a recurrent network"
    theorem: str = "BHBK24 §4.1, Appendix E"
    statement: str = "a recurrent network of constant size recognises Dyck-(n,k) for every length"
    task_name: str = "dyck"
    growth: Growth = "constant"
    deviations: tuple[str, ...] = (
        "E8: Σ_{i≤k} n^i + 1 states, sink included; 8 for (2,2)",
        "the transition is two ReLU maps with whole-number weights instead of an arbitrary function",
    )
    variants: tuple[str, ...] = ("repaired", "one-hot")
    also: tuple[tuple[str, str], ...] = (("variant", "one-hot"),)

    def network(self, task: Task, length: int, options: Options) -> RecurrentNetwork:
        types, depth = int(task.parameters()["types"]), int(task.parameters()["depth"])
        table = transition_table(types, depth)
        exponent = self.default_exponent(task, length) if options.exponent is None else options.exponent
        check_range(self.name, length, exponent, largest_number(len(table)))
        one_hot = options.variant == "one-hot"
        codes = numpy.eye(len(table), dtype=numpy.int64) if one_hot else binary_rows(len(table))
        return RecurrentNetwork(
            2 * types,
            length,
            ExactMatrix(numpy.eye(2 * types, dtype=numpy.int64)),
            ExactMatrix(codes[EMPTY][:, None].copy()),
            automaton_cell(table, codes, one_hot),
            Readout(
                ExactMatrix((codes[[EMPTY]] if one_hot else 2 * codes[[EMPTY]] - 1).copy()),
                # The empty stack has the number 1, so its code has a single one and matches with a sum of exactly 1.
                zeros(1, 1),
                "bits",
            ),
            about=f"{self.theorem} ({options.variant}), Dyck-({types},{depth}), {len(table)} states, length {length}",
        )

    def default_exponent(self, task: Task, length: int) -> int:
        states = state_count(int(task.parameters()["types"]), int(task.parameters()["depth"]))
        return least_exponent(length, largest_number(states))

    def claimed_width(self, task: Task, length: int, code_width: int) -> int:
        """⌈log2(Σ_{i≤k} n^i + 1)⌉."""
        del length, code_width
        states = state_count(int(task.parameters()["types"]), int(task.parameters()["depth"]))
        return bits_for(states)


def largest_number(states: int) -> int:
    """Return the largest sum in the cell: all bits of a state and the token's one."""
    return bits_for(states) + 1


def automaton_cell(table: Integers, codes: Integers, constant_weight: bool) -> tuple[ReluMap, ReluMap]:
    """Return two ReLU maps on [code of the state, one-hot token] that follow a transition table.

    The unit of (s, a) is ReLU(Σ_{ones of s} h - Σ_{zeros of s} h + x_a - |s|): the sum over h is at most |s|, with
    equality exactly at s, so the unit is 1 for (s, a) and at most 0 before the ReLU for everything else. If all codes
    have the same weight, the zeros need no weights. Transitions into a state whose code is zero need no unit.
    """
    states, tokens = table.shape
    into = codes[table].any(axis=2)
    from_state, token = numpy.nonzero(into)
    if states * tokens * len(from_state) * (codes.shape[1] + tokens) > LARGEST_WORK:
        raise SeparatrixError(
            f"{states} states with {tokens} tokens are too many to run through; choose fewer types or a smaller depth"
        )
    reads = codes[from_state] if constant_weight else 2 * codes[from_state] - 1
    inner = numpy.concatenate([reads, numpy.eye(tokens, dtype=numpy.int64)[token]], axis=1)
    outer = codes[table[from_state, token]].T.copy()
    return (
        ReluMap(ExactMatrix(inner), ExactMatrix(-codes[from_state].sum(axis=1)[:, None])),
        ReluMap(ExactMatrix(outer), zeros(codes.shape[1], 1)),
    )


CONSTRUCTION = DyckAutomaton()
