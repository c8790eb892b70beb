"""The Triton kernels against their plain oracles in float64, on fresh random inputs, with derivatives.

On a GPU where there is one; else in Triton's interpreter, at small sizes; skipped where Triton is not installed (the
plain versions that then run are held against loops in ``test_scans``).
"""

from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec

import pytest
import torch
from torch import Tensor
from torch.nn import functional

from separatrix.models.kernels.attention import (
    feature_attention,
    plain_feature_attention,
    plain_retention,
    retention,
)
from separatrix.models.kernels.available import kernel_takes
from separatrix.models.kernels.convolution import convolve_silu
from separatrix.models.kernels.gated_norm import gated_group_norm, plain_gated_group_norm
from separatrix.models.kernels.long_convolution import causal_convolution
from separatrix.models.kernels.selective import gated_selective_scan, plain_gated_scan
from separatrix.models.naming import parse_spec
from separatrix.models.scans.convolution import long_convolution, short_convolution
from separatrix.models.sequence_model import build_model

ON_GPU = torch.cuda.is_available()
DEVICE = "cuda" if ON_GPU else "cpu"
TYPES = [torch.float32, torch.bfloat16] if ON_GPU else [torch.float32]

needs_triton = pytest.mark.skipif(find_spec("triton") is None, reason="Triton is not installed")


@pytest.fixture(scope="module")
def kernels() -> Iterator[None]:
    """Kernels run: on the GPU, or in the interpreter, which must be asked for before they are first imported."""
    with pytest.MonkeyPatch.context() as patch:
        if not ON_GPU:
            patch.setenv("TRITON_INTERPRET", "1")
        yield


def normal(*shape: int, kind: torch.dtype = torch.float32) -> Tensor:
    return torch.randn(*shape).to(DEVICE, kind)


def relative(ours: Tensor, exact: Tensor) -> float:
    return float((ours.detach().double() - exact.detach()).norm() / exact.detach().norm())


def held_against(
    fast: Callable[..., Tensor], plain: Callable[..., Tensor], inputs: Sequence[Tensor | None], kind: torch.dtype
) -> None:
    """Outputs and all derivatives, relative to those in float64."""
    ours = [None if each is None else each.detach().requires_grad_() for each in inputs]
    exact = [None if each is None else each.detach().double().requires_grad_() for each in inputs]
    mine, theirs = fast(*ours), plain(*exact)
    assert mine.dtype == kind
    allowed = 1e-5 if kind == torch.float32 else 2e-2
    assert relative(mine, theirs) < allowed
    weight = torch.randn_like(theirs)
    for gradient, expected in zip(
        torch.autograd.grad(mine, [each for each in ours if each is not None], weight.to(kind)),
        torch.autograd.grad(theirs, [each for each in exact if each is not None], weight),
        strict=True,
    ):
        assert relative(gradient, expected) < allowed


@needs_triton
@pytest.mark.usefixtures("kernels")
@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize(
    ("length", "channels", "states", "gated"), [(8, 32, 16, True), (7, 40, 16, True), (5, 33, 5, False)]
)
def test_selective_scan(length: int, channels: int, states: int, gated: bool, kind: torch.dtype) -> None:
    members, batch = 2, 2
    # Inputs and gate are halves of one tensor, as the projection leaves them.
    halves = normal(members, batch, length, 2 * channels, kind=kind)
    x, gate = halves.chunk(2, dim=-1)
    assert kernel_takes(x)
    held_against(
        gated_selective_scan,
        plain_gated_scan,
        (
            x, normal(members, batch, length, channels, kind=kind),
            -8 * torch.rand(members, channels, states).to(DEVICE), normal(members, batch, length, states, kind=kind),
            normal(members, batch, length, states, kind=kind), normal(members, channels), gate if gated else None,
            normal(members, channels),
        ),
        kind,
    )  # fmt: skip


@needs_triton
@pytest.mark.usefixtures("kernels")
@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("length", [1, 29, 34])
@pytest.mark.parametrize("biased", [False, True])
def test_short_convolution(length: int, biased: bool, kind: torch.dtype) -> None:
    x = normal(2, 2, length, 140, kind=kind)[..., :70]
    held_against(
        convolve_silu,
        lambda *inputs: functional.silu(short_convolution(*inputs)),
        (x, normal(2, 70, 4), normal(2, 70) if biased else None),
        kind,
    )


@needs_triton
@pytest.mark.usefixtures("kernels")
@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize(("length", "heads", "keys"), [(70, 2, 16), (33, 1, 24), (64, 1, 16), (5, 3, 4)])
def test_feature_attention(length: int, heads: int, keys: int, kind: torch.dtype) -> None:
    held_against(
        lambda x: feature_attention(x, heads),
        lambda x: plain_feature_attention(x, heads),
        (normal(2, 2, length, 3 * heads * keys, kind=kind),),
        kind,
    )


