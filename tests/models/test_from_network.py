"""A torch module answers as the exact network does, for every construction, and can be trained further."""

from fractions import Fraction

import numpy
import pytest
import torch

from separatrix.arithmetic import Floating
from separatrix.constructions import constructions
from separatrix.errors import SeparatrixError
from separatrix.models import from_network
from separatrix.models.assemble import part_name
from separatrix.models.from_network import module_from_network
from separatrix.networks import (
    CellSets,
    DualPart,
    ExactMatrix,
    FeaturePart,
    Network,
    Readout,
    RecurrentNetwork,
    SignRows,
    Slots,
    evaluate,
    identity,
)
from separatrix.networks.decoding import PowerSums, triple_in_sums
from separatrix.tasks import draws_from
from tests.models.cases import NAMES, asked, larger, random_inputs, random_network, small

EVERY = pytest.mark.parametrize("name", NAMES)
DTYPES = (torch.float64, torch.float32)


@EVERY
def test_answers_of_all_inputs_are_those_of_the_exact_network(name):
    built = small(name)
    modules = [module_from_network(built.network, dtype) for dtype in DTYPES]
    compared = 0
    for examples in built.task.enumerate(built.length, chunk=4096):
        expected = evaluate(built.network, examples.inputs, built.arithmetic).answers
        where = asked(built, examples.read)
        for module in modules:
            found = module.answers(torch.from_numpy(examples.inputs)).numpy()
            numpy.testing.assert_array_equal(found[where], expected[where])
        compared += len(examples)
    assert compared > 0


@EVERY
def test_answers_of_random_inputs_at_larger_lengths(name):
    built = larger(name)
    examples = built.task.sample(draws_from(7), 24, built.length)
    expected = evaluate(built.network, examples.inputs, built.arithmetic).answers
    where = asked(built, examples.read)
    for dtype in DTYPES:
        found = module_from_network(built.network, dtype).answers(torch.from_numpy(examples.inputs)).numpy()
        numpy.testing.assert_array_equal(found[where], expected[where])


@EVERY
def test_readouts_are_those_of_the_evaluation_in_floats(name):
    built = small(name)
    examples = built.task.sample(draws_from(8), 5, built.length)
    expected = evaluate(built.network, examples.inputs, Floating("float64")).raw
    found = module_from_network(built.network)(torch.from_numpy(examples.inputs)).detach().numpy()
    numpy.testing.assert_allclose(found, expected, atol=1e-9)


@pytest.mark.parametrize("residual", [True, False])
@pytest.mark.parametrize("scoring", ["softmax", "hard", "leftmost", "linear", "relu"])
@pytest.mark.parametrize(
    ("kind", "mask"),
    [
        ("attention", "none"),
        ("attention", "causal"),
        ("attention", "strict"),
        ("third-order", "none"),
        ("graph", "none"),
    ],
)
def test_every_kind_of_attention(kind, scoring, mask, residual):
    network = random_network(kind, scoring, mask, residual)
    inputs = random_inputs(network)
    expected = evaluate(network, inputs, Floating("float64"))
    module = module_from_network(network)
    numpy.testing.assert_allclose(module(torch.from_numpy(inputs)).detach().numpy(), expected.raw, atol=1e-9)
    numpy.testing.assert_array_equal(module.answers(torch.from_numpy(inputs)).numpy(), expected.answers)


def test_argmax_takes_the_smallest_number_on_ties_and_round_goes_upwards():
    network = random_network("attention", "softmax", "none", True)
    readout = module_from_network(network).readout
    assert readout.decode(torch.tensor([[1.0, 3.0, 3.0], [2.0, 2.0, 2.0]])).tolist() == [1, 0]
    rounding = module_from_network(random_network("attention", "softmax", "none", True, "round")).readout
    assert rounding.decode(torch.tensor([[-1.5, 1.49, 2.5]])).tolist() == [[-1, 1, 3]]


def test_power_sums_are_read_as_the_exact_decoding_reads_them():
    sums = PowerSums(11, 13)
    slots = Slots((("number", 5),))
    nothing = ExactMatrix(numpy.zeros((5, 1), dtype=numpy.int64))
    readout = Readout(identity(5), nothing, "power-sums", "every", sums)
    module = module_from_network(Network(slots, 2, 3, (), (), readout))
    values = numpy.random.default_rng(5).integers(0, 11, (200, 4))
    powers = [(values**power % 13).sum(axis=1) for power in range(1, 5)]
    numbers = numpy.stack([numpy.arange(200) % 11, *powers], axis=1)
    expected = triple_in_sums(sums, numbers)
    assert 0 < expected.sum() < 200
    numpy.testing.assert_array_equal(module.readout.decode(torch.from_numpy(numbers).double()).numpy(), expected)


