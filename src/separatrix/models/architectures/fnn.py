"""A feed-forward network on the concatenated input, SHT23: "every FNN requires width Ω(N)" for sparse averaging.

A layer of width w reads the whole input at once, vec(x) of N·w numbers, squeezes it into w ReLU units and writes all
positions from them: y_i = V_i ReLU(U vec(x) + a) + b_i. So w is the width of the slides' bound: nothing passes that the
w units do not hold. Layers are stacked bare; weights start as in ``torch.nn.Linear``.

The slides allow any depth and activation; ReLU is what BHBK24 uses. An input shorter than the model's length, and
padding, count as zeros.
"""

from dataclasses import dataclass, field

import torch
from torch import Tensor
from torch.nn import functional

from separatrix.errors import SeparatrixError
from separatrix.models.architecture import Architecture, BlockKind, Option, Options, Place
from separatrix.models.ensemble import EnsembleLinear, Generators, Initialiser, Normal, torch_default, unset
from separatrix.models.mixer import Mixer, at_positions


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
        """Outputs at the positions read; with few reads only their V_i are used."""
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


@dataclass(frozen=True, kw_only=True)
class FNN(Architecture):
    """A feed-forward network on the concatenated input."""

    name: str = "fnn"
    short: str = "FNN"
    title: str = "Feed-forward network on the concatenated input"
    reference: str = "SHT23 (FNNs need width Ω(N))"
    equations: str = "y_i = V_i ReLU(U vec(x) + a) + b_i"
    deviations: tuple[str, ...] = ("the slides leave depth and activation open; ReLU here",)
    options: tuple[Option, ...] = (
        Option("expansion", 1, "hidden units of a layer, as a multiple of the width", minimum=1, maximum=1024),
    )
    block: BlockKind = "bare"
    linear_time: bool = True
    embedding_start: Initialiser = field(default_factory=lambda: Normal(1.0))
    readout_start: Initialiser | None = None
    readout_bias_start: Initialiser | None = None

    def mixer(self, width: int, options: Options, members: int, place: Place) -> Mixer:
        """One layer for inputs of up to the model's length."""
        return ConcatenatedFeedForward(width, members, options["expansion"] * width, place.length)

    def state_numbers(self, width: int, options: Options, length: int) -> int:
        """What has been read of its input, or the share of all units, whichever is less."""
        return min(width * length, options["expansion"] * width)


ARCHITECTURE = FNN()
