"""Inputs against a network for sparse averaging: one hard set for all cells, values that pull it and others apart."""

from collections.abc import Iterator

import numpy

from separatrix.certificates.refutations import Search
from separatrix.certificates.verdict import Claim, Tokens
from separatrix.networks import Network


def inputs(network: Network, claim: Claim, inner: Tokens | None = None) -> Iterator[Tokens]:
    """All cells ask for the set that the code, given by its inner products with vector 0, separates worst."""
    del network
    parameters, length = claim.task.parameters(), claim.length
    sparsity, resolution = parameters["sparsity"], parameters["resolution"]
    order = list(range(1, length))
    if inner is not None:
        # Position 0 outside, and the vectors nearest to its own inside.
        order.sort(key=lambda place: -int(inner[place - 1]))
    for chosen in (order[:sparsity], list(range(sparsity)), order[-sparsity:]):
        members = sorted(chosen)
        if len(members) < sparsity:
            continue
        for inside, outside in ((1, -1), (-1, 1), (1, 1), (0, 1), (0, -1)):
            cells = numpy.zeros((length, 1 + sparsity + parameters["dimension"]), dtype=numpy.int64)
            cells[:, 0] = numpy.arange(1, length + 1)
            cells[:, 1 : 1 + sparsity] = numpy.array(members) + 1
            cells[:, 1 + sparsity] = outside * resolution
            cells[members, 1 + sparsity] = inside * resolution
            yield cells


SEARCH = Search("dual-certificates", inputs)
