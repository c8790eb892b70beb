"""The mixing layer of ``architectures.mamba``, which has its equations and deviations."""

import math
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from separatrix.models.architectures._options import TAPS
from separatrix.models.architectures.mamba import DEVIATION
from separatrix.models.ensemble import EnsembleLinear, linear, unset
from separatrix.models.kernels.selective import gated_selective_scan
from separatrix.models.mixer import Questions, RecurrentMixer, State, at_positions
from separatrix.models.mixers.state_space import ShortConvolution, start_time_steps
from separatrix.models.scans.exact import at_least_float32
from separatrix.models.scans.selective import selective_scan_at
from separatrix.models.starts import Constant, Generators, Normal, fill_members, plus_minus

NO_STEP = -1e4
"""softplus of it is 0: the state neither decays nor takes anything in."""


class Unrolled(NamedTuple):
    """What a word makes of the state: h_t = decay_t ⊙ h_{t-1} + given_t, and how it is read."""

    decay: Tensor
    given: Tensor
    query: Tensor
    skipped: Tensor
    gate: Tensor


class MambaMixer(RecurrentMixer):
    """Mamba's mixing layer for all members."""

    branches = True

    def __init__(self, width: int, members: int, *, state: int, expansion: int, layers: int, start: str) -> None:
        super().__init__(members)
        published = start == "hugging-face"
        drawn = Normal(DEVIATION) if published else None
        self.width, self.inner, self.state_size = width, expansion * width, state
        self.rank = math.ceil(width / 16)
        inner = self.inner
        self.project_in = EnsembleLinear(members, width, 2 * inner, bias=False, weight_start=drawn)
        self.convolution = ShortConvolution(members, inner, bias=True, bias_start=Constant(0.0) if published else None)
        self.project_selection = EnsembleLinear(members, inner, self.rank + 2 * state, bias=False, weight_start=drawn)
        self.project_step = EnsembleLinear(
            members, self.rank, inner, bias=False, weight_start=plus_minus(self.rank**-0.5)
        )
        self.step_bias = unset(members, inner)
        self.log_rate = unset(members, inner, state)
        self.skip = unset(members, inner)
        shrunk = None if published else plus_minus(1.0 / math.sqrt(inner * layers))
        self.project_out = EnsembleLinear(members, inner, width, bias=False, weight_start=shrunk)

    def initialise(self, generators: Generators) -> None:
        """Time steps are drawn; A and D start at the same numbers everywhere."""
        start_time_steps(self.step_bias, generators)
        rates = torch.arange(1, self.state_size + 1, dtype=torch.float32).log().expand(self.inner, -1)
        fill_members(self.log_rate, [rates] * self.members)
        Constant(1.0).fill(self.skip, generators)

    def forward(
        self,
        x: Tensor,
        *,
        read: Tensor | None = None,
        lengths: Tensor | None = None,
        questions: Questions | None = None,
    ) -> Tensor:
        """x (members, batch, length, width) to the same at the positions read; padding lies in the future."""
        if questions is not None:
            return self._asked(x, questions, everywhere=read is None)
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

    def _asked(self, x: Tensor, questions: Questions, *, everywhere: bool) -> Tensor:
        """Questions step from the state before them. The scan hands out outputs, so the state is read as such: behind
        the text come as many positions as the state has numbers for a channel; their steps are 0, as is every step
        from the questions' position on, and the n-th has the n-th unit vector for C."""
        text, rows = questions.split(x)
        length, size = text.shape[2], self.state_size
        weight = self.project_in.weight
        entered = linear(text, weight[..., : self.inner])
        used, step, write, query = self._selected(entered)
        step = step.masked_fill(~questions.before(length).unsqueeze(-1), NO_STEP)
        units = torch.eye(size, dtype=query.dtype, device=x.device).expand(*x.shape[:2], -1, -1)
        found = gated_selective_scan(
            functional.pad(used, (0, 0, 0, size)),
            functional.pad(step, (0, 0, 0, size), value=NO_STEP),
            self._rate(),
            functional.pad(write, (0, 0, 0, size)),
            torch.cat([query, units], dim=2),
            self.skip,
            None,
            self.step_bias,
        )
        places = questions.at - torch.arange(TAPS - 1, 0, -1, device=x.device)
        window = at_positions(entered, places.clamp_min(0)) * (places >= 0).unsqueeze(-1)
        state = questions.repeated((window, found[:, :, length:].transpose(2, 3)))
        asked = questions.apart(self.step(questions.together(rows), state)[0])
        if not everywhere:
            return asked
        gate = linear(text, weight[..., self.inner :])
        return torch.cat([self.project_out(found[:, :, :length] * functional.silu(gate)), asked], dim=2)

    def _rate(self) -> Tensor:
        """Return a (members, inner, state), in at least float32."""
        return -torch.exp(self.log_rate.to(at_least_float32(self.log_rate.dtype)))

    def _selected(self, entered: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """u after the convolution, Δ before bias and softplus, B and C."""
        used = self.convolution(entered)
        low, write, query = self._split(self.project_selection(used))
        return used, self.project_step(low), write, query

    def _split(self, selection: Tensor) -> tuple[Tensor, ...]:
        return selection.split([self.rank, self.state_size, self.state_size], dim=-1)

    def unrolled(self, x: Tensor) -> Unrolled:
        """Return the recurrence of x (members, batch, length, width); decay and given also (…, inner, state)."""
        entered, gate = self.project_in(x).chunk(2, dim=-1)
        used, step, write, query = self._selected(entered)
        delta = functional.softplus(step + self.step_bias[:, None, None])
        decay = torch.exp(delta.unsqueeze(-1) * self._rate()[:, None, None])
        given = (delta * used).unsqueeze(-1) * write.unsqueeze(-2)
        return Unrolled(decay, given, query, self.skip[:, None, None] * used, gate)

    def shown(self, found: Unrolled, states: Tensor) -> Tensor:
        """Return the outputs of states (members, batch, length, inner, state)."""
        mixed = (states * found.query.unsqueeze(-2)).sum(-1) + found.skipped
        return self.project_out(mixed * functional.silu(found.gate))

    def initial_state(self, batch: int) -> State:
        """Return the convolution's window and the state h, 0."""
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
