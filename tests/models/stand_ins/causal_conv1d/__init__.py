"""Stands in for the package causal-conv1d: its convolution on a CPU, which takes what the CUDA kernel takes."""

import torch
from torch import Tensor
from torch.nn import functional

CALLS: list[tuple[int, ...]] = []
"""The shape of x in each call."""


def causal_conv1d_fn(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    seq_idx: Tensor | None = None,
    initial_states: Tensor | None = None,
    return_final_states: bool = False,
    final_states_out: Tensor | None = None,
    activation: str | None = None,
) -> Tensor:
    """x (batch, dim, length), weight (dim, taps), bias (dim,)."""
    CALLS.append(tuple(x.shape))
    (_, dim, length), taps = x.shape, weight.shape[1]
    assert weight.shape == (dim, taps) and 2 <= taps <= 4
    assert x.dtype in (torch.float32, torch.float16, torch.bfloat16) and x.stride(2) == 1
    assert bias is None or (bias.dtype == weight.dtype and bias.shape == (dim,) and bias.stride(-1) == 1)
    assert seq_idx is initial_states is final_states_out is None and not return_final_states
    output = torch.zeros_like(x) if bias is None else torch.zeros_like(x) + bias[:, None]
    for back in range(min(taps, length)):
        earlier = functional.pad(x[..., : length - back], (back, 0))
        output = output + weight[:, taps - 1 - back, None] * earlier
    return (functional.silu(output) if activation in ("silu", "swish") else output).to(x.dtype)
