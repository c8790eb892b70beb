"""The linear recurrence h_t = a_t h_{t-1} + b_t as a work-efficient parallel scan (Blelloch 1990).

Neighbours are combined, (a', b') after (a, b) being (a'a, a'b + b'), the shorter sequence is solved in the same way,
and the positions in between follow. That is 2 log₂ N steps of whole-tensor operations and O(N) work. Decays are never
divided by, so nothing overflows for |a| ≤ 1; products of many decays become 0, as they should.

The derivative is the same recurrence backwards, g_t = dh_t + a_{t+1} g_{t+1}, db_t = g_t, da_t = g_t h_{t-1}: it needs
the decays and the states and nothing of the scan's inside, so memory is two tensors of the size of ``drive``.
"""

from typing import Any

import torch
from torch import Tensor

from separatrix.models.scans.once import differentiable_once

# Below this many positions plain steps cost less than another level of the scan.
SHORT = 4


def linear_recurrence(decay: Tensor, drive: Tensor, dim: int) -> Tensor:
    """h_t = decay_t · h_{t-1} + drive_t along axis ``dim`` with h = 0 before the first; the states of all positions.

    ``decay`` has as many axes as ``drive`` and may have size 1 where it is the same along an axis (but not on ``dim``).
    """
    result = _LinearRecurrence.apply(decay, drive, dim)
    assert isinstance(result, Tensor)
    return result


def scan(decay: Tensor, drive: Tensor) -> Tensor:
    """Return the states of the recurrence along the first axis, without derivatives."""
    length = drive.shape[0]
    states = torch.empty_like(drive)
    states[0] = drive[0]
    if length <= SHORT:
        for position in range(1, length):
            torch.addcmul(drive[position], decay[position], states[position - 1], out=states[position])
        return states
    even = length - length % 2
    first, second = slice(0, even, 2), slice(1, even, 2)
    pairs = scan(decay[second] * decay[first], torch.addcmul(drive[second], decay[second], drive[first]))
    states[second] = pairs
    between = slice(2, length, 2)
    states[between] = torch.addcmul(drive[between], decay[between], pairs[: (length - 1) // 2])
    return states


def scan_back(decay: Tensor, drive: Tensor) -> Tensor:
    """g_t = decay_{t+1} · g_{t+1} + drive_t along the first axis; ``decay[0]`` is not used."""
    length = drive.shape[0]
    states = torch.empty_like(drive)
    states[-1] = drive[-1]
    if length <= SHORT:
        for position in range(length - 2, -1, -1):
            torch.addcmul(drive[position], decay[position + 1], states[position + 1], out=states[position])
        return states
    first, second = slice(0, length, 2), slice(1, length, 2)
    pairs = drive[first].clone()
    pairs[: length // 2].addcmul_(decay[second], drive[second])
    links = torch.cat([decay[:1], decay[1 : length - 1 : 2] * decay[2:length:2]])
    states[first] = scan_back(links, pairs)
    inner = slice(1, length - 1, 2)
    states[inner] = torch.addcmul(drive[inner], decay[2:length:2], states[2:length:2])
    return states


def suffix_sums(tensor: Tensor, dim: int) -> Tensor:
    """Σ of all later entries, the own one left out, along an axis.

    >>> suffix_sums(torch.tensor([1.0, 2.0, 4.0]), dim=0)
    tensor([6., 4., 0.])
    """
    later = tensor.flip(dim).cumsum(dim).flip(dim)
    rest = later.narrow(dim, 1, later.shape[dim] - 1)
    return torch.cat([rest, torch.zeros_like(later.narrow(dim, 0, 1))], dim=dim)


class _LinearRecurrence(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, decay: Tensor, drive: Tensor, dim: int) -> Tensor:
        states = scan(decay.movedim(dim, 0), drive.movedim(dim, 0).contiguous())
        ctx.save_for_backward(decay, states)
        ctx.dim = dim
        return states.movedim(0, dim)

    @staticmethod
    @differentiable_once
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, Tensor, None]:
        decay, states = ctx.saved_tensors
        dim = ctx.dim
        moved = decay.movedim(dim, 0)
        back = scan_back(moved, gradients[0].movedim(dim, 0).contiguous())
        to_decay = None
        if ctx.needs_input_grad[0]:
            before = torch.cat([torch.zeros_like(states[:1]), states[:-1]])
            to_decay = (back * before).sum_to_size(moved.shape).movedim(0, dim)
        return to_decay, back.movedim(0, dim), None
