"""Mamba-2 layers with attention in between or beside them, in the spelling that Bamba began and others took over.

``mamba_d_head`` is the inner width / mamba_n_heads where a file says "auto"; the inner width is mamba_expand ×
hidden_size unless a family says otherwise. Attention heads have ``head_dim``, or hidden_size / num_attention_heads.
"""

from typing import Literal

from separatrix.communication.capacity.families._state_space import mamba2
from separatrix.communication.capacity.family import Config, Depth, Factor, Size, share, whole
from separatrix.communication.capacity.layers import LayerDescription, attention
from separatrix.errors import SeparatrixError


class HybridConfig(Config):
    """Sizes of both kinds of layers."""

    hidden_size: Size
    num_hidden_layers: Depth
    num_attention_heads: Size
    num_key_value_heads: Size | None = None
    head_dim: Size | None = None
    mamba_n_heads: Size
    mamba_d_head: Size | Literal["auto"] = "auto"
    mamba_n_groups: Size = 1
    mamba_d_state: Size
    mamba_d_conv: Size = 4
    mamba_expand: Factor = 2


def hybrid_layers(
    config: HybridConfig, recurrent: int, attending: int, inner: int | None = None
) -> tuple[LayerDescription, ...]:
    """So many Mamba-2 layers and so many of attention; ``inner`` is the width of the former where a file names it."""
    found: list[LayerDescription] = []
    what = "mamba_expand × hidden_size" if inner is None else "mamba_d_ssm"
    inner = whole(what, config.mamba_expand * config.hidden_size) if inner is None else inner
    head_width = share(f"{what} / mamba_n_heads", inner, config.mamba_n_heads)
    if config.mamba_d_head not in ("auto", head_width):
        raise SeparatrixError(f"mamba_d_head is {config.mamba_d_head}, but the heads make it {head_width}; correct one")
    if recurrent:
        found.append(
            mamba2(
                config.hidden_size, config.mamba_n_heads, head_width, config.mamba_d_state, config.mamba_n_groups,
                config.mamba_d_conv, recurrent,
            )
        )  # fmt: skip
    if attending:
        heads, groups = config.num_attention_heads, config.num_key_value_heads
        width = config.head_dim or share("hidden_size / num_attention_heads", config.hidden_size, heads)
        found.append(attention(config.hidden_size, heads, width, key_value_heads=groups, count=attending))
    return tuple(found)
