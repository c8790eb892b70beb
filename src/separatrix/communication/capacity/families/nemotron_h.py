"""Nemotron-H: Mamba-2 layers, a few of full attention, and layers that mix no positions.

NVIDIA (2025), "Nemotron-H". The pattern of the layers is a text, ``hybrid_override_pattern`` (M: Mamba-2, *: attention,
-: feed-forward, E: experts), or a list ``layers_block_type``. The inner width of a Mamba-2 layer is mamba_num_heads ×
mamba_head_dim, whatever ``expand`` says. The cache of the attention layers grows, so no bound covers the stack.
"""

from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from separatrix.communication.capacity.families._state_space import mamba2
from separatrix.communication.capacity.family import Config, Depth, Family, Size, listed_layers, spelled
from separatrix.communication.capacity.layers import LayerDescription, attention
from separatrix.errors import SeparatrixError

LayerType: TypeAlias = Literal["mamba", "linear_attention", "attention", "full_attention", "mlp", "moe"]
MAMBA = ("M", "mamba", "linear_attention")
ATTENDING = ("*", "attention", "full_attention")


class NemotronHConfig(Config):
    """Sizes of a Nemotron-H config."""

    hidden_size: Size
    num_hidden_layers: Depth | None = None
    hybrid_override_pattern: Annotated[str, Field(pattern=r"^[M*E-]+$", max_length=100_000)] | None = None
    layers_block_type: list[LayerType] | None = Field(
        default=None, validation_alias=spelled("layers_block_type", "layer_types")
    )
    num_attention_heads: Size
    num_key_value_heads: Size | None = None
    head_dim: Size = Field(default=128, validation_alias=spelled("head_dim", "attention_head_dim"))
    sliding_window: None = None
    mamba_num_heads: Size
    mamba_head_dim: Size
    ssm_state_size: Size
    n_groups: Size = Field(default=8, validation_alias=spelled("n_groups", "mamba_n_groups"))
    conv_kernel: Size = Field(default=4, validation_alias=spelled("conv_kernel", "mamba_d_conv"))


def layers(config: NemotronHConfig) -> tuple[LayerDescription, ...]:
    """The layers that mix positions: Mamba-2 and attention."""
    listed = config.layers_block_type or tuple(config.hybrid_override_pattern or "")
    if not listed:
        raise SeparatrixError("missing hybrid_override_pattern, or the list layers_block_type")
    listed_layers("the pattern of layers", listed, config.num_hidden_layers or len(listed))
    recurrent = sum(each in MAMBA for each in listed)
    attending = sum(each in ATTENDING for each in listed)
    if not recurrent + attending:
        raise SeparatrixError("the pattern of layers has none that mixes positions; M is Mamba-2, * attention")
    found: list[LayerDescription] = []
    if recurrent:
        found.append(
            mamba2(
                config.hidden_size, config.mamba_num_heads, config.mamba_head_dim, config.ssm_state_size,
                config.n_groups, config.conv_kernel, recurrent,
            )
        )  # fmt: skip
    if attending:
        heads, groups = config.num_attention_heads, config.num_key_value_heads
        found.append(attention(config.hidden_size, heads, config.head_dim, key_value_heads=groups, count=attending))
    return tuple(found)


FAMILY = Family(
    name="nemotron_h",
    title="Nemotron-H",
    model_types=("nemotron_h",),
    schema=NemotronHConfig,
    layers=layers,
    state="Mamba-2 layers as in Mamba-2; attention layers keep all earlier positions; the others keep nothing",
    source="transformers, models/nemotron_h",
)
