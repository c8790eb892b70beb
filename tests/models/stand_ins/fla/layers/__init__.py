"""Layers as the package has them: made with ``hidden_size`` and more by name, called with ``hidden_states``."""

from typing import Any

import torch
from torch import Tensor, nn

__all__ = ["GatedLinearAttention", "NarrowAttention", "NoWidth", "RWKV7Attention"]


class InferenceOnly(torch.autograd.Function):
    """As the package's recurrent kernels of some layers, which evaluation runs on short inputs."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        return x.clone()

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Tensor:
        raise NotImplementedError("Backward pass is not implemented yet")


class GatedLinearAttention(nn.Module):
    """S_t = sigmoid(g_t) S_{t-1} + k_t v_tᵀ, o_t = S_tᵀ q_t, by a loop."""

    def __init__(
        self,
        mode: str = "chunk",
        hidden_size: int = 1024,
        num_heads: int = 4,
        layer_idx: int | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__()
        assert mode in ["chunk", "fused_recurrent"], f"Not supported mode `{mode}`."
        assert hidden_size % num_heads == 0, f"key dim must be divisible by num_heads of {num_heads}"
        self.mode, self.num_heads, self.layer_idx = mode, num_heads, layer_idx
        self.qkv_proj = nn.Linear(hidden_size, 3 * hidden_size, bias=False)
        self.g_proj = nn.Linear(hidden_size, num_heads)
        self.o_proj = nn.Linear(hidden_size, hidden_size, bias=False)

    def forward(
        self,
        hidden_states: Tensor,
        attention_mask: Tensor | None = None,
        past_key_values: Any = None,
        use_cache: bool | None = False,
        output_attentions: bool | None = False,
        **kwargs: Any,
    ) -> tuple[Tensor, Tensor | None, Any]:
        query, key, value = (
            part.unflatten(-1, (self.num_heads, -1)) for part in self.qkv_proj(hidden_states).chunk(3, dim=-1)
        )
        gate = torch.sigmoid(self.g_proj(hidden_states))
        state, outputs = torch.zeros_like(key[:, 0].unsqueeze(-1) * value[:, 0].unsqueeze(-2)), []
        for time in range(hidden_states.shape[1]):
            state = gate[:, time, :, None, None] * state + key[:, time].unsqueeze(-1) * value[:, time].unsqueeze(-2)
            outputs.append(torch.einsum("bhkv,bhk->bhv", state, query[:, time]))
        output = self.o_proj(torch.stack(outputs, dim=1).flatten(2))
        if not self.training:
            output = InferenceOnly.apply(output)
        return output, None, past_key_values


class NarrowAttention(nn.Module):
    """Half as many channels come out as go in."""

    def __init__(self, hidden_size: int = 1024, layer_idx: int | None = None) -> None:
        super().__init__()
        self.o_proj = nn.Linear(hidden_size, hidden_size // 2)

    def forward(self, hidden_states: Tensor, **kwargs: Any) -> tuple[Tensor, None, None]:
        return self.o_proj(hidden_states), None, None


class RWKV7Attention(nn.Module):
    """Layers behind the first need what that one found."""

    def __init__(self, hidden_size: int = 1024, layer_idx: int | None = None) -> None:
        super().__init__()
        self.layer_idx = layer_idx
        self.v_proj = nn.Linear(hidden_size, hidden_size)

    def forward(self, hidden_states: Tensor, v_first: Tensor | None = None, **kwargs: Any) -> tuple[Any, ...]:
        value = self.v_proj(hidden_states)
        v_first = value if self.layer_idx == 0 else v_first
        return torch.lerp(value, v_first, 0.5), None, None, v_first


class NoWidth(nn.Module):
    """Made from a configuration."""

    def __init__(self, config: Any = None) -> None:
        super().__init__()
