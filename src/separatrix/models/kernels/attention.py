"""Linear attention and retention from a projection: Triton kernels on a GPU, plain operations elsewhere.

``projected`` (members, batch, length, …) holds the queries of all heads, then their keys, then their values.
"""

from torch import Tensor
from torch.nn import functional

from separatrix.models.kernels.available import kernel_takes
from separatrix.models.scans.attention import decayed_attention
from separatrix.models.scans.exact import at_least_float32
from separatrix.models.scans.heads import join_heads, split_heads, turn

EPSILON = 1e-6
# Tiles of more columns would not fit into registers.
LARGEST = 128


def feature_map(x: Tensor) -> Tensor:
    """elu(x) + 1, positive."""
    return functional.elu(x) + 1.0


def feature_attention(projected: Tensor, heads: int) -> Tensor:
    """Σ_{s≤t} (φ(q_t)·φ(k_s)) v_s / (Σ_{s≤t} φ(q_t)·φ(k_s) + 10⁻⁶), φ = elu + 1, for each head.

    projected (members, batch, length, 3·width); returns (members, batch, length, width).
    """
    keys = projected.shape[-1] // (3 * heads)
    if keys > LARGEST or not kernel_takes(projected):
        return plain_feature_attention(projected, heads)
    from separatrix.models.kernels.gpu.attention_function import ChunkedAttention
    from separatrix.models.kernels.gpu.launch import launched

    return launched(ChunkedAttention, projected, heads, keys, 1.0, True, None, None, None)


def plain_feature_attention(projected: Tensor, heads: int) -> Tensor:
    """Return the same by the plain chunked form: the kernel's oracle."""
    query, key, value = (split_heads(each, heads) for each in projected.chunk(3, dim=-1))
    query, key = feature_map(query), feature_map(key)
    exact = at_least_float32(value.dtype)
    norm = (query * key.cumsum(-2, dtype=exact)).sum(-1, keepdim=True) + EPSILON
    return join_heads(decayed_attention(query, key, value) / norm.to(value.dtype))


def retention(projected: Tensor, heads: int, scale: float, log_decay: Tensor, cosine: Tensor, sine: Tensor) -> Tensor:
    """scale · Σ_{s≤t} γ^(t-s) (R_t q_t · R_s k_s) v_s for each head, R_t turning pairs (i, i + m/2) by an angle.

    projected (members, batch, length, 4·width), values twice as wide; log_decay log γ (heads,); cosine, sine of the
    angles (length, m/2). Returns (members, batch, length, 2·width).
    """
    keys = projected.shape[-1] // (4 * heads)
    power = keys & (keys - 1) == 0
    if not 16 <= keys <= LARGEST // 2 or not power or not kernel_takes(projected):
        return plain_retention(projected, heads, scale, log_decay, cosine, sine)
    from separatrix.models.kernels.gpu.attention_function import ChunkedAttention
    from separatrix.models.kernels.gpu.launch import launched

    return launched(ChunkedAttention, projected, heads, keys, scale, False, log_decay, cosine, sine)


def plain_retention(
    projected: Tensor, heads: int, scale: float, log_decay: Tensor, cosine: Tensor, sine: Tensor
) -> Tensor:
    """Return the same by the plain chunked form: the kernel's oracle."""
    width, length = projected.shape[-1] // 4, projected.shape[2]
    query, key, value = projected.split([width, width, 2 * width], dim=-1)
    cosine, sine = cosine.to(value.dtype), sine.to(value.dtype)
    query, key = (turn(split_heads(each, heads), cosine, sine) for each in (query, key))
    decays = log_decay.unsqueeze(-1).expand(-1, length)[None, None]
    return join_heads(decayed_attention(query * scale, key, split_heads(value, heads), decays))
