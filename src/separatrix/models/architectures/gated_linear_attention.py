"""Gated linear attention (Yang et al. 2023): linear attention that forgets each key coordinate at its own rate.

    α_t = sigmoid(W₂ W₁ x_t + b)^{1/16},  S_t = diag(α_t) S_{t-1} + k_t v_tᵀ,  o_t = S_tᵀ q_t / √m
    y_t = W_O [ RMSNorm(o_t) ⊙ swish(W_G x_t) ]

Sizes of the paper and of ``fla``: 4 heads, keys half as wide as the model, values as wide, gates of rank 16. The
feed-forward part is a SwiGLU, 8/3 times as wide; the norm is RMSNorm. Weights are Xavier uniform with gain 2^{-2.5}, as
in the authors' first code.

The parallel form is the chunked attention of ``models.scans.keywise``; for one read, a sum over the past whose weights
need neither values nor states. State: width²/(2·heads) numbers.

Deviations: none in the layer's mathematics. Around it, the models of ``fla`` round the feed-forward part up to a
multiple of 256, draw it normal with deviation 0.02, have norms with ε = 10⁻⁶ and a readout without bias; here it is as
wide as the ratio says, starts as torch.nn.Linear, ε is 10⁻⁵ and the readout has a bias.
"""

import math
from dataclasses import dataclass, field

import torch
from torch import Tensor
from torch.nn import functional

from separatrix.models.architecture import Architecture, FeedForwardShape, Norm, Option, Options, Place
from separatrix.models.architectures._heads import HEADS, check_divides, weighted_values
from separatrix.models.architectures._state_space import GatedNorm
from separatrix.models.ensemble import Constant, EnsembleLinear, Generators, Initialiser, xavier_uniform
from separatrix.models.mixer import Mixer, RecurrentMixer, State, at_positions
from separatrix.models.scans.exact import at_least_float32
from separatrix.models.scans.heads import join_heads, split_heads
from separatrix.models.scans.keywise import keywise_attention, keywise_weights

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
        """The state S, 0."""
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


@dataclass(frozen=True, kw_only=True)
class GatedLinearAttention(Architecture):
    """The layer of gated linear attention."""

    name: str = "gated-linear-attention"
    short: str = "GLA"
    title: str = "Gated linear attention"
    reference: str = "Yang et al. 2023, arXiv:2312.06635"
    equations: str = (
        "α_t = sigmoid(W₂ W₁ x_t + b)^{1/16}; S_t = diag(α_t) S_{t-1} + k_t v_tᵀ; o_t = S_tᵀ q_t / √m; "
        "y = W_O [RMSNorm(o) ⊙ swish(W_G x)]; x ← x + y(RMSNorm x); x ← x + SwiGLU(RMSNorm x)"
    )
    deviations: tuple[str, ...] = (
        "feed-forward part 8/3 as wide to the nearest number, not rounded up to a multiple of 256 as in fla",
        "feed-forward part starts as torch.nn.Linear, not normal with deviation 0.02 as in fla",
        "ε = 10⁻⁵ in the norms, where fla's models have 10⁻⁶",
        "a readout with a bias",
    )
    options: tuple[Option, ...] = (HEADS,)
    recurrent: bool = True
    linear_time: bool = True
    norm: Norm = "rms"
    feed_forward: FeedForwardShape = field(default_factory=lambda: FeedForwardShape("swiglu", 8 / 3))
    feed_forward_start: Initialiser | None = None
    scale_residual_projections: bool = False

    def check(self, width: int, options: Options) -> None:
        """Heads divide half the width."""
        check_divides(self.short, "half the width,", width // 2, options["heads"])
        check_divides(self.short, "width", width, options["heads"])

    def mixer(self, width: int, options: Options, members: int, place: Place) -> Mixer:
        """Gated linear attention."""
        del place
        return GatedLinearAttentionMixer(width, members, options["heads"])

    def state_numbers(self, width: int, options: Options, length: int) -> int:
        """width²/(2·heads)."""
        del length
        return (width // 2) * (width // options["heads"])


ARCHITECTURE = GatedLinearAttention()
