"""DSS (Gupta et al. 2022): a diagonal complex state space as one long convolution, in its softmax form.

    K_l = Re Σ_n w_n Λ_n⁻¹ softmax_l(Λ_n Δ l),  l < L,    y = K * u + D ⊙ u,    out = W GELU(y) + b

for each channel, with N = 64 complex Λ shared by the channels, w and Δ of their own (Δ apart for the real and the
imaginary part), and the softmax of complex numbers taken over the L positions the model is built for (Proposition 1b).
Everything starts as in the authors' code: Λ at the eigenvalues of positive imaginary part of the skew part of HiPPO
minus 1/2, w and D normal, Δ log-uniform in [0.001, 0.1], W as torch.nn.Linear. Block: x + mixer(LayerNorm(x)).

Recurrent form: h_t = exp(Λ Δ) h_{t-1} + c u_t and y = Re Σ w̃ h: 2·N numbers for each channel, c = 1 unless Re Λ > 0,
where it is exp(-Λ Δ (L - 1)): the state then stays bounded up to position L, and grows without bound behind it.

The kernel is a product: with l = aT + b, exp(ΛΔ l) = exp(ΛΔ aT)·exp(ΛΔ b), so that it costs N·2√L exponentials and one
matrix product for each channel instead of N·L exponentials. Convolution by FFT: N log N time, memory 4·N numbers for
each sequence and channel; on a GPU up to a few hundred positions by its sum, in one kernel.

Deviations: the softmax runs over the length that the model was built for, not over that of the batch at hand, so that
outputs do not change when padding is added and the recurrent form exists. The derivative is that of the formula, where
the authors' code cuts the shift of positive real parts out of the graph. Their trainer gives Λ, Δ and w a learning
rate of 10⁻³ of their own; ours, which compares architectures, gives all weights of a model the same one.
"""

import math
from dataclasses import dataclass
from functools import cache

import torch
from torch import Tensor
from torch.nn import functional

from separatrix.models.architecture import Architecture, BlockKind, Option, Options, Place
from separatrix.models.architectures._state_space import LONGEST_STEP, SHORTEST_STEP
from separatrix.models.ensemble import EnsembleLinear, Generators, Normal, fill_members, unset
from separatrix.models.kernels.long_convolution import causal_convolution
from separatrix.models.mixer import Mixer, RecurrentMixer, State, at_positions
from separatrix.models.scans.exact import at_least_float32, exactly, rounded

EPSILON = 1e-7