@needs_triton
@pytest.mark.usefixtures("kernels")
@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("length", [5, 32, 70])
def test_retention(length: int, kind: torch.dtype) -> None:
    heads, keys = 2, 16
    log_decay = torch.log1p(-torch.exp2(-3.0 - torch.arange(heads))).to(DEVICE)
    angle = (torch.arange(length)[:, None] * torch.rand(keys // 2)).to(DEVICE)
    cosine, sine = angle.cos(), angle.sin()
    held_against(
        lambda x: retention(x, heads, 0.25, log_decay, cosine, sine),
        lambda x: plain_retention(x, heads, 0.25, log_decay.double(), cosine.double(), sine.double()),
        (normal(2, 2, length, 4 * heads * keys, kind=kind),),
        kind,
    )


@needs_triton
@pytest.mark.usefixtures("kernels")
@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize(
    ("groups", "group", "shifted", "centred", "norm_first", "shared"),
    [(3, 8, True, True, True, False), (2, 20, False, False, True, True), (1, 37, False, False, False, False)],
)
def test_gated_norm(
    groups: int, group: int, shifted: bool, centred: bool, norm_first: bool, shared: bool, kind: torch.dtype
) -> None:
    width, settings = groups * group, {"group": group, "epsilon": 1e-5, "centred": centred, "norm_first": norm_first}
    held_against(
        lambda *inputs: gated_group_norm(*inputs, **settings),
        lambda *inputs: plain_gated_group_norm(*inputs, **settings),
        (
            normal(2, 3, 5, width, kind=kind), normal(2, 3, 5, width, kind=kind),
            normal(2, group if shared else width), normal(2, width) if shifted else None,
        ),
        kind,
    )  # fmt: skip


@needs_triton
@pytest.mark.usefixtures("kernels")
@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize(("length", "channels"), [(1, 3), (9, 40), (19, 3)])
def test_long_convolution(length: int, channels: int, kind: torch.dtype) -> None:
    held_against(
        causal_convolution,
        long_convolution,
        (normal(2, 5, length, channels, kind=kind), normal(2, length, channels)),
        kind,
    )


@needs_triton
@pytest.mark.usefixtures("kernels")
@pytest.mark.parametrize(
    "name", ["LinTF-(1,64)", "RetNet-(1,64)", "DSS-(1,16)", "Mamba-(1,32)", "Mamba2-(1,16,state=8)"]
)
def test_models_are_the_same_with_kernels(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A whole model in float32 against itself in float64, which no kernel takes; also where one position is read."""
    model = build_model(parse_spec(name), vocabulary=7, classes=3, length=9, seeds=[1, 2], device=DEVICE)
    tokens = torch.randint(0, 7, (2, 2, 9), device=DEVICE)
    read = torch.tensor([[[3], [8]]] * 2, device=DEVICE)
    outputs = model(tokens), model(tokens, read=read)
    exact = model.double()
    for ours, theirs in zip(outputs, (exact(tokens), exact(tokens, read=read)), strict=True):
        torch.testing.assert_close(ours.double(), theirs, rtol=1e-4, atol=1e-5)


@pytest.mark.skipif(not ON_GPU, reason="CUDA graphs need a GPU")
@pytest.mark.parametrize("short", ["LinTF", "RetNet", "DSS", "Mamba", "Mamba2", "GLA", "GDN"])
def test_a_step_is_captured_in_a_graph(short: str) -> None:
    model = build_model(parse_spec(f"{short}-(2,64)"), vocabulary=7, classes=3, length=101, seeds=[1, 2], device=DEVICE)
    tokens = torch.randint(0, 7, (2, 4, 101), device=DEVICE)
    read = torch.full((2, 4, 1), 100, device=DEVICE)

    def step() -> Tensor:
        for parameter in model.parameters():
            parameter.grad = None
        with torch.autocast("cuda", dtype=torch.bfloat16, cache_enabled=False):
            loss = model(tokens, read=read).float().square().sum()
        loss.backward()
        return loss.detach()

    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        expected = float(step())
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        loss = step()
    graph.replay()
    assert float(loss) == pytest.approx(expected, rel=1e-3)


def test_without_triton_or_gpu_the_plain_version_runs() -> None:
    assert not kernel_takes(torch.zeros(1, dtype=torch.float64))
    inputs = (torch.ones(1, 1, 3, 2, dtype=torch.float64), torch.ones(1, 2, 4, dtype=torch.float64), None)
    torch.testing.assert_close(
        convolve_silu(*inputs)[0, 0, :, 0], functional.silu(torch.tensor([1.0, 2.0, 3.0])).double()
    )
