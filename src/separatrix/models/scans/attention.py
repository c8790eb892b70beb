"""Linear attention with a decay, in chunks: the common core of linear Transformers, RetNet and Mamba-2.

    S_t = exp(g_t) S_{t-1} + k_t v_tᵀ,  o_t = S_tᵀ q_t,  that is  o_t = Σ_{s≤t} exp(g_{s+1} + … + g_t) (q_t·k_s) v_s

Inside a chunk this is a masked matrix product; from chunk to chunk the states follow a linear recurrence, solved by
the parallel scan. Time and memory are linear in the length: with chunks of T positions, T·(K + V) + 2·K·V
multiplications and about 2·T + K·V/T kept numbers for each position and head (K, V: sizes of keys and values).

Decays stay logarithms until two of them have been subtracted within one chunk, so every exponential is at most 1 and
nothing overflows or is divided by. (Hua et al. 2022; Sun et al. 2023, chunkwise form; Dao and Gu 2024, §6.)
"""

import torch
from torch import Tensor
from torch.nn import functional

from separatrix.models.scans.decays import decays
from separatrix.models.scans.exact import at_least_float32
from separatrix.models.scans.recurrence import linear_recurrence, suffix_sums

CHUNK = 64
# Up to here one chunk, that is the plain quadratic form, is faster than two.
ONE_CHUNK = 128


def chunk_size(length: int) -> int:
    """Return positions in a chunk: at most 64, a multiple of 8, chosen so that little padding is added.

    >>> chunk_size(100), chunk_size(130), chunk_size(400), chunk_size(4096)
    (100, 48, 64, 64)
    """
    if length <= ONE_CHUNK:
        return length
    count = -(-length // CHUNK)
    return -(-length // (8 * count)) * 8


def chunked(tensor: Tensor, size: int, dim: int) -> Tensor:
    """Split axis ``dim`` (negative) into (chunks, size), filled up with zeros."""
    missing = -tensor.shape[dim] % size
    if missing:
        tensor = functional.pad(tensor, (0, 0) * (-dim - 1) + (0, missing))
    return tensor.unflatten(dim, (-1, size))


def whole(tensor: Tensor, length: int) -> Tensor:
    """Undo :func:`chunked`: (…, chunks, size, k) to (…, length, k)."""
    joined = tensor.flatten(-3, -2)
    return joined if joined.shape[-2] == length else joined[..., :length, :]


def segment_decays(log_decay: Tensor) -> Tensor:
    """exp(g_{s+1} + … + g_t) for s ≤ t and 0 for s > t: (…, T) to (…, T, T)."""
    size = log_decay.shape[-1]
    summed = log_decay.cumsum(-1)
    past = torch.ones(size, size, dtype=torch.bool, device=log_decay.device).tril()
    return decays((summed.unsqueeze(-1) - summed.unsqueeze(-2)).masked_fill(~past, float("-inf")))


def decayed_attention(
    query: Tensor, key: Tensor, value: Tensor, log_decay: Tensor | None = None, *, chunk: int | None = None
) -> Tensor:
    """Return the outputs o of all positions.

    query, key (…, length, K), value (…, length, V), log_decay g ≤ 0 (…, length), in at least float32, None for no
    decay. Axes in front may be of size 1 where a tensor is shared (one key for all heads, one decay for the batch).
    Returns (…, length, V) in the type of ``value``.
    """
    length = value.shape[-2]
    size = chunk or chunk_size(length)
    if length <= size:
        return torch.matmul(_scores(query, key, log_decay), value)
    query, key, value = (chunked(each, size, -2) for each in (query, key, value))
    if log_decay is None:
        states = torch.matmul(key.transpose(-1, -2), value)
        before = before_chunks(states.to(at_least_float32(states.dtype)).cumsum(-3))
        within = torch.matmul(_scores(query, key, None), value)
        return whole(within + torch.matmul(query, before.to(value.dtype)), length)
    log_decay = chunked(log_decay, size, -1)
    summed = log_decay.cumsum(-1)
    to_end = decays(summed[..., -1:] - summed).unsqueeze(-1).to(value.dtype)
    states = torch.matmul(key.transpose(-1, -2), value * to_end).to(log_decay.dtype)
    over_chunk = decays(summed[..., -1]).unsqueeze(-1).unsqueeze(-1)
    before = before_chunks(linear_recurrence(over_chunk, states, dim=states.dim() - 3)).to(value.dtype)
    within = torch.matmul(_scores(query, key, log_decay), value)
    from_start = decays(summed).unsqueeze(-1).to(value.dtype)
    return whole(within + torch.matmul(query, before) * from_start, length)


def _scores(query: Tensor, key: Tensor, log_decay: Tensor | None) -> Tensor:
    """Masked and decayed q_t·k_s of a chunk."""
    scores = torch.matmul(query, key.transpose(-1, -2))
    return scores.tril() if log_decay is None else scores * segment_decays(log_decay).to(scores.dtype)


def before_chunks(states: Tensor) -> Tensor:
    """Return what stood before each chunk: (…, chunks, K, V), shifted by one."""
    return torch.cat([torch.zeros_like(states[..., :1, :, :]), states[..., :-1, :, :]], dim=-3)


def decayed_weights(query: Tensor, key: Tensor, read: Tensor, log_decay: Tensor | None = None) -> Tensor:
    """Return the weights of the past at the positions read, so that o = weights · value: (members, batch, heads, reads,
    N).

    query (members, batch, heads, reads, K), key (members, batch, heads, N, K), read (members, batch, reads), log_decay
    (members, batch, heads, N). Costs reads · N · K; for few reads that is less than any form that makes all outputs.
    Decays are summed backwards from the position read, so that they are exact where they matter.
    """
    length = key.shape[-2]
    weights = torch.matmul(query, key.transpose(-1, -2))
    past = (torch.arange(length, device=read.device) <= read.unsqueeze(-1)).unsqueeze(2)
    if log_decay is None:
        return weights * past
    return weights * torch.where(past, decays(suffix_sums(log_decay.unsqueeze(-2) * past, -1)), 0).to(weights.dtype)
