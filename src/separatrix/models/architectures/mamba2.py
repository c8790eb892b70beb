"""Mamba-2 (Dao and Gu 2024): a selective state space with one decay for each head, which makes it linear attention.

    [z, u, B, C, Δ] = W_in x,  [u, B, C] ← silu(conv₄([u, B, C])),  Δ = softplus(Δ + b_Δ)
    S_t = exp(Δ_t A) S_{t-1} + B_t (Δ_t u_t)ᵀ,  y_t = S_tᵀ C_t + D u_t  for each head,  out = W_out RMSNorm(y ⊙ silu(z))

B and C are shared by the heads (one group). Hyper-parameters of ``mamba_ssm``: state 128, head dimension 64, expansion
2, four taps; A uniform in -[1, 16], D = 1, Δ log-uniform in [0.001, 0.1] at the start, W_out divided by √layers. Block:
x + mixer(RMSNorm(x)) without a feed-forward part. The tests reproduce the Hugging Face Mamba-2 with copied weights.

The parallel form is the chunked attention with decay of ``models.scans.attention`` with queries C, keys B and values
Δ u (the paper's state space duality); for few reads, weighted sums over the past. State: inner·state numbers and the
convolution's window of 3·(inner + 2·state), inner = 2·width.

Deviations: where inner is smaller than 64 there is one head as wide as inner. The readout is a map of its own with a
bias, where ``mamba_ssm`` uses the transposed embedding.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from separatrix.errors import SeparatrixError
from separatrix.models.architecture import Architecture, BlockKind, Norm, Option, Options, Place
from separatrix.models.architectures._heads import FEW_READS
from separatrix.models.architectures._state_space import TAPS, GatedNorm, ShortConvolution, start_time_steps
from separatrix.models.ensemble import (
    Constant,
    EnsembleLinear,
    Generators,
    Uniform,
    linear,
    plus_minus,
    unset,
)
from separatrix.models.mixer import Mixer, RecurrentMixer, State, at_positions
from separatrix.models.scans.attention import decayed_attention, decayed_weights
from separatrix.models.scans.exact import at_least_float32
from separatrix.models.scans.heads import join_heads, split_heads


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
        """The convolution's window and the state S, 0."""
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


@dataclass(frozen=True, kw_only=True)
class Mamba2(Architecture):
    """Mamba-2's layer."""

    name: str = "mamba2"
    short: str = "Mamba2"
    title: str = "Mamba-2 (state space duality)"
    reference: str = "Dao and Gu 2024, arXiv:2405.21060"
    equations: str = (
        "[z, u, B, C, Δ] = W_in x; [u, B, C] ← silu(conv₄([u, B, C])); Δ = softplus(Δ + b_Δ); "
        "S_t = exp(Δ_t A) S_{t-1} + B_t (Δ_t u_t)ᵀ; y_t = S_tᵀ C_t + D u_t for each head; "
        "out = W_out RMSNorm(y ⊙ silu(z)); x ← x + out(RMSNorm x)"
    )
    deviations: tuple[str, ...] = (
        "one head as wide as inner where inner is smaller than the head dimension",
        "a readout of its own with a bias; mamba_ssm uses the transposed embedding",
    )
    options: tuple[Option, ...] = (
        Option("state", 128, "size of keys and queries (B and C)", minimum=1, maximum=1024),
        Option("expansion", 2, "channels for each number of the width", minimum=1, maximum=8),
        Option("head", 64, "channels of a head", minimum=1),
    )
    block: BlockKind = "pre-norm mixer only"
    norm: Norm = "rms"
    recurrent: bool = True
    linear_time: bool = True

    def check(self, width: int, options: Options) -> None:
        """Heads fill the inner width."""
        inner = options["expansion"] * width
        if inner % min(options["head"], inner):
            raise SeparatrixError(
                f"head={options['head']} does not divide the inner width {inner} of {self.short}; choose a divisor"
            )

    def mixer(self, width: int, options: Options, members: int, place: Place) -> Mixer:
        """Mamba-2's mixing layer."""
        return Mamba2Mixer(
            width, members,
            state=options["state"], expansion=options["expansion"], head=options["head"], layers=place.layers,
        )  # fmt: skip

    def state_numbers(self, width: int, options: Options, length: int) -> int:
        """inner·state and the convolution's window."""
        del length
        inner, state = options["expansion"] * width, options["state"]
        return inner * state + (TAPS - 1) * (inner + 2 * state)


ARCHITECTURE = Mamba2()
