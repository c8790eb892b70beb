"""The mixing layer of ``architectures.cnn``, which has its equations and deviations."""

import torch
from torch import Tensor
from torch.nn import functional

from separatrix.models.ensemble import EnsembleLinear
from separatrix.models.mixer import RecurrentMixer, State, at_positions
from separatrix.models.starts import Generators, torch_default


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
        """Return the convolution at the positions read; with few reads only their windows are gathered."""
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
        """Return zeros before the beginning."""
        return (self.taps.weight.new_zeros(self.members, batch, self.memory, self.width),)

    def step(self, x: Tensor, state: State) -> tuple[Tensor, State]:
        """Return the formula on the remembered inputs."""
        (past,) = state
        everything = torch.cat([past, x.unsqueeze(2)], dim=2)
        window = everything[:, :, :: self.spacing].flatten(2)
        return self.taps(window), (everything[:, :, 1:],)
