"""Jamba: Mamba layers with full attention in between.

Lieber et al. (2024), "Jamba: A Hybrid Transformer-Mamba Language Model". Layer i is attention when
i mod attn_layer_period = attn_layer_offset, else Mamba. The state of the Mamba layers is bounded, the cache of the
attention layers is not, so neither Theorem 2 nor Theorem 4 covers the stack.
"""

from typing import Annotated

from pydantic import Field

from separatrix.communication.capacity.families._state_space import mamba
from separatrix.communication.capacity.family import Config, Depth, Factor, Family, Size, share, whole
from separatrix.communication.capacity.layers import LayerDescription, attention


class JambaConfig(Config):
    """Sizes of a Jamba config."""

    hidden_size: Size
    num_hidden_layers: Depth
    num_attention_heads: Size
    num_key_value_heads: Size | None = None
    attn_layer_period: Size
    attn_layer_offset: Annotated[int, Field(strict=True, ge=0)]
    mamba_d_state: Size = 16
    mamba_d_conv: Size = 4
    mamba_expand: Factor = 2


def layers(config: JambaConfig) -> tuple[LayerDescription, ...]:
    """Mamba layers and attention layers."""
    depth = config.num_hidden_layers
    attending = len(range(config.attn_layer_offset, depth, config.attn_layer_period))
    found: list[LayerDescription] = []
    if attending < depth:
        inner = whole("mamba_expand × hidden_size", config.mamba_expand * config.hidden_size)
        found.append(mamba(config.hidden_size, inner, config.mamba_d_state, config.mamba_d_conv, depth - attending))
    if attending:
        heads = config.num_attention_heads
        head_width = share("hidden_size / num_attention_heads", config.hidden_size, heads)
        found.append(
            attention(
                config.hidden_size, heads, head_width, key_value_heads=config.num_key_value_heads, count=attending
            )
        )
    return tuple(found)


FAMILY = Family(
    name="jamba",
    title="Jamba",
    model_types=("jamba",),
    schema=JambaConfig,
    layers=layers,
    state="Mamba layers as in Mamba; attention layers keep all earlier positions",
    source="Lieber et al. 2024",
)
