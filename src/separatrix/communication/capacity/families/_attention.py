"""Attention layers as config files spell them: grouped keys and values, sliding windows, lists of layer types.

A sliding window of w positions counts the position itself (``transformers`` masks keys at distance w and more), so
w − 1 earlier positions are kept. Of grouped-query attention the group count decides the cache, and the number of query
heads the H of Theorem 4.
"""

from collections.abc import Sequence
from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from separatrix.communication.capacity.family import Config, Depth, Flag, Size, listed_layers, share
from separatrix.communication.capacity.layers import LayerDescription, attention, local_attention
from separatrix.errors import SeparatrixError

LayerType: TypeAlias = Literal["full_attention", "sliding_attention"]


class AttentionConfig(Config):
    """Fields of decoders with grouped-query attention."""

    hidden_size: Size
    num_hidden_layers: Depth
    num_attention_heads: Size
    num_key_value_heads: Size | None = None
    head_dim: Size | None = None
    sliding_window: Size | None = None
    use_sliding_window: Flag | None = None
    max_window_layers: Annotated[int, Field(strict=True, ge=0)] | None = None
    layer_types: list[LayerType] | None = None


def attention_layers(config: AttentionConfig, windows: Sequence[int | None]) -> tuple[LayerDescription, ...]:
    """One description for each run of layers with the same window; ``windows`` has one entry for each layer."""
    heads = config.num_attention_heads
    head_width = config.head_dim or share("hidden_size / num_attention_heads", config.hidden_size, heads)
    groups = config.num_key_value_heads or heads
    counts: dict[int | None, int] = {}
    for window in windows:
        counts[window] = counts.get(window, 0) + 1
    return tuple(
        attention(config.hidden_size, heads, head_width, key_value_heads=groups, count=count)
        if window is None
        else local_attention(config.hidden_size, heads, head_width, window - 1, key_value_heads=groups, count=count)
        for window, count in counts.items()
    )


def windows_of(config: AttentionConfig, default: int | None) -> list[int | None]:
    """The window of each layer, ``None`` for full attention; ``default`` is the window of a file that names none.

    A list ``layer_types`` decides alone. Otherwise ``use_sliding_window`` switches the window off, and where
    ``max_window_layers`` is given the first layers up to it stay full (Qwen2).
    """
    depth = config.num_hidden_layers
    window = config.sliding_window if "sliding_window" in config.model_fields_set else default
    if config.layer_types is not None:
        listed_layers("layer_types", config.layer_types, depth)
        if window is None and "sliding_attention" in config.layer_types:
            raise SeparatrixError("layer_types has sliding_attention but sliding_window is missing; give the window")
        return [window if each == "sliding_attention" else None for each in config.layer_types]
    if window is None or config.use_sliding_window is False:
        return [None] * depth
    full = min(config.max_window_layers or 0, depth) if config.use_sliding_window else 0
    return [None] * full + [window] * (depth - full)


def turns_of(config: AttentionConfig, default: int, every: int) -> list[int | None]:
    """The window of each layer where, without a list of types, every so-many-th layer is full and the others not."""
    if config.layer_types is not None:
        return windows_of(config, default)
    window = config.sliding_window if "sliding_window" in config.model_fields_set else default
    if window is None:
        raise SeparatrixError("sliding_window is null, and without layer_types some layers have one; give the window")
    return [None if (layer + 1) % every == 0 else window for layer in range(config.num_hidden_layers)]
