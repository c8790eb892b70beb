"""A norm over groups with its gate on a GPU, as a differentiable function; only its inputs are kept."""

# Triton need not be installed, and its types are those inside a kernel, not those of a launch by subscripts.
# pyright: reportMissingImports=false, reportIndexIssue=false, reportCallIssue=false, reportArgumentType=false
# pyright: reportReturnType=false

from typing import Any

import torch
import triton
from torch import Tensor

from separatrix.models.kernels.gpu.gated_norm_triton import backward_kernel, forward_kernel
from separatrix.models.scans.once import differentiable_once

# Numbers of a tile, and programs that share the sums of one step.
TILE, PROGRAMS = 2048, 2048


class GatedGroupNorm(torch.autograd.Function):
    """Shapes as in ``gated_norm.gated_group_norm``."""

    @staticmethod
    def forward(
        ctx: Any,
        x: Tensor,
        gate: Tensor,
        gain: Tensor,
        shift: Tensor | None,
        group: int,
        epsilon: float,
        centred: bool,
        norm_first: bool,
    ) -> Tensor:
        """Launch the forward kernel."""
        members, width = x.shape[0], x.shape[-1]
        x, gate, gain = x.contiguous(), gate.contiguous(), gain.contiguous()
        shift = None if shift is None else shift.contiguous()
        rows, groups, block = x.numel() // (members * width), width // group, triton.next_power_of_2(group)
        # One gain for all groups is read again for each of them.
        ctx.numbers = (rows, gain.shape[-1], group if gain.shape[-1] == width else 0)
        ctx.settings = {
            "SIZE": group, "EPSILON": epsilon, "CENTRED": centred, "SHIFTED": shift is not None, "FIRST": norm_first,
            "ROWS": max(1, TILE // block), "BLOCK": block,
        }  # fmt: skip
        output = torch.empty_like(gate)
        grid = (triton.cdiv(rows, ctx.settings["ROWS"]), groups, members)
        forward_kernel[grid](x, gate, gain, gain if shift is None else shift, output, *ctx.numbers, **ctx.settings)
        ctx.save_for_backward(x, gate, gain, shift)
        return output

    @staticmethod
    @differentiable_once
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        """Launch the backward kernel and add up the sums of its programs."""
        x, gate, gain, shift = ctx.saved_tensors
        members, width, group = x.shape[0], x.shape[-1], ctx.settings["SIZE"]
        groups = width // group
        parts = min(triton.cdiv(ctx.numbers[0], ctx.settings["ROWS"]), max(1, PROGRAMS // (members * groups)))
        to_x, to_gate = torch.empty_like(x), torch.empty_like(gate)
        to_gain = torch.empty(members, parts, groups, group, dtype=torch.float32, device=x.device)
        to_shift = to_gain if shift is None else torch.empty_like(to_gain)
        backward_kernel[(parts, groups, members)](
            x, gate, gain, gain if shift is None else shift, gradients[0].contiguous(),
            to_x, to_gate, to_gain, to_shift, *ctx.numbers, **ctx.settings,
        )  # fmt: skip

        def summed(sums: Tensor) -> Tensor:
            return sums.sum((1, 2)) if gain.shape[-1] == group else sums.sum(1).view(members, width)

        return to_x, to_gate, summed(to_gain), None if shift is None else summed(to_shift), *[None] * 4
