"""Heads and pairs: splitting and joining the one, turning the other."""

import torch
from torch import Tensor


def split_heads(x: Tensor, heads: int) -> Tensor:
    """(members, batch, length, heads·k) to (members, batch, heads, length, k)."""
    return x.unflatten(-1, (heads, -1)).transpose(2, 3)


def join_heads(x: Tensor) -> Tensor:
    """(members, batch, heads, length, k) to (members, batch, length, heads·k)."""
    return x.transpose(2, 3).flatten(3)


def turn(x: Tensor, cosine: Tensor, sine: Tensor) -> Tensor:
    """Turn the pairs (i, i + m/2) of the last axis: x (…, m), cosine and sine (…, m/2)."""
    first, second = x.chunk(2, dim=-1)
    return torch.cat([first * cosine - second * sine, second * cosine + first * sine], dim=-1)
