"""gpt-oss: windows and full attention in turns.

OpenAI (2025), "gpt-oss-120b & gpt-oss-20b Model Card". Every second layer attends over all positions, the others over a
window of 128 where the file names none; a list ``layer_types`` decides alone. The learned sink of each head is one
number among the weights and is not carried. The full layers' memory grows, so no bound covers the stack.
"""

from separatrix.communication.capacity.families._attention import AttentionConfig, attention_layers, turns_of
from separatrix.communication.capacity.family import Family, Size
from separatrix.communication.capacity.layers import LayerDescription

WINDOW, FULL_EVERY = 128, 2


class GptOssConfig(AttentionConfig):
    """Sizes of a gpt-oss config, with the head width that ``transformers`` takes where a file names none."""

    head_dim: Size | None = 64


def layers(config: GptOssConfig) -> tuple[LayerDescription, ...]:
    """Windowed layers and full ones."""
    return attention_layers(config, turns_of(config, WINDOW, FULL_EVERY))


FAMILY = Family(
    name="gpt_oss",
    title="gpt-oss",
    model_types=("gpt_oss",),
    schema=GptOssConfig,
    layers=layers,
    state="each windowed layer: 2 × key/value heads × head width × (window − 1); full layers keep all positions",
    source="OpenAI 2025; transformers, models/gpt_oss",
)
