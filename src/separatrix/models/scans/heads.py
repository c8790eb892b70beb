"""Heads and pairs: splitting and joining the one, turning the other."""

import torch
from torch import Tensor


def split_heads(x: Tensor, heads: int) -> Tensor:
    """(members, batch, length, heads·k) to (members, batch, heads, length, k).

    >>> split_heads(torch.arange(8).view(1, 1, 2, 4), heads=2).tolist()
    [[[[[0, 1], [4, 5]], [[2, 3], [6, 7]]]]]
    """
    return x.unflatten(-1, (heads, -1)).transpose(2, 3)


def join_heads(x: Tensor) -> Tensor:
    """(members, batch, heads, length, k) to (members, batch, length, heads·k)."""
    return x.transpose(2, 3).flatten(3)


def by_heads(weight: Tensor, heads: int) -> Tensor:
    """Return the maps of the heads as matrices of their own: (members, width, heads·k) to (members·heads, width, k)."""
    members, width, _ = weight.shape
    return weight.unflatten(-1, (heads, -1)).transpose(1, 2).reshape(members * heads, width, -1)


def turn(x: Tensor, cosine: Tensor, sine: Tensor) -> Tensor:
    """Turn the pairs (i, i + m/2) of the last axis: x (…, m), cosine and sine (…, m/2).

    >>> turn(torch.tensor([3.0, 4.0]), torch.zeros(1), torch.ones(1))
    tensor([-4.,  3.])
    """
    first, second = x.chunk(2, dim=-1)
    return torch.cat([first * cosine - second * sine, second * cosine + first * sine], dim=-1)
