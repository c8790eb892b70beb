"""Inputs against a network that reads sets: one hard set for all cells, values that pull it and others apart."""

from collections.abc import Iterator

import numpy

from separatrix.arithmetic import FixedPoint
from separatrix.certificates.meanings.known import known_name
from separatrix.certificates.verdict import Claim, Tokens
from separatrix.networks import Attention, Network

SETS = 256
BEST = 2


def named_sets(network: Network, claim: Claim) -> Iterator[Tokens]:
    """All cells ask for one set that the code separates badly."""
    known_name(claim.task)
    if not network.dual_parts:
        return
    parameters, length, rule = claim.task.parameters(), claim.length, network.dual_parts[0].rule
    sparsity, resolution = parameters["sparsity"], parameters["resolution"]
    order = list(range(1, length))
    if rule.count >= length:
        # Position 0 outside, and the vectors nearest to its own inside.
        signs = rule.signs(numpy.arange(length))
        inner = (signs @ signs[0]).tolist()
        order.sort(key=lambda place: -inner[place])
    listed = [order[:sparsity], list(range(sparsity)), order[-sparsity:]]
    sets = [sorted(chosen) for chosen in listed if len(chosen) == sparsity]
    patterns = ((1, -1), (-1, 1), (1, 1), (0, 1), (0, -1))
    # The set that leaves most weight outside fails first, if any does.
    tried = [(members, (1, -1)) for members in _leaking(network, claim)]
    for members, (inside, outside) in [*tried, *((each, pattern) for each in sets for pattern in patterns)]:
        cells = numpy.zeros((length, 1 + sparsity + parameters["dimension"]), dtype=numpy.int64)
        cells[:, 0] = numpy.arange(1, length + 1)
        cells[:, 1 : 1 + sparsity] = numpy.array(members) + 1
        cells[:, 1 + sparsity] = outside * resolution
        cells[members, 1 + sparsity] = inside * resolution
        yield cells


def _leaking(network: Network, claim: Claim) -> list[list[int]]:
    """The sets, of many random ones, whose queries leave most weight to positions outside them."""
    layer, arithmetic, sparsity = network.layers[0], claim.arithmetic, claim.task.parameters()["sparsity"]
    plain = len(network.dual_parts) == 1 and isinstance(layer, Attention) and isinstance(arithmetic, FixedPoint)
    if not plain or sparsity >= claim.length or network.dual_parts[0].rule.count < claim.length:
        return []
    part, random = network.dual_parts[0], numpy.random.default_rng(0)
    ranked = random.random((SETS, claim.length)).argpartition(sparsity, axis=1)[:, :sparsity]
    sets = numpy.sort(ranked, axis=1)
    # What the sets score, up to the factor with which the head reads them: the order is all that matters.
    scores = arithmetic.to_float64(part.vectors(sets, arithmetic)) @ part.rule.signs(numpy.arange(claim.length)).T
    powers = numpy.exp(scores - scores.max(axis=1, keepdims=True))
    numpy.put_along_axis(powers, sets, 0, axis=1)
    return sets[numpy.argsort(-powers.sum(axis=1))[:BEST]].tolist()
