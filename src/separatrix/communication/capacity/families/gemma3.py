"""Gemma 3: five windows, then one layer of full attention.

Gemma Team (2025), "Gemma 3". Every sixth layer attends over all positions (every ``sliding_window_pattern``-th where a
file names it), the others over a window; a list ``layer_types`` decides alone. Files of models that also read images
hold the sizes of the decoder under ``text_config`` and leave out what ``transformers`` takes by itself. The full
layers' memory grows, so no bound covers the stack. Models that attend in both directions are refused.
"""

from typing import Literal

from separatrix.communication.capacity.families._attention import AttentionConfig, attention_layers, turns_of
from separatrix.communication.capacity.family import Family, Size, decoder_fields
from separatrix.communication.capacity.layers import LayerDescription

WINDOW = 4096


class Gemma3Config(AttentionConfig):
    """Sizes of a Gemma 3 decoder."""

    num_attention_heads: Size = 8
    num_key_value_heads: Size | None = 4
    head_dim: Size | None = 256
    sliding_window_pattern: Size = 6
    use_bidirectional_attention: Literal[False] | None = None


def layers(config: Gemma3Config) -> tuple[LayerDescription, ...]:
    """Windowed layers and full ones."""
    return attention_layers(config, turns_of(config, WINDOW, config.sliding_window_pattern))


FAMILY = Family(
    name="gemma3",
    title="Gemma 3",
    model_types=("gemma3", "gemma3_text"),
    schema=Gemma3Config,
    layers=layers,
    fields=decoder_fields,
    state="each windowed layer: 2 × key/value heads × head width × (window − 1); full layers keep all positions",
    source="Gemma Team 2025; transformers, models/gemma3",
)
