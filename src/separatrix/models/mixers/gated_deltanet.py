"""The mixing layer of ``architectures.gated_deltanet``, which has its equations and deviations."""

import math

import torch
from torch import Tensor
from torch.nn import functional

from separatrix.models.ensemble import EnsembleLinear, unset
from separatrix.models.mixer import RecurrentMixer, State, at_positions
from separatrix.models.mixers.heads import FEW_READS
from separatrix.models.mixers.state_space import GatedNorm, ShortConvolution, start_time_steps
from separatrix.models.scans.attention import decayed_weights
from separatrix.models.scans.delta import corrected_values, gated_delta_rule
from separatrix.models.scans.exact import at_least_float32
from separatrix.models.scans.heads import join_heads, split_heads
from separatrix.models.starts import Generators, Normal, Uniform


class GatedDeltaMixer(RecurrentMixer):
    """The gated delta rule for all members."""

    def __init__(self, width: int, members: int, heads: int, layers: int) -> None:
        super().__init__(members)
        self.heads, self.keys, self.values = heads, 3 * width // 4, 3 * width // 2
        self.key_size, self.value_size = self.keys // heads, self.values // heads
        self.scale = 1.0 / math.sqrt(self.key_size)
        start = Normal(0.02)
        self.sizes = [self.keys, self.keys, self.values]
        self.project = EnsembleLinear(members, width, sum(self.sizes), bias=False, weight_start=start)
        self.convolution = ShortConvolution(members, sum(self.sizes), bias=False)
        self.to_gate = EnsembleLinear(members, width, self.values, bias=False, weight_start=start)
        # α and β of all heads in one map.
        self.to_rates = EnsembleLinear(members, width, 2 * heads, bias=False, weight_start=start)
        self.step_bias = unset(members, heads)
        self.log_rate = unset(members, heads)
        self.norm = GatedNorm(members, self.values, group=self.value_size, norm_first=True, shared=True)
        last = start.for_residual(2 * layers)
        self.output = EnsembleLinear(members, self.values, width, bias=False, weight_start=last)

    def initialise(self, generators: Generators) -> None:
        """Time steps and rates are drawn; a rate of 0 would be a logarithm of -∞."""
        start_time_steps(self.step_bias, generators)
        Uniform(1e-4, 16.0).fill(self.log_rate, generators)
        with torch.no_grad():
            self.log_rate.log_()

    def forward(self, x: Tensor, *, read: Tensor | None = None, lengths: Tensor | None = None) -> Tensor:
        """x (members, batch, length, width) to the same at the positions read; padding lies in the future."""
        parts = self.convolution(self.project(x)).split(self.sizes, dim=-1)
        query, key, value = (split_heads(each, self.heads) for each in parts)
        beta, log_decay = (each.movedim(-1, 2) for each in self._rates(x))
        key = unit(key)
        if read is not None and read.shape[2] <= FEW_READS:
            query = unit(split_heads(at_positions(parts[0], read), self.heads)) * self.scale
            corrected = corrected_values(key, value, beta, log_decay)
            attended = join_heads(torch.matmul(decayed_weights(query, key, read, log_decay), corrected))
        else:
            attended = gated_delta_rule(unit(query) * self.scale, key, value, beta, log_decay)
            attended = at_positions(join_heads(attended), read)
        return self.output(self.norm(attended, self.to_gate(at_positions(x, read))))

    def _rates(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """β and log α, (members, …, heads), in at least float32."""
        exact = at_least_float32(x.dtype)
        step, beta = self.to_rates(x).to(exact).chunk(2, dim=-1)
        shape = (self.members, *[1] * (x.dim() - 2), self.heads)
        bias, log_rate = (each.to(exact).view(shape) for each in (self.step_bias, self.log_rate))
        return torch.sigmoid(beta), -torch.exp(log_rate) * functional.softplus(step + bias)

    def initial_state(self, batch: int) -> State:
        """Return the convolutions' window and the state S, 0."""
        shape = (self.members, batch, self.heads, self.key_size, self.value_size)
        return self.convolution.initial_window(batch), self.step_bias.new_zeros(shape)

    def step(self, x: Tensor, state: State) -> tuple[Tensor, State]:
        """x (members, batch, width)."""
        window, memory = state
        convolved, window = self.convolution.step(self.project(x), window)
        query, key, value = (each.unflatten(-1, (self.heads, -1)) for each in convolved.split(self.sizes, dim=-1))
        query, key = unit(query) * self.scale, unit(key)
        beta, log_decay = (each.to(x.dtype) for each in self._rates(x))
        memory = torch.exp(log_decay)[..., None, None] * memory
        known = (key.unsqueeze(-1) * memory).sum(-2)
        memory = memory + key.unsqueeze(-1) * (beta.unsqueeze(-1) * (value - known)).unsqueeze(-2)
        attended = (query.unsqueeze(-1) * memory).sum(-2).flatten(2)
        return self.output(self.norm(attended, self.to_gate(x))), (window, memory)


def unit(x: Tensor) -> Tensor:
    """x divided by √(Σx² + 10⁻⁶) along the last axis."""
    return x * torch.rsqrt(x.square().sum(-1, keepdim=True) + 1e-6)
