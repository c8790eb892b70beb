"""The mixing layer of ``architectures.linear_transformer``, which has its equations and deviations."""

import torch
from torch import Tensor

from separatrix.models.ensemble import EnsembleLinear, linear
from separatrix.models.kernels.attention import EPSILON, feature_attention, feature_map
from separatrix.models.mixer import Questions, RecurrentMixer, State, at_positions
from separatrix.models.mixers.heads import FEW_READS, weighted_values
from separatrix.models.scans.attention import decayed_weights
from separatrix.models.scans.heads import join_heads, split_heads
from separatrix.models.starts import Generators


class LinearAttention(RecurrentMixer):
    """Linear attention with a normaliser for all members."""

    branches = True

    def __init__(self, width: int, members: int, heads: int) -> None:
        super().__init__(members)
        self.width, self.heads, self.dimension = width, heads, width // heads
        self.project = EnsembleLinear(members, width, 3 * width)
        self.output = EnsembleLinear(members, width, width)

    def initialise(self, generators: Generators) -> None:
        """Both maps draw their own weights."""

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
            return self.output(self._asked(x, questions, everywhere=read is None))
        if read is not None and read.shape[2] <= FEW_READS:
            return self.output(self._at(x, read))
        return self.output(at_positions(feature_attention(self.project(x), self.heads), read))

    def _asked(self, x: Tensor, questions: Questions, *, everywhere: bool) -> Tensor:
        """Let each question attend to the text before it and to itself."""
        text, rows = questions.split(self.project(x))
        query, own_key, own_value = (split_heads(each, self.heads) for each in rows.chunk(3, dim=-1))
        _, key, value = (split_heads(each, self.heads) for each in text.chunk(3, dim=-1))
        query, key, own_key = feature_map(query), feature_map(key), feature_map(own_key)
        seen = questions.before(text.shape[2])[:, :, None, None]
        weights = torch.matmul(query, key.transpose(-1, -2)) * seen
        own = (query * own_key).sum(-1, keepdim=True)
        total = weights.sum(-1, keepdim=True) + own + EPSILON
        attended = (torch.matmul(weights, value) + own * own_value) / total
        asked = join_heads(attended.to(value.dtype))
        return asked if not everywhere else torch.cat([feature_attention(text.contiguous(), self.heads), asked], dim=2)

    def _at(self, x: Tensor, read: Tensor) -> Tensor:
        weight, bias, width = self.project.weight, self.project.bias, self.width
        assert bias is not None
        query = linear(at_positions(x, read), weight[..., :width], bias[..., :width])
        key = linear(x, weight[..., width : 2 * width], bias[..., width : 2 * width])
        query, key = (feature_map(split_heads(each, self.heads)) for each in (query, key))
        weights = decayed_weights(query, key, read)
        total = weights.sum(-1).transpose(2, 3).unsqueeze(-1)
        summed = weighted_values(weights, x, weight[..., 2 * width :]).unflatten(-1, (self.heads, -1))
        shift = bias[:, None, None, 2 * width :].unflatten(-1, (self.heads, -1))
        return ((summed + total * shift) / (total + EPSILON)).flatten(3)

    def initial_state(self, batch: int) -> State:
        """S and z, both 0."""
        weight, size = self.project.weight, self.dimension
        shape = (self.members, batch, self.heads, size)
        return weight.new_zeros(*shape, size), weight.new_zeros(*shape)

    def step(self, x: Tensor, state: State) -> tuple[Tensor, State]:
        """x (members, batch, width)."""
        memory, total = state
        query, key, value = (each.unflatten(-1, (self.heads, -1)) for each in self.project(x).chunk(3, dim=-1))
        query, key = feature_map(query), feature_map(key)
        memory = memory + key.unsqueeze(-1) * value.unsqueeze(-2)
        total = total + key
        norm = (query * total).sum(-1, keepdim=True) + EPSILON
        attended = (query.unsqueeze(-1) * memory).sum(-2) / norm
        return self.output(attended.flatten(2)), (memory, total)
