"""The selective scan of Mamba (Gu and Dao 2023, Algorithm 2), the plain version: chunked, parallel inside a chunk.

    h_t[d, n] = exp(Δ_t[d] A[d, n]) h_{t-1}[d, n] + Δ_t[d] x_t[d] B_t[n],    y_t[d] = Σ_n C_t[n] h_t[d, n]

Chunks of positions follow each other; inside one the recurrence is the parallel scan of ``recurrence``. As in the
paper's kernel, the (length, d, n) states are never kept: the forward pass keeps the state before each chunk, the
backward pass computes the states of a chunk again. So memory grows with length · d · (1 + n / chunk) for each sequence
instead of length · d · n. Members and slices of the batch are taken one after another, each slice so small that its
states stay in a processor's cache.

The Triton kernel of ``models.kernels`` computes the same with the gate fused in; this is its oracle.
"""

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

from separatrix.models.scans.decays import raise_in_place
from separatrix.models.scans.exact import at_least_float32
from separatrix.models.scans.once import differentiable_once
from separatrix.models.scans.recurrence import scan, scan_back, suffix_sums

CHUNK = 16
# States computed at once; 2 MB in float32.
TILE = 1 << 19


def selective_scan(x: Tensor, delta: Tensor, rate: Tensor, write: Tensor, query: Tensor) -> Tensor:
    """Return the outputs y of all positions.

    x, delta (members, batch, length, d); rate A (members, d, n), negative; write B, query C (members, batch, length,
    n). Returns (members, batch, length, d).
    """
    result = _SelectiveScan.apply(x, delta, rate, write, query)
    assert isinstance(result, Tensor)
    return result


def selective_scan_at(x: Tensor, delta: Tensor, rate: Tensor, write: Tensor, query: Tensor, position: Tensor) -> Tensor:
    """Return the output y at one position of each sequence, by its sum over the past; no state is formed.

    Shapes as for :func:`selective_scan`, but query (members, batch, n) at ``position`` (members, batch) only. Returns
    (members, batch, d). y[d] = Σ_s Σ_n C[n] B_s[n] exp(A[d, n] Σ_{s<u≤p} Δ_u[d]) Δ_s[d] x_s[d].
    """
    past = torch.arange(x.shape[2], device=x.device) <= position.unsqueeze(-1)
    delta = delta * past.unsqueeze(-1)
    result = _DecayedSum.apply(suffix_sums(delta, 2), delta * x, write * query.unsqueeze(2), rate)
    assert isinstance(result, Tensor)
    return result


