"""What the tests of certificates share: networks with their claims, one change at a time, and what refuted means."""

from dataclasses import replace
from typing import Any

import numpy

from separatrix.certificates import Claim, check, replay
from separatrix.constructions import Options, constructions
from separatrix.networks import ExactMatrix, Network, SignRows


def build(name: str, length: int, parameters: dict[str, Any] | None = None, **options: Any) -> tuple[Network, Claim]:
    """A construction's network and the claim about it."""
    built = constructions()[name].build(length, Options(parameters=parameters or {}, **options))
    assert isinstance(built.network, Network)
    return built.network, Claim(built.task, length, built.arithmetic)


def assert_refuted(network: Network, claim: Claim, method: str | None = None) -> tuple[Any, ...]:
    """A counterexample is given that fails when it is run again, by the method and by the whole checker."""
    verdict = check(network, claim, method)
    assert not verdict.valid
    assert verdict.refuted, verdict.reason
    assert verdict.counterexample is not None
    shown = replay(network, claim, numpy.array(verdict.counterexample))
    assert not shown["right"]
    assert shown["answers"] != shown["expected"]
    assert method is None or check(network, claim).refuted
    return verdict.counterexample


def entry(matrix: ExactMatrix, row: int, column: int, value: int) -> ExactMatrix:
    """A matrix with one other numerator."""
    numerators = matrix.numerators.copy()
    numerators[row, column] = value
    return ExactMatrix(numerators, matrix.denominator)


def changed(matrix: ExactMatrix, row: int, column: int, by: int) -> ExactMatrix:
    """A matrix with something added to one numerator."""
    return entry(matrix, row, column, int(matrix.numerators[row, column]) + by)


def with_layer(network: Network, number: int, **fields: Any) -> Network:
    """Another layer."""
    layers: list[Any] = list(network.layers)
    layers[number] = replace(layers[number], **fields)
    return replace(network, layers=tuple(layers))


def with_head(network: Network, layer: int, **fields: Any) -> Network:
    """Another first head of a layer."""
    heads = network.layers[layer].heads  # type: ignore[union-attr]
    return with_layer(network, layer, heads=(replace(heads[0], **fields), *heads[1:]))


def with_part(network: Network, slot: str, **fields: Any) -> Network:
    """Another part of the embedding for a slot."""
    parts = tuple(replace(part, **fields) if part.slot == slot else part for part in network.embedding)
    return replace(network, embedding=parts)


def with_dual(network: Network, **fields: Any) -> Network:
    """Another dual certificate."""
    return replace(network, dual_parts=(replace(network.dual_parts[0], **fields),))


def flipped(rule: SignRows, row: int = 0, column: int = 0) -> SignRows:
    """A sign rule with one bit of its generator flipped."""
    generator = rule.generator.copy()
    generator[row, column] ^= 1
    return SignRows(generator)
