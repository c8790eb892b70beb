"""Attempts to break the bounds: what is below a bound lies where the gate gives no verdict, and the networks run."""

from typing import Any

import numpy
import pytest
from numpy.typing import NDArray

from separatrix.arithmetic import FixedPoint, arithmetic_named
from separatrix.bounds import covered, numbers_named, protocol_bounds
from separatrix.constructions.theorems.dyck_float import DyckFloat
from separatrix.table.attempts import TRIED, Attempt, Outcome, attempts, digit_bits

EVERY = list(attempts())


def packed_sums(bits: NDArray[numpy.int64], each: int, arithmetic: str, differences: bool = False) -> NDArray[Any]:
    """Average bits (count, N) by uniform attention, ``each`` of them in a coordinate, in a named arithmetic.

    Position i writes its bit times a power of two into one coordinate; N is a power of two. With ``differences`` the
    second half is subtracted from the first, so that all averages are 0 exactly if the halves are equal.
    """
    count, length = bits.shape
    half = length // 2 if differences else length
    places: NDArray[numpy.int64] = numpy.arange(length, dtype=numpy.int64)
    values = numpy.zeros((count, length, -(-half // each)), dtype=numpy.int64)
    signs = numpy.where(places < half, 1, -1)
    values[:, places, places % half // each] = bits * signs * (1 << (places % half % each))
    kind, _, rounding = arithmetic.partition(":")
    fixed = FixedPoint(length, 4, "down" if rounding == "down" else "nearest")
    chosen = fixed if kind == "fixed" else arithmetic_named(arithmetic)
    weight, total = chosen.encode(1 / length), chosen.zeros((count, values.shape[2]))
    for place in range(length):
        total = chosen.add(total, chosen.multiply(weight, chosen.encode(values[:, place])))
    return total


def _all_bits(length: int) -> numpy.ndarray:
    return (numpy.arange(2**length)[:, None] >> numpy.arange(length)) & 1


@pytest.mark.parametrize("found", EVERY, ids=lambda each: f"{each.bound}-{each.arithmetic}")
def test_no_network_is_below_a_bound_that_gives_a_verdict(found: Attempt) -> None:
    assert found.outcome is Outcome.ABOVE or not found.verdict


def test_every_bound_is_attacked_in_every_arithmetic() -> None:
    assert {(each.bound, each.arithmetic) for each in EVERY} == {
        (bound.name, name) for bound in protocol_bounds() for name in TRIED
    }


def test_without_the_gate_the_attempts_break_theorem_5_in_floats() -> None:
    below = {(each.bound, each.arithmetic) for each in EVERY if each.outcome is Outcome.BELOW}
    assert {each for each in below if each[1] != "exact"} == {
        ("dyck-transformer-1layer", "float32"),
        ("dyck-transformer-1layer", "bfloat16"),
    }
    for name, arithmetic in below:
        [bound] = [each for each in protocol_bounds() if each.name == name]
        assert not covered(bound, numbers_named(arithmetic)).covered


@pytest.mark.parametrize("arithmetic", ["float32", "bfloat16", "float16", "fixed:down", "fixed:nearest"])
@pytest.mark.parametrize("each", [3, 8])
def test_packed_sums_tell_all_inputs_apart(arithmetic: str, each: int) -> None:
    bits = _all_bits(8)
    assert each <= digit_bits(arithmetic, 16 if arithmetic in ("bfloat16", "float16") else 32, 8)
    sums = packed_sums(bits, each, arithmetic)
    assert sums.shape == (256, -(-8 // each))
    assert len(numpy.unique(sums.astype(numpy.float64), axis=0)) == 256


@pytest.mark.parametrize("arithmetic", ["float32", "bfloat16", "float16", "fixed:down", "fixed:nearest"])
def test_differences_decide_equality(arithmetic: str) -> None:
    bits = _all_bits(8)
    sums = packed_sums(bits, 4, arithmetic, differences=True)
    assert sums.shape == (256, 1)
    assert (((sums == 0).all(axis=1)) == (bits[:, :4] == bits[:, 4:]).all(axis=1)).all()


def test_packing_one_bit_more_than_a_running_sum_holds_fails() -> None:
    bits = numpy.zeros((2, 16), dtype=numpy.int64)
    bits[:, 8] = 1
    bits[0, 0] = 1
    nine, eight = (packed_sums(bits, each, "bfloat16").astype(numpy.float64) for each in (9, 8))
    assert (nine[0] == nine[1]).all()
    assert (eight[0] != eight[1]).any()


@pytest.mark.parametrize("format", ["float32", "bfloat16"])
def test_the_network_below_theorem_5_is_proved(format: str) -> None:
    [found] = [each for each in EVERY if (each.bound, each.arithmetic) == ("dyck-transformer-1layer", format)]
    layer = DyckFloat(format=format)
    assert (found.found, found.how) == (layer.width, "dyck-float")
    assert all(step.holds for step in layer.proof())