def _tiles(x: Tensor, each: int) -> Iterator[tuple[int, slice]]:
    """Yield members and slices of the batch whose states, ``each`` numbers a sequence, fit into a tile."""
    members, batch = x.shape[:2]
    rows = min(batch, max(1, TILE // each))
    for member in range(members):
        for first in range(0, batch, rows):
            yield member, slice(first, min(batch, first + rows))


def _time_first(tensor: Tensor, member: int, rows: slice, positions: slice) -> Tensor:
    """(members, batch, length, k) to the tile (positions, rows, k), contiguous, in at least float32."""
    tile = tensor[member, rows, positions].transpose(0, 1)
    return tile.to(at_least_float32(tensor.dtype)).contiguous()


def _states(x: Tensor, delta: Tensor, rate: Tensor, write: Tensor, before: Tensor) -> tuple[Tensor, Tensor]:
    """Return decays and states of a tile, (positions, rows, d, n) both, that starts from the state ``before`` (rows, d,
    n)."""
    decay = raise_in_place(delta.unsqueeze(-1) * rate)
    drive = (delta * x).unsqueeze(-1) * write.unsqueeze(2)
    drive[0].addcmul_(decay[0], before)
    return decay, scan(decay, drive)


class _SelectiveScan(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, delta: Tensor, rate: Tensor, write: Tensor, query: Tensor) -> Tensor:
        members, batch, length, channels = x.shape
        state_size = rate.shape[-1]
        rate = rate.to(at_least_float32(rate.dtype))
        starts = rate.new_empty(-(-length // CHUNK), members, batch, channels, state_size)
        output = torch.empty_like(x)
        for member, rows in _tiles(x, CHUNK * channels * state_size):
            state = torch.zeros_like(starts[0, member, rows])
            for number, first in enumerate(range(0, length, CHUNK)):
                place = (member, rows, slice(first, first + CHUNK))
                inputs = [_time_first(each, *place) for each in (x, delta, write, query)]
                starts[number, member, rows] = state
                _, states = _states(inputs[0], inputs[1], rate[member], inputs[2], state)
                output[place] = (states * inputs[3].unsqueeze(2)).sum(-1).transpose(0, 1).to(output.dtype)
                state = states[-1]
        ctx.save_for_backward(x, delta, rate, write, query, starts)
        return output

    @staticmethod
    @differentiable_once
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, ...]:
        x, delta, rate, write, query, starts = ctx.saved_tensors
        _, _, length, channels = x.shape
        to_x, to_delta, to_write, to_query = (torch.empty_like(each) for each in (x, delta, write, query))
        to_rate = torch.zeros_like(rate)
        for member, rows in _tiles(x, CHUNK * channels * rate.shape[-1]):
            later = torch.zeros_like(starts[0, member, rows])
            for number, first in reversed(list(enumerate(range(0, length, CHUNK)))):
                place = (member, rows, slice(first, first + CHUNK))
                part = [_time_first(each, *place) for each in (x, delta, write, query, gradients[0])]
                x_part, delta_part, write_part, query_part, gradient = part
                before = starts[number, member, rows]
                decay, states = _states(x_part, delta_part, rate[member], write_part, before)
                to_query[place] = torch.matmul(gradient.unsqueeze(2), states).squeeze(2).transpose(0, 1)
                back = gradient.unsqueeze(-1) * query_part.unsqueeze(2)
                back[-1] += later
                back = scan_back(decay, back)
                later = decay[0] * back[0]
                drive = delta_part * x_part
                to_write[place] = torch.matmul(drive.unsqueeze(2), back).squeeze(2).transpose(0, 1)
                to_drive = (back * write_part.unsqueeze(2)).sum(-1)
                # The derivative to the exponent Δ A: what follows times the state before times the decay.
                decay[0].mul_(before)
                decay[1:].mul_(states[:-1])
                to_exponent = decay.mul_(back)
                to_rate[member] += (to_exponent * delta_part.unsqueeze(-1)).sum((0, 1))
                to_x[place] = (to_drive * delta_part).transpose(0, 1)
                slope = (to_exponent * rate[member]).sum(-1)
                to_delta[place] = slope.addcmul_(to_drive, x_part).transpose(0, 1)
        return to_x, to_delta, to_rate, to_write, to_query


class _DecayedSum(torch.autograd.Function):
    """y[d] = Σ_s (Σ_n overlap_s[n] exp(since_s[d] rate[d, n])) drive_s[d]; exponentials are computed again going back.

    since, drive (members, batch, length, d), overlap (members, batch, length, n), rate (members, d, n) to (members,
    batch, d).
    """

    @staticmethod
    def forward(ctx: Any, since: Tensor, drive: Tensor, overlap: Tensor, rate: Tensor) -> Tensor:
        output = torch.zeros_like(since[:, :, 0])
        for member, rows, positions in _blocks(since, rate):
            place = (member, rows, positions)
            kept = raise_in_place(since[place].unsqueeze(-1) * rate[member])
            output[member, rows] += (kept.mul_(overlap[place].unsqueeze(2)).sum(-1) * drive[place]).sum(1)
        ctx.save_for_backward(since, drive, overlap, rate)
        return output

    @staticmethod
    @differentiable_once
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, ...]:
        since, drive, overlap, rate = ctx.saved_tensors
        to_since, to_drive, to_overlap = (torch.empty_like(each) for each in (since, drive, overlap))
        to_rate = torch.zeros_like(rate)
        for member, rows, positions in _blocks(since, rate):
            place = (member, rows, positions)
            gradient = gradients[0][member, rows].unsqueeze(1)
            kept = raise_in_place(since[place].unsqueeze(-1) * rate[member])
            to_kept = gradient * drive[place]
            to_overlap[place] = torch.matmul(to_kept.unsqueeze(2), kept).squeeze(2)
            kept.mul_(overlap[place].unsqueeze(2))
            to_drive[place] = kept.sum(-1) * gradient
            to_exponent = kept.mul_(to_kept.unsqueeze(-1))
            to_since[place] = (to_exponent * rate[member]).sum(-1)
            to_rate[member] += (to_exponent * since[place].unsqueeze(-1)).sum((0, 1))
        return to_since, to_drive, to_overlap, to_rate


def _blocks(since: Tensor, rate: Tensor) -> Iterator[tuple[int, slice, slice]]:
    """Yield members, slices of the batch and of the positions whose exponentials fit into a tile."""
    length = since.shape[2]
    for member, rows in _tiles(since, CHUNK * rate.shape[1] * rate.shape[2]):
        for first in range(0, length, CHUNK):
            yield member, rows, slice(first, first + CHUNK)
