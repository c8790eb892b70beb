"""RetNet, in the spelling of torchscale and in that of flash-linear-attention.

Sun et al. (2023), "Retentive Network". In its recurrent form each head keeps S_n = γ S_{n−1} + K_nᵀ V_n, a matrix of
key width × value width, so a layer keeps keys × values / heads numbers in all. The running scale of torchscale's code
depends on the time step alone and is not part of the state. Optional short convolutions (``use_short_conv``) add their
last inputs for queries, keys and values; hybrids with attention (``attn``) are refused.
"""

from pydantic import Field

from separatrix.communication.capacity.families._state_space import convolution
from separatrix.communication.capacity.family import Config, Depth, Factor, Family, Flag, Size, share, spelled, whole
from separatrix.communication.capacity.layers import LayerDescription, StatePart, recurrent
from separatrix.errors import SeparatrixError


class RetnetConfig(Config):
    """Sizes of a RetNet config."""

    hidden_size: Size = Field(validation_alias=spelled("hidden_size", "decoder_embed_dim"))
    num_hidden_layers: Depth = Field(validation_alias=spelled("num_hidden_layers", "decoder_layers", "num_layers"))
    num_heads: Size = Field(validation_alias=spelled("num_heads", "decoder_retention_heads"))
    num_kv_heads: Size | None = None
    value_size: Size | None = Field(default=None, validation_alias=spelled("decoder_value_embed_dim", "v_dim"))
    expand_k: Factor = 1
    expand_v: Factor = 2
    use_short_conv: Flag = False
    conv_size: Size = 4
    attn: None = None


def layers(config: RetnetConfig) -> tuple[LayerDescription, ...]:
    """Equal layers of retention."""
    if config.num_kv_heads not in (None, config.num_heads):
        raise SeparatrixError(
            f"num_kv_heads is {config.num_kv_heads} and num_heads {config.num_heads}; only equal ones are described"
        )
    keys = whole("expand_k × hidden_size", config.expand_k * config.hidden_size)
    values = config.value_size or whole("expand_v × hidden_size", config.expand_v * config.hidden_size)
    key = share("keys / heads", keys, config.num_heads)
    value = share("values / heads", values, config.num_heads)
    parts = [StatePart("matrix of each head", config.num_heads * key * value, f"{config.num_heads} × {key} × {value}")]
    if config.use_short_conv:
        parts.append(convolution(2 * keys + values, config.conv_size))
    return (recurrent("retention", config.hidden_size, *parts, heads=config.num_heads, count=config.num_hidden_layers),)


FAMILY = Family(
    name="retnet",
    title="RetNet",
    model_types=("retnet",),
    schema=RetnetConfig,
    layers=layers,
    state="each layer: heads × key width × value width",
    source="Sun et al. 2023, equation 6; microsoft/torchscale, torchscale/component/multiscale_retention.py",
    recognises=lambda raw: "decoder_retention_heads" in raw,
)
