"""Models on disk: what is read is what was written, and what is damaged is refused in one line."""

import json

import pytest
import torch

from separatrix.errors import SeparatrixError
from separatrix.models import load_exported, save_exported
from separatrix.models.assemble import assemble
from separatrix.models.decoding import ReadoutModule
from separatrix.models.exported import CONFIG, WEIGHTS, write_folder
from separatrix.models.from_network import module_from_network
from separatrix.models.tensors import Tensors
from separatrix.tasks import draws_from
from tests.models.cases import NAMES, small


@pytest.mark.parametrize("name", NAMES)
def test_a_model_comes_back_from_its_folder(name, tmp_path):
    built = small(name)
    module = module_from_network(built.network, torch.float32)
    save_exported(module, tmp_path / "model")
    again = load_exported(tmp_path / "model")
    assert type(again) is type(module)
    assert list(again.state_dict()) == list(module.state_dict())
    inputs = torch.from_numpy(built.task.sample(draws_from(2), 6, built.length).inputs)
    torch.testing.assert_close(again(inputs), module(inputs), rtol=0, atol=0)
    torch.testing.assert_close(again.answers(inputs), module.answers(inputs), rtol=0, atol=0)


def test_a_model_that_was_trained_further_is_stored_as_it_is(tmp_path):
    module = module_from_network(small("equality").network)
    with torch.no_grad():
        module.readout.bias += 0.25
    save_exported(module, tmp_path)
    assert load_exported(tmp_path).readout.bias.tolist() == module.readout.bias.tolist()
    assert sorted(path.name for path in tmp_path.iterdir()) == [CONFIG, WEIGHTS]


@pytest.fixture
def folder(tmp_path):
    save_exported(module_from_network(small("equality").network), tmp_path)
    return tmp_path


def refused(folder) -> str:
    with pytest.raises(SeparatrixError) as caught:
        load_exported(folder)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_damaged_weights(folder):
    data = bytearray((folder / WEIGHTS).read_bytes())
    data[-3] ^= 1
    (folder / WEIGHTS).write_bytes(bytes(data))
    assert "is not the file that config.json names" in refused(folder)
    (folder / WEIGHTS).write_bytes(bytes(data[:40]))
    assert "is not a whole safetensors file" in refused(folder)


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"sha256": 3}', "\udcff"])
def test_damaged_configurations(folder, text):
    (folder / CONFIG).write_bytes(text.encode("utf-8", "surrogateescape"))
    assert "export it again" in refused(folder)


@pytest.mark.parametrize("missing", ["kind", "slots", "layers", "readout", "embedding", "format", "vocabulary"])
def test_configurations_without_a_part(folder, missing):
    config = json.loads((folder / CONFIG).read_text())
    del config[missing]
    (folder / CONFIG).write_text(json.dumps(config))
    assert missing in refused(folder)


def test_missing_files(tmp_path):
    assert "cannot read" in refused(tmp_path / "nowhere")
    (tmp_path / WEIGHTS).write_bytes(b"")
    assert "config.json" in refused(tmp_path)


def test_tensors_that_do_not_belong():
    module = module_from_network(small("equality").network)
    state = module.state_dict()
    assert isinstance(assemble(module.description, state), type(module))
    for changed, words in (
        ({**state, "stranger": torch.zeros(1)}, "'stranger' too many"),
        ({name: each for name, each in state.items() if name != "readout.bias"}, "no tensor 'readout.bias'"),
        ({**state, "layers.0.heads.0.key": torch.zeros(2, 2)}, r"layers.0.heads.0.key has shape \(2, 2\)"),
    ):
        with pytest.raises(SeparatrixError, match=words):
            assemble(module.description, changed)


@pytest.mark.parametrize(
    ("place", "value", "words"),
    [
        (("readout", "decoding"), "bitz", "a readout of 'bitz' at 'last' is unknown; there are bits, argmax"),
        (("readout", "at"), "first", "a readout of 'bits' at 'first' is unknown"),
        (("layers", 0, "heads", 0, "scoring"), "sofmax", "unknown scoring of a head 'sofmax'; nearest: softmax"),
        (("layers", 0, "heads", 0, "mask"), ["none"], "unknown mask of a head"),
        (("layers", 0, "kind"), "atention", "does not describe a model"),
    ],
)
def test_descriptions_that_say_something_unknown(folder, place, value, words):
    config = json.loads((folder / CONFIG).read_text())
    part = config
    for step in place[:-1]:
        part = part[step]
    part[place[-1]] = value
    (folder / CONFIG).write_text(json.dumps(config))
    assert words in refused(folder)


def test_readouts_of_too_many_bits_and_inputs_of_another_type():
    wide = Tensors({"matrix": torch.zeros(63, 2), "bias": torch.zeros(63)})
    with pytest.raises(SeparatrixError, match="63 bits do not fit an answer of 64; there may be 62"):
        ReadoutModule(wide, {"decoding": "bits", "at": "last"}, 2)
    module = module_from_network(small("equality").network)
    with pytest.raises(SeparatrixError, match=r"the model reads tokens as torch\.int64, not torch\.int32"):
        module(torch.zeros(1, *module.input_shape, dtype=torch.int32))


def test_a_file_in_the_place_of_the_folder(tmp_path):
    (tmp_path / "taken").write_text("")
    with pytest.raises(SeparatrixError, match="is a file; give a folder"):
        write_folder(tmp_path / "taken", {}, {})
