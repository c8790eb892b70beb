"""A network with residual connections everywhere has the same readouts, to the bit."""

import numpy
import pytest

from separatrix.arithmetic import Floating
from separatrix.networks import FeedForward, Network, evaluate
from separatrix.networks.residuals import with_residuals
from separatrix.tasks import draws_from
from tests.models.cases import NAMES, random_inputs, random_network, small

TRANSFORMERS = [name for name in NAMES if isinstance(small(name).network, Network)]


@pytest.mark.parametrize("name", TRANSFORMERS)
def test_readouts_are_equal_in_the_fixed_point(name):
    built = small(name)
    rewritten = with_residuals(built.network)
    assert all(layer.residual for layer in rewritten.layers)
    inputs = built.task.sample(draws_from(3), 20, built.length).inputs
    expected = evaluate(built.network, inputs, built.arithmetic)
    found = evaluate(rewritten, inputs, built.arithmetic)
    numpy.testing.assert_array_equal(found.raw, expected.raw)
    numpy.testing.assert_array_equal(found.answers, expected.answers)


@pytest.mark.parametrize("kind", ["attention", "third-order", "graph"])
@pytest.mark.parametrize("residual", [True, False])
def test_networks_that_write_everything(kind, residual):
    network = random_network(kind, "softmax", "none", residual)
    rewritten = with_residuals(network)
    # Two layers that each write both slots anew, or none.
    assert rewritten.slots.width == network.slots.width * (1 if residual else 3)
    inputs = random_inputs(network)
    expected = evaluate(network, inputs, Floating("float64")).raw
    numpy.testing.assert_allclose(evaluate(rewritten, inputs, Floating("float64")).raw, expected, atol=1e-12)


def test_only_what_is_written_gets_a_fresh_slot():
    rewritten = with_residuals(small("index-lookup").network)
    names = [name for name, _ in rewritten.slots.parts]
    assert names == ["symbol", "asked", "address", "symbol_2", "symbol_3"]
    assert isinstance(rewritten.layers[1], FeedForward)
    assert rewritten.slots.read_by(rewritten.layers[1].inner) == {"symbol_2"}
    assert rewritten.slots.read_by(rewritten.readout.matrix) == {"symbol_3"}
    assert with_residuals(rewritten) == rewritten
