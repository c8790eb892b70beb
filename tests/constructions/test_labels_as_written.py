"""Erratum E6: Theorem 7's σ does not return labels; the repair does, exactly."""

import numpy
import pytest

from separatrix.arithmetic import FixedPoint
from separatrix.certificates import Claim, check, replay
from separatrix.constructions import Options, constructions
from separatrix.networks import FeedForward, Network, evaluate
from separatrix.networks.evaluate import run_layer
from separatrix.tasks import draws_from

CASES = pytest.mark.parametrize(
    ("name", "length"), [("mqar", 16), ("mqar", 64), ("associative-recall", 16), ("nearest-neighbour", 8)]
)


def build(name: str, length: int, variant: str) -> tuple[Network, Claim]:
    built = constructions()[name].build(length, Options(variant=variant))
    assert isinstance(built.network, Network)
    return built.network, Claim(built.task, length, built.arithmetic)


@CASES
def test_labels_as_written_are_refuted_where_they_must_be_exact(name, length):
    network, claim = build(name, length, "clamped-labels")
    verdict = check(network, claim)
    assert verdict.refuted, verdict.reason
    shown = replay(network, claim, numpy.array(verdict.counterexample))
    assert -1 in shown["answers"]
    assert set(shown["expected"]) <= {0, 1}


@CASES
def test_the_repair_is_certified_where_they_must_be_exact(name, length):
    verdict = check(*build(name, length, "exact-labels"))
    assert verdict.valid, verdict.reason
    assert verdict.method == "content-addressed"


def test_a_threshold_forgives_what_is_not_exact():
    """The same averages, read with the threshold 1/2: that is why the repaired construction needs no exact labels."""
    network, claim = build("mqar", 64, "clamped-labels")
    forgiving, _ = build("mqar", 64, "repaired")
    assert forgiving.readout.decoding == "bits" and network.readout.decoding == "exact"
    examples = claim.task.sample(draws_from(0), 4, 64)
    raw = evaluate(network, examples.inputs, claim.arithmetic).raw[:, :, 0][examples.read]
    one = FixedPoint(64, 2).largest
    assert ((raw != 0) & (raw != one)).any()
    assert ((2 * raw > one).astype(int) == examples.targets[examples.read]).all()


@pytest.mark.parametrize(
    ("variant", "labels"),
    [
        ("clamped-labels", [0, 64, 128, 192, 256]),
        ("exact-labels", [0, 0, 128, 256, 256]),
        ("repaired", [0, 0, 256, 256, 256]),
    ],
)
def test_what_becomes_of_quarters(variant, labels):
    """σ, E6's ReLU(2a - 1/2) - ReLU(2a - 3/2) and the whole-number step at a = 0, 1/4, 1/2, 3/4, 1, with 1 = 256."""
    network, claim = build("mqar", 16, variant)
    layer, label = network.layers[-1], network.slots.columns("label").start
    assert isinstance(layer, FeedForward)
    stream = numpy.zeros((1, 5, network.slots.width), dtype=numpy.int64)
    stream[0, :, label] = [0, 64, 128, 192, 256]
    assert run_layer(layer, stream, claim.arithmetic)[0, :, label].tolist() == labels
