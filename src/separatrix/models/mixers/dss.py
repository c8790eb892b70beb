"""The mixing layer of ``architectures.dss``, which has its equations and deviations."""

import math
from functools import cache

import torch
from torch import Tensor
from torch.nn import functional

from separatrix.models.ensemble import EnsembleLinear, unset
from separatrix.models.kernels.long_convolution import causal_convolution
from separatrix.models.mixer import Questions, RecurrentMixer, State, at_positions
from separatrix.models.mixers.state_space import LONGEST_STEP, SHORTEST_STEP
from separatrix.models.scans.exact import at_least_float32, exactly, rounded
from separatrix.models.starts import Generators, Normal, fill_members

EPSILON = 1e-7


class DiagonalStateSpace(RecurrentMixer):
    """The DSS layer for all members."""

    branches = True

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

    def forward(
        self,
        x: Tensor,
        *,
        read: Tensor | None = None,
        lengths: Tensor | None = None,
        questions: Questions | None = None,
    ) -> Tensor:
        """x (members, batch, length, width) to the same at the positions read; padding lies in the future."""
        length = x.shape[2] if questions is None else x.shape[2] - questions.number
        x, kernel = rounded(x), self.kernel(length)
        # The skip D is one more number in the kernel's first place.
        kernel = kernel + functional.pad(self.skip.to(kernel.dtype).unsqueeze(1), (0, 0, 0, length - 1))
        if questions is not None:
            text, rows = questions.split(x)
            # The convolution is linear: what the text gives at the questions' position, and each question itself.
            mixed = causal_convolution(text * questions.before(length).unsqueeze(-1), kernel)
            asked = (rows * kernel[:, None, :1] + at_positions(mixed, questions.at)).to(mixed.dtype)
            return self.output(functional.gelu(asked if read is not None else torch.cat([mixed, asked], dim=2)))
        if read is not None and read.shape[2] == 1:
            mixed = self._at(x, kernel, read)
        else:
            mixed = at_positions(causal_convolution(x, kernel), read)
        return self.output(functional.gelu(mixed))

    def _at(self, x: Tensor, kernel: Tensor, read: Tensor) -> Tensor:
        """Return the convolution at one position: Σ_j K_j x_{p-j}."""
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
    """Return eigenvalues of positive imaginary part of HiPPO's skew part of size 2N, minus 1/2, largest first: (N,
    2)."""
    size = torch.arange(2 * state, dtype=torch.float64) * 2 + 1
    lower = torch.sqrt(size[:, None] * size).tril(-1)
    # The skew part is i times a Hermitian matrix, whose eigenvalues are real and sorted.
    imaginary = torch.linalg.eigvalsh(-0.5j * (lower - lower.T)).flip(0)[:state]
    return torch.stack([torch.full_like(imaginary, -0.5), imaginary], dim=-1)
