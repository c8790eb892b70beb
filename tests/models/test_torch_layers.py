"""torch's own recurrent layers: when they are chosen, and that they give what the scans give; see ``kernel_cases``."""

import warnings

import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode

from separatrix.models.ensemble import initialise
from separatrix.models.kernels import available, torch_layers
from separatrix.models.kernels.torch_layers import MOST_MEMBERS, torch_layer_fits, torch_layer_states
from separatrix.models.mixers.gru import GRUMixer
from separatrix.models.mixers.lstm import LSTMMixer
from separatrix.models.mixers.rnn import RNNMixer

MIXERS = (LSTMMixer, GRUMixer, RNNMixer)
every_mixer = pytest.mark.parametrize("kind", MIXERS, ids=lambda kind: kind.layer)


@pytest.fixture(autouse=True)
def undisturbed(monkeypatch):
    for variable in (available.VARIABLE, "TRITON_INTERPRET"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr(torch.backends.mkldnn, "is_available", lambda: True)


def made(kind, width=5, members=3):
    mixer = kind(width, members)
    initialise(mixer, range(members))
    return mixer


def chosen(x):
    return [kind.layer for kind in MIXERS if torch_layer_fits(x, kind.layer)]


def test_a_cpu_leaves_the_lstm_to_onednn(monkeypatch):
    x = torch.zeros(100, 2, 3, 4)
    assert chosen(x) == ["lstm"]
    assert chosen(x.double()) == chosen(x.half()) == chosen(x[:, :0]) == chosen(x.to("meta")) == []
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert chosen(x) == []
    for variable, value in ((available.VARIABLE, "plain"), ("TRITON_INTERPRET", "1")):
        with monkeypatch.context() as patch:
            patch.setenv(variable, value)
            assert chosen(x) == []
    monkeypatch.setattr(torch.backends.mkldnn, "is_available", lambda: False)
    assert chosen(x) == []


def test_a_gpu_leaves_few_members_to_cudnn_unless_our_kernel_is_faster(monkeypatch):
    monkeypatch.setattr(available, "has_triton", lambda: True)
    with FakeTensorMode():
        few, many = (torch.zeros(members, 2, 3, 4, device="cuda") for members in (MOST_MEMBERS, MOST_MEMBERS + 1))
    assert chosen(few) == ["lstm", "gru", "rnn_tanh"]
    assert chosen(many) == chosen(few.double()) == []
    # In half precision the LSTM has a kernel of its own.
    assert chosen(few.half()) == ["gru", "rnn_tanh"]
    monkeypatch.setenv(available.VARIABLE, "plain")
    assert chosen(few) == []


@every_mixer
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_the_layers_are_the_scans_whatever_autocast_says(kind, dtype):
    mixer = made(kind)
    x = torch.randn(3, 2, 7, 5, generator=torch.Generator().manual_seed(0)).to(dtype)
    found = torch_layer_states(kind.layer, x, mixer.weights)
    assert found.dtype == dtype
    exact = mixer.double().scan(x.double())
    torch.testing.assert_close(found.double(), exact, rtol=0, atol=1e-6 if dtype == torch.float32 else 5e-3)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert torch.equal(torch_layer_states(kind.layer, x, mixer.float().weights), found)


@every_mixer
def test_members_are_alone(kind):
    mixer = made(kind)
    x = torch.randn(3, 2, 7, 5, generator=torch.Generator().manual_seed(0))
    together = torch_layer_states(kind.layer, x, mixer.weights)
    for member in range(3):
        own = tuple(each[member : member + 1] for each in mixer.weights)
        assert torch.equal(torch_layer_states(kind.layer, x[member : member + 1], own)[0], together[member])


def test_only_what_cudnn_says_about_scattered_weights_is_kept_silent(monkeypatch):
    """Filters of warnings are shared by all threads, so they stay as they are where nothing is to be filtered."""
    told = "RNN module weights are not part of single contiguous chunk of memory"

    def talking(cells, *rest):
        warnings.warn(told, stacklevel=1)
        seen.append(list(warnings.filters))
        return (cells,)

    mixer, seen = made(RNNMixer, members=1), []
    x = torch.zeros(1, 2, 3, 5)
    monkeypatch.setattr(torch, "rnn_tanh", talking)
    before = list(warnings.filters)
    with pytest.warns(UserWarning, match="contiguous chunk"):
        torch_layer_states("rnn_tanh", x, mixer.weights)
    monkeypatch.setattr(torch_layers, "on_gpu", lambda tensor: True)
    torch_layer_states("rnn_tanh", x, mixer.weights)
    assert len(seen) == 2
    assert list(warnings.filters) == before
    told = "something else"
    with pytest.warns(UserWarning, match="something else"):
        torch_layer_states("rnn_tanh", x, mixer.weights)
