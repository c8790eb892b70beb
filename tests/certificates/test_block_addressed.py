"""Addresses in blocks: as right as scoring every pair, and never more certain than it may be."""

from dataclasses import replace
from fractions import Fraction

import numpy
import pytest

from separatrix.arithmetic import FixedPoint
from separatrix.certificates import Claim, check, replay
from separatrix.constructions import Options, constructions
from separatrix.networks import ExactMatrix, TableRows

METHOD = "block-addressed"


def build(name, length, family, bits=None, **options):
    built = constructions()[name].build(length, Options(family=family, **options))
    arithmetic = built.arithmetic if bits is None else FixedPoint(1 << bits, 1)
    return built.network, Claim(built.task, built.length, arithmetic)


@pytest.mark.parametrize("name", ["index-lookup", "equality"])
@pytest.mark.parametrize(("length", "family"), [(8, "circle"), (16, "circles:2"), (64, "circles:2"), (50, "circles:3")])
def test_it_agrees_with_scoring_every_pair(name, length, family):
    network, claim = build(name, length, family)
    verdict, other = check(network, claim, METHOD), check(network, claim, "position-addressed")
    assert verdict.valid and other.valid
    assert verdict.inputs_covered == other.inputs_covered


@pytest.mark.parametrize("family", ["circle", "circles:2"])
def test_it_never_proves_what_enumeration_refutes(family):
    """Every η and precision at a small length: what is proved is right on every input, tried one by one."""
    proved = 0
    for bits in range(2, 8):
        for gain in (Fraction(1, 2), Fraction(2), Fraction(8), Fraction(30), Fraction(100)):
            network, claim = build("index-lookup", 5, family, bits, gain=gain, parameters={"alphabet": 2})
            if check(network, claim, METHOD).valid:
                proved += 1
                assert check(network, claim, "enumeration").valid, (bits, gain)
    assert proved > 3


def test_a_moved_point_is_refuted_with_an_input():
    network, claim = build("index-lookup", 64, "circles:2")
    assert check(network, claim, METHOD).valid
    asked, moved = network.embedding[1], network.embedding[2]
    table = moved.rule.table.numerators.copy()
    table[[5, 6]] = table[[6, 5]]
    swapped = replace(moved, rule=TableRows(ExactMatrix(table, moved.rule.table.denominator)))
    broken = replace(network, embedding=(network.embedding[0], asked, swapped))
    verdict = check(broken, claim, METHOD)
    assert verdict.refuted
    assert not replay(broken, claim, numpy.array(verdict.counterexample))["right"]


@pytest.mark.parametrize("change", ["same key twice", "few bits", "mask", "hard", "nearest"])
def test_what_it_does_not_cover_it_does_not_claim(change):
    network, claim = build("index-lookup", 64, "circles:2")
    head = network.layers[0].heads[0]
    if change == "same key twice":
        part = network.embedding[2]
        table = part.rule.table.numerators.copy()
        table[5] = table[6]
        twice = replace(part, rule=TableRows(ExactMatrix(table, part.rule.table.denominator)))
        network = replace(network, embedding=(*network.embedding[:2], twice))
    elif change == "few bits":
        claim = replace(claim, arithmetic=FixedPoint(4, 1))
    elif change == "nearest":
        claim = replace(claim, arithmetic=replace(claim.arithmetic, rounding="nearest"))
    else:
        changed = replace(head, mask="causal") if change == "mask" else replace(head, scoring="hard")
        network = replace(network, layers=(replace(network.layers[0], heads=(changed,)), *network.layers[1:]))
    assert not check(network, claim, METHOD).valid


def test_lengths_beyond_all_pairs():
    network, claim = build("index-lookup", 1 << 14, "circles:3", 14)
    assert not check(network, claim, "content-addressed").valid
    verdict = check(network, claim, METHOD)
    assert verdict.valid
    assert network.width == 6 + 2 * 6
