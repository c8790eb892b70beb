"""The scan of mamba-ssm and the convolution of causal-conv1d for ensembles, held against the plain versions.

The packages need a GPU, so stand-ins are on the path that compute the published formulas on a CPU and refuse what the
compiled kernels refuse (``stand_ins``).
"""

import importlib

import pytest
import torch
from torch.nn import functional

from separatrix.errors import SeparatrixError
from separatrix.models.kernels import available, external
from separatrix.models.kernels.available import chosen_kernels, kernel_takes
from separatrix.models.kernels.external import (
    MOST_CHANNELS,
    external_convolution,
    external_convolution_takes,
    external_scan,
    external_scan_takes,
)
from separatrix.models.kernels.selective import plain_gated_scan
from separatrix.models.naming import parse_spec
from separatrix.models.scans.convolution import short_convolution
from separatrix.models.sequence_model import build_model
from tests.models.standing_in import forget, packages


@pytest.fixture
def installed(monkeypatch):
    """Both packages, and tensors that count as lying on a GPU for them alone."""
    monkeypatch.delenv(available.VARIABLE, raising=False)
    monkeypatch.setattr(external, "on_gpu", lambda tensor: True)
    with packages():
        yield


@pytest.fixture
def missing(monkeypatch):
    """Neither, on a GPU."""
    monkeypatch.delenv(available.VARIABLE, raising=False)
    monkeypatch.setattr(external, "on_gpu", lambda tensor: True)
    forget()


def scan_inputs(members=3, batch=2, length=7, channels=5, states=4, dtype=torch.float32):
    generator = torch.Generator().manual_seed(members + length)

    def normal(*shape):
        return torch.randn(*shape, generator=generator).to(dtype).requires_grad_()

    sequence, mixing = (members, batch, length, channels), (members, batch, length, states)
    rate = -torch.rand(members, channels, states, generator=generator).add(0.1).detach()
    return [
        normal(*sequence), normal(*sequence), rate.requires_grad_(), normal(*mixing), normal(*mixing),
        normal(members, channels), normal(*sequence), normal(members, channels),
    ]  # fmt: skip


