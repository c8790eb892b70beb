"""Mamba, in the spelling of ``transformers`` and in that of ``mamba_ssm``.

Gu and Dao (2023), "Mamba: Linear-Time Sequence Modeling with Selective State Spaces". A layer keeps

    inner × state_size   (the state-space state)   +   inner × (conv_kernel − 1)   (the convolution's last inputs)

with inner = ``intermediate_size`` where the file has it (Falcon-Mamba's ``expand`` of 16 is not what its weights
have), else expand × hidden_size. Files of ``mamba_ssm`` have no model_type: they are recognised by d_model and ssm_cfg,
may ask for Mamba-2 layers (``"layer": "Mamba2"``) and for full attention at ``attn_layer_idx``. Stale copies of d_model
in files of ``transformers`` are overruled by hidden_size.
"""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from separatrix.communication.capacity.families._state_space import mamba, mamba2
from separatrix.communication.capacity.family import Config, Depth, Factor, Family, Size, share, spelled, whole
from separatrix.communication.capacity.layers import LayerDescription, attention
from separatrix.errors import SeparatrixError


class StateSpaceOptions(BaseModel):
    """``ssm_cfg`` of mamba_ssm; what it leaves out has the defaults of its modules Mamba and Mamba2."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    layer: str = "Mamba1"
    d_state: Size | None = None
    d_conv: Size = 4
    expand: Factor = 2
    headdim: Size = 64
    ngroups: Size = 1


class AttentionOptions(BaseModel):
    """``attn_cfg`` of mamba_ssm."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    num_heads: Size | None = None
    num_heads_kv: Size | None = None
    head_dim: Size | None = None


class MambaConfig(Config):
    """Sizes of a Mamba config."""

    hidden_size: Size = Field(validation_alias=spelled("hidden_size", "d_model"))
    num_hidden_layers: Depth = Field(validation_alias=spelled("num_hidden_layers", "n_layer"))
    state_size: Size = 16
    conv_kernel: Size = 4
    expand: Factor = 2
    intermediate_size: Size | None = None
    ssm_cfg: StateSpaceOptions = StateSpaceOptions()
    attn_layer_idx: list[Annotated[int, Field(strict=True, ge=0)]] = Field(default_factory=list[int])
    attn_cfg: AttentionOptions = AttentionOptions()


def layers(config: MambaConfig) -> tuple[LayerDescription, ...]:
    """Mamba or Mamba-2 layers, and full attention where mamba_ssm puts it."""
    places = set(config.attn_layer_idx)
    if places and max(places) >= config.num_hidden_layers:
        raise SeparatrixError(
            f"attn_layer_idx names layer {max(places)} of {config.num_hidden_layers}; they count from 0"
        )
    remaining = config.num_hidden_layers - len(places)
    found: list[LayerDescription] = []
    if remaining:
        found.append(_block(config, remaining))
    if places:
        options = config.attn_cfg
        if options.num_heads is None:
            raise SeparatrixError("attn_layer_idx asks for attention but attn_cfg.num_heads is missing")
        head_width = options.head_dim or share("d_model / attn_cfg.num_heads", config.hidden_size, options.num_heads)
        groups = options.num_heads_kv
        found.append(
            attention(config.hidden_size, options.num_heads, head_width, key_value_heads=groups, count=len(places))
        )
    return tuple(found)


def _block(config: MambaConfig, count: int) -> LayerDescription:
    original = "ssm_cfg" in config.model_fields_set and "state_size" not in config.model_fields_set
    options = config.ssm_cfg
    expand = options.expand if original else config.expand
    inner = config.intermediate_size or whole("expand × hidden_size", expand * config.hidden_size)
    if original and options.layer == "Mamba2":
        heads = share("expand × d_model / headdim", inner, options.headdim)
        return mamba2(
            config.hidden_size, heads, options.headdim, options.d_state or 128, options.ngroups, options.d_conv, count
        )
    if options.layer != "Mamba1":
        raise SeparatrixError(f"ssm_cfg.layer is {options.layer!r}; known: Mamba1, Mamba2")
    if original:
        return mamba(config.hidden_size, inner, options.d_state or 16, options.d_conv, count)
    return mamba(config.hidden_size, inner, config.state_size, config.conv_kernel, count)


FAMILY = Family(
    name="mamba",
    title="Mamba",
    model_types=("mamba", "falcon_mamba"),
    schema=MambaConfig,
    layers=layers,
    state="each layer: inner × state_size + inner × (conv_kernel − 1)",
    source="Gu and Dao 2023, Algorithm 2; state-spaces/mamba, mamba_ssm/modules/mamba_simple.py",
    recognises=lambda raw: "d_model" in raw and "ssm_cfg" in raw,
)
