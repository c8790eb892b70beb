"""Linear attention on a GPU as a differentiable function of the projection that holds queries, keys and values.

Kept for the backward pass: the projection, the output, and for the normalised form one number for each position and
head. Nothing waits for the device, so a step can be captured in a CUDA graph.
"""

# Triton need not be installed, and its types are those inside a kernel, not those of a launch by subscripts.
# pyright: reportMissingImports=false, reportIndexIssue=false, reportCallIssue=false, reportArgumentType=false
# pyright: reportReturnType=false

from typing import Any

import torch
import triton
from torch import Tensor

from separatrix.models.kernels.gpu.attention_triton import forward_kernel, key_value_kernel, query_kernel
from separatrix.models.scans.once import differentiable_once

ROWS = 32
LOG2E = 1.4426950408889634


class ChunkedAttention(torch.autograd.Function):
    """projected (members, batch, length, 2·K·heads + V·heads) to (members, batch, length, V·heads).

    ``log_decay`` (heads,) or None; ``cosine``, ``sine`` (length, K/2) or None; ``features`` applies elu + 1 and the
    normaliser.
    """

    @staticmethod
    def forward(
        ctx: Any,
        projected: Tensor,
        heads: int,
        keys: int,
        scale: float,
        features: bool,
        log_decay: Tensor | None,
        cosine: Tensor | None,
        sine: Tensor | None,
    ) -> Tensor:
        """Launch the forward kernel."""
        members, batch, length, whole = projected.shape
        values = whole // heads - 2 * keys
        projected = projected.contiguous()
        rate = projected if log_decay is None else (log_decay * LOG2E).float().contiguous()
        cosine = projected if cosine is None else cosine.float().contiguous()
        sine = projected if sine is None else sine.float().contiguous()
        output = projected.new_empty(members, batch, length, heads * values)
        norm = projected.new_empty(members, batch, heads, length if features else 0, dtype=torch.float32)
        ctx.numbers = (length, heads, length * whole, whole, keys, values, heads * values)
        ctx.scale = scale
        ctx.settings = {
            "FEATURES": features, "NORMAL": features, "DECAYED": log_decay is not None,
            "TURNED": cosine is not projected, "KEYS": keys, "VALUES": values, "ROWS": ROWS,
            "KEY_BLOCK": block(keys), "VALUE_BLOCK": block(values),
            "PRECISION": "ieee" if projected.dtype == torch.float32 else "tf32",
            "num_warps": 4 if block(keys) * block(values) <= 8192 else 8,
        }  # fmt: skip
        forward_kernel[(members * batch, heads)](
            *parts(projected, heads * keys), rate, cosine, sine, output, norm, *ctx.numbers, scale, **ctx.settings
        )
        ctx.save_for_backward(projected, rate, cosine, sine, output, norm)
        return output

    @staticmethod
    @differentiable_once
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        """Launch the two backward kernels."""
        projected, rate, cosine, sine, output, norm = ctx.saved_tensors
        members, batch = projected.shape[:2]
        _, heads, row_stride, stride, keys, _, _ = ctx.numbers
        to_projected = torch.empty_like(projected)
        inputs = (*parts(projected, heads * keys), rate, cosine, sine, output, norm, gradients[0].contiguous())
        to_query, to_key, to_value = parts(to_projected, heads * keys)
        rest = (*ctx.numbers, row_stride, stride, ctx.scale)
        grid = (members * batch, heads)
        query_kernel[grid](*inputs, to_query, *rest, **ctx.settings)
        key_value_kernel[grid](*inputs, to_key, to_value, *rest, **ctx.settings)
        return to_projected, *[None] * 7


def parts(projected: Tensor, width: int) -> tuple[Tensor, Tensor, Tensor]:
    """Return views at the first query, key and value."""
    return projected[..., :width], projected[..., width : 2 * width], projected[..., 2 * width :]


def block(size: int) -> int:
    """Columns of a tile: a power of two, at least 16 for the tensor cores."""
    return max(16, triton.next_power_of_2(size))
