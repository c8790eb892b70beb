"""``separatrix export``: files that open again, and one line for what cannot be exported."""

import json
from pathlib import Path

import numpy
import onnx
import pytest
import torch
from onnx.reference import ReferenceEvaluator

from separatrix.constructions import Options, constructions
from separatrix.models import from_network, load_exported
from separatrix.models.lens_bridge import load_lens
from separatrix.networks import evaluate
from separatrix.networks.store import load_network, to_bytes
from separatrix.tasks import draws_from

LENGTH = 6


@pytest.fixture
def built():
    return constructions()["index-lookup"].build(LENGTH, Options(parameters={"alphabet": 5}))


@pytest.fixture
def example(built):
    """Inputs and the exact network's answers."""
    inputs = built.task.sample(draws_from(11), 20, LENGTH).inputs
    return inputs, evaluate(built.network, inputs, built.arithmetic).answers


@pytest.fixture
def exported(call, tmp_path):
    """Runs export of the same network and gives its JSON and where it wrote."""

    def run(to: str, *more: str):
        out = tmp_path / "exported"
        ended = call(
            "export", "index-lookup", "--length", str(LENGTH), "--set", "alphabet=5", "--to", to, "--out", str(out),
            "--json", *more,
        )  # fmt: skip
        assert ended.code == 0, ended.err
        result = json.loads(ended.out)
        assert all(Path(file).is_file() for file in result["files"])
        assert (result["to"], result["task"], result["length"]) == (to, "index-lookup", LENGTH)
        made = result["provenance"]
        assert made["command"].startswith("separatrix export index-lookup")
        assert made["arithmetic"] == f"fixed:N={LENGTH},Kc=2,down"
        assert made["seed"] == (None if to == "safetensors" else 0), "the seed of the inputs that were compared"
        return result, out

    return run


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_torch(exported, example, dtype):
    result, out = exported("torch", "--dtype", dtype)
    module = load_exported(out)
    assert {str(parameter.dtype) for parameter in module.parameters()} == {f"torch.{dtype}"}
    inputs, expected = example
    numpy.testing.assert_array_equal(module.answers(torch.from_numpy(inputs)).numpy(), expected)
    assert result["inputs_compared"] == 32
    assert result["dtype"] == dtype


def test_safetensors_is_the_exact_network(exported, built):
    result, out = exported("safetensors")
    network, _ = load_network(out)
    assert to_bytes(network) == to_bytes(built.network)
    assert (result["dtype"], result["inputs_compared"]) == ("exact", 0)


def test_onnx(exported, example):
    _, out = exported("onnx", "--dtype", "float32")
    inputs, expected = example
    (found,) = ReferenceEvaluator(onnx.load(out)).run(["answers"], {"inputs": inputs})
    numpy.testing.assert_array_equal(found, expected)


def test_transformer_lens(exported, example, built):
    _, out = exported("transformer-lens")
    inputs, expected = example
    bits = load_lens(out)(torch.from_numpy(inputs))[:, -1:] > 0.5
    powers = 2 ** torch.arange(bits.shape[-1] - 1, -1, -1)
    numpy.testing.assert_array_equal((bits * powers).sum(dim=-1).numpy(), expected)


def test_for_people(call, tmp_path):
    ended = call("export", "equality", "-n", "4", "--to", "torch", "-o", str(tmp_path / "equality"))
    assert ended.code == 0
    assert "answers equal on 32 sampled inputs" in ended.out
    assert "load_exported" in ended.out
    exact = call("export", "equality", "-n", "4", "--to", "safetensors", "-o", str(tmp_path / "equality.safetensors"))
    assert "wrote" in exact.out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("no-such", "-n", "4", "--to", "torch"), "no-such"),
        (("equality", "-n", "5", "--to", "torch"), "5"),
        (("equality", "-n", "4", "--to", "tensorflow"), "tensorflow"),
        (("equality", "-n", "4", "--to", "torch", "--dtype", "float16"), "float16"),
        (("equality", "-n", "4", "--to", "safetensors", "--dtype", "float32"), "exact"),
        (("equality", "-n", "4", "--to", "torch", "--set", "alphabet=x"), "alphabet"),
        (("dyck-rnn", "-n", "4", "--to", "transformer-lens"), "recurrent"),
        (("match3", "-n", "4", "--to", "transformer-lens"), "ThirdOrderAttention"),
        (("equality", "-n", "4"), "--to"),
    ],
)
def test_bad_input_is_one_line_and_writes_nothing(call, tmp_path, arguments, words):
    ended = call("export", *arguments, "--out", str(tmp_path / "out"))
    assert ended.code == 2
    assert ended.out == ""
    assert len(ended.err.splitlines()) == 1, ended.err
    assert words in ended.err
    assert list(tmp_path.iterdir()) == []


def test_a_folder_and_a_file_are_not_mixed_up(call, tmp_path):
    (tmp_path / "file").write_text("kept")
    ended = call("export", "equality", "-n", "4", "--to", "torch", "--out", str(tmp_path / "file"))
    assert ended.code == 2
    assert "is a file" in ended.err
    ended = call("export", "equality", "-n", "4", "--to", "onnx", "--out", str(tmp_path))
    assert ended.code == 2
    assert "is a folder" in ended.err
    assert (tmp_path / "file").read_text() == "kept"


def test_floats_that_answer_otherwise_are_not_written(call, tmp_path, monkeypatch):
    honest = from_network.module_from_network

    def biased(network, dtype):
        module = honest(network, dtype)
        with torch.no_grad():
            module.readout.bias += 1
        return module

    monkeypatch.setattr(from_network, "module_from_network", biased)
    ended = call("export", "equality", "-n", "4", "--to", "torch", "--out", str(tmp_path / "out"))
    assert ended.code == 2
    assert "get other answers" in ended.err
    assert not (tmp_path / "out").exists()
