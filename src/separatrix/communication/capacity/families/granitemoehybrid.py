"""Granite 4: Mamba-2 layers with full attention at the layers that ``layer_types`` lists.

IBM (2025), Granite 4.0. Without a list all layers are Mamba-2, as ``transformers`` has it. The experts mix no
positions. With attention its cache grows, and neither Theorem 2 nor Theorem 4 covers the stack.
"""

from typing import Literal

from pydantic import Field

from separatrix.communication.capacity.families._hybrid import HybridConfig, hybrid_layers
from separatrix.communication.capacity.family import Family, listed_layers, spelled
from separatrix.communication.capacity.layers import LayerDescription

ATTENDING = ("attention", "full_attention")


class GraniteHybridConfig(HybridConfig):
    """Sizes of a Granite 4 config."""

    layer_types: list[Literal["mamba", "linear_attention", "attention", "full_attention"]] | None = Field(
        default=None, validation_alias=spelled("layer_types", "layers_block_type")
    )


def layers(config: GraniteHybridConfig) -> tuple[LayerDescription, ...]:
    """Mamba-2 layers and attention layers."""
    depth = config.num_hidden_layers
    attending = sum(each in ATTENDING for each in listed_layers("layer_types", config.layer_types or (), depth))
    return hybrid_layers(config, depth - attending, attending)


FAMILY = Family(
    name="granitemoehybrid",
    title="Granite 4",
    model_types=("granitemoehybrid",),
    schema=GraniteHybridConfig,
    layers=layers,
    state="Mamba-2 layers as in Mamba-2; attention layers keep all earlier positions",
    source="transformers, models/granitemoehybrid",
)
