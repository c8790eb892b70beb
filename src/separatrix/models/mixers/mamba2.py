"""The mixing layer of ``architectures.mamba2``, which has its equations and deviations."""

import math

import torch
from torch import Tensor
from torch.nn import functional

from separatrix.models.ensemble import EnsembleLinear, linear, unset
from separatrix.models.mixer import RecurrentMixer, State, at_positions
from separatrix.models.mixers.heads import FEW_READS
from separatrix.models.mixers.state_space import GatedNorm, ShortConvolution, start_time_steps
from separatrix.models.scans.attention import decayed_attention, decayed_weights
from separatrix.models.scans.exact import at_least_float32
from separatrix.models.scans.heads import join_heads, split_heads
from separatrix.models.starts import Constant, Generators, Uniform, plus_minus


class Mamba2Mixer(RecurrentMixer):
    """Mamba-2's mixing layer for all members."""

    def __init__(self, width: int, members: int, *, state: int, expansion: int, head: int, layers: int) -> None:
        super().__init__(members)
        self.inner, self.state_size = expansion * width, state
        self.head = min(head, self.inner)
        self.heads = self.inner // self.head
        inner = self.inner
        self.project_in = EnsembleLinear(members, width, 2 * inner + 2 * state + self.heads, bias=False)
        self.convolution = ShortConvolution(members, inner + 2 * state, bias=True)
        self.step_bias = unset(members, self.heads)
        self.log_rate = unset(members, self.heads)
        self.skip = unset(members, self.heads)
        self.norm = GatedNorm(members, inner, group=inner, norm_first=False, shared=False)
        self.project_out = EnsembleLinear(
            members, inner, width, bias=False, weight_start=plus_minus(1.0 / math.sqrt(inner * layers))
        )

    def initialise(self, generators: Generators) -> None:
        """Time steps and rates are drawn, D is 1."""
        start_time_steps(self.step_bias, generators)
        Uniform(1.0, 16.0).fill(self.log_rate, generators)
        with torch.no_grad():
            self.log_rate.log_()
        Constant(1.0).fill(self.skip, generators)

    def forward(self, x: Tensor, *, read: Tensor | None = None, lengths: Tensor | None = None) -> Tensor:
        """x (members, batch, length, width) to the same at the positions read; padding lies in the future."""
        if read is None:
            gate, entered, step = self._split(self.project_in(x))
        else:
            weight = self.project_in.weight
            gate = linear(at_positions(x, read), weight[..., : self.inner])
            entered, step = linear(x, weight[..., self.inner :]).split(
                [self.inner + 2 * self.state_size, self.heads], -1
            )
        used, write, query = self._selected(self.convolution(entered))
        delta, log_decay = self._steps(step.movedim(-1, 2), (1, -1, 1))
        value = split_heads(used, self.heads)
        driven = value * delta.unsqueeze(-1).to(value.dtype)
        if read is not None and read.shape[2] <= FEW_READS:
            weights = decayed_weights(at_positions(query, read).unsqueeze(2), write.unsqueeze(2), read, log_decay)
            mixed = join_heads(torch.matmul(weights, driven))
        else:
            mixed = join_heads(decayed_attention(query.unsqueeze(2), write.unsqueeze(2), driven, log_decay))
            mixed = at_positions(mixed, read)
        skipped = self.skip[:, None, None].repeat_interleave(self.head, dim=-1) * at_positions(used, read)
        return self.project_out(self.norm(mixed + skipped, gate))

    def _split(self, projected: Tensor) -> tuple[Tensor, ...]:
        return projected.split([self.inner, self.inner + 2 * self.state_size, self.heads], dim=-1)

    def _selected(self, convolved: Tensor) -> tuple[Tensor, ...]:
        return convolved.split([self.inner, self.state_size, self.state_size], dim=-1)

    def _steps(self, step: Tensor, shape: tuple[int, ...]) -> tuple[Tensor, Tensor]:
        """Δ and Δ A, in at least float32; ``shape`` puts the heads where ``step`` (members, …) has them."""
        exact = at_least_float32(step.dtype)
        bias, log_rate = (each.to(exact).view(self.members, *shape) for each in (self.step_bias, self.log_rate))
        delta = functional.softplus(step.to(exact) + bias)
        return delta, -delta * torch.exp(log_rate)

    def initial_state(self, batch: int) -> State:
        """Return the convolution's window and the state S, 0."""
        shape = (self.members, batch, self.heads, self.state_size, self.head)
        return self.convolution.initial_window(batch), self.skip.new_zeros(shape)

    def step(self, x: Tensor, state: State) -> tuple[Tensor, State]:
        """x (members, batch, width)."""
        window, memory = state
        gate, entered, step = self._split(self.project_in(x))
        convolved, window = self.convolution.step(entered, window)
        used, write, query = self._selected(convolved)
        delta, log_decay = self._steps(step, (1, -1))
        value = used.unflatten(-1, (self.heads, -1))
        driven = (value * delta.unsqueeze(-1).to(x.dtype)).unsqueeze(-2)
        memory = torch.exp(log_decay).to(x.dtype)[..., None, None] * memory + write[:, :, None, :, None] * driven
        mixed = (memory * query[:, :, None, :, None]).sum(-2) + self.skip[:, None, :, None] * value
        return self.project_out(self.norm(mixed.flatten(2), gate)), (window, memory)
