"""A causal convolution as long as the sequence on a GPU, by its sum, as a differentiable function."""

# Triton need not be installed, and its types are those inside a kernel, not those of a launch by subscripts.
# pyright: reportMissingImports=false, reportIndexIssue=false, reportCallIssue=false, reportArgumentType=false
# pyright: reportReturnType=false

from typing import Any

import torch
import triton
from torch import Tensor

from separatrix.models.kernels.gpu.long_convolution_triton import convolution_kernel, kernel_gradient_kernel
from separatrix.models.kernels.gpu.selective_function import in_rows
from separatrix.models.scans.once import differentiable_once

SPAN, ROWS, BLOCK = 8, 4, 32
# More sequences in one part of the kernel's gradient make fewer parts to add up.
GRADIENT_ROWS = 4


class LongConvolution(torch.autograd.Function):
    """Shapes as in ``long_convolution.causal_convolution``."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, kernel: Tensor) -> Tensor:
        """Launch the convolution."""
        x, kernel = in_rows(x), kernel.float().contiguous()
        ctx.save_for_backward(x, kernel)
        return convolved(x, kernel, reverse=False)

    @staticmethod
    @differentiable_once
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, Tensor]:
        """Return the reversed convolution of the gradient, and sums over sequences for the kernel."""
        x, kernel = ctx.saved_tensors
        members, batch, length, channels = x.shape
        gradient = gradients[0].contiguous()
        blocks = triton.cdiv(batch, GRADIENT_ROWS)
        to_kernel = torch.empty(members, blocks, length, channels, dtype=torch.float32, device=x.device)
        grid = (members * blocks, triton.cdiv(length, SPAN), triton.cdiv(channels, BLOCK))
        kernel_gradient_kernel[grid](
            x, gradient, to_kernel, batch, length, channels, x.stride(1), x.stride(2),
            SPAN=SPAN, ROWS=GRADIENT_ROWS, BLOCK=BLOCK, num_warps=1,
        )  # fmt: skip
        return convolved(gradient, kernel, reverse=True), to_kernel.sum(1)


def convolved(x: Tensor, kernel: Tensor, *, reverse: bool) -> Tensor:
    """Launch the convolution kernel."""
    members, batch, length, channels = x.shape
    output = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    grid = (members * triton.cdiv(batch, ROWS), triton.cdiv(length, SPAN), triton.cdiv(channels, BLOCK))
    convolution_kernel[grid](
        x, kernel, output, batch, length, channels, x.stride(1), x.stride(2),
        REVERSED=reverse, SPAN=SPAN, ROWS=ROWS, BLOCK=BLOCK, num_warps=1,
    )  # fmt: skip
    return output
