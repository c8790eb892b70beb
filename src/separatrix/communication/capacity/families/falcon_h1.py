"""Falcon-H1: in every layer a Mamba-2 block and full attention side by side.

Technology Innovation Institute (2025), "Falcon-H1". Both blocks read the same input and their outputs are added. The
inner width of the Mamba-2 block is ``mamba_d_ssm`` (1024 where a file does not name it, as ``transformers`` takes it),
or mamba_expand × hidden_size where it is null. The cache of the attention grows, so no bound covers the stack.
"""

from separatrix.communication.capacity.families._hybrid import HybridConfig, hybrid_layers
from separatrix.communication.capacity.family import Family, Size
from separatrix.communication.capacity.layers import LayerDescription


class FalconH1Config(HybridConfig):
    """Sizes of a Falcon-H1 config."""

    mamba_d_ssm: Size | None = 1024


def layers(config: FalconH1Config) -> tuple[LayerDescription, ...]:
    """For each layer a Mamba-2 block and an attention."""
    return hybrid_layers(config, config.num_hidden_layers, config.num_hidden_layers, config.mamba_d_ssm)


FAMILY = Family(
    name="falcon_h1",
    title="Falcon-H1",
    model_types=("falcon_h1",),
    schema=FalconH1Config,
    layers=layers,
    state="in each layer a Mamba-2 block as in Mamba-2 and an attention that keeps all earlier positions",
    source="transformers, models/falcon_h1",
)
