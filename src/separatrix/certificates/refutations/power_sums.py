"""Inputs against a network that matches from power sums: suspicious numbers that match, all alike, or among others."""

from collections.abc import Iterator

import numpy

from separatrix.certificates.meanings.matchings import matching_inputs
from separatrix.certificates.refutations import Search
from separatrix.certificates.verdict import Claim, Tokens
from separatrix.networks import Network


def inputs(network: Network, claim: Claim, numbers: list[int]) -> Iterator[Tokens]:
    """Rows of the suspicious numbers and of 0, 1 and -1."""
    del network
    space = matching_inputs(claim, ("match3",))
    length, modulus = space.length, space.modulus
    for first in numbers[:4]:
        # Sums that are off seldom show a match that is there: 2 · first + rest ≡ 0.
        yield numpy.array([0, first, first, *[space.number(-2 * first)] * length], dtype=numpy.int64)[: length + 1]
    for first in numbers[:24]:
        yield numpy.array([0, *[first] * length], dtype=numpy.int64)
    for first in dict.fromkeys([*numbers[:1], modulus, 1, max(1, modulus - 1)]):
        for rest in dict.fromkeys([1, modulus, max(1, modulus - 1), space.number(-2 * first), space.number(-first)]):
            yield numpy.array([0, first, *[rest] * (length - 1)], dtype=numpy.int64)


SEARCH = Search("power-sums", inputs)
