"""Strings against a causal network that flags errors: the one that leads to a suspicious place of the method's walk."""

from collections.abc import Iterator

import numpy

from separatrix.certificates.meanings.languages import Stack
from separatrix.certificates.methods.prefix_flags import Place, Walk
from separatrix.certificates.refutations import Search
from separatrix.certificates.verdict import Claim, Tokens
from separatrix.networks import Network


def inputs(
    network: Network,
    claim: Claim,
    walk: Walk,
    place: Place | None = None,
    token: int | None = None,
    stack: Stack = None,
) -> Iterator[Tokens]:
    """The string that leads to the place, with one more token, completed to a member where the language still can."""
    del network
    tokens = [*(path(walk, place) if place else []), *([] if token is None else [token])]
    rest = walk.language.completion(stack, claim.length - len(tokens)) or []
    yield numpy.array([*tokens, *rest], dtype=numpy.int64)


def path(walk: Walk, place: Place) -> list[int]:
    """Tokens that lead to a place among those of the last round in the walk's history."""
    tokens: list[int] = []
    for position in range(len(walk.history) - 2, -1, -1):
        table = walk.tables[walk.table_numbers[position]]
        place, token = next(
            (earlier, token)
            for earlier in walk.history[position]
            for token in range(walk.language.symbols)
            if walk.step(earlier, token, table) == (0, place)
        )
        tokens.append(token)
    return tokens[::-1]


SEARCH = Search("prefix-flags", inputs)
