"""The mixing layer of ``architectures.retnet``, which has its equations and deviations."""

import math

import torch
from torch import Tensor

from separatrix.models.ensemble import EnsembleLinear, linear, unset
from separatrix.models.kernels.attention import retention
from separatrix.models.kernels.gated_norm import gated_group_norm
from separatrix.models.mixer import Questions, RecurrentMixer, State, at_positions
from separatrix.models.mixers.heads import FEW_READS, weighted_values
from separatrix.models.scans.decays import decays
from separatrix.models.scans.exact import at_least_float32
from separatrix.models.scans.heads import join_heads, split_heads, turn
from separatrix.models.starts import Constant, Generators, xavier_uniform

EPSILON = 1e-6

GAIN = 2.0**-2.5


class Retention(RecurrentMixer):
    """Multi-scale retention for all members."""

    branches = True

    def __init__(self, width: int, members: int, heads: int) -> None:
        super().__init__(members)
        self.width, self.heads, self.key_size, self.value_size = width, heads, width // heads, 2 * width // heads
        # Queries, keys, values, gate in one map; each part keeps the start of a map of its own.
        self.project = EnsembleLinear(members, width, 6 * width, bias=False)
        self.output = EnsembleLinear(
            members, 2 * width, width, bias=False, weight_start=xavier_uniform(2 * width, width)
        )
        self.norm_weight = unset(members, 2 * width)
        self.norm_bias = unset(members, 2 * width)
        self.scale = 1.0 / math.sqrt(self.key_size)

    def initialise(self, generators: Generators) -> None:
        """Xavier with gain 2^-2.5 for every part; group norm with gain 1 and shift 0."""
        width, first = self.width, 0
        for size in (width, width, 2 * width, 2 * width):
            xavier_uniform(width, size, GAIN).fill(self.project.weight[..., first : first + size], generators)
            first += size
        Constant(1.0).fill(self.norm_weight, generators)
        Constant(0.0).fill(self.norm_bias, generators)

    def forward(
        self,
        x: Tensor,
        *,
        read: Tensor | None = None,
        lengths: Tensor | None = None,
        questions: Questions | None = None,
    ) -> Tensor:
        """x (members, batch, length, width) to the same at the positions read; padding lies in the future."""
        weight, width = self.project.weight, self.width
        if questions is not None:
            return self._asked(x, questions, everywhere=read is None)
        place = torch.arange(x.shape[2], device=x.device)
        if read is not None and read.shape[2] <= FEW_READS:
            chosen = at_positions(x, read)
            query = self._turned(linear(chosen, weight[..., :width]), read.unsqueeze(2))
            key = self._turned(linear(x, weight[..., width : 2 * width]), place)
            weights = torch.matmul(query, key.transpose(-1, -2)) * self._decays(read, place).to(key.dtype)
            retained = weighted_values(weights * self.scale, x, weight[..., 2 * width : 4 * width])
            return self._finish(retained, linear(chosen, weight[..., 4 * width :]))
        angle = place.unsqueeze(-1) * self._angles(x)
        projected = linear(x, weight[..., : 4 * width])
        retained = retention(projected, self.heads, self.scale, self._log_decay(x), angle.cos(), angle.sin())
        return self._finish(at_positions(retained, read), linear(at_positions(x, read), weight[..., 4 * width :]))

    def _asked(self, x: Tensor, questions: Questions, *, everywhere: bool) -> Tensor:
        """Let each question retain the text before it and itself; its own angle is that of its key, and turns
        nothing."""
        projected = self.project(x)
        text, rows = questions.split(projected)
        width, place = self.width, torch.arange(text.shape[2], device=x.device)
        query, own_key, own_value = (split_heads(each, self.heads) for each in self._parts(rows[..., : 4 * width]))
        turned = self._turned(rows[..., :width], questions.at.unsqueeze(2))
        key = self._turned(text[..., width : 2 * width], place)
        kept = self._decays(questions.at, place) * questions.before(text.shape[2])[:, :, None, None]
        weights = torch.matmul(turned, key.transpose(-1, -2)) * kept.to(key.dtype)
        value = split_heads(text[..., 2 * width : 4 * width], self.heads)
        retained = torch.matmul(weights, value) + (query * own_key).sum(-1, keepdim=True).to(value.dtype) * own_value
        asked = self._finish(join_heads(retained) * self.scale, rows[..., 4 * width :])
        if not everywhere:
            return asked
        angle = place.unsqueeze(-1) * self._angles(x)
        found = retention(
            text[..., : 4 * width].contiguous(), self.heads, self.scale, self._log_decay(x), angle.cos(), angle.sin()
        )
        return torch.cat([self._finish(found, text[..., 4 * width :]), asked], dim=2)

    def _parts(self, projected: Tensor) -> tuple[Tensor, ...]:
        return projected.split([self.width, self.width, 2 * self.width], dim=-1)

    def _finish(self, retained: Tensor, gate: Tensor) -> Tensor:
        """Group norm, gate, output map: retained, gate (members, …, 2·width)."""
        normal = gated_group_norm(
            retained, gate, self.norm_weight, self.norm_bias, group=self.value_size, epsilon=EPSILON, centred=True
        )
        return self.output(normal)

    def _log_decay(self, like: Tensor) -> Tensor:
        """log γ of the heads, (heads,), in at least float32."""
        exact = at_least_float32(like.dtype)
        number = torch.arange(self.heads, device=like.device, dtype=exact)
        return torch.log1p(-torch.exp2(-5.0 - number))

    def _angles(self, like: Tensor) -> Tensor:
        """θ of the pairs, (m/2,), in at least float32."""
        exact = at_least_float32(like.dtype)
        return 10000.0 ** -torch.linspace(0, 1, self.key_size // 2, device=like.device, dtype=exact)

    def _turned(self, x: Tensor, place: Tensor) -> Tensor:
        """(members, batch, length, width) to heads (members, batch, heads, length, m), turned by ``place``·θ."""
        angle = place.unsqueeze(-1) * self._angles(x)
        return turn(split_heads(x, self.heads), angle.cos().to(x.dtype), angle.sin().to(x.dtype))

    def _decays(self, read: Tensor, place: Tensor) -> Tensor:
        """γ^(p - s) for s ≤ p, else 0: (members, batch, heads, reads, length)."""
        age = (read.unsqueeze(-1) - place).unsqueeze(2)
        kept = decays(self._log_decay(self.norm_weight)[:, None, None] * age.clamp_min(0))
        return torch.where(age >= 0, kept, 0)

    def initial_state(self, batch: int) -> State:
        """Return the state S, 0."""
        shape = (self.members, batch, self.heads, self.key_size, self.value_size)
        return (self.norm_weight.new_zeros(shape),)

    def step(self, x: Tensor, state: State) -> tuple[Tensor, State]:
        """x (members, batch, width)."""
        projected = self.project(x)
        query, key, value = (
            each.unflatten(-1, (self.heads, -1)) for each in self._parts(projected[..., : 4 * self.width])
        )
        angle = self._angles(x)
        memory = turn(state[0].transpose(-1, -2), angle.cos().to(x.dtype), -angle.sin().to(x.dtype)).transpose(-1, -2)
        memory = memory * self._log_decay(x).exp().to(x.dtype)[:, None, None] + key.unsqueeze(-1) * value.unsqueeze(-2)
        retained = (query.unsqueeze(-1) * memory).sum(-2) * self.scale
        return self._finish(retained.flatten(2), projected[..., 4 * self.width :]), (memory,)
