"""Every Triton kernel against its plain version in float64, on fresh random inputs, with derivatives.

``test_kernels`` runs these cases. They need no pytest, so a machine with a GPU that has none can run them as well:

    python -m tests.models.kernel_cases [WORD …]

runs the cases whose names begin with one of the words, on the GPU if there is one, and ends with 1 if any fails.
"""

import os
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy
import torch
from torch import Tensor
from torch.nn import functional

from separatrix.models.ensemble import linear
from separatrix.models.kernels.attention import feature_attention, plain_feature_attention, plain_retention, retention
from separatrix.models.kernels.available import kernel_takes
from separatrix.models.kernels.convolution import convolve_silu
from separatrix.models.kernels.gated_norm import gated_group_norm, plain_gated_group_norm
from separatrix.models.kernels.long_convolution import causal_convolution
from separatrix.models.kernels.lstm import lstm_states, lstm_states_and_cell
from separatrix.models.kernels.selective import gated_selective_scan, plain_gated_scan
from separatrix.models.kernels.torch_layers import Layer, torch_layer_states
from separatrix.models.naming import parse_spec
from separatrix.models.scans.convolution import long_convolution, short_convolution
from separatrix.models.scans.gated import gru_scan, lstm_scan, lstm_scan_and_cell, rnn_scan
from separatrix.models.sequence_model import SequenceModel, build_model

ON_GPU = torch.cuda.is_available()
DEVICE = "cuda" if ON_GPU else "cpu"
TYPES = (torch.float32, torch.bfloat16) if ON_GPU else (torch.float32,)
HALVES = (torch.bfloat16, torch.float16) if ON_GPU else (torch.float32,)
"""The LSTM's kernel takes float32 only in the interpreter."""
CAPTURED = ("LinTF", "RetNet", "DSS", "Mamba", "Mamba2", "GLA", "GDN", "LSTM", "GRU", "RNN")


LAYERS: tuple[Layer, ...] = ("lstm", "gru", "rnn_tanh")


@dataclass(frozen=True)
class Case:
    """Something to be held against its oracle; ``run`` raises where they differ."""

    name: str
    run: Callable[[], None]


def normal(*shape: int, kind: torch.dtype = torch.float32) -> Tensor:
    return torch.randn(*shape).to(DEVICE, kind)


def relative(ours: Tensor, exact: Tensor) -> float:
    size = exact.detach().norm()
    return float((ours.detach().double() - exact.detach()).norm() / (size if size > 0 else 1.0))


def held_against(
    fast: Callable[..., Tensor],
    plain: Callable[..., Tensor],
    inputs: Sequence[Tensor | None],
    kind: torch.dtype,
    single: float = 1e-5,
) -> None:
    """Outputs and all derivatives, relative to those in float64; ``single`` is what float32 may differ by."""
    ours = [None if each is None else each.detach().requires_grad_() for each in inputs]
    exact = [None if each is None else each.detach().double().requires_grad_() for each in inputs]
    mine, theirs = fast(*ours), plain(*exact)
    assert mine.dtype == kind
    allowed = single if kind == torch.float32 else 2e-2
    assert relative(mine, theirs) < allowed, f"outputs differ by {relative(mine, theirs):.2g}"
    weight = torch.randn_like(theirs)
    for number, (gradient, expected) in enumerate(
        zip(
            torch.autograd.grad(mine, [each for each in ours if each is not None], weight.to(kind)),
            torch.autograd.grad(theirs, [each for each in exact if each is not None], weight),
            strict=True,
        )
    ):
        found = relative(gradient, expected)
        assert found < allowed, f"derivatives to input {number} differ by {found:.2g}"


def selective_scan(length: int, channels: int, states: int, gated: bool, kind: torch.dtype) -> None:
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


def convolution(length: int, biased: bool, kind: torch.dtype) -> None:
    x = normal(2, 2, length, 140, kind=kind)[..., :70]
    held_against(
        convolve_silu,
        lambda *inputs: functional.silu(short_convolution(*inputs)),
        (x, normal(2, 70, 4), normal(2, 70) if biased else None),
        kind,
    )


