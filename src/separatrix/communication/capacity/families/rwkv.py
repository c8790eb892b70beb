"""RWKV, versions 4 to 7.

Version 4 (Peng et al. 2023, "RWKV: Reinventing RNNs for the Transformer Era", Appendix D) keeps, for each layer, the
previous input of the time mixing and of the channel mixing (hidden_size each) and, for each attention channel, the
numerator, the denominator and the running maximum of its weighted average: 2 × hidden_size + 3 × attention_hidden_size.

Versions 5 and 6 (Peng et al. 2024, "Eagle and Finch") and 7 (Peng et al. 2025, "Goose") keep a matrix of head size ×
head size for each head in place of the three vectors: 2 × hidden_size + attention_hidden_size × head_size. The number
of heads is attention_hidden_size / head_size; ``num_attention_heads`` of published files is often left over from
another size. Files of flash-linear-attention give ``num_heads`` and expansion factors in place of the head size;
hybrids that it allows (``attn``) are refused, since their attention is not described by these fields.
"""

from pydantic import Field

from separatrix.communication.capacity.family import Config, Depth, Factor, Family, Size, share, spelled, whole
from separatrix.communication.capacity.layers import LayerDescription, StatePart, recurrent

HEAD_SIZE = 64
"""The head size of every published model of version 5 and later, for files that do not name it."""


class RwkvConfig(Config):
    """Sizes of an RWKV config."""

    hidden_size: Size
    num_hidden_layers: Depth
    attention_hidden_size: Size | None = None
    head_size: Size | None = Field(default=None, validation_alias=spelled("head_size", "head_dim"))
    num_heads: Size | None = None
    expand_k: Factor = 1
    expand_v: Factor = 1
    value_dim: None = None
    attn: None = None


def layers(config: RwkvConfig) -> tuple[LayerDescription, ...]:
    """Equal layers; a file of version 4 has model_type ``rwkv``."""
    width, inner = config.hidden_size, config.attention_hidden_size or config.hidden_size
    shifts = StatePart("previous inputs", 2 * width, f"2 × {width}", running=False)
    if config.model_type == "rwkv":
        average = StatePart("numerator, denominator, maximum", 3 * inner, f"3 × {inner}")
        return (recurrent("rwkv4", width, average, shifts, count=config.num_hidden_layers),)
    if config.head_size is None and config.num_heads is not None:
        heads = config.num_heads
        key = share("keys / num_heads", whole("expand_k × hidden_size", config.expand_k * width), heads)
        value = share("values / num_heads", whole("expand_v × hidden_size", config.expand_v * width), heads)
    else:
        key = value = config.head_size or HEAD_SIZE
        heads = share("attention_hidden_size / head_size", inner, key)
    matrices = StatePart("matrix of each head", heads * key * value, f"{heads} × {key} × {value}")
    return (recurrent(config.model_type, width, matrices, shifts, heads=heads, count=config.num_hidden_layers),)


FAMILY = Family(
    name="rwkv",
    title="RWKV 4, 5, 6, 7",
    model_types=("rwkv", "rwkv5", "rwkv6", "rwkv7"),
    schema=RwkvConfig,
    layers=layers,
    state="version 4: 2 × hidden_size + 3 × attention size; later: 2 × hidden_size + attention size × head_size",
    source="Peng et al. 2023, Appendix D; Peng et al. 2024",
)