class DiagonalStateSpace(RecurrentMixer):
    """The DSS layer for all members."""

    def __init__(self, width: int, members: int, state: int, horizon: int) -> None:
        super().__init__(members)
        self.width, self.state_size, self.horizon = width, state, horizon
        self.rate = unset(members, state, 2)
        self.log_step = unset(members, width, 2)
        self.weight = unset(members, width, state, 2)
        self.skip = unset(members, width)
        self.output = EnsembleLinear(members, width, width)

    def initialise(self, generators: Generators) -> None:
        """As in the authors' code; complex numbers are pairs of real ones."""
        fill_members(self.rate, [_skew_hippo(self.state_size)] * self.members)
        low, high = math.log(SHORTEST_STEP), math.log(LONGEST_STEP)
        steps = [low + torch.rand(self.width, 1, generator=each) * (high - low) for each in generators]
        fill_members(self.log_step, [each.expand(-1, 2) for each in steps])
        Normal(1.0).fill(self.weight, generators)
        Normal(1.0).fill(self.skip, generators)

    def forward(self, x: Tensor, *, read: Tensor | None = None, lengths: Tensor | None = None) -> Tensor:
        """x (members, batch, length, width) to the same at the positions read; padding lies in the future."""
        x, kernel = rounded(x), self.kernel(x.shape[2])
        # The skip D is one more number in the kernel's first place.
        kernel = kernel + functional.pad(self.skip.to(kernel.dtype).unsqueeze(1), (0, 0, 0, x.shape[2] - 1))
        if read is not None and read.shape[2] == 1:
            mixed = self._at(x, kernel, read)
        else:
            mixed = at_positions(causal_convolution(x, kernel), read)
        return self.output(functional.gelu(mixed))

    def _at(self, x: Tensor, kernel: Tensor, read: Tensor) -> Tensor:
        """The convolution at one position: Σ_j K_j x_{p-j}."""
        place = read - torch.arange(x.shape[2], device=x.device)
        past = at_positions(x, place.clamp_min(0))
        return (past * (place >= 0).unsqueeze(-1) * kernel.unsqueeze(1)).sum(2, keepdim=True).to(x.dtype)

    def kernel(self, length: int) -> Tensor:
        """K at the first ``length`` positions, (members, length, width), in at least float32."""
        with exactly(self.rate):
            return self._kernel(length)

    def _kernel(self, length: int) -> Tensor:
        exponent, shift, weight = self._modes()
        columns = max(1, math.isqrt(length))
        rows = -(-length // columns)
        starts = torch.arange(rows, device=exponent.device) * columns
        offsets = torch.arange(columns, device=exponent.device)
        # (members, width, rows, N) times (members, width, N, columns), as one product of real matrices twice as deep.
        left = torch.exp(exponent.unsqueeze(2) * starts[:, None] + shift.unsqueeze(2)) * weight.unsqueeze(2)
        right = torch.exp(exponent.unsqueeze(-1) * offsets)
        product = torch.matmul(torch.cat([left.real, -left.imag], dim=-1), torch.cat([right.real, right.imag], dim=-2))
        return product.flatten(2)[..., :length].transpose(1, 2)

    def _modes(self) -> tuple[Tensor, Tensor, Tensor]:
        """ΛΔ, the shift -ΛΔ(L - 1) where Re Λ > 0, and the weights w̃: complex (members, width, N)."""
        exact = at_least_float32(self.rate.dtype)
        rate, step, weight = self.rate.to(exact), self.log_step.to(exact).exp(), self.weight.to(exact)
        exponent = torch.view_as_complex(step.unsqueeze(2) * rate.unsqueeze(1))
        growing = (rate[..., 0] > 0).unsqueeze(1)
        shift = torch.where(growing, -exponent * (self.horizon - 1), 0)
        # Σ_l softmax's numerators is a geometric series; for growing modes summed from its last term.
        falling = torch.where(growing, -exponent, exponent)
        below = (torch.exp(falling * self.horizon) - 1) * torch.view_as_complex(rate).unsqueeze(1)
        inverse = below.conj() / (below.abs().square() + EPSILON)
        return exponent, shift, torch.view_as_complex(weight) * (torch.exp(falling) - 1) * inverse

    def initial_state(self, batch: int) -> State:
        """Real and imaginary part of h, 0."""
        shape = (self.members, batch, self.width, self.state_size)
        return self.skip.new_zeros(shape), self.skip.new_zeros(shape)

    def step(self, x: Tensor, state: State) -> tuple[Tensor, State]:
        """x (members, batch, width)."""
        exponent, shift, weight = (each.unsqueeze(1) for each in self._modes())
        before = torch.complex(*(each.to(exponent.real.dtype) for each in state))
        memory = torch.exp(exponent) * before + torch.exp(shift) * x.unsqueeze(-1)
        mixed = (weight * memory).sum(-1).real.to(x.dtype) + self.skip[:, None] * x
        return self.output(functional.gelu(mixed)), (memory.real.to(x.dtype), memory.imag.to(x.dtype))


@cache
def _skew_hippo(state: int) -> Tensor:
    """Eigenvalues of positive imaginary part of HiPPO's skew part of size 2N, minus 1/2, largest first: (N, 2)."""
    size = torch.arange(2 * state, dtype=torch.float64) * 2 + 1
    lower = torch.sqrt(size[:, None] * size).tril(-1)
    # The skew part is i times a Hermitian matrix, whose eigenvalues are real and sorted.
    imaginary = torch.linalg.eigvalsh(-0.5j * (lower - lower.T)).flip(0)[:state]
    return torch.stack([torch.full_like(imaginary, -0.5), imaginary], dim=-1)


@dataclass(frozen=True, kw_only=True)
class DSS(Architecture):
    """The DSS layer."""

    name: str = "dss"
    short: str = "DSS"
    title: str = "DSS (diagonal state space, softmax form)"
    reference: str = "Gupta et al. 2022, arXiv:2203.14343; BHBK24 §6"
    equations: str = (
        "K_l = Re Σ_n w_n Λ_n⁻¹ softmax_l(Λ_n Δ l); y = K * u + D ⊙ u; out = W GELU(y) + b; x ← x + out(LN x); "
        "as a recurrence h_t = exp(ΛΔ) h_{t-1} + u_t, y = Re Σ w̃ h"
    )
    deviations: tuple[str, ...] = (
        "the softmax runs over the length the model is built for, not over the batch's",
        "the derivative goes through the shift of modes with positive real part",
        "one learning rate for all weights, where the authors' trainer gives 10⁻³ to Λ, Δ and w",
    )
    options: tuple[Option, ...] = (Option("state", 64, "complex numbers of state for each channel", minimum=1),)
    block: BlockKind = "pre-norm mixer only"
    recurrent: bool = True
    linear_time: bool = True

    def mixer(self, width: int, options: Options, members: int, place: Place) -> Mixer:
        """The DSS layer."""
        return DiagonalStateSpace(width, members, options["state"], place.length)

    def state_numbers(self, width: int, options: Options, length: int) -> int:
        """2·N for each channel."""
        del length
        return 2 * width * options["state"]


ARCHITECTURE = DSS()
