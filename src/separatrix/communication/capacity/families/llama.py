"""Decoders of the Llama kind: full causal attention, with or without grouped keys and values.

Touvron et al. (2023), "LLaMA". The same fields describe many other decoders. Qwen2 files carry a ``sliding_window``
that is off unless ``use_sliding_window`` is true.
"""

from separatrix.communication.capacity.families._attention import AttentionConfig, attention_layers, windows_of
from separatrix.communication.capacity.family import Family
from separatrix.communication.capacity.layers import LayerDescription


def layers(config: AttentionConfig) -> tuple[LayerDescription, ...]:
    """Full attention, unless the file switches a window on."""
    wanted = config.layer_types is not None or config.use_sliding_window is True
    return attention_layers(config, windows_of(config, None) if wanted else [None] * config.num_hidden_layers)


FAMILY = Family(
    name="llama",
    title="Llama and decoders with the same fields",
    model_types=("llama", "qwen2", "qwen3", "gemma", "gpt_neox", "phi", "olmo", "olmo2", "granite", "stablelm"),
    schema=AttentionConfig,
    layers=layers,
    state="none: attention over all earlier positions",
    source="Touvron et al. 2023",
)
