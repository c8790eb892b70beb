"""Qwen3-Next: gated delta rules with full attention in between.

Qwen3-Next (2025) after Yang, Kautz and Hatamizadeh (2024), "Gated Delta Networks". Layers are those of ``layer_types``,
or every ``full_attention_interval``-th (4th) is attention. A layer of the delta rule keeps for each value head a matrix
of key width × value width, and the last inputs of its convolution over queries, keys and values:

    value heads × key width × value width   +   (2 × key heads × key width + value heads × value width) × (kernel − 1)

The cache of the attention layers grows, so neither Theorem 2 nor Theorem 4 covers the stack.
"""

from typing import Literal

from separatrix.communication.capacity.families._state_space import convolution
from separatrix.communication.capacity.family import Config, Depth, Family, Size, listed_layers
from separatrix.communication.capacity.layers import LayerDescription, StatePart, attention, recurrent


class Qwen3NextConfig(Config):
    """Sizes of a Qwen3-Next config."""

    hidden_size: Size
    num_hidden_layers: Depth
    num_attention_heads: Size
    num_key_value_heads: Size | None = None
    head_dim: Size
    linear_conv_kernel_dim: Size = 4
    linear_key_head_dim: Size
    linear_value_head_dim: Size
    linear_num_key_heads: Size
    linear_num_value_heads: Size
    full_attention_interval: Size = 4
    layer_types: list[Literal["linear_attention", "full_attention"]] | None = None


def layers(config: Qwen3NextConfig) -> tuple[LayerDescription, ...]:
    """Layers of the gated delta rule and attention layers."""
    depth = config.num_hidden_layers
    listed_layers("layer_types", config.layer_types or (), depth)
    attending = (
        depth // config.full_attention_interval
        if config.layer_types is None
        else config.layer_types.count("full_attention")
    )
    found: list[LayerDescription] = []
    if attending < depth:
        heads, key, value = config.linear_num_value_heads, config.linear_key_head_dim, config.linear_value_head_dim
        held = StatePart("delta rule", heads * key * value, f"{heads} × {key} × {value}")
        last = convolution(2 * config.linear_num_key_heads * key + heads * value, config.linear_conv_kernel_dim)
        found.append(
            recurrent("gated delta rule", config.hidden_size, held, last, heads=heads, count=depth - attending)
        )
    if attending:
        found.append(
            attention(
                config.hidden_size, config.num_attention_heads, config.head_dim,
                key_value_heads=config.num_key_value_heads, count=attending,
            )
        )  # fmt: skip
    return tuple(found)


FAMILY = Family(
    name="qwen3_next",
    title="Qwen3-Next",
    model_types=("qwen3_next",),
    schema=Qwen3NextConfig,
    layers=layers,
    state="value heads × key width × value width + (2 × key heads × key width + value heads × value width) × "
    "(kernel − 1); attention layers keep all earlier positions",
    source="Yang, Kautz and Hatamizadeh 2024; transformers, models/qwen3_next",
)
