"""The gated delta rule (Yang et al. 2024), in chunks: linear attention over values from which the known is taken.

    S_t = α_t (I - β_t k_t k_tᵀ) S_{t-1} + β_t k_t v_tᵀ,    o_t = S_tᵀ q_t,    α_t = exp(g_t)

With u_t = β_t (v_t - α_t S_{t-1}ᵀ k_t) this is S_t = α_t S_{t-1} + k_t u_tᵀ: attention with decay over the corrected
values u. Inside a chunk that starts from state S the corrected values solve a lower triangular system,

    (I + L) U = diag(β) (V - diag(e^c) K S),    L_ts = β_t e^{c_t - c_s} (k_t·k_s) for s < t,

with c the sum of g so far: the WY form of Yang et al. It is solved by substitution (not by powers of L, which cancel
badly where keys repeat), for all chunks at once; only the K × K steps from chunk to chunk follow each other, N/T of
them. Linear in the length: kept numbers for each position and head are about 3·T + 3·(K + V) + K·(K + V)/T.
"""

import torch
from torch import Tensor

from separatrix.models.scans.attention import chunked, decayed_attention, segment_decays, whole
from separatrix.models.scans.decays import decays
from separatrix.models.scans.exact import exactly

CHUNK = 32


def gated_delta_rule(query: Tensor, key: Tensor, value: Tensor, beta: Tensor, log_decay: Tensor) -> Tensor:
    """Return the outputs o of all positions.

    query, key (…, length, K), keys of norm at most 1; value (…, length, V); beta, log_decay g ≤ 0 (…, length), the
    latter in at least float32. Returns (…, length, V) in the type of ``value``.

    What a key holds is replaced, not added to:
    """
    corrected = corrected_values(key, value, beta, log_decay)
    return decayed_attention(query, key, corrected, log_decay)


def corrected_values(key: Tensor, value: Tensor, beta: Tensor, log_decay: Tensor) -> Tensor:
    """Return the values u, (…, length, V): what each position writes after what its key already holds was taken
    away."""
    with exactly(value):
        return _corrected(key, value, beta, log_decay).to(value.dtype)


def _corrected(key: Tensor, value: Tensor, beta: Tensor, log_decay: Tensor) -> Tensor:
    length, exact = value.shape[-2], log_decay.dtype
    size = min(CHUNK, length)
    key, value = (chunked(each.to(exact), size, -2) for each in (key, value))
    beta, log_decay = (chunked(each.to(exact), size, -1) for each in (beta, log_decay))
    summed = log_decay.cumsum(-1).unsqueeze(-1)
    scaled = beta.unsqueeze(-1) * key
    lower = torch.matmul(scaled, key.transpose(-1, -2)) * segment_decays(log_decay)
    right = torch.cat([beta.unsqueeze(-1) * value, decays(summed) * scaled], dim=-1)
    # The diagonal counts as 1 and what is there or above is not looked at.
    solved = torch.linalg.solve_triangular(lower, right, upper=False, unitriangular=True)
    free, taken = solved.split([value.shape[-1], key.shape[-1]], dim=-1)
    to_end = (key * decays(summed[..., -1:, :] - summed)).transpose(-1, -2)
    gain = torch.matmul(to_end, free)
    keep = decays(summed[..., -1:, :]) * torch.eye(key.shape[-1], dtype=exact, device=key.device)
    keep = keep - torch.matmul(to_end, taken)
    states = [torch.zeros_like(gain[..., 0, :, :])]
    for chunk in range(gain.shape[-3] - 1):
        states.append(torch.matmul(keep[..., chunk, :, :], states[-1]) + gain[..., chunk, :, :])
    return whole(free - torch.matmul(taken, torch.stack(states, dim=-3)), length)
