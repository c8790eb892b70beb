"""Linear attention whose decay differs from key to key (gated linear attention, Yang et al. 2023), in chunks.

    S_t = diag(exp(g_t)) S_{t-1} + k_t v_tᵀ,    o_t = S_tᵀ q_t

From chunk to chunk as in ``attention``. Inside a chunk the scores Σ_k q_t[k] k_s[k] exp(c_t[k] - c_s[k]), with c the
sum of g so far, do not factor without exponentials of positive numbers, which overflow for strong gates. Yang et al.
compute blocks on the diagonal entry by entry. Here the chunk is halved again and again instead: every pair s < t is
separated at exactly one middle m, and there

    exp(c_t - c_s) = exp(c_t - c_m) · exp(c_m - c_s)

has both exponents at most 0. So all scores are matrix products, log₂ T of them, stable for any gates. Time and memory
are linear in the length: for each position and head about T·(K + V)·(1 + 1/2 + …) + 2·K·V multiplications and
2·K·log₂ T + 2·T kept numbers.
"""

import torch
from torch import Tensor

from separatrix.bit_counts import bits_for
from separatrix.models.scans.attention import before_chunks, chunked, whole
from separatrix.models.scans.decays import decays
from separatrix.models.scans.recurrence import linear_recurrence, suffix_sums

CHUNK = 32


def keywise_attention(query: Tensor, key: Tensor, value: Tensor, log_decay: Tensor) -> Tensor:
    """Return the outputs o of all positions: query, key, log_decay g ≤ 0 (…, length, K), value (…, length, V).

    ``log_decay`` is in at least float32. Returns (…, length, V) in the type of ``value``.
    """
    length = value.shape[-2]
    size = min(CHUNK, 1 << bits_for(length))
    query, key, value, log_decay = (chunked(each, size, -2) for each in (query, key, value, log_decay))
    summed = log_decay.cumsum(-2)
    outputs = torch.matmul(halved_scores(query, key, summed), value)
    if length > size:
        kind = value.dtype
        end = summed[..., -1:, :]
        states = torch.matmul((key * decays(end - summed).to(kind)).transpose(-1, -2), value).to(summed.dtype)
        states = linear_recurrence(decays(end).transpose(-1, -2), states, dim=states.dim() - 3)
        outputs = outputs + torch.matmul(query * decays(summed).to(kind), before_chunks(states).to(kind))
    return whole(outputs, length)


def halved_scores(query: Tensor, key: Tensor, summed: Tensor) -> Tensor:
    """Σ_k q_t[k] k_s[k] exp(c_t[k] - c_s[k]) for s ≤ t, 0 for s > t: (…, T, K) to (…, T, T), T a power of two."""
    size = query.shape[-2]
    # (…, blocks, rows, columns): finished squares on the diagonal, at first of one position each.
    squares = (query * key).sum(-1)[..., None, None]
    half = 1
    while half < size:
        query_half, key_half, sums = (each.unflatten(-2, (-1, 2, half)) for each in (query, key, summed))
        middle = sums[..., 0, -1:, :]
        later = query_half[..., 1, :, :] * decays(sums[..., 1, :, :] - middle).to(query.dtype)
        earlier = key_half[..., 0, :, :] * decays(middle - sums[..., 0, :, :]).to(key.dtype)
        across = torch.matmul(later, earlier.transpose(-1, -2))
        squares = squares.unflatten(-3, (-1, 2))
        top = torch.cat([squares[..., 0, :, :], torch.zeros_like(across)], dim=-1)
        squares = torch.cat([top, torch.cat([across, squares[..., 1, :, :]], dim=-1)], dim=-2)
        half *= 2
    return squares.squeeze(-3)


def keywise_weights(query: Tensor, key: Tensor, log_decay: Tensor, position: Tensor) -> Tensor:
    """Return the weights of the past at one position of each sequence: (members, batch, heads, N); o = weights · value.

    query (members, batch, heads, K) at ``position`` (members, batch); key, log_decay (members, batch, heads, N, K).
    """
    past = torch.arange(key.shape[-2], device=key.device) <= position.unsqueeze(-1)
    past = past[:, :, None, :, None]
    kept = torch.where(past, decays(suffix_sums(log_decay * past, -2)), 0).to(key.dtype)
    return torch.matmul(key * kept, query.unsqueeze(-1)).squeeze(-1)
