"""Inputs against a network for pairs: the suspect queries among the numbers that are nearest to a match with them."""

from collections.abc import Iterator

import numpy

from separatrix.arithmetic import FixedPoint
from separatrix.certificates.meanings.matchings import matching_inputs
from separatrix.certificates.methods._token_scores import token_scores
from separatrix.certificates.refutations import Search
from separatrix.certificates.refutations._matching import around
from separatrix.certificates.verdict import Claim, Tokens
from separatrix.networks import Attention, Network

SCORES = 1 << 21
"""Scores that are looked at, so that of very many suspects some are taken from all over."""


def inputs(network: Network, claim: Claim, queries: Tokens, position: int | None = None) -> Iterator[Tokens]:
    """Around the suspect queries (places among all numbers) that are themselves nearest to a match."""
    space = matching_inputs(claim, ("match2", "match3-last"))
    layer, arithmetic = network.layers[0], claim.arithmetic
    assert isinstance(layer, Attention) and isinstance(arithmetic, FixedPoint)
    rows, partners = token_scores(layer.heads[0], network, space.numbers, arithmetic).rows, space.partners()
    most = max(8, SCORES // space.modulus)
    tried = queries[:: max(1, len(queries) // most)][:most]
    scores = rows(tried)
    # A query's own number is in its row on every input, and so is the last one of match3-last.
    always = scores[numpy.arange(len(tried)), tried]
    if claim.task.name == "match3-last":
        always = always + scores[:, -1]
    always[partners[tried] == tried] = always.min(initial=0)
    listed: list[tuple[int, list[int]]] = []
    for place in numpy.argsort(-always, kind="stable")[:3].tolist():
        query = int(tried[place])
        scores[place, int(partners[query])] = scores[place].min()
        # The two best, without sorting all the others.
        best = numpy.argpartition(-scores[place], min(1, len(partners) - 1))[:2]
        near = best[numpy.argsort(-scores[place, best], kind="stable")] + 1
        listed.append((query + 1, near.tolist()))
    return around(space, claim, listed, position)


SEARCH = Search("pair-matching", inputs)
