"""The selective scan of mamba-ssm and the short convolution of causal-conv1d, for ensembles, where they are installed.

Gu and Dao's own CUDA kernels (arXiv:2312.00752, §3.3.2) know one model: ``selective_scan_fn`` maps (batch, channels,
length), with A (channels, n), D and the bias (channels,), and B, C (batch, groups, n, length), where each group serves
channels / groups neighbouring channels. An ensemble of E members is one such model with E·d channels in E groups: every
member keeps its own A, D, bias, B and C, and no member sees another. ``causal_conv1d_fn`` maps (batch, channels,
length) with weights (channels, taps), and is folded the same way.

Time lies innermost there and channels do here, so that inputs are copied once, transposed; the output comes back as a
view, from which the next of these kernels takes it without a copy. ``available`` says when these kernels are chosen.
"""

import importlib
from functools import cache
from typing import Any

import torch
from torch import Tensor

from separatrix.errors import SeparatrixError
from separatrix.models.kernels.available import VARIABLE, chosen_kernels, on_gpu

MOST_CHANNELS = 65535
"""A launch has one block for each channel along its second axis, which ends here."""
MOST_STATES = 256
TAPS = range(2, 5)
FULL = 2048
"""Programs that fill a GPU, estimated: a few for each of the 528 schedulers of an H200. Triton's scan has one for every
32 channels of every sequence and walks over time; that of mamba-ssm has one for each channel and scans in parallel."""
CHANNELS_OF_A_PROGRAM = 32


@cache
def mamba_ssm() -> Any | None:
    """Return the module of mamba-ssm's selective scan, None where it is not installed or was built without its CUDA
    part."""
    found = _imported("mamba_ssm.ops.selective_scan_interface")
    return found if getattr(found, "selective_scan_cuda", None) is not None else None


@cache
def causal_conv1d() -> Any | None:
    """Return the package causal-conv1d, None where it is not installed."""
    return _imported("causal_conv1d")


def _imported(module: str) -> Any | None:
    """Return a module of an optional package, None where it is missing or was built for another version of torch."""
    try:
        return importlib.import_module(module)
    except (ImportError, OSError, RuntimeError):
        return None


def external_scan_takes(x: Tensor, rate: Tensor, differentiated: bool) -> bool:
    """Return whether the scan of mamba-ssm is chosen: x (members, batch, length, d), rate (members, d, n)."""
    choice = chosen_kernels()
    members, batch, length, channels = x.shape
    fits = members * channels <= MOST_CHANNELS and rate.shape[-1] <= MOST_STATES and batch * length > 0
    if choice not in ("auto", "mamba-ssm") or not fits or not on_gpu(x) or x.dtype == torch.float64:
        return False
    if choice == "auto":
        programs = members * batch * -(-channels // CHANNELS_OF_A_PROGRAM)
        return not differentiated and programs < FULL and mamba_ssm() is not None
    if mamba_ssm() is None:
        raise SeparatrixError(
            f"{VARIABLE}=mamba-ssm needs mamba-ssm with its CUDA part, which is not installed; run  "
            "MAMBA_KEEP_CUDA_BUILD=TRUE pip install 'mamba-ssm[causal-conv1d]' --no-build-isolation  "
            f"or leave {VARIABLE} out"
        )
    return True


def external_convolution_takes(x: Tensor, weight: Tensor) -> bool:
    """Return whether the convolution of causal-conv1d is chosen: x (members, batch, length, d), weight (members, d,
    taps)."""
    members, batch, length, channels = x.shape
    fits = members * channels <= MOST_CHANNELS and weight.shape[-1] in TAPS and batch * length > 0
    if chosen_kernels() != "mamba-ssm" or not fits or not on_gpu(x) or x.dtype == torch.float64:
        return False
    if causal_conv1d() is None:
        raise SeparatrixError(
            f"{VARIABLE}=mamba-ssm needs causal-conv1d, which is not installed; run  "
            f"pip install causal-conv1d --no-build-isolation  or leave {VARIABLE} out"
        )
    return True


def external_scan(
    x: Tensor, step: Tensor, rate: Tensor, write: Tensor, query: Tensor, skip: Tensor, gate: Tensor | None, bias: Tensor
) -> Tensor:
    """Return what ``selective.gated_selective_scan`` says, by ``selective_scan_fn``; shapes as there, in the type of
    x."""
    package = mamba_ssm()
    assert package is not None, "external_scan_takes was asked"
    kind = x.dtype
    folded = package.selective_scan_fn(
        time_last(x),
        time_last(step.to(kind)),
        rate.float().flatten(0, 1).contiguous(),
        grouped(write.to(kind)),
        grouped(query.to(kind)),
        D=skip.float().flatten().contiguous(),
        z=None if gate is None else time_last(gate.to(kind)),
        delta_bias=bias.float().flatten().contiguous(),
        delta_softplus=True,
    )
    return channels_last(folded, x.shape[0])


def external_convolution(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """Return what ``convolution.convolve_silu`` says, by ``causal_conv1d_fn``; shapes as there."""
    package = causal_conv1d()
    assert package is not None, "external_convolution_takes was asked"
    folded = package.causal_conv1d_fn(
        time_last(x),
        weight.flatten(0, 1).contiguous(),
        bias=None if bias is None else bias.to(weight.dtype).flatten().contiguous(),
        activation="silu",
    )
    return channels_last(folded, x.shape[0])


def time_last(x: Tensor) -> Tensor:
    """(members, batch, length, d) to (batch, members·d, length), time innermost.

    >>> time_last(torch.arange(8).view(2, 1, 2, 2)).tolist()
    [[[0, 2], [1, 3], [4, 6], [5, 7]]]
    """
    return x.permute(1, 0, 3, 2).flatten(1, 2).contiguous()


def grouped(x: Tensor) -> Tensor:
    """(members, batch, length, n) to (batch, members, n, length), time innermost."""
    return x.permute(1, 0, 3, 2).contiguous()


def channels_last(folded: Tensor, members: int) -> Tensor:
    """(batch, members·d, length) back to (members, batch, length, d), a view."""
    return folded.unflatten(1, (members, -1)).permute(1, 0, 3, 2)
