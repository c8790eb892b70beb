"""Zamba2: Mamba-2 layers, some of them behind an attention whose weights are shared.

Glorioso et al. (2024), "The Zamba2 Suite". A layer of ``layers_block_type`` that is "hybrid" is an attention followed
by a Mamba-2 layer, every other one a Mamba-2 layer alone. The attention reads the stream beside the embedding, 2 ×
hidden_size numbers, with heads of 2 × hidden_size / num_attention_heads. Its weights are shared between the layers, its
cache is not and grows, so neither Theorem 2 nor Theorem 4 covers the stack.
"""

from typing import Literal

from separatrix.communication.capacity.families._state_space import mamba2
from separatrix.communication.capacity.family import Config, Depth, Factor, Family, Size, listed_layers, share, whole
from separatrix.communication.capacity.layers import LayerDescription, attention


class Zamba2Config(Config):
    """Sizes of a Zamba2 config."""

    hidden_size: Size
    num_hidden_layers: Depth
    layers_block_type: list[Literal["mamba", "linear_attention", "hybrid"]]
    num_attention_heads: Size
    num_key_value_heads: Size | None = None
    n_mamba_heads: Size
    mamba_d_state: Size
    mamba_d_conv: Size = 4
    mamba_expand: Factor = 2
    mamba_ngroups: Size = 1


def layers(config: Zamba2Config) -> tuple[LayerDescription, ...]:
    """A Mamba-2 layer for each layer, and an attention for each hybrid one."""
    depth, listed = config.num_hidden_layers, config.layers_block_type
    listed_layers("layers_block_type", listed, depth)
    inner = whole("mamba_expand × hidden_size", config.mamba_expand * config.hidden_size)
    width = share("mamba_expand × hidden_size / n_mamba_heads", inner, config.n_mamba_heads)
    found = [
        mamba2(
            config.hidden_size, config.n_mamba_heads, width, config.mamba_d_state, config.mamba_ngroups,
            config.mamba_d_conv, depth,
        )
    ]  # fmt: skip
    if attending := listed.count("hybrid"):
        heads, read = config.num_attention_heads, 2 * config.hidden_size
        head_width = share("2 × hidden_size / num_attention_heads", read, heads)
        found.append(attention(read, heads, head_width, key_value_heads=config.num_key_value_heads, count=attending))
    return tuple(found)


FAMILY = Family(
    name="zamba2",
    title="Zamba2",
    model_types=("zamba2",),
    schema=Zamba2Config,
    layers=layers,
    state="Mamba-2 layers as in Mamba-2; the shared attention keeps all earlier positions at each of its places",
    source="Glorioso et al. 2024; transformers, models/zamba2",
)
