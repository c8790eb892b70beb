"""The obvious samplers: one example after the other, one symbol after the other, in plain Python.

They are the baseline of the sampler benchmark and the reference against which the tests compare distributions. Each
takes a function that returns one uniform number below a bound, so that the source of randomness is the caller's.
"""

from collections.abc import Callable

import numpy
from numpy.typing import NDArray

Below = Callable[[int], int]
Batch = tuple[NDArray[numpy.int64], NDArray[numpy.int64], NDArray[numpy.bool_]]


def index_lookup(below: Below, count: int, length: int, alphabet: int = 64) -> Batch:
    """Index lookup at exactly this length (BHBK24 H.1)."""
    inputs, targets, read = [], [], []
    for _ in range(count):
        symbols = [below(alphabet) for _ in range(length)]
        position = below(length)
        inputs.append([*symbols, alphabet + position])
        targets.append([0] * length + [symbols[position]])
        read.append([False] * length + [True])
    return numpy.array(inputs), numpy.array(targets), numpy.array(read)


def eq_ncp(below: Below, count: int, length: int, symbols: int = 1023) -> Batch:
    """Next character prediction on repeated strings at exactly this length (BHBK24 H.2 iii)."""
    inputs, targets, read = [], [], []
    half = length // 2
    for _ in range(count):
        word = [below(symbols) for _ in range(half)]
        inputs.append([*word, symbols, *word])
        targets.append([0] * half + word + [0])
        read.append([False] * half + [True] * half + [False])
    return numpy.array(inputs), numpy.array(targets), numpy.array(read)


def balanced(tokens: list[int], types: int, depth: int) -> bool:
    """Membership in Dyck-(types, depth) by a stack."""
    stack: list[int] = []
    for token in tokens:
        if token < types:
            stack.append(token)
            if len(stack) > depth:
                return False
        elif not stack or stack.pop() != token - types:
            return False
    return not stack


def balanced_string(below: Below, length: int, types: int = 2, depth: int = 2) -> list[int]:
    """One balanced string by the stack walk (BHBK24 H.1)."""
    tokens: list[int] = []
    stack: list[int] = []
    for _ in range(length - 2):
        if len(stack) == depth:
            tokens.append(types + stack.pop())
            continue
        choice = below(types if not stack else types + 1)
        if choice == types:
            tokens.append(types + stack.pop())
        else:
            stack.append(choice)
            tokens.append(choice)
    if not stack:
        choice = below(types)
        return [*tokens, choice, types + choice]
    while stack:
        tokens.append(types + stack.pop())
    return tokens


def corrupted_string(below: Below, original: list[int], types: int = 2) -> list[int]:
    """1 … N/10 different positions, each with its type swapped or its direction switched."""
    tokens = list(original)
    number = 1 + below(max(1, len(tokens) // 10))
    chosen: set[int] = set()
    while len(chosen) < number:
        chosen.add(below(len(tokens)))
    for position in chosen:
        kind, closing = tokens[position] % types, tokens[position] // types
        if below(2):
            kind = (kind + 1 + below(types - 1)) % types
        else:
            closing = 1 - closing
        tokens[position] = closing * types + kind
    return tokens


def dyck(below: Below, count: int, length: int, types: int = 2, depth: int = 2) -> Batch:
    """Dyck-(2, 2) at exactly this length, half positive (BHBK24 H.1)."""
    inputs, targets, read = [], [], []
    for _ in range(count):
        tokens = balanced_string(below, length, types, depth)
        label = below(2)
        if not label:
            broken = corrupted_string(below, tokens, types)
            while balanced(broken, types, depth):
                broken = corrupted_string(below, tokens, types)
            tokens = broken
        inputs.append(tokens)
        targets.append([0] * (length - 1) + [label])
        read.append([False] * (length - 1) + [True])
    return numpy.array(inputs), numpy.array(targets), numpy.array(read)