def attention(length: int, heads: int, keys: int, kind: torch.dtype) -> None:
    held_against(
        lambda x: feature_attention(x, heads),
        lambda x: plain_feature_attention(x, heads),
        (normal(2, 2, length, 3 * heads * keys, kind=kind),),
        kind,
    )


def decayed(length: int, heads: int, keys: int, kind: torch.dtype) -> None:
    log_decay = torch.log1p(-torch.exp2(-3.0 - torch.arange(heads))).to(DEVICE)
    angle = (torch.arange(length)[:, None] * torch.rand(keys // 2)).to(DEVICE)
    cosine, sine = angle.cos(), angle.sin()
    held_against(
        lambda x: retention(x, heads, 0.25, log_decay, cosine, sine),
        lambda x: plain_retention(x, heads, 0.25, log_decay.double(), cosine.double(), sine.double()),
        (normal(2, 2, length, 4 * heads * keys, kind=kind),),
        kind,
    )


def gated_norm(
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


def direct_sum(length: int, channels: int, kind: torch.dtype) -> None:
    held_against(
        causal_convolution,
        long_convolution,
        (normal(2, 5, length, channels, kind=kind), normal(2, length, channels)),
        kind,
    )


def lstm(members: int, batch: int, length: int, width: int, kind: torch.dtype) -> None:
    weight = ((2 * torch.rand(members, 4 * width, width) - 1) / width**0.5).to(DEVICE, kind)
    assert kernel_takes(weight)

    def joined(found: tuple[Tensor, Tensor]) -> Tensor:
        hidden, cell = found
        return torch.cat([hidden.float(), cell.float().unsqueeze(2)], dim=2).to(kind)

    held_against(
        lambda entering, weight: joined(lstm_states_and_cell(entering, weight)),
        lambda entering, weight: joined(lstm_scan_and_cell(entering, weight.transpose(1, 2))),
        (normal(members, batch, length, 4 * width, kind=kind), weight),
        kind,
    )


def lstm_read_once(kind: torch.dtype) -> None:
    """Where one position is read the derivatives to all others are zero, and what lies behind it changes nothing."""
    members, batch, length, width, read = 2, 3, 7, 16, 4
    entering = normal(members, batch, length, 4 * width, kind=kind).requires_grad_()
    weight = (normal(members, 4 * width, width, kind=kind) / width**0.5).detach()
    assert kernel_takes(entering)
    states = lstm_states(entering, weight)
    (found,) = torch.autograd.grad(states[:, :, read].float().sum(), entering)
    assert bool((found[:, :, read + 1 :] == 0).all()) and bool((found[:, :, : read + 1] != 0).any())
    other = torch.cat([entering[:, :, : read + 1], normal(members, batch, length - read - 1, 4 * width, kind=kind)], 2)
    assert torch.equal(lstm_states(other.detach(), weight)[:, :, : read + 1], states[:, :, : read + 1])


def vendor(layer: Layer, members: int, batch: int, length: int, width: int) -> None:
    """torch's own layer, one member after the other, against our scan of all members."""
    gates = {"lstm": 4, "gru": 3, "rnn_tanh": 1}[layer] * width

    def plain(x: Tensor, *weights: Tensor) -> Tensor:
        inputs, states, first, second = weights
        if layer != "gru":
            entering = linear(x, inputs.transpose(1, 2), first + second)
            return (lstm_scan if layer == "lstm" else rnn_scan)(entering, states.transpose(1, 2))
        kept = torch.arange(gates, device=x.device) < 2 * width
        entering = linear(x, inputs.transpose(1, 2), first + second * kept)
        return gru_scan(entering, states.transpose(1, 2), second[:, 2 * width :])

    shapes = ((members, gates, width), (members, gates, width), (members, gates), (members, gates))
    weights = [((2 * torch.rand(shape) - 1) / width**0.5).to(DEVICE) for shape in shapes]
    with torch.backends.cudnn.flags(enabled=True, allow_tf32=False):
        held_against(
            lambda x, *weights: torch_layer_states(layer, x, weights),
            plain,
            (normal(members, batch, length, width), *weights),
            torch.float32,
            # Not our code: cuDNN's tanh is good to about 1e-6, and 1 - tanh² near its ends loses another digit.
            single=5e-5,
        )


def whole_model(name: str) -> None:
    """A whole model in float32 against itself in float64, which no kernel takes; also where one position is read, and
    where it is asked many times."""
    model = build_model(parse_spec(name), vocabulary=7, classes=3, length=9, seeds=[1, 2], device=DEVICE)
    tokens = torch.randint(0, 7, (2, 2, 9), device=DEVICE)
    read = torch.tensor([[[3], [8]]] * 2, device=DEVICE)
    asked = torch.randint(0, 7, (2, 2, 5), device=DEVICE)

    def run(model: SequenceModel) -> tuple[Tensor, ...]:
        return model(tokens), model(tokens, read=read), model(tokens, read=read, questions=asked)

    # The interpreter is numpy, which warns where a sigmoid's exponential is infinite; a kernel does not.
    with torch.backends.cudnn.flags(enabled=True, allow_tf32=False), numpy.errstate(over="ignore"):
        outputs = run(model)
    for ours, theirs in zip(outputs, run(model.double()), strict=True):
        # Outputs are about 1, of which DSS's kernels of exponentials lose up to 2.5e-5 in float32 by any formula.
        torch.testing.assert_close(ours.double(), theirs, rtol=1e-4, atol=1e-4)


def compiled(name: str) -> None:
    """A model whose blocks are compiled gives the outputs and derivatives of one whose blocks are not.

    With the compiler itself on a GPU; without one only what it takes out of the Python code is run.
    """
    tokens = torch.randint(0, 7, (2, 2, 9), device=DEVICE)
    found: list[tuple[Tensor, list[Tensor]]] = []
    for chosen in (False, True):
        model = build_model(parse_spec(name), vocabulary=7, classes=3, length=9, seeds=[1, 2], device=DEVICE)
        for block in model.blocks if chosen else ():
            block.compile(backend="inductor" if ON_GPU else "aot_eager")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the compiler's, about its own ways
            outputs = model(tokens)
            if ON_GPU:  # without one tracing takes long
                read = torch.tensor([[[3], [8]]] * 2, device=DEVICE)
                outputs = torch.cat([outputs, model(tokens, read=read, questions=tokens)], dim=2)
        found.append((outputs.detach(), list(torch.autograd.grad(outputs.square().sum(), list(model.parameters())))))
    torch.testing.assert_close(found[1][0], found[0][0], rtol=1e-3, atol=1e-4)
    for ours, theirs in zip(found[1][1], found[0][1], strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-2, atol=1e-3)


def captured(short: str, half: bool = True, questions: bool = False) -> None:
    """A step, in bfloat16 or float32, is captured in a CUDA graph, and replayed gives what it gave."""
    model = build_model(parse_spec(f"{short}-(2,64)"), vocabulary=7, classes=3, length=101, seeds=[1, 2], device=DEVICE)
    tokens = torch.randint(0, 7, (2, 4, 101), device=DEVICE)
    read = torch.full((2, 4, 1), 100, device=DEVICE)

    def step() -> Tensor:
        for parameter in model.parameters():
            parameter.grad = None
        with torch.autocast("cuda", dtype=torch.bfloat16, enabled=half, cache_enabled=False):
            loss = model(tokens, read=read, questions=tokens[..., :16] if questions else None).float().square().sum()
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
    torch.testing.assert_close(float(loss), expected, rtol=1e-3, atol=0.0)


def cases() -> Iterator[Case]:
    """All cases that can run here; sizes of real models only on a GPU, where the interpreter is not in the way."""

    def case(
        name: str, work: Callable[..., None], *arguments: object, kinds: Sequence[torch.dtype] = TYPES
    ) -> list[Case]:
        return [
            Case(f"{name} {arguments} {str(kind).removeprefix('torch.')}", lambda kind=kind: work(*arguments, kind))
            for kind in kinds
        ]

    small = (2, 3, 5, 16)
    sizes = [small, (1, 17, 2, 20), (2, 2, 1, 33)]
    if ON_GPU:
        # Blocks of 16, 32 and 64 sequences, odd lengths, a width and a batch that fill no block.
        real = [(2, 64, 201, 256), (32, 64, 37, 256), (40, 64, 21, 256), (2, 70, 33, 200), (3, 50, 51, 64)]
        sizes = [*real, (2, 64, 51, 128), *sizes]
    for size in sizes:
        yield from case("lstm", lstm, *size, kinds=HALVES if size == small else HALVES[:1])
    yield from case("lstm-read", lstm_read_once, kinds=HALVES[:1])
    # Beyond the small ones: lengths of several chunks that fill none of them, widths of several tiles.
    longer = [(8, 32, 16, True), (301, 512, 16, True), (203, 130, 16, False)] if ON_GPU else [(13, 20, 4, True)]
    for arguments in [(5, 33, 5, False), *longer]:
        yield from case("selective", selective_scan, *arguments)
    for arguments in [(1, False), (29, True), (34, False), (401, True)] if ON_GPU else [(1, False), (30, True)]:
        yield from case("convolution", convolution, *arguments)
    small_heads = [(33, 1, 24), (5, 2, 4)]
    large_heads = [(70, 2, 16), (257, 4, 64), (391, 2, 33), (203, 4, 128)] if ON_GPU else [(70, 1, 8)]
    for arguments in [*small_heads, *large_heads]:
        yield from case("attention", attention, *arguments)
    large_heads = [(5, 2, 16), (32, 2, 16), (70, 2, 16), (257, 4, 64), (391, 8, 32)] if ON_GPU else [(70, 1, 16)]
    for arguments in [(33, 2, 16), *large_heads]:
        yield from case("retention", decayed, *arguments)
    wide = [(4, 256, True, True, True, False), (1, 1030, False, False, False, False)]
    for arguments in [
        (3, 8, True, True, True, False), (2, 20, False, False, True, True), (1, 37, False, False, False, False), *wide,
    ]:  # fmt: skip
        yield from case("norm", gated_norm, *arguments)
    for arguments in [(1, 3), (9, 10), (19, 3), (201, 512), (511, 33)] if ON_GPU else [(1, 3), (19, 3)]:
        yield from case("direct-sum", direct_sum, *arguments)
    models = ["LinTF-(1,64)", "RetNet-(1,64)", "DSS-(1,16)", "Mamba-(1,32)", "Mamba2-(1,16,state=8)", "LSTM-(2,16)"]
    if not ON_GPU:
        models = ["LinTF-(1,16)", "RetNet-(1,16)", "DSS-(1,8)", "Mamba-(1,8)", "Mamba2-(1,8,state=4)", "LSTM-(1,8)"]
    for name in models:
        yield Case(f"model {name}", lambda name=name: whole_model(name))
    for name in models[:5] if ON_GPU else ():  # compiling takes long, and nobody compiles for the interpreter
        yield Case(f"compiled {name}", lambda name=name: compiled(name))
    for layer in LAYERS:
        for size in [(2, 3, 7, 16), (1, 2, 1, 5)]:
            yield Case(f"vendor {layer} {size}", lambda layer=layer, size=size: vendor(layer, *size))
    for short in CAPTURED if ON_GPU else ():
        yield Case(f"captured {short}", lambda short=short: captured(short))
    for short in CAPTURED if ON_GPU else ():
        yield Case(f"captured questions {short}", lambda short=short: captured(short, questions=True))
    for short in ("LSTM", "GRU", "RNN") if ON_GPU else ():
        yield Case(f"captured float32 {short}", lambda short=short: captured(short, half=False))


def run_all(chosen: Iterable[Case], words: Sequence[str]) -> int:
    """Run the cases whose names begin with one of the words and say how each went; returns the exit code."""
    failures = 0
    for case in chosen:
        if words and not case.name.startswith(tuple(words)):
            continue
        started = time.perf_counter()
        torch.manual_seed(0)  # a case has the same numbers alone and among others
        try:
            case.run()
            told = "right"
        except Exception as error:  # one that fails is reported, and the others still run
            failures += 1
            told = f"WRONG: {type(error).__name__}: {str(error)[:300]}"
        print(f"{case.name}: {told} ({time.perf_counter() - started:.1f} s)", flush=True)  # noqa: T201
    return 1 if failures else 0


def main(words: Sequence[str]) -> int:
    """Run the cases that are asked for, in the interpreter where there is no GPU."""
    if not ON_GPU:
        os.environ["TRITON_INTERPRET"] = "1"
        torch.set_num_threads(1)
    return run_all(cases(), words)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
