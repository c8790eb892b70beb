"""The gated selective scan on a GPU as a differentiable function: allocates, launches the kernels, adds up sums.

Nothing here waits for the device or looks at values, so a step can be captured in a CUDA graph. Kept for the backward
pass: the inputs, the output before the gate, and the states before every fourth position, that is 4·length·d numbers
of float32 for each sequence at n = 16.
"""

# Triton need not be installed, and its types are those inside a kernel, not those of a launch by subscripts.
# pyright: reportMissingImports=false, reportIndexIssue=false, reportCallIssue=false, reportArgumentType=false
# pyright: reportReturnType=false

from typing import Any

import torch
import triton
from torch import Tensor

from separatrix.models.kernels.gpu.selective_triton import backward_kernel, forward_kernel
from separatrix.models.scans.once import differentiable_once

CHUNK = 4
BLOCK = 32


class GatedSelectiveScan(torch.autograd.Function):
    """Shapes as in ``selective.gated_selective_scan``; the gate may be None."""

    @staticmethod
    def forward(
        ctx: Any,
        x: Tensor,
        step: Tensor,
        rate: Tensor,
        write: Tensor,
        query: Tensor,
        skip: Tensor,
        gate: Tensor | None,
        bias: Tensor,
    ) -> Tensor:
        """Launch the forward kernel."""
        members, batch, length, channels = x.shape
        states, rows = rate.shape[-1], members * batch
        x, step = in_rows(x), in_rows(step)
        gate = None if gate is None else in_rows(gate)
        exact = (rate.transpose(1, 2), write, query, skip, bias)
        rate, write, query, skip, bias = (each.float().contiguous() for each in exact)
        ungated = torch.empty(x.shape, dtype=x.dtype, device=x.device)
        output = ungated if gate is None else torch.empty_like(ungated)
        starts = torch.empty(rows, triton.cdiv(length, CHUNK), states, channels, dtype=torch.float32, device=x.device)
        forward_kernel[(rows, triton.cdiv(channels, BLOCK))](
            x, step, rate, write, query, skip, x if gate is None else gate, bias, output, ungated, starts,
            batch, length, channels, states, 0,
            *strides(x, step, write, query, gate),
            **settings(length, channels, states, gate),
        )  # fmt: skip
        ctx.save_for_backward(x, step, rate, write, query, skip, gate, bias, ungated, starts)
        return output

    @staticmethod
    @differentiable_once
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        """Launch the backward kernel and add up what it left in parts."""
        x, step, rate, write, query, skip, gate, bias, ungated, starts = ctx.saved_tensors
        members, batch, length, channels = x.shape
        states, rows = rate.shape[1], members * batch
        blocks = triton.cdiv(channels, BLOCK)
        gradient = gradients[0].contiguous()

        def like(tensor: Tensor) -> Tensor:
            return torch.empty(tensor.shape, dtype=tensor.dtype, device=tensor.device)

        to_x, to_step = like(x), like(step)
        to_gate = None if gate is None else like(gate)
        to_write, to_query = (starts.new_empty(blocks, members, batch, length, states) for _ in range(2))
        to_rate = starts.new_empty(members, batch, states, channels)
        to_skip, to_bias = (starts.new_empty(members, batch, channels) for _ in range(2))
        backward_kernel[(rows, blocks)](
            x, step, rate, write, query, skip, x if gate is None else gate, bias, ungated, starts, gradient,
            to_x, to_step, to_rate, to_write, to_query, to_skip, to_x if to_gate is None else to_gate, to_bias,
            rows, batch, length, channels, states,
            *strides(x, step, write, query, gate),
            **settings(length, channels, states, gate),
        )  # fmt: skip
        return (
            to_x, to_step, to_rate.sum(1).transpose(1, 2), to_write.sum(0), to_query.sum(0), to_skip.sum(1),
            to_gate, to_bias.sum(1),
        )  # fmt: skip


def in_rows(tensor: Tensor) -> Tensor:
    """Return the tensor itself where (members, batch) is one axis of rows and channels lie together, else a copy."""
    _, batch, _, _ = tensor.shape
    fits = tensor.stride(3) == 1 and tensor.stride(0) == batch * tensor.stride(1)
    return tensor if fits else tensor.contiguous()


def strides(*tensors: Tensor | None) -> list[int]:
    """Distance between rows and between positions of each; 0 for none."""
    return [0 if each is None else each.stride(axis) for each in tensors for axis in (1, 2)]


def settings(length: int, channels: int, states: int, gate: Tensor | None) -> dict[str, Any]:
    """Return what is known when a kernel is compiled."""
    padded = triton.next_power_of_2(states)
    return {
        "GATED": gate is not None,
        "MASKED": bool(length % CHUNK or channels % BLOCK or states != padded),
        "CHUNK": CHUNK,
        "STATES": padded,
        "BLOCK": BLOCK,
        "num_warps": 1,
    }
