"""Bamba: Mamba-2 layers with full attention at the layers that the config lists.

IBM, Princeton, CMU and UIUC (2024), Bamba-9B. The layers of ``attn_layer_indices`` are attention, all others Mamba-2,
with ``mamba_d_head`` = mamba_expand × hidden_size / mamba_n_heads where the file says "auto". The cache of the
attention layers grows, so neither Theorem 2 nor Theorem 4 covers the stack.
"""

from typing import Annotated, Literal

from pydantic import Field

from separatrix.communication.capacity.families._state_space import mamba2
from separatrix.communication.capacity.family import Config, Depth, Factor, Family, Size, share, whole
from separatrix.communication.capacity.layers import LayerDescription, attention
from separatrix.errors import SeparatrixError


class BambaConfig(Config):
    """Sizes of a Bamba config."""

    hidden_size: Size
    num_hidden_layers: Depth
    num_attention_heads: Size
    num_key_value_heads: Size | None = None
    attn_layer_indices: list[Annotated[int, Field(strict=True, ge=0)]] | None = None
    mamba_n_heads: Size
    mamba_d_head: Size | Literal["auto"] = "auto"
    mamba_n_groups: Size = 1
    mamba_d_state: Size
    mamba_d_conv: Size = 4
    mamba_expand: Factor = 2


def layers(config: BambaConfig) -> tuple[LayerDescription, ...]:
    """Mamba-2 layers and attention layers."""
    depth, places = config.num_hidden_layers, set(config.attn_layer_indices or ())
    if places and max(places) >= depth:
        raise SeparatrixError(f"attn_layer_indices names layer {max(places)} of {depth}; they count from 0")
    inner = whole("mamba_expand × hidden_size", config.mamba_expand * config.hidden_size)
    head_width = share("mamba_expand × hidden_size / mamba_n_heads", inner, config.mamba_n_heads)
    if config.mamba_d_head not in ("auto", head_width):
        raise SeparatrixError(f"mamba_d_head is {config.mamba_d_head}, but the heads make it {head_width}; correct one")
    found: list[LayerDescription] = []
    if len(places) < depth:
        found.append(
            mamba2(
                config.hidden_size, config.mamba_n_heads, head_width, config.mamba_d_state, config.mamba_n_groups,
                config.mamba_d_conv, depth - len(places),
            )
        )  # fmt: skip
    if places:
        heads = config.num_attention_heads
        width = share("hidden_size / num_attention_heads", config.hidden_size, heads)
        groups = config.num_key_value_heads
        found.append(attention(config.hidden_size, heads, width, key_value_heads=groups, count=len(places)))
    return tuple(found)


FAMILY = Family(
    name="bamba",
    title="Bamba",
    model_types=("bamba",),
    schema=BambaConfig,
    layers=layers,
    state="Mamba-2 layers as in Mamba-2; attention layers keep all earlier positions",
    source="transformers, models/bamba",
)
