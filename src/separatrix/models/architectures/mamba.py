"""Mamba (Gu and Dao 2023): a diagonal state space whose step, input and output maps depend on the input.

    [u, z] = W_in x,  u ← silu(conv₄(u)),  [r, B, C] = W_x u,  Δ = softplus(W_Δ r + b_Δ)
    h_t = exp(Δ_t A) ⊙ h_{t-1} + Δ_t u_t B_tᵀ,  y_t = h_t C_t + D ⊙ u_t,  out = W_out (y ⊙ silu(z))

Hyper-parameters of the paper and of ``mamba_ssm``: state 16, expansion 2, four taps, rank of Δ = ⌈width/16⌉;
A = -(1, …, 16) (S4D-real), D = 1, Δ log-uniform in [0.001, 0.1] at the start, W_out divided by √layers, embedding
normal with deviation 0.02. Block: x + mixer(RMSNorm(x)), without a feed-forward part. The tests reproduce the
Hugging Face Mamba with copied weights.

On a GPU the scan, its softplus, skip and gate are one Triton kernel each way; elsewhere the chunked scan of
``models.scans.selective``. Where one position is read its output is a decayed sum over the past without any scan
(CPU), and gate and output map run at the positions read alone. State: inner·(16 + 3) numbers, inner = 2·width.

Deviations: none in the layer's mathematics. All positions are computed in the activations' type, states in at least
float32. The readout is a map of its own with a bias, normal with deviation 0.02, where ``mamba_ssm`` uses the
transposed embedding: the answers of a task are not its input symbols.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from separatrix.models.architecture import Architecture, BlockKind, Norm, Option, Options, Place
from separatrix.models.architectures._state_space import TAPS, ShortConvolution, start_time_steps
from separatrix.models.ensemble import (
    Constant,
    EnsembleLinear,
    Generators,
    fill_members,
    linear,
    plus_minus,
    unset,
)
from separatrix.models.kernels.selective import gated_selective_scan
from separatrix.models.mixer import Mixer, RecurrentMixer, State, at_positions
from separatrix.models.scans.exact import at_least_float32
from separatrix.models.scans.selective import selective_scan_at


class MambaMixer(RecurrentMixer):
    """Mamba's mixing layer for all members."""

    def __init__(self, width: int, members: int, *, state: int, expansion: int, layers: int) -> None:
        super().__init__(members)
        self.width, self.inner, self.state_size = width, expansion * width, state
        self.rank = math.ceil(width / 16)
        inner = self.inner
        self.project_in = EnsembleLinear(members, width, 2 * inner, bias=False)
        self.convolution = ShortConvolution(members, inner, bias=True)
        self.project_selection = EnsembleLinear(members, inner, self.rank + 2 * state, bias=False)
        self.project_step = EnsembleLinear(
            members, self.rank, inner, bias=False, weight_start=plus_minus(self.rank**-0.5)
        )
        self.step_bias = unset(members, inner)
        self.log_rate = unset(members, inner, state)
        self.skip = unset(members, inner)
        self.project_out = EnsembleLinear(
            members, inner, width, bias=False, weight_start=plus_minus(1.0 / math.sqrt(inner * layers))
        )

    def initialise(self, generators: Generators) -> None:
        """Time steps are drawn; A and D start at the same numbers everywhere."""
        start_time_steps(self.step_bias, generators)
        rates = torch.arange(1, self.state_size + 1, dtype=torch.float32).log().expand(self.inner, -1)
        fill_members(self.log_rate, [rates] * self.members)
        Constant(1.0).fill(self.skip, generators)

    def forward(self, x: Tensor, *, read: Tensor | None = None, lengths: Tensor | None = None) -> Tensor:
        """x (members, batch, length, width) to the same at the positions read; padding lies in the future."""
        if read is None:
            entered, gate = self.project_in(x).chunk(2, dim=-1)
            used, step, write, query = self._selected(entered)
            mixed = gated_selective_scan(used, step, self._rate(), write, query, self.skip, gate, self.step_bias)
            return self.project_out(mixed)
        weight = self.project_in.weight
        used, step, write, query = self._selected(linear(x, weight[..., : self.inner]))
        gate = linear(at_positions(x, read), weight[..., self.inner :])
        if read.shape[2] == 1 and not x.is_cuda:
            delta = functional.softplus(step + self.step_bias[:, None, None])
            query = at_positions(query, read).squeeze(2)
            mixed = selective_scan_at(used, delta, self._rate(), write, query, read.squeeze(2)).unsqueeze(2)
            mixed = torch.addcmul(mixed, at_positions(used, read), self.skip[:, None, None])
        else:
            mixed = gated_selective_scan(used, step, self._rate(), write, query, self.skip, None, self.step_bias)
            mixed = at_positions(mixed, read)
        return self.project_out(mixed * functional.silu(gate))

    def _rate(self) -> Tensor:
        """A (members, inner, state), in at least float32."""
        return -torch.exp(self.log_rate.to(at_least_float32(self.log_rate.dtype)))

    def _selected(self, entered: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """u after the convolution, Δ before bias and softplus, B and C."""
        used = self.convolution(entered)
        low, write, query = self._split(self.project_selection(used))
        return used, self.project_step(low), write, query

    def _split(self, selection: Tensor) -> tuple[Tensor, ...]:
        return selection.split([self.rank, self.state_size, self.state_size], dim=-1)

    def initial_state(self, batch: int) -> State:
        """The convolution's window and the state h, 0."""
        return (
            self.convolution.initial_window(batch),
            self.skip.new_zeros(self.members, batch, self.inner, self.state_size),
        )

    def step(self, x: Tensor, state: State) -> tuple[Tensor, State]:
        """x (members, batch, width)."""
        window, memory = state
        entered, gate = self.project_in(x).chunk(2, dim=-1)
        used, window = self.convolution.step(entered, window)
        low, write, query = self._split(self.project_selection(used))
        delta = functional.softplus(self.project_step(low) + self.step_bias[:, None])
        decay = torch.exp(delta.unsqueeze(-1) * self._rate().unsqueeze(1)).to(memory.dtype)
        memory = decay * memory + (delta * used).unsqueeze(-1) * write.unsqueeze(2)
        mixed = (memory * query.unsqueeze(2)).sum(-1) + self.skip[:, None] * used
        return self.project_out(mixed * functional.silu(gate)), (window, memory)


@dataclass(frozen=True, kw_only=True)
class Mamba(Architecture):
    """Mamba's layer."""

    name: str = "mamba"
    short: str = "Mamba"
    title: str = "Mamba (selective state space)"
    reference: str = "Gu and Dao 2023, arXiv:2312.00752; BHBK24 §6, Appendix H.1"
    equations: str = (
        "[u, z] = W_in x; u ← silu(conv₄(u)); [r, B, C] = W_x u; Δ = softplus(W_Δ r + b_Δ); "
        "h_t = exp(Δ_t A) ⊙ h_{t-1} + Δ_t u_t B_tᵀ; y_t = h_t C_t + D ⊙ u_t; out = W_out (y ⊙ silu(z)); "
        "x ← x + out(RMSNorm x)"
    )
    deviations: tuple[str, ...] = ("a readout of its own with a bias; mamba_ssm uses the transposed embedding",)
    options: tuple[Option, ...] = (
        Option("state", 16, "numbers of state for each channel", minimum=1, maximum=256),
        Option("expansion", 2, "channels for each number of the width", minimum=1, maximum=8),
    )
    block: BlockKind = "pre-norm mixer only"
    norm: Norm = "rms"
    recurrent: bool = True
    linear_time: bool = True

    def mixer(self, width: int, options: Options, members: int, place: Place) -> Mixer:
        """Mamba's mixing layer."""
        return MambaMixer(width, members, state=options["state"], expansion=options["expansion"], layers=place.layers)

    def state_numbers(self, width: int, options: Options, length: int) -> int:
        """inner·state and the convolution's window."""
        del length
        return options["expansion"] * width * (options["state"] + TAPS - 1)


ARCHITECTURE = Mamba()
