"""Inputs against a position-addressed network: one symbol everywhere but at the positions under suspicion."""

from collections.abc import Iterator

import numpy

from separatrix.certificates.refutations import Search
from separatrix.certificates.verdict import Claim, Tokens
from separatrix.networks import Network


def inputs(
    network: Network,
    claim: Claim,
    places: tuple[int, ...] | None = None,
    token: int = 0,
    place: int = 0,
    symbol: int | None = None,
) -> Iterator[Tokens]:
    """For counts, inputs changed at ``places``; for lookups, inputs whose last ``token`` asks for ``place``."""
    blocks = [block[:, 0] for block in claim.task.space(claim.length).blocks]
    if places is not None:
        base = [numpy.array([block[min(choice, len(block) - 1)] for block in blocks]) for choice in (0, 1)]
        for tokens in base:
            for changed in (list(places[:1]), list(places[1:]), list(places)):
                tried = tokens.copy()
                tried[changed] = base[0][changed] + base[1][changed] - tokens[changed]
                yield tried
        return
    for target in blocks[place].tolist() if symbol is None else [symbol]:
        for other in blocks[place].tolist():
            tokens = numpy.array([other if other in block else block[0] for block in blocks], dtype=numpy.int64)
            tokens[place], tokens[-1] = target, token
            yield tokens


SEARCH = Search("position-addressed", inputs, also=("block-addressed", "position-addressed-reals"))
