"""What state spaces and gated linear attention share: short convolution, start of time steps, gated norm."""

import math

import torch
from torch import Tensor
from torch.nn import functional

from separatrix.models.architectures._options import TAPS
from separatrix.models.ensemble import EnsembleModule, unset
from separatrix.models.kernels.convolution import convolve_silu
from separatrix.models.kernels.gated_norm import gated_group_norm
from separatrix.models.scans.convolution import short_convolution_step
from separatrix.models.starts import Constant, Generators, Initialiser, fill_members, plus_minus

# Time steps start log-uniform between these (Gu and Dao 2023, §3.6), never under the floor.
SHORTEST_STEP, LONGEST_STEP, STEP_FLOOR = 1e-3, 1e-1, 1e-4


class ShortConvolution(EnsembleModule):
    """SiLU of a causal depthwise convolution with four taps; starts as torch.nn.Conv1d unless said."""

    def __init__(self, members: int, channels: int, *, bias: bool, bias_start: Initialiser | None = None) -> None:
        super().__init__(members)
        self.bias_start = bias_start or plus_minus(1.0 / math.sqrt(TAPS))
        self.channels = channels
        self.weight = unset(members, channels, TAPS)
        self.bias = unset(members, channels) if bias else None

    def initialise(self, generators: Generators) -> None:
        """Uniform within 1/√taps."""
        start = plus_minus(1.0 / math.sqrt(TAPS))
        start.fill(self.weight, generators)
        if self.bias is not None:
            self.bias_start.fill(self.bias, generators)

    def forward(self, x: Tensor) -> Tensor:
        """x (members, batch, length, channels) to the same."""
        return convolve_silu(x, self.weight, self.bias)

    def initial_window(self, batch: int) -> Tensor:
        """Return the positions before the first: (members, batch, taps - 1, channels), 0."""
        return self.weight.new_zeros(self.members, batch, TAPS - 1, self.channels)

    def step(self, x: Tensor, window: Tensor) -> tuple[Tensor, Tensor]:
        """Step by one position: x (members, batch, channels)."""
        output, window = short_convolution_step(x, window, self.weight, self.bias)
        return functional.silu(output), window


def start_time_steps(bias: Tensor, generators: Generators) -> None:
    """Set a bias so that its softplus is log-uniform between the shortest and the longest step."""
    span = math.log(LONGEST_STEP) - math.log(SHORTEST_STEP)
    draws = []
    for generator in generators:
        step = torch.exp(torch.rand(bias.shape[1:], generator=generator) * span + math.log(SHORTEST_STEP))
        step = step.clamp_min(STEP_FLOOR)
        # The inverse of softplus.
        draws.append(step + torch.log(-torch.expm1(-step)))
    fill_members(bias, draws)


class GatedNorm(EnsembleModule):
    """Root-mean-square norm over groups, and a gate: norm(x) ⊙ silu(z), or norm(x ⊙ silu(z))."""

    def __init__(self, members: int, width: int, *, group: int, norm_first: bool, shared: bool) -> None:
        super().__init__(members)
        self.width, self.group, self.norm_first, self.epsilon = width, group, norm_first, 1e-5
        # One gain for each number, or one for each place in a group, shared by the groups.
        self.weight = unset(members, group if shared else width)

    def initialise(self, generators: Generators) -> None:
        """Gain 1."""
        Constant(1.0).fill(self.weight, generators)

    def forward(self, x: Tensor, gate: Tensor) -> Tensor:
        """x, gate (members, …, width)."""
        return gated_group_norm(
            x, gate, self.weight, group=self.group, epsilon=self.epsilon, norm_first=self.norm_first
        )
