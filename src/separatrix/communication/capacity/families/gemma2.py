"""Gemma 2: windows and full attention in turns.

Gemma Team (2024), "Gemma 2". Every second layer attends over all positions, the others over a window of 4096 where the
file names none; a list ``layer_types`` decides alone. The full layers' memory grows, so no bound covers the stack.
Models that attend in both directions are refused: their windows reach ahead as well.
"""

from typing import Literal

from separatrix.communication.capacity.families._attention import AttentionConfig, attention_layers, turns_of
from separatrix.communication.capacity.family import Family, Size
from separatrix.communication.capacity.layers import LayerDescription

WINDOW, FULL_EVERY = 4096, 2


class Gemma2Config(AttentionConfig):
    """Sizes of a Gemma 2 config, with the head width that ``transformers`` takes where a file names none."""

    head_dim: Size | None = 256
    use_bidirectional_attention: Literal[False] | None = None


def layers(config: Gemma2Config) -> tuple[LayerDescription, ...]:
    """Windowed layers and full ones."""
    return attention_layers(config, turns_of(config, WINDOW, FULL_EVERY))


FAMILY = Family(
    name="gemma2",
    title="Gemma 2",
    model_types=("gemma2",),
    schema=Gemma2Config,
    layers=layers,
    state="each windowed layer: 2 × key/value heads × head width × (window − 1); full layers keep all positions",
    source="Gemma Team 2024; transformers, models/gemma2",
)
