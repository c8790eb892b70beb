"""silu(short causal convolution) on a GPU as a differentiable function; only its inputs are kept."""

# Triton need not be installed, and its types are those inside a kernel, not those of a launch by subscripts.
# pyright: reportMissingImports=false, reportIndexIssue=false, reportCallIssue=false, reportArgumentType=false
# pyright: reportReturnType=false

from typing import Any

import torch
import triton
from torch import Tensor

from separatrix.models.kernels.gpu.convolution_triton import backward_kernel, forward_kernel
from separatrix.models.kernels.gpu.selective_function import in_rows
from separatrix.models.scans.once import differentiable_once

POSITIONS, BLOCK = 16, 64
# With the three positions behind it a segment is 32 steps.
SEGMENT, STRIP = 29, 128


class ConvolveSilu(torch.autograd.Function):
    """Shapes as in ``convolution.convolve_silu``; the bias may be None."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        """Launch the forward kernel."""
        members, batch, length, channels = x.shape
        x, weight = in_rows(x), weight.transpose(1, 2).contiguous()
        bias = None if bias is None else bias.contiguous()
        output = torch.empty(x.shape, dtype=x.dtype, device=x.device)
        grid = (members * batch, triton.cdiv(length, POSITIONS), triton.cdiv(channels, BLOCK))
        forward_kernel[grid](
            x, weight, weight if bias is None else bias, output, batch, length, channels, x.stride(1), x.stride(2),
            BIASED=bias is not None, TAPS=weight.shape[1], POSITIONS=POSITIONS, BLOCK=BLOCK,
        )  # fmt: skip
        ctx.save_for_backward(x, weight, bias)
        return output

    @staticmethod
    @differentiable_once
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        """Launch the backward kernel and add up the sums of its tiles."""
        x, weight, bias = ctx.saved_tensors
        members, batch, length, channels = x.shape
        taps, tiles = weight.shape[1], triton.cdiv(length, SEGMENT)
        to_x = torch.empty(x.shape, dtype=x.dtype, device=x.device)
        exact = {"dtype": torch.float32, "device": x.device}
        to_weight = torch.empty(members, batch * tiles, taps, channels, **exact)
        to_bias = torch.empty(members, batch * tiles, channels, **exact) if bias is not None else to_weight
        backward_kernel[(members * batch, tiles, triton.cdiv(channels, STRIP))](
            x, weight, weight if bias is None else bias, gradients[0].contiguous(), to_x, to_weight, to_bias,
            batch, length, channels, x.stride(1), x.stride(2),
            BIASED=bias is not None, SEGMENT=SEGMENT, BLOCK=STRIP, num_warps=1,
        )  # fmt: skip
        return to_x, to_weight.sum(1).transpose(1, 2), None if bias is None else to_bias.sum(1)
