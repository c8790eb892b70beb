"""A causal convolutional network: each layer sees the last ``kernel`` positions at a spacing that grows with depth.

The slides of SHT23 name CNNs next to FNNs and RNNs without a definition; this is the temporal convolution of van den
Oord et al. 2016 and Bai et al. 2018: spacing dilation^layer, in the common pre-norm block instead of weight
normalisation and dropout. Layer ℓ (from 0) remembers (kernel - 1)·dilation^ℓ inputs, so that a stack sees
1 + (kernel - 1)·Σ_ℓ dilation^ℓ positions and is a recurrent model with a state of constant size. Weights start as in
``torch.nn.Conv1d``.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from separatrix.errors import SeparatrixError
from separatrix.models.architecture import Architecture, Option, Options, Place

if TYPE_CHECKING:
    from separatrix.models.mixer import Mixer

LARGEST_MEMORY = 1 << 20
"""Positions that a layer may remember."""


@dataclass(frozen=True, kw_only=True)
class CNN(Architecture):
    """Dilated causal convolutions."""

    name: str = "cnn"
    short: str = "CNN"
    title: str = "Causal convolutional network"
    reference: str = "van den Oord et al. 2016; Bai et al. 2018; SHT23 (names CNNs)"
    equations: str = "y_t = Σ_{j<kernel} W_j x_{t - j·dilation^layer} + b; x ← x + y(LN x); x ← x + W_2 GELU(W_1 LN x)"
    deviations: tuple[str, ...] = ("layer norm in the common block instead of weight normalisation and dropout",)
    options: tuple[Option, ...] = (
        Option("kernel", 3, "positions that a layer sees", minimum=1, maximum=4096),
        Option("dilation", 2, "by how much the spacing grows from layer to layer", minimum=1, maximum=64),
    )
    recurrent: bool = True
    linear_time: bool = True

    def mixer(self, width: int, options: Options, members: int, place: Place) -> "Mixer":
        """Return a convolution with the spacing of its layer."""
        from separatrix.models.mixers.cnn import ConvolutionMixer

        spacing = options["dilation"] ** place.layer
        if (options["kernel"] - 1) * spacing > LARGEST_MEMORY:
            raise SeparatrixError(
                f"layer {place.layer + 1} of CNN with kernel={options['kernel']} and dilation={options['dilation']} "
                "would look back more than 2^20 positions; use fewer layers or a smaller dilation"
            )
        return ConvolutionMixer(width, members, options["kernel"], spacing)

    def state_numbers(self, width: int, options: Options, length: int) -> int:
        """Return the remembered inputs of the first layer."""
        return self.state_numbers_at(0, width, options, length)

    def state_numbers_at(self, layer: int, width: int, options: Options, length: int) -> int:
        """Return the remembered inputs."""
        del length
        return (options["kernel"] - 1) * options["dilation"] ** layer * width


ARCHITECTURE = CNN()
