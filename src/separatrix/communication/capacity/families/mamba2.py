"""Mamba-2 in the spelling of ``transformers``.

Dao and Gu (2024), "Transformers are SSMs". A layer keeps

    num_heads × head_dim × state_size   +   (num_heads × head_dim + 2 × n_groups × state_size) × (conv_kernel − 1)

because its convolution also runs over the input-dependent B and C of each group.
"""

from separatrix.communication.capacity.families._state_space import mamba2
from separatrix.communication.capacity.family import Config, Depth, Factor, Family, Size, whole
from separatrix.communication.capacity.layers import LayerDescription
from separatrix.errors import SeparatrixError


class Mamba2Config(Config):
    """Sizes of a Mamba-2 config."""

    hidden_size: Size
    num_hidden_layers: Depth
    num_heads: Size
    head_dim: Size = 64
    state_size: Size = 128
    n_groups: Size = 8
    conv_kernel: Size = 4
    expand: Factor = 2


def layers(config: Mamba2Config) -> tuple[LayerDescription, ...]:
    """Equal Mamba-2 layers; expand × hidden_size must be what the heads make up."""
    inner = whole("expand × hidden_size", config.expand * config.hidden_size)
    if inner != config.num_heads * config.head_dim:
        raise SeparatrixError(
            f"expand × hidden_size is {inner} but num_heads × head_dim is {config.num_heads * config.head_dim}; "
            "a Mamba-2 layer needs them equal"
        )
    return (
        mamba2(
            config.hidden_size, config.num_heads, config.head_dim, config.state_size, config.n_groups,
            config.conv_kernel, config.num_hidden_layers,
        ),
    )  # fmt: skip


FAMILY = Family(
    name="mamba2",
    title="Mamba-2",
    model_types=("mamba2",),
    schema=Mamba2Config,
    layers=layers,
    state="inner × state_size + (inner + 2 × n_groups × state_size) × (conv_kernel − 1), inner = num_heads × head_dim",
    source="Dao and Gu 2024; state-spaces/mamba, mamba_ssm/modules/mamba2.py",
)