def test_sets_with_dependent_signs_get_the_zero_vector():
    generator = numpy.array([[1, 0, 1, 0], [0, 1, 1, 0], [1, 1, 1, 1]], dtype=numpy.uint8)
    slots = Slots((("value", 3), ("asked", 4)))
    readout = Readout(
        slots.reading(4, {"asked": identity(4)}), ExactMatrix(numpy.zeros((4, 1), dtype=numpy.int64)), "round", "every"
    )
    network = Network(
        slots, 9, 2, (), (), readout,
        feature_parts=(FeaturePart("value", identity(3)),),
        dual_parts=(DualPart("asked", SignRows(generator), CellSets((0, 3)), Fraction(5, 3)),),
    )  # fmt: skip
    cells = numpy.array([[[1, 2, 3], [1, 1, 2]], [[1, 2, 5], [1, 8, 3]]])
    module = module_from_network(network)
    found = module(torch.from_numpy(cells)).detach().numpy()
    numpy.testing.assert_allclose(found, evaluate(network, cells, Floating("float64")).raw, atol=1e-12)
    assert not found[0, 1].any() and found[0, 0].any()
    with pytest.raises(SeparatrixError, match="from 1 to 8, not 0 to 3"):
        module(torch.zeros_like(torch.from_numpy(cells)) + torch.tensor([0, 2, 3]))


@EVERY
def test_gradients_reach_every_weight(name):
    built = small(name)
    module = module_from_network(built.network)
    examples = built.task.sample(draws_from(9), 4, built.length)
    module(torch.from_numpy(examples.inputs)).square().sum().backward()
    for where, parameter in module.named_parameters():
        assert parameter.requires_grad
        assert parameter.grad is not None, where
        assert bool(parameter.grad.isfinite().all()), where


def test_weights_have_readable_names_and_signs_are_no_weights():
    network = small("index-lookup").network
    assert isinstance(network, Network)
    module = module_from_network(network)
    names = {name for name, _ in module.named_parameters()}
    assert {
        "embedding.0_symbol.rows", "layers.0.heads.0.query", "layers.1.inner_bias", "readout.matrix",
    } <= names  # fmt: skip
    assert {name for name, _ in module.named_buffers()} == {"embedding.1_asked.rows", "embedding.2_address.rows"}
    assert part_name(3, "a.b") == "3_a_b"
    recurrent = module_from_network(small("dyck-rnn").network)
    assert {"initial", "cell.0.weights", "readout.bias"} <= set(recurrent.state_dict())


def test_attention_of_index_lookup_is_on_the_position_that_is_asked_for():
    built = larger("index-lookup")
    examples = built.task.sample(draws_from(10), 12, built.length)
    inputs = torch.from_numpy(examples.inputs)
    (weights,) = module_from_network(built.network).patterns(inputs).values()
    positions = built.network.positions
    assert weights.shape == (12, positions, positions)
    torch.testing.assert_close(weights.sum(dim=-1), torch.ones(12, positions, dtype=torch.float64))
    places = inputs[:, -1] - built.task.parameters()["alphabet"]
    assert weights[:, -1].argmax(dim=-1).tolist() == places.tolist()
    assert bool((weights[:, -1].amax(dim=-1) > 0.75).all())


def test_weights_are_rounded_once_to_the_nearest_float():
    third = ExactMatrix(numpy.array([[1, 16777217]], dtype=numpy.int64), 3)
    assert from_network.floats(third, torch.float64).tolist() == [[1 / 3, 16777217 / 3]]
    assert from_network.floats(third, torch.float32).tolist() == [[float(numpy.float32(1 / 3)), 5592405.5]]


@pytest.mark.parametrize(
    ("name", "inputs", "words"),
    [
        ("equality", torch.zeros((2, 9), dtype=torch.int64), "tokens"),
        ("equality", torch.zeros((2, 4)), "torch.int64"),
        ("equality", torch.full((2, 4), 2), "from 0 to 1, not 2 to 2"),
        ("dyck-rnn", torch.full((1, 4), -1), "from 0 to 3"),
        ("directed-3-cycle", torch.full((1, 4, 4), 2), "adjacency"),
        ("nearest-neighbour", torch.zeros((1, 3), dtype=torch.int64), "features"),
    ],
)
def test_inputs_that_do_not_fit_end_in_one_line(name, inputs, words):
    length = 4 if name != "nearest-neighbour" else small(name).length
    module = module_from_network(constructions()[name].build(length).network)
    with pytest.raises(SeparatrixError, match=words) as caught:
        module(inputs)
    assert "\n" not in str(caught.value)


def test_an_embedding_that_is_too_large_is_refused_before_it_is_made(monkeypatch):
    network = larger("index-lookup").network
    monkeypatch.setattr(from_network, "LARGEST_EMBEDDING_BYTES", 1 << 10)
    with pytest.raises(SeparatrixError, match="MiB"):
        module_from_network(network)


def test_other_types_of_numbers_are_refused():
    with pytest.raises(SeparatrixError, match="float32 or float64"):
        module_from_network(small("equality").network, torch.bfloat16)


def test_recurrent_networks_read_every_position_where_asked():
    network = small("dyck-rnn").network
    assert isinstance(network, RecurrentNetwork)
    readout = Readout(network.readout.matrix, network.readout.bias, network.readout.decoding, "every")
    everywhere = RecurrentNetwork(
        network.vocabulary, network.positions, network.embedding, network.initial, network.cell, readout
    )
    inputs = numpy.random.default_rng(6).integers(0, network.vocabulary, (20, network.positions))
    expected = evaluate(everywhere, inputs, Floating("float64")).raw
    found = module_from_network(everywhere)(torch.from_numpy(inputs)).detach().numpy()
    numpy.testing.assert_allclose(found, expected, atol=1e-12)
