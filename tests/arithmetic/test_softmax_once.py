"""The softmax that is rounded once: against balls, ties, masks, names, and next to Appendix D's."""

from fractions import Fraction

import numpy as np
import pytest
from flint import arb, ctx, fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from separatrix.arithmetic import FixedPoint, arithmetic_named, exponential, softmax_once
from separatrix.errors import SeparatrixError


@settings(max_examples=25, deadline=None)
@given(
    scores=st.lists(st.integers(-300, 300), min_size=1, max_size=8),
    rounding=st.sampled_from(["down", "nearest"]),
    exponent=st.integers(1, 3),
)
def test_weights_are_the_rounded_real_ones(scores, rounding, exponent):
    arithmetic = FixedPoint(10, exponent, rounding, "once")
    weights = arithmetic.softmax(np.array(scores, dtype=arithmetic.dtype))
    scale = 10**exponent
    with ctx.workprec(400):
        powers = [(arb(fmpq(score, scale))).exp() for score in scores]
        total = sum(powers, arb(0))
        for power, weight in zip(powers, weights.tolist(), strict=True):
            exact = power / total * scale
            shifted = exact if rounding == "down" else exact + arb(0.5)
            if len(set(scores)) > 1:
                assert int(shifted.floor().unique_fmpz()) == weight
    if len(set(scores)) == 1:
        share = Fraction(scale, len(scores))
        assert weights.tolist() == [round(share) if rounding == "nearest" else share.__floor__()] * len(scores)


@pytest.mark.parametrize("rounding", ["down", "nearest"])
@pytest.mark.parametrize("rule", ["once", "appendix-d"])
def test_balls_that_are_too_coarse_at_first_give_the_same_numbers(rule, rounding, monkeypatch):
    """Bits are added until every rounding is decided; where one starts changes nothing."""
    arithmetic = FixedPoint(10, 6, rounding, rule)
    scores = np.random.default_rng(0).integers(-(10**7), 10**7, 40)
    enough = arithmetic.softmax(scores), arithmetic.exp(scores)
    for module in (exponential, softmax_once):
        monkeypatch.setattr(module, "SPARE_BITS", -15)
    scarce = arithmetic.softmax(scores), arithmetic.exp(scores)
    assert all((first == second).all() for first, second in zip(enough, scarce, strict=True))


def test_e2_a_weight_below_one_never_becomes_one():
    once, twice = FixedPoint(16, 2, "down", "once"), FixedPoint(16, 2, "down")
    scores = once.encode([12, 0, 0, 0])
    assert once.softmax(scores)[0] == once.largest - 1
    assert twice.softmax(scores)[0] == twice.largest


def test_masks_axes_and_names():
    arithmetic = FixedPoint(10, 2, "down", "once")
    scores = arithmetic.encode([[1, 2, 3], [3, 2, 1]])
    mask = np.array([[True, True, False], [True, True, True]])
    weights = arithmetic.softmax(scores, where=mask)
    assert weights[0, 2] == 0
    assert (arithmetic.softmax(scores) == arithmetic.softmax(scores.T, axis=0).T).all()
    assert str(arithmetic) == "fixed:N=10,Kc=2,down,once"
    assert arithmetic_named(str(arithmetic)) == arithmetic
    with pytest.raises(SeparatrixError, match="softmax_rule"):
        FixedPoint(10, 2, "down", "twice")  # type: ignore[arg-type]
