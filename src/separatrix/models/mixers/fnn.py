"""The mixing layer of ``architectures.fnn``, which has its equations and deviations."""

import torch
from torch import Tensor
from torch.nn import functional

from separatrix.errors import SeparatrixError
from separatrix.models.ensemble import EnsembleLinear, unset
from separatrix.models.mixer import Mixer, at_positions
from separatrix.models.starts import Generators, torch_default


class ConcatenatedFeedForward(Mixer):
    """y_i = V_i ReLU(U vec(x) + a) + b_i for all members."""

    causal = False

    def __init__(self, width: int, members: int, units: int, length: int) -> None:
        super().__init__(members)
        self.width, self.units, self.length = width, units, length
        self.inner = EnsembleLinear(members, length * width, units)
        self.outer = unset(members, length, units, width)
        self.outer_bias = unset(members, length, width)

    def initialise(self, generators: Generators) -> None:
        """Uniform within 1/√units."""
        torch_default(self.units).fill(self.outer, generators)
        torch_default(self.units).fill(self.outer_bias, generators)

    def forward(self, x: Tensor, *, read: Tensor | None = None, lengths: Tensor | None = None) -> Tensor:
        """Return outputs at the positions read; with few reads only their V_i are used."""
        members, batch, length, width = x.shape
        if length > self.length:
            raise SeparatrixError(
                f"FNN was built for inputs of up to {self.length} cells, not {length}; build it with a larger length"
            )
        if lengths is not None:
            inside = torch.arange(length, device=x.device) < lengths.unsqueeze(-1)
            x = torch.where(inside.unsqueeze(-1), x, 0.0)
        whole = functional.pad(x, (0, 0, 0, self.length - length)).reshape(members, batch, self.length * width)
        units = torch.relu(self.inner(whole))
        if read is not None and 4 * read.shape[2] <= length:
            return self._few(units, read)
        # (members·positions, batch, units) times (members·positions, units, width), for the positions there are.
        outer = self.outer[:, :length].reshape(members * length, self.units, width)
        spread = units.unsqueeze(1).expand(members, length, batch, self.units).reshape(-1, batch, self.units)
        everywhere = torch.bmm(spread, outer).view(members, length, batch, width).transpose(1, 2)
        return at_positions(everywhere + self.outer_bias[:, None, :length], read)

    def _few(self, units: Tensor, read: Tensor) -> Tensor:
        members, batch, reads = read.shape
        number = (read + torch.arange(members, device=read.device).view(members, 1, 1) * self.length).flatten()
        outer = self.outer.flatten(0, 1).index_select(0, number)
        spread = units.unsqueeze(2).expand(members, batch, reads, self.units).reshape(-1, 1, self.units)
        bias = self.outer_bias.flatten(0, 1).index_select(0, number)
        return torch.baddbmm(bias.unsqueeze(1), spread, outer).view(members, batch, reads, self.width)
