"""Inputs against a network for triples: all others at numbers that nearly complete the first suspect query."""

from collections.abc import Iterator

from separatrix.certificates.meanings.matchings import matching_inputs
from separatrix.certificates.refutations import Search
from separatrix.certificates.refutations._matching import around
from separatrix.certificates.verdict import Claim, Tokens
from separatrix.networks import Network


def inputs(network: Network, claim: Claim, queries: Tokens) -> Iterator[Tokens]:
    """Near misses of the suspect queries, given as places among all numbers."""
    del network
    space = matching_inputs(claim, ("match3",))
    modulus = space.modulus

    def from_a_third(place: int) -> int:
        # 3z ≡ ±1 makes a query a near miss with itself alone.
        return min(3 * (place + 1) % modulus or modulus, -3 * (place + 1) % modulus or modulus)

    listed: list[tuple[int, list[int]]] = []
    for query in [min(queries.tolist(), key=from_a_third) + 1, int(queries[0]) + 1]:
        near: list[int] = []
        for miss in (1, -1, 2):
            # z + 2u ≡ miss or as near to it as parity allows, so that every pair of others is a near miss.
            rest = (miss - query) % modulus
            near.append(space.number((rest if rest % 2 == 0 else rest + modulus) // 2))
        listed.append((query, near))
    return around(space, claim, listed)


SEARCH = Search("triple-matching", inputs)
