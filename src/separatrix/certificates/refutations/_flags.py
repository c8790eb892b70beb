"""Strings against a causal network that flags errors: the walk of the kernel's rule, with the way to each prefix kept.

A string is worth trying where a flag comes first while the automaton may still answer in several ways, where the rule
does not know what follows, and at the end. Each is completed in every way that the automaton has.
"""

from collections.abc import Iterator
from itertools import product

import numpy

from separatrix.arithmetic import FixedPoint
from separatrix.certificates.verdict import Claim, Tokens
from separatrix.networks import Network, to_bytes
from separatrix.provers import age_of
from separatrix.tasks import own_specification
from separatrix_kernel.network import Reader, Transformer
from separatrix_kernel.numbers import Numbers
from separatrix_kernel.prefixes import Prefix, Prefixes
from separatrix_kernel.reading import RefusedError
from separatrix_kernel.specification import Automaton, read_specification

MOST_PREFIXES = 1 << 20


def flagged_strings(network: Network, claim: Claim) -> Iterator[Tokens]:
    """Strings that may fail, a few for each state: those flagged too early, those without a flag, then all others."""
    stated = own_specification(claim.task, claim.length)
    if stated is None or stated["answer"]["kind"] != "automaton" or not isinstance(claim.arithmetic, FixedPoint):
        return
    numbers, (inputs, automaton) = Numbers(str(claim.arithmetic)), read_specification(stated)
    assert isinstance(automaton, Automaton)
    try:
        read = Reader(to_bytes(network), numbers).network()
        assert isinstance(read, Transformer)
        rule = Prefixes(read, inputs, automaton, age_of(network), numbers)
        ends = _ends(automaton, inputs.tokens)
        found: dict[tuple[int, int], list[list[int]]] = {}
        for way, state, flagged in _ways(rule):
            left = ends[len(way)][state]
            rank = (0 if len(left) > 1 else 2) if flagged else 1
            if (rank, state) not in found:
                found[rank, state] = [[*way, *_completed(automaton, ends, way, state, each)] for each in left]
    except RefusedError:
        return
    for _, some in sorted(found.items()):
        yield from (numpy.array(tokens, dtype=numpy.int64) for tokens in some)


def _ends(automaton: Automaton, tokens: list[range]) -> list[list[set[int]]]:
    """For each number of tokens read and each state, the answers that may still come."""
    found = [[{answer} for answer in automaton.answers]]
    for some in reversed(tokens):
        found.append([set[int]().union(*(found[-1][steps[token]] for token in some)) for steps in automaton.steps])
    return found[::-1]


def _completed(automaton: Automaton, ends: list[list[set[int]]], way: list[int], state: int, answer: int) -> list[int]:
    """Tokens that lead from a state behind some tokens to an answer at the end."""
    found: list[int] = []
    for after in ends[len(way) + 1 :]:
        token, state = next((token, each) for token, each in enumerate(automaton.steps[state]) if answer in after[each])
        found.append(token)
    return found


def _ways(rule: Prefixes) -> Iterator[tuple[list[int], int, bool]]:
    """Tokens up to a first flag, to a step that the rule refuses, or to the end, with the state there."""
    history: list[dict[Prefix, tuple[Prefix, int]]] = [{rule.start: (rule.start, 0)}]

    def way(prefix: Prefix) -> list[int]:
        tokens: list[int] = []
        for parents in history[:0:-1]:
            prefix, token = parents[prefix]
            tokens.append(token)
        return tokens[::-1]

    for position, tokens in enumerate(rule.inputs.tokens):
        rule.begin(position)
        after: dict[Prefix, tuple[Prefix, int]] = {}
        for prefix, token in product(history[-1], tokens):
            try:
                following, _, flag = rule.step(prefix, token)
            except RefusedError:
                yield [*way(prefix), token], rule.automaton.steps[prefix[2]][token], True
                continue
            if flag:
                yield [*way(prefix), token], following[2], True
            else:
                after.setdefault(following, (prefix, token))
        rule.end()
        history.append(after)
        if sum(map(len, history)) > MOST_PREFIXES:
            return
    for prefix in history[-1]:
        yield way(prefix), prefix[2], False
