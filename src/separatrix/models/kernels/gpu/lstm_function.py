"""The LSTM over all positions on a GPU as a differentiable function: allocates, launches the kernels, one product more.

Nothing here waits for the device or looks at values, so a step can be captured in a CUDA graph. Kept for the backward
pass: the gates and the states before each position in the type of the input, the cells in float32; at width m that is
14·m bytes a position and sequence in bfloat16. The gates cannot take the place of what enters them, which autograd may
still hold.
"""

# Triton need not be installed, and its types are those inside a kernel, not those of a launch by subscripts.
# pyright: reportMissingImports=false, reportIndexIssue=false, reportCallIssue=false, reportArgumentType=false
# pyright: reportReturnType=false

from dataclasses import dataclass
from functools import cache
from typing import Any

import torch
import triton
from torch import Tensor

from separatrix.models.kernels.gpu.lstm_triton import backward_kernel, forward_kernel
from separatrix.models.scans.once import differentiable_once

SMALLEST = 16
"""Rows and units of the smallest product that the hardware has."""
WIDE = 128
"""Up to here the weights of a member are at most 128 KiB, and reading them again costs little."""


@dataclass(frozen=True)
class Pass:
    """How one direction is cut: units of a product, how many of them are fetched ahead (less one), warps."""

    tile: int
    stages: int
    warps: int


@dataclass(frozen=True)
class Blocking:
    """Sequences of a program, and how each direction is cut."""

    rows: int
    forward: Pass
    backward: Pass


@cache
def multiprocessors(device: torch.device) -> int:
    """Return how many programs can run at once, one on each; 1 where there is no GPU."""
    return torch.cuda.get_device_properties(device).multi_processor_count if device.type == "cuda" else 1


def blocking(members: int, batch: int, width: int, at_once: int) -> Blocking:
    """Return how many sequences a program takes, and what fits into the registers and the shared memory then.

    Every program reads all weights at every position. Where they are large, 16 sequences while every program has a
    multiprocessor of its own, else 32; where they are small, 16 unless that makes more than twice as many programs.
    Measured on an H200 at width 256, length 201, batch 64 (both ways, ms): 5 members 6.0, 7.4, 18.9 for 16, 32, 64
    sequences; 32 members 6.0, 7.2, 19.8; 64 members 13.4, 9.1, 20.9.
    """
    waves = 1 if width > WIDE else 2
    rows = 16 if members * triton.cdiv(batch, 16) <= waves * at_once else 32
    return blocking_of(min(rows, max(SMALLEST, triton.next_power_of_2(batch))), width)


def blocking_of(rows: int, width: int) -> Blocking:
    """Return the cut for this many sequences: in bfloat16 it fits into the shared memory of an H200 (227 KiB), and
    registers do not spill, except 104 bytes a thread for 64 sequences backward."""
    padded, wide = padded_width(width), width > WIDE
    tile = min(32, padded)
    return Blocking(
        rows,
        forward=Pass(tile, 2 if rows == 64 else 3, 8 if wide and rows > 16 else 4),
        backward=Pass(16 if rows == 64 else tile, 3, 8 if wide else 4),
    )


def padded_width(width: int) -> int:
    """Return the next power of two, of which Triton's blocks are made."""
    return max(SMALLEST, triton.next_power_of_2(width))


class LSTMStates(torch.autograd.Function):
    """Shapes as in ``lstm.lstm_states_and_cell``; ``cut`` None chooses the blocking."""

    @staticmethod
    def forward(ctx: Any, entering: Tensor, weight: Tensor, cut: Blocking | None) -> tuple[Tensor, Tensor]:
        """Launch the forward kernel."""
        members, batch, length, gates_width = entering.shape
        width = gates_width // 4
        entering, weight = entering.contiguous(), weight.contiguous()
        cut = cut or blocking(members, batch, width, multiprocessors(entering.device))
        gates = torch.empty_like(entering)
        hidden, before = (entering.new_empty(members, batch, length, width) for _ in range(2))
        cells = entering.new_empty(members, batch, length, width, dtype=torch.float32)
        before[:, :, 0].zero_()
        forward_kernel[(members, triton.cdiv(batch, cut.rows))](
            entering, weight, gates, cells, before, hidden, batch, length, width,
            **settings(entering, width, batch, cut.rows, cut.forward),
        )  # fmt: skip
        ctx.save_for_backward(weight, gates, cells, before)
        ctx.cut = cut
        return hidden, cells[:, :, -1].clone()

    @staticmethod
    @differentiable_once
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, Tensor, None]:
        """Launch the backward kernel; the derivative to the weights is one product over all positions."""
        weight, gates, cells, before = ctx.saved_tensors
        members, batch, length, width = cells.shape
        cut = ctx.cut
        change = torch.empty_like(gates)
        of_states = cells.new_zeros(members, batch, width)
        # What comes back to the cell after the last position; the kernel writes over it.
        of_cells = gradients[1].to(torch.float32).clone(memory_format=torch.contiguous_format)
        backward_kernel[(members, triton.cdiv(batch, cut.rows))](
            weight, gates, cells, gradients[0].to(gates.dtype).contiguous(), change, of_states, of_cells,
            batch, length, width,
            **settings(gates, width, batch, cut.rows, cut.backward),
        )  # fmt: skip
        to_weight = torch.bmm(change.flatten(1, 2).transpose(1, 2), before.flatten(1, 2))
        return change, to_weight, None


def settings(entering: Tensor, width: int, batch: int, rows: int, cut: Pass) -> dict[str, Any]:
    """Return what is known when a kernel is compiled."""
    padded = padded_width(width)
    return {
        "MASKED": bool(width != padded or batch % rows),
        "ROWS": rows,
        "WIDTH": padded,
        "TILE": cut.tile,
        "STAGES": cut.stages,
        "num_warps": cut.warps,
        # Halves are multiplied exactly in any case; float32 must not be cut to 10 bits.
        "EXACT": "ieee" if entering.dtype == torch.float32 else "tf32",
    }
