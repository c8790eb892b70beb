"""The mixing layer of ``architectures.gated_linear_attention``, which has its equations and deviations."""

import math

import torch
from torch import Tensor
from torch.nn import functional

from separatrix.models.ensemble import EnsembleLinear
from separatrix.models.mixer import RecurrentMixer, State, at_positions
from separatrix.models.mixers.heads import weighted_values
from separatrix.models.mixers.state_space import GatedNorm
from separatrix.models.scans.exact import at_least_float32
from separatrix.models.scans.heads import join_heads, split_heads
from separatrix.models.scans.keywise import keywise_attention, keywise_weights
from separatrix.models.starts import Constant, Generators, xavier_uniform

GAIN = 2.0**-2.5

RANK = 16

TEMPERATURE = 16.0


class GatedLinearAttentionMixer(RecurrentMixer):
    """Gated linear attention for all members."""

    def __init__(self, width: int, members: int, heads: int) -> None:
        super().__init__(members)
        self.width, self.heads, self.keys = width, heads, width // 2
        self.key_size, self.value_size = self.keys // heads, width // heads
        self.scale = 1.0 / math.sqrt(self.key_size)

        def made(inputs: int, outputs: int, *, bias: bool = False) -> EnsembleLinear:
            start = xavier_uniform(inputs, outputs, GAIN)
            return EnsembleLinear(members, inputs, outputs, bias=bias, weight_start=start, bias_start=Constant(0.0))

        self.to_query, self.to_key = made(width, self.keys), made(width, self.keys)
        self.to_value, self.to_gate = made(width, width), made(width, width)
        self.to_rank, self.to_decay = made(width, RANK), made(RANK, self.keys, bias=True)
        self.norm = GatedNorm(members, width, group=self.value_size, norm_first=True, shared=True)
        self.output = made(width, width)

    def initialise(self, generators: Generators) -> None:
        """All maps draw their own weights."""

    def forward(self, x: Tensor, *, read: Tensor | None = None, lengths: Tensor | None = None) -> Tensor:
        """x (members, batch, length, width) to the same at the positions read; padding lies in the future."""
        chosen = at_positions(x, read)
        key, log_decay = split_heads(self.to_key(x), self.heads), split_heads(self._log_decay(x), self.heads)
        if read is not None and read.shape[2] == 1:
            query = split_heads(self.to_query(chosen), self.heads).squeeze(3) * self.scale
            weights = keywise_weights(query, key, log_decay, read.squeeze(2)).unsqueeze(3)
            attended = weighted_values(weights, x, self.to_value.weight)
        else:
            query = split_heads(self.to_query(x), self.heads) * self.scale
            value = split_heads(self.to_value(x), self.heads)
            attended = at_positions(join_heads(keywise_attention(query, key, value, log_decay)), read)
        return self.output(self.norm(attended, self.to_gate(chosen)))

    def _log_decay(self, x: Tensor) -> Tensor:
        """log α, (members, …, keys), in at least float32."""
        logits = self.to_decay(self.to_rank(x))
        return functional.logsigmoid(logits.to(at_least_float32(x.dtype))) / TEMPERATURE

    def initial_state(self, batch: int) -> State:
        """Return the state S, 0."""
        shape = (self.members, batch, self.heads, self.key_size, self.value_size)
        return (self.norm.weight.new_zeros(shape),)

    def step(self, x: Tensor, state: State) -> tuple[Tensor, State]:
        """x (members, batch, width)."""
        decay = torch.exp(self._log_decay(x)).to(x.dtype)
        query, key, value, decay = (
            each.unflatten(-1, (self.heads, -1)) for each in (self.to_query(x), self.to_key(x), self.to_value(x), decay)
        )
        memory = decay.unsqueeze(-1) * state[0] + key.unsqueeze(-1) * value.unsqueeze(-2)
        attended = (query.unsqueeze(-1) * memory).sum(-2) * self.scale
        return self.output(self.norm(attended.flatten(2), self.to_gate(x))), (memory,)
