"""MiniMax-Text-01: linear attention with full attention in between.

MiniMax (2025), "MiniMax-01". A layer of lightning attention keeps for each head the sum of its keys times values, a
matrix of head width × head width that decays by a fixed factor. Layers are those of ``layer_types``, in the released
files those of ``attn_type_list`` (0 linear, 1 full), or full and linear in turns as ``transformers`` has it where a
file has neither. The cache of the full layers grows, so no bound covers the stack.
"""

from typing import Annotated, Literal

from pydantic import Field

from separatrix.communication.capacity.family import Config, Depth, Family, Size, listed_layers, share
from separatrix.communication.capacity.layers import LayerDescription, StatePart, attention, recurrent
from separatrix.errors import SeparatrixError


class MinimaxConfig(Config):
    """Sizes of a MiniMax config in the spelling of ``transformers``."""

    hidden_size: Size
    num_hidden_layers: Depth
    num_attention_heads: Size
    num_key_value_heads: Size | None = None
    head_dim: Size | None = None
    sliding_window: None = None
    layer_types: list[Literal["linear_attention", "full_attention"]] | None = None
    attn_type_list: list[Annotated[int, Field(strict=True, ge=0, le=1)]] | None = None


def layers(config: MinimaxConfig) -> tuple[LayerDescription, ...]:
    """Layers of linear attention and of full attention."""
    depth, heads = config.num_hidden_layers, config.num_attention_heads
    listed = listed_layers("layer_types", config.layer_types or (), depth)
    numbered = listed_layers("attn_type_list", config.attn_type_list or [], depth)
    if listed and numbered and [each == "full_attention" for each in listed] != [each == 1 for each in numbered]:
        raise SeparatrixError("layer_types and attn_type_list name different layers; correct one of them")
    attending = listed.count("full_attention") if listed else sum(numbered) if numbered else (depth + 1) // 2
    width = config.head_dim or share("hidden_size / num_attention_heads", config.hidden_size, heads)
    found: list[LayerDescription] = []
    if attending < depth:
        held = StatePart("matrix of each head", heads * width * width, f"{heads} × {width} × {width}")
        found.append(recurrent("lightning attention", config.hidden_size, held, heads=heads, count=depth - attending))
    if attending:
        groups = config.num_key_value_heads
        found.append(attention(config.hidden_size, heads, width, key_value_heads=groups, count=attending))
    return tuple(found)


FAMILY = Family(
    name="minimax",
    title="MiniMax-Text-01",
    model_types=("minimax", "minimax_text_01", "minimax_m1"),
    schema=MinimaxConfig,
    layers=layers,
    state="linear attention: heads × head width × head width; full layers keep all earlier positions",
    source="MiniMax 2025; transformers, models/minimax",
)
