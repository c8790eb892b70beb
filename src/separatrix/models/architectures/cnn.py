"""A causal convolutional network: each layer sees the last ``kernel`` positions at a spacing that grows with depth.

The slides of SHT23 name CNNs beside FNNs and RNNs without a definition; this is the temporal convolution of van den
Oord et al. 2016 and Bai et al. 2018: spacing dilation^layer, in the common pre-norm block instead of weight
normalisation and dropout. Layer ℓ (from 0) remembers (kernel - 1)·dilation^ℓ inputs, so that a stack sees
1 + (kernel - 1)·Σ_ℓ dilation^ℓ positions and is a recurrent model with a state of constant size. Weights start as in
``torch.nn.Conv1d``.
"""

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from separatrix.errors import SeparatrixError
from separatrix.models.architecture import Architecture, Option, Options, Place
from separatrix.models.ensemble import EnsembleLinear, Generators, torch_default
from separatrix.models.mixer import Mixer, RecurrentMixer, State, at_positions

LARGEST_MEMORY = 1 << 20
"""Positions that a layer may remember."""


class ConvolutionMixer(RecurrentMixer):
    """y_t = Σ_j W_j x_{t - j·spacing} + b for all members."""

    def __init__(self, width: int, members: int, kernel: int, spacing: int) -> None:
        super().__init__(members)
        self.width, self.kernel, self.spacing = width, kernel, spacing
        start = torch_default(kernel * width)
        self.taps = EnsembleLinear(members, kernel * width, width, weight_start=start, bias_start=start)

    @property
    def memory(self) -> int:
        """How many earlier inputs are still seen."""
        return (self.kernel - 1) * self.spacing

    def initialise(self, generators: Generators) -> None:
        """The taps draw their own weights."""

    def forward(self, x: Tensor, *, read: Tensor | None = None, lengths: Tensor | None = None) -> Tensor:
        """The convolution at the positions read; with few reads only their windows are gathered."""
        del lengths
        length = x.shape[2]
        padded = functional.pad(x, (0, 0, self.memory, 0))
        if read is None:
            starts = range(0, self.memory + 1, self.spacing)
            windows = torch.cat([padded[:, :, start : start + length] for start in starts], dim=-1)
            return self.taps(windows)
        offsets = torch.arange(self.kernel, device=x.device) * self.spacing
        windows = at_positions(padded, (read.unsqueeze(-1) + offsets).flatten(2))
        return self.taps(windows.view(*read.shape, self.kernel * self.width))

    def initial_state(self, batch: int) -> State:
        """Zeros before the beginning."""
        return (self.taps.weight.new_zeros(self.members, batch, self.memory, self.width),)

    def step(self, x: Tensor, state: State) -> tuple[Tensor, State]:
        """The formula on the remembered inputs."""
        (past,) = state
        everything = torch.cat([past, x.unsqueeze(2)], dim=2)
        window = everything[:, :, :: self.spacing].flatten(2)
        return self.taps(window), (everything[:, :, 1:],)


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

    def mixer(self, width: int, options: Options, members: int, place: Place) -> Mixer:
        """A convolution with the spacing of its layer."""
        spacing = options["dilation"] ** place.layer
        if (options["kernel"] - 1) * spacing > LARGEST_MEMORY:
            raise SeparatrixError(
                f"layer {place.layer + 1} of CNN with kernel={options['kernel']} and dilation={options['dilation']} "
                "would look back more than 2^20 positions; use fewer layers or a smaller dilation"
            )
        return ConvolutionMixer(width, members, options["kernel"], spacing)

    def state_numbers(self, width: int, options: Options, length: int) -> int:
        """The remembered inputs of the first layer."""
        return self.state_numbers_at(0, width, options, length)

    def state_numbers_at(self, layer: int, width: int, options: Options, length: int) -> int:
        """The remembered inputs."""
        del length
        return (options["kernel"] - 1) * options["dilation"] ** layer * width


ARCHITECTURE = CNN()
