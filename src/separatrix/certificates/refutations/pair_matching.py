"""Inputs against a network for pairs: the suspect queries among the numbers that are nearest to a match with them."""

from collections.abc import Iterator

import numpy

from separatrix.arithmetic import FixedPoint
from separatrix.certificates.meanings.matchings import matching_inputs
from separatrix.certificates.refutations import Search
from separatrix.certificates.refutations._matching import around
from separatrix.certificates.verdict import Claim, Tokens
from separatrix.networks import Attention, ExactMatrix, Network
from separatrix.networks.embedding import embed


def inputs(network: Network, claim: Claim, queries: Tokens, position: int | None = None) -> Iterator[Tokens]:
    """Around the suspect queries (places among all numbers) that are themselves nearest to a match."""
    space = matching_inputs(claim, ("match2", "match3-last"))
    layer, arithmetic = network.layers[0], claim.arithmetic
    assert isinstance(layer, Attention) and isinstance(arithmetic, FixedPoint)

    def project(matrix: ExactMatrix) -> Tokens:
        stream = embed(network.embedding, network.slots, space.numbers, numpy.zeros_like(space.numbers), arithmetic)
        return arithmetic.matmul(stream, matrix.encoded(arithmetic).T)

    asked, keys, partners = project(layer.heads[0].query), project(layer.heads[0].key), space.partners()
    # A query's own number is in its row on every input, and so is the last one of match3-last.
    own = arithmetic.multiply(asked[queries], keys[queries])
    if claim.task.name == "match3-last":
        own = arithmetic.add(own, arithmetic.multiply(asked[queries], keys[-1:]))
    always = arithmetic.sum(own, axis=1)
    always[partners[queries] == queries] = always.min(initial=0)
    listed: list[tuple[int, list[int]]] = []
    for query in queries[numpy.argsort(-always, kind="stable")[:3]].tolist():
        scores = arithmetic.matmul(asked[query : query + 1], keys.T)[0]
        scores[int(partners[query])] = scores.min()
        near = numpy.argsort(-scores, kind="stable")[:2] + 1
        listed.append((query + 1, near.tolist()))
    return around(space, claim, listed, position)


SEARCH = Search("pair-matching", inputs)
