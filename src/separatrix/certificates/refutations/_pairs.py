"""Inputs against a network that compares numbers: suspect queries among the numbers that are nearest to a match."""

from collections.abc import Iterator

import numpy

from separatrix.arithmetic import FixedPoint
from separatrix.certificates.meanings.matchings import MatchingInputs, matching_inputs
from separatrix.certificates.methods._streams import projected
from separatrix.certificates.verdict import Claim, Tokens
from separatrix.networks import Attention, Network

SCORES = 1 << 21
"""Scores that are looked at, so that of very many queries some are taken from all over."""
POSITIONS = 16
"""Of more than these, some are taken from all over."""


def pairs(network: Network, claim: Claim) -> Iterator[Tokens]:
    """Around the queries that score least at their match, or most at themselves or another number."""
    space = matching_inputs(claim, ("match2", "match3-last"))
    layer, arithmetic = network.layers[0] if network.layers else None, claim.arithmetic
    if not isinstance(layer, Attention) or not layer.heads or not isinstance(arithmetic, FixedPoint):
        return
    numbers, partners = space.numbers, space.partners()
    queries, keys = (
        projected(matrix, network, numbers, numpy.ones_like(numbers), arithmetic)
        for matrix in (layer.heads[0].query, layer.heads[0].key)
    )
    match, own = (arithmetic.sum(arithmetic.multiply(queries, each), axis=1) for each in (keys[partners], keys))
    # A query's own number is in its row on every input, and so is the last one of match3-last.
    if claim.task.name == "match3-last":
        own = own + arithmetic.matmul(queries, keys[-1:].T)[:, 0]
    own = numpy.where(partners == numbers - 1, own.min(), own)
    some = numpy.arange(0, space.modulus, max(1, space.modulus // max(8, SCORES // space.modulus)))
    scores = arithmetic.matmul(queries[some], keys.T)
    scores[numpy.arange(len(some)), partners[some]] = scores.min()
    other = scores.max(axis=1)
    worst = [some[(match[some] - other).argmin()], match.argmin(), own.argmax(), some[other.argmax()]]
    listed: list[tuple[int, list[int]]] = []
    for place in dict.fromkeys(int(each) for each in worst):
        row = arithmetic.matmul(queries[[place]], keys.T)[0]
        row[partners[place]] = row.min()
        listed.append((place + 1, (numpy.argsort(-row, kind="stable")[:2] + 1).tolist()))
    yield from around(space, claim, listed)


def around(inputs: MatchingInputs, claim: Claim, suspects: list[tuple[int, list[int]]]) -> Iterator[Tokens]:
    """Each suspicious query is given with numbers near a match with it.

    Where all answers are one, inputs come first in which one position alone matches, with itself.
    """
    fixed_end = claim.task.name == "match3-last"

    def row(first: list[int], rest: int) -> Tokens:
        tokens = [0, *first, *[rest] * claim.length][: claim.length + 1]
        if fixed_end:
            tokens[-1] = inputs.modulus
        return numpy.array(tokens, dtype=numpy.int64)

    if fixed_end:
        spread = numpy.linspace(1, max(1, claim.length - 1), POSITIONS, dtype=numpy.int64)
        for position in numpy.unique(spread).tolist():
            alone = row([], 1)
            alone[position] = inputs.modulus
            yield alone
    # Everything matches itself; then each query among near numbers, matches, or numbers like itself.
    yield row([], inputs.modulus)
    for query, near in suspects:
        partner = inputs.number(-query)
        for rest in [query, *near, partner]:
            yield row([query], rest)
            yield row([query, partner], rest)
            yield row([query, *near], rest)
        for one in near:
            # With z + z' + z'' ≡ 0 for z' = one.
            yield row([query, one, inputs.number(-query - one)], one)
