"""Inputs against a network for local triples: numbers alike, and one that completes two of them at some place."""

from collections.abc import Iterator

import numpy

from separatrix.certificates.meanings.matchings import matching_inputs
from separatrix.certificates.refutations import Search
from separatrix.certificates.verdict import Claim, Tokens
from separatrix.networks import Network


def inputs(network: Network, claim: Claim, task: str) -> Iterator[Tokens]:
    """The completing number at the ends, in the middle and next to the first."""
    del network
    space = matching_inputs(claim, (task,))
    length, modulus = space.length, space.modulus
    for other in (1, modulus, max(1, modulus // 2)):
        for place in {1, length, (length + 1) // 2, min(2, length)}:
            tokens = numpy.full(length + 1, other, dtype=numpy.int64)
            tokens[0], tokens[place] = 0, space.number(-2 * other)
            yield tokens


SEARCH = Search("window-matching", inputs)