def assert_equal_with_gradients(ours, theirs, inputs):
    """Outputs and derivatives to all inputs that are given."""
    found = []
    for run in (ours, theirs):
        output = run()
        weight = torch.arange(output.numel(), dtype=output.dtype).view(output.shape).cos()
        given = [each for each in inputs if each is not None]
        found.append([output, *torch.autograd.grad((output * weight).sum(), given)])
    for ours_now, theirs_now in zip(*found, strict=True):
        assert ours_now.shape == theirs_now.shape
        torch.testing.assert_close(ours_now, theirs_now, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("gated", [True, False])
@pytest.mark.parametrize("sizes", [(3, 2, 7, 5, 4), (1, 3, 4, 8, 16), (4, 1, 1, 3, 1)])
def test_the_scan_of_an_ensemble_is_one_scan_with_a_group_for_each_member(installed, gated, sizes):
    inputs = scan_inputs(*sizes)
    if not gated:
        inputs[6] = None
    assert_equal_with_gradients(lambda: external_scan(*inputs), lambda: plain_gated_scan(*inputs), inputs)
    members, batch, length, channels, _ = sizes
    calls = importlib.import_module("mamba_ssm.ops.selective_scan_interface").CALLS
    assert calls == [(batch, members * channels, length)]


def test_products_in_half_precision_keep_their_type_and_the_exact_parameters(installed):
    inputs = scan_inputs(dtype=torch.bfloat16)
    output = external_scan(*inputs).detach()
    assert output.dtype == torch.bfloat16
    exact = plain_gated_scan(*(each.detach().double() for each in inputs))
    assert float((output.double() - exact).norm() / exact.norm()) < 0.01


@pytest.mark.parametrize("biased", [True, False])
@pytest.mark.parametrize(("length", "taps"), [(7, 4), (2, 4), (5, 3), (1, 2)])
def test_the_convolution_of_an_ensemble_is_one_with_more_channels(installed, biased, length, taps):
    generator = torch.Generator().manual_seed(length)
    x, weight, bias = (
        torch.randn(*shape, generator=generator).requires_grad_() for shape in [(3, 2, length, 5), (3, 5, taps), (3, 5)]
    )
    given = bias if biased else None
    assert_equal_with_gradients(
        lambda: external_convolution(x, weight, given),
        lambda: functional.silu(short_convolution(x, weight, given)),
        [x, weight, given],
    )


@pytest.mark.parametrize("name", ["Mamba", "Mamba2", "GDN"])
def test_a_model_computes_the_same_with_them(installed, monkeypatch, name):
    spec = parse_spec(f"{name}-(2,16)")
    model = build_model(spec, vocabulary=7, classes=3, length=11, seeds=(1, 2))
    tokens = torch.randint(7, (2, 3, 11), generator=torch.Generator().manual_seed(0))
    found = []
    for choice in ("plain", "mamba-ssm"):
        monkeypatch.setenv(available.VARIABLE, choice)
        model.zero_grad()
        outputs = model(tokens)
        outputs.square().sum().backward()
        found.append([outputs, *[each.grad for each in model.parameters()]])
    for plain, external_one in zip(*found, strict=True):
        torch.testing.assert_close(external_one, plain, rtol=1e-4, atol=1e-4)
    scans = importlib.import_module("mamba_ssm.ops.selective_scan_interface").CALLS
    assert len(scans) == (2 if name == "Mamba" else 0)
    assert len(importlib.import_module("causal_conv1d").CALLS) >= 2


SMALL, LARGE = torch.zeros(1, 4, 3, 32), torch.zeros(8, 256, 3, 32)


@pytest.mark.parametrize(
    ("choice", "x", "differentiated", "chosen"),
    [
        ("mamba-ssm", LARGE, True, True),
        ("mamba-ssm", SMALL.bfloat16(), True, True),
        ("mamba-ssm", SMALL.double(), True, False),
        ("mamba-ssm", torch.zeros(2, 1, 1, MOST_CHANNELS // 2 + 1), True, False),
        ("mamba-ssm", torch.zeros(1, 0, 3, 32), True, False),
        ("auto", SMALL, False, True),
        ("auto", SMALL, True, False),
        ("auto", LARGE, False, False),
        ("triton", SMALL, False, False),
        ("plain", SMALL, False, False),
    ],
)
def test_when_the_scan_of_mamba_ssm_is_chosen(installed, monkeypatch, choice, x, differentiated, chosen):
    monkeypatch.setenv(available.VARIABLE, choice)
    rate = torch.zeros(x.shape[0], x.shape[3], 16)
    assert external_scan_takes(x, rate, differentiated) is chosen
    weight = torch.zeros(x.shape[0], x.shape[3], 4)
    assert external_convolution_takes(x, weight) is (chosen and choice == "mamba-ssm")
    monkeypatch.setattr(external, "on_gpu", lambda tensor: False)
    assert not external_scan_takes(x, rate, differentiated)
    assert not external_convolution_takes(x, weight)


def test_nothing_requires_them_unless_they_are_asked_for(missing, monkeypatch):
    rate, weight = torch.zeros(1, 32, 16), torch.zeros(1, 32, 4)
    assert not external_scan_takes(SMALL, rate, False)
    assert not external_convolution_takes(SMALL, weight)
    monkeypatch.setenv(available.VARIABLE, "mamba-ssm")
    with pytest.raises(SeparatrixError, match=r"pip install 'mamba-ssm\[causal-conv1d\]'"):
        external_scan_takes(SMALL, rate, True)
    with pytest.raises(SeparatrixError, match="pip install causal-conv1d"):
        external_convolution_takes(SMALL, weight)


@pytest.mark.parametrize("content", ["selective_scan_cuda = None", "raise RuntimeError('built for another torch')"])
def test_a_package_that_cannot_work_counts_as_missing(missing, tmp_path, content):
    (tmp_path / "mamba_ssm/ops").mkdir(parents=True)
    (tmp_path / "mamba_ssm/ops/selective_scan_interface.py").write_text(content)
    with packages(tmp_path):
        assert not external_scan_takes(SMALL, torch.zeros(1, 32, 16), False)


def test_plain_turns_every_kernel_off_and_another_word_is_refused(monkeypatch):
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    monkeypatch.setattr(available, "has_triton", lambda: True)
    monkeypatch.delenv(available.VARIABLE, raising=False)
    assert kernel_takes(SMALL)
    monkeypatch.setenv(available.VARIABLE, "plain")
    assert not kernel_takes(SMALL)
    monkeypatch.setenv(available.VARIABLE, "trition")
    with pytest.raises(SeparatrixError, match="unknown choice of SEPARATRIX_KERNELS 'trition'; nearest: triton"):
        chosen_kernels()
