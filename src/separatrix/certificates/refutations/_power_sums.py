"""Inputs against a network that matches from power sums: suspicious numbers that match, all alike, or among others."""

from collections.abc import Iterator

import numpy

from separatrix.certificates.meanings.matchings import matching_inputs
from separatrix.certificates.verdict import Claim, Tokens
from separatrix.networks import Network, evaluate

MOST_ALIKE = 256


def rows(network: Network, claim: Claim) -> Iterator[Tokens]:
    """Rows of numbers that are answered wrongly when all are alike, then of 0, 1 and -1."""
    space = matching_inputs(claim, ("match3",))
    length, modulus = space.length, space.modulus
    alike = numpy.repeat(space.numbers[:MOST_ALIKE, None], length + 1, axis=1)
    alike[:, 0] = 0
    targets, _ = claim.task.label(alike, length)
    wrong = (evaluate(network, alike, claim.arithmetic).answers != targets)[:, 1:].any(axis=1)
    numbers = [*alike[wrong, 1].tolist(), *alike[~wrong, 1].tolist()]
    for first in numbers[:4]:
        # Sums that are off seldom show a match that is there: 2 · first + rest ≡ 0.
        yield numpy.array([0, first, first, *[space.number(-2 * first)] * length], dtype=numpy.int64)[: length + 1]
    for first in numbers[:24]:
        yield numpy.array([0, *[first] * length], dtype=numpy.int64)
    for first in dict.fromkeys([*numbers[:1], modulus, 1, max(1, modulus - 1)]):
        for rest in dict.fromkeys([1, modulus, max(1, modulus - 1), space.number(-2 * first), space.number(-first)]):
            yield numpy.array([0, first, *[rest] * (length - 1)], dtype=numpy.int64)
