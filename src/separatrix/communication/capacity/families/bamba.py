"""Bamba: Mamba-2 layers with full attention at the layers that the config lists.

IBM, Princeton, CMU and UIUC (2024), Bamba-9B. The layers of ``attn_layer_indices`` are attention, all others Mamba-2.
The cache of the attention layers grows, so neither Theorem 2 nor Theorem 4 covers the stack.
"""

from typing import Annotated

from pydantic import Field

from separatrix.communication.capacity.families._hybrid import HybridConfig, hybrid_layers
from separatrix.communication.capacity.family import Family
from separatrix.communication.capacity.layers import LayerDescription
from separatrix.errors import SeparatrixError


class BambaConfig(HybridConfig):
    """Sizes of a Bamba config."""

    attn_layer_indices: list[Annotated[int, Field(strict=True, ge=0)]] | None = None


def layers(config: BambaConfig) -> tuple[LayerDescription, ...]:
    """Mamba-2 layers and attention layers."""
    depth, places = config.num_hidden_layers, set(config.attn_layer_indices or ())
    if places and max(places) >= depth:
        raise SeparatrixError(f"attn_layer_indices names layer {max(places)} of {depth}; they count from 0")
    return hybrid_layers(config, depth - len(places), len(places))


FAMILY = Family(
    name="bamba",
    title="Bamba",
    model_types=("bamba",),
    schema=BambaConfig,
    layers=layers,
    state="Mamba-2 layers as in Mamba-2; attention layers keep all earlier positions",
    source="transformers, models/bamba",
)
