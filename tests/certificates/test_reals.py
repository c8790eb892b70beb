"""Certificates over the real numbers: proved for the theorems' η, refuted in balls for a smaller one."""

from dataclasses import replace
from fractions import Fraction

import numpy
import pytest

from separatrix.arithmetic import Balls, Floating
from separatrix.certificates import Claim, check, replay
from separatrix.certificates.certificate import check_certificate, write_certificate
from separatrix.constructions import Options, constructions
from separatrix.networks import ExactMatrix, FeedForward, evaluate
from separatrix.tasks import draws_from

BALLS = Balls(128)
POSITIONS, CONTENTS = "position-addressed-reals", "content-addressed-reals"
METHODS = {
    "index-lookup": POSITIONS, "equality": POSITIONS, "equality-partition": POSITIONS, "disjointness": POSITIONS,
    "cnf": POSITIONS, "majority": POSITIONS, "mqar": CONTENTS, "associative-recall": CONTENTS,
    "nearest-neighbour": CONTENTS,
}  # fmt: skip


def build(name, length, **options):
    built = constructions()[name].build(length, Options(**options))
    return built.network, Claim(built.task, built.length, BALLS)


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("length", [6, 16, 64])
def test_the_theorems_networks_are_right_over_the_reals(name, length):
    network, claim = build(name, length)
    verdict = check(network, claim)
    assert verdict.valid, verdict.reason
    assert verdict.method == METHODS[name]


@pytest.mark.parametrize(
    ("name", "gain"), [("index-lookup", "1"), ("equality", "1/2"), ("mqar", "1/2"), ("nearest-neighbour", "1/2")]
)
def test_a_smaller_gain_is_refuted_by_an_input_run_in_balls(name, gain):
    network, claim = build(name, 8, gain=Fraction(gain))
    verdict = check(network, claim)
    assert verdict.refuted
    assert verdict.method == METHODS[name]
    answers = replay(network, claim, numpy.array(verdict.counterexample))
    assert not answers["right"]
    assert answers["answers"] != answers["expected"]


def test_what_is_proved_holds_on_every_input_evaluated_in_balls():
    """Around the smallest η that is proved: nothing above it is wrong on any input."""
    proved = 0
    for tenths in range(5, 60, 9):
        network, claim = build("index-lookup", 3, gain=Fraction(tenths, 10), parameters={"alphabet": 2})
        if check(network, claim, POSITIONS).valid:
            proved += 1
            assert check(network, claim, "enumeration").valid
    assert 0 < proved < 7


def test_real_points_are_named_as_what_is_covered():
    network, claim = build("nearest-neighbour", 16, parameters={"margin": "1/20"})
    assert "all real points of norm at most 1 + 2^-20·√16" in check(network, claim).inputs_covered
    network, claim = build("nearest-neighbour", 8, parameters={"points": "hypercube", "margin": "1/4"})
    verdict = check(network, claim)
    assert verdict.valid
    assert "real" not in verdict.inputs_covered


def test_points_off_the_grid_are_answered_as_promised():
    """Random unit vectors with 2^-30 steps, finer than the task's own grid, keep the margin and are answered right."""
    network, claim = build("nearest-neighbour", 6)
    inputs = claim.task.sample(draws_from(3), 3, 6).inputs
    # The same points in units a thousand times finer, moved by less than the grid's step.
    finer = inputs.copy()
    finer[:, :, 2:] *= 1024
    finer[:, 0::2, 2:] += numpy.random.default_rng(0).integers(-500, 500, finer[:, 0::2, 2:].shape)
    parts = tuple(
        replace(part, matrix=ExactMatrix(part.matrix.numerators, part.matrix.denominator * 1024))
        if part.slot == "point"
        else part
        for part in network.feature_parts
    )
    answers = evaluate(replace(network, feature_parts=parts), finer, BALLS).answers
    targets, read = claim.task.label(inputs, 6)
    assert (answers == targets)[read].all()


@pytest.mark.parametrize("name", ["index-lookup", "equality", "nearest-neighbour"])
def test_hard_attention_is_proved_and_other_attention_is_not_claimed(name):
    network, claim = build(name, 8, attention="hard")
    assert check(network, claim, METHODS[name]).valid
    network, claim = build(name, 8, attention="linear")
    assert not check(network, claim, METHODS[name]).valid


@pytest.mark.parametrize("name", ["index-lookup", "equality", "mqar"])
def test_numbers_that_a_grid_would_round_are_not_claimed(name):
    """A weight a trillionth next to a whole number is rounded to it by every grid, and the reals do not forgive it."""
    network, claim = build(name, 8)
    for place, layer in enumerate(network.layers):
        if isinstance(layer, FeedForward):
            continue
        (head,) = layer.heads
        value = ExactMatrix(head.value.numerators * 10**12 + (head.value.numerators > 0), 10**12)
        broken = replace(
            network,
            layers=(
                *network.layers[:place],
                replace(layer, heads=(replace(head, value=value),)),
                *network.layers[place + 1 :],
            ),
        )
        assert not check(broken, claim, METHODS[name]).valid


@pytest.mark.parametrize("name", METHODS)
def test_the_methods_speak_about_the_reals_alone(name):
    network, claim = build(name, 6)
    for arithmetic in (Floating("float64"), constructions()[name].build(6).arithmetic):
        verdict = check(network, replace(claim, arithmetic=arithmetic), METHODS[name])
        assert not verdict.valid
        assert "ball arithmetic" in verdict.reason


def test_a_certificate_says_which_numbers_it_is_about(tmp_path):
    network, claim = build("nearest-neighbour", 8)
    path = write_certificate(network, claim, check(network, claim), tmp_path, {})
    assert '"arithmetic": "balls:128"' in path.read_text()
    assert check_certificate(path).verdict.valid
