"""DeepSeek-V2 and V3: full attention whose keys and values are kept compressed.

DeepSeek-AI (2024), "DeepSeek-V2"; "DeepSeek-V3". Multi-head latent attention keeps kv_lora_rank + qk_rope_head_dim
numbers for each position, which is less than keys and values but grows all the same. A head's queries and keys have
qk_nope_head_dim + qk_rope_head_dim numbers and its values v_head_dim; the larger is its width here, so that what one
layer alone cannot do is not overstated. The layers that predict further tokens stand behind the model and are not
counted.
"""

from separatrix.communication.capacity.family import Config, Depth, Family, Size
from separatrix.communication.capacity.layers import LayerDescription, attention


class DeepseekConfig(Config):
    """Sizes of a DeepSeek config."""

    hidden_size: Size
    num_hidden_layers: Depth
    num_attention_heads: Size
    qk_nope_head_dim: Size = 128
    qk_rope_head_dim: Size = 64
    v_head_dim: Size = 128


def layers(config: DeepseekConfig) -> tuple[LayerDescription, ...]:
    """Equal layers of full attention."""
    head_width = max(config.qk_nope_head_dim + config.qk_rope_head_dim, config.v_head_dim)
    return (attention(config.hidden_size, config.num_attention_heads, head_width, count=config.num_hidden_layers),)


FAMILY = Family(
    name="deepseek",
    title="DeepSeek-V2 and V3",
    model_types=("deepseek_v2", "deepseek_v3"),
    schema=DeepseekConfig,
    layers=layers,
    state="none: attention over all earlier positions, kept compressed",
    source="DeepSeek-AI 2024; transformers, models/deepseek_v3",
)
