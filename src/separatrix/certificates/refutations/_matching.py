"""Inputs around suspicious queries of the matching tasks, shared by several searches."""

from collections.abc import Iterator

import numpy

from separatrix.certificates.meanings.matchings import MatchingInputs
from separatrix.certificates.verdict import Claim, Tokens


def around(
    inputs: MatchingInputs, claim: Claim, suspects: list[tuple[int, list[int]]], position: int | None = None
) -> Iterator[Tokens]:
    """Each suspicious query is given with numbers near a match with it.

    For a suspicious position the first input is the one in which only that position matches, with itself.
    """
    fixed_end = claim.task.name == "match3-last"

    def row(first: list[int], rest: int) -> Tokens:
        tokens = [0, *first, *[rest] * claim.length][: claim.length + 1]
        if fixed_end:
            tokens[-1] = inputs.modulus
        return numpy.array(tokens, dtype=numpy.int64)

    if position is not None:
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
