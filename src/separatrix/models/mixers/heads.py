"""Heads of linear attention: values that need not be formed.

Where few positions are read, Σ_s w_s (W_V x_s) = W_V (Σ_s w_s x_s): the average of the inputs is formed first and the
values of all positions never are.
"""

import torch
from torch import Tensor

from separatrix.models.scans.heads import by_heads, join_heads, split_heads

# Up to this many reads each one takes its own sum over the past; more take the chunked form of all positions.
FEW_READS = 64


def weighted_values(weights: Tensor, x: Tensor, to_value: Tensor) -> Tensor:
    """Σ_s weights[s] (x_s W_V) for each head.

    weights (members, batch, heads, reads, N), x (members, batch, N, width), to_value (members, width, heads·V).
    Returns (members, batch, reads, heads·V).
    """
    members, batch, heads, reads, length = weights.shape
    width, values = x.shape[-1], to_value.shape[-1]
    if reads * heads > values:
        formed = torch.matmul(x, to_value.unsqueeze(1))
        return join_heads(torch.matmul(weights, split_heads(formed, heads)))
    flat = weights.reshape(members * batch, heads * reads, length)
    averaged = torch.bmm(flat, x.reshape(members * batch, length, width))
    averaged = averaged.view(members, batch, heads, reads, width).permute(0, 2, 1, 3, 4)
    projected = torch.bmm(averaged.reshape(members * heads, batch * reads, width), by_heads(to_value, heads))
    projected = projected.view(members, heads, batch, reads, -1)
    return projected.permute(0, 2, 3, 1, 4).flatten(3)
