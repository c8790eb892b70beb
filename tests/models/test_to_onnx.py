"""An ONNX graph, run by the onnx package's reference evaluator, gives the module's readouts and answers."""

import json
import sys
from dataclasses import replace

import numpy
import onnx
import pytest
import torch
from onnx.reference import ReferenceEvaluator

from separatrix.errors import SeparatrixError
from separatrix.models import to_onnx
from separatrix.models.from_network import module_from_network
from separatrix.models.to_onnx import onnx_bytes
from separatrix.networks import Attention
from separatrix.tasks import draws_from
from tests.models.cases import random_inputs, random_network, small


def check(module, inputs) -> onnx.ModelProto:
    model = onnx.load_from_string(onnx_bytes(module))
    onnx.checker.check_model(model)
    evaluator = ReferenceEvaluator(model)
    # The batch is free: any number of inputs goes.
    for count in (1, len(inputs)):
        readout, answers = evaluator.run(["readout", "answers"], {"inputs": inputs[:count]})
        expected = module(torch.from_numpy(inputs[:count])).detach().numpy()
        assert readout.dtype == expected.dtype
        numpy.testing.assert_allclose(readout, expected, atol=1e-5 if expected.dtype == numpy.float32 else 1e-10)
        numpy.testing.assert_array_equal(answers, module.answers(torch.from_numpy(inputs[:count])).numpy())
    return model


# One of each kind: a graph, pairs of positions, a recurrent cell, cells of numbers with sets; masks are below.
@pytest.mark.parametrize(
    ("name", "dtype"),
    [
        ("match3", torch.float64), ("directed-3-cycle", torch.float32), ("dyck-rnn", torch.float64),
        ("sparse-averaging", torch.float64),
    ],
)  # fmt: skip
def test_the_graph_gives_the_modules_outputs(name, dtype):
    built = small(name)
    module = module_from_network(built.network, dtype)
    model = check(module, built.task.sample(draws_from(1), 7, built.length).inputs)
    (entry,) = model.metadata_props
    assert (entry.key, json.loads(entry.value)) == ("separatrix", module.description)
    # Nothing of the machine that made the file is in it.
    assert b"site-packages" not in model.SerializeToString()
    assert b"separatrix/models" not in model.SerializeToString()


def test_hard_and_linear_attention_with_the_largest_coordinate_as_answer():
    network = random_network("attention", "hard", "strict", residual=False)
    (attention, feed_forward) = network.layers
    assert isinstance(attention, Attention)
    heads = (attention.heads[0], replace(attention.heads[1], scoring="linear", mask="causal"))
    mixed = replace(network, layers=(replace(attention, heads=heads), feed_forward))
    check(module_from_network(mixed), random_inputs(mixed))


def test_weights_beyond_what_a_file_can_hold_are_refused(monkeypatch):
    monkeypatch.setattr(to_onnx, "LARGEST_BYTES", 100)
    with pytest.raises(SeparatrixError, match="at most 2 GiB"):
        onnx_bytes(module_from_network(small("equality").network))


def test_without_the_package_one_line_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "onnxscript", None)
    with pytest.raises(SeparatrixError, match=r"separatrix\[export\]"):
        onnx_bytes(module_from_network(small("equality").network))
