"""Gated DeltaNet (Yang et al. 2024): a memory that replaces what a key holds instead of adding to it, and forgets.

    q, k, v = silu(conv₄(W x)),  q, k ← q/|q|, k/|k|,  β = sigmoid(W_β x),  α = exp(-e^a softplus(W_α x + b))
    S_t = α_t (I - β_t k_t k_tᵀ) S_{t-1} + β_t k_t v_tᵀ,  o_t = S_tᵀ q_t / √m,  y = W_O [ RMSNorm(o) ⊙ swish(W_G x) ]

for each head, with keys 3/4 and values 3/2 as wide as the model (the paper's 6·width² weights). Sizes and start as in
``fla``: e^a uniform in [0, 16], b such that the softplus is log-uniform in [0.001, 0.1], weights normal with deviation
0.02, four taps without bias. The feed-forward part is a SwiGLU, 8/3 times as wide; the norm is RMSNorm.

The parallel form is the chunked delta rule of ``models.scans.delta``; for few reads the corrected values are summed
over the past. State: heads·m·2m numbers (m = 3·width/(4·heads)) and the convolutions' windows of 9·width.

Deviations: 4 heads by default, where the paper has heads of dimension 256; |k| is √(Σk² + 10⁻⁶) as in ``fla``. Around
the layer, the models of ``fla`` round the feed-forward part up to a multiple of 256, have norms with ε = 10⁻⁶ and a
readout without bias, draw convolutions normal with deviation 0.02 too, and do not make the last maps of residual
branches smaller; here the width is what the ratio says, ε is 10⁻⁵, the readout has a bias, convolutions start as
torch.nn.Conv1d, and last maps are divided by √(2·layers) as in GPT-2.
"""

import math
from dataclasses import dataclass, field

import torch
from torch import Tensor
from torch.nn import functional

from separatrix.errors import SeparatrixError
from separatrix.models.architecture import Architecture, FeedForwardShape, Norm, Option, Options, Place
from separatrix.models.architectures._heads import FEW_READS, HEADS
from separatrix.models.architectures._state_space import TAPS, GatedNorm, ShortConvolution, start_time_steps
from separatrix.models.ensemble import EnsembleLinear, Generators, Normal, Uniform, unset
from separatrix.models.mixer import Mixer, RecurrentMixer, State, at_positions
from separatrix.models.scans.attention import decayed_weights
from separatrix.models.scans.delta import corrected_values, gated_delta_rule
from separatrix.models.scans.exact import at_least_float32
from separatrix.models.scans.heads import join_heads, split_heads


class GatedDeltaMixer(RecurrentMixer):
    """The gated delta rule for all members."""

    def __init__(self, width: int, members: int, heads: int, layers: int) -> None:
        super().__init__(members)
        self.heads, self.keys, self.values = heads, 3 * width // 4, 3 * width // 2
        self.key_size, self.value_size = self.keys // heads, self.values // heads
        self.scale = 1.0 / math.sqrt(self.key_size)
        start = Normal(0.02)
        self.sizes = [self.keys, self.keys, self.values]
        self.project = EnsembleLinear(members, width, sum(self.sizes), bias=False, weight_start=start)
        self.convolution = ShortConvolution(members, sum(self.sizes), bias=False)
        self.to_gate = EnsembleLinear(members, width, self.values, bias=False, weight_start=start)
        # α and β of all heads in one map.
        self.to_rates = EnsembleLinear(members, width, 2 * heads, bias=False, weight_start=start)
        self.step_bias = unset(members, heads)
        self.log_rate = unset(members, heads)
        self.norm = GatedNorm(members, self.values, group=self.value_size, norm_first=True, shared=True)
        last = start.for_residual(2 * layers)
        self.output = EnsembleLinear(members, self.values, width, bias=False, weight_start=last)

    def initialise(self, generators: Generators) -> None:
        """Time steps and rates are drawn; a rate of 0 would be a logarithm of -∞."""
        start_time_steps(self.step_bias, generators)
        Uniform(1e-4, 16.0).fill(self.log_rate, generators)
        with torch.no_grad():
            self.log_rate.log_()

    def forward(self, x: Tensor, *, read: Tensor | None = None, lengths: Tensor | None = None) -> Tensor:
        """x (members, batch, length, width) to the same at the positions read; padding lies in the future."""
        parts = self.convolution(self.project(x)).split(self.sizes, dim=-1)
        query, key, value = (split_heads(each, self.heads) for each in parts)
        beta, log_decay = (each.movedim(-1, 2) for each in self._rates(x))
        key = unit(key)
        if read is not None and read.shape[2] <= FEW_READS:
            query = unit(split_heads(at_positions(parts[0], read), self.heads)) * self.scale
            corrected = corrected_values(key, value, beta, log_decay)
            attended = join_heads(torch.matmul(decayed_weights(query, key, read, log_decay), corrected))
        else:
            attended = gated_delta_rule(unit(query) * self.scale, key, value, beta, log_decay)
            attended = at_positions(join_heads(attended), read)
        return self.output(self.norm(attended, self.to_gate(at_positions(x, read))))

    def _rates(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """β and log α, (members, …, heads), in at least float32."""
        exact = at_least_float32(x.dtype)
        step, beta = self.to_rates(x).to(exact).chunk(2, dim=-1)
        shape = (self.members, *[1] * (x.dim() - 2), self.heads)
        bias, log_rate = (each.to(exact).view(shape) for each in (self.step_bias, self.log_rate))
        return torch.sigmoid(beta), -torch.exp(log_rate) * functional.softplus(step + bias)

    def initial_state(self, batch: int) -> State:
        """The convolutions' window and the state S, 0."""
        shape = (self.members, batch, self.heads, self.key_size, self.value_size)
        return self.convolution.initial_window(batch), self.step_bias.new_zeros(shape)

    def step(self, x: Tensor, state: State) -> tuple[Tensor, State]:
        """x (members, batch, width)."""
        window, memory = state
        convolved, window = self.convolution.step(self.project(x), window)
        query, key, value = (each.unflatten(-1, (self.heads, -1)) for each in convolved.split(self.sizes, dim=-1))
        query, key = unit(query) * self.scale, unit(key)
        beta, log_decay = (each.to(x.dtype) for each in self._rates(x))
        memory = torch.exp(log_decay)[..., None, None] * memory
        known = (key.unsqueeze(-1) * memory).sum(-2)
        memory = memory + key.unsqueeze(-1) * (beta.unsqueeze(-1) * (value - known)).unsqueeze(-2)
        attended = (query.unsqueeze(-1) * memory).sum(-2).flatten(2)
        return self.output(self.norm(attended, self.to_gate(x))), (window, memory)


def unit(x: Tensor) -> Tensor:
    """x divided by √(Σx² + 10⁻⁶) along the last axis."""
    return x * torch.rsqrt(x.square().sum(-1, keepdim=True) + 1e-6)


@dataclass(frozen=True, kw_only=True)
class GatedDeltaNet(Architecture):
    """The layer of gated DeltaNet."""

    name: str = "gated-deltanet"
    short: str = "GDN"
    title: str = "Gated DeltaNet"
    reference: str = "Yang et al. 2024, arXiv:2412.06464"
    equations: str = (
        "q, k, v = silu(conv₄(W x)); q, k of norm 1; β = sigmoid(W_β x); α = exp(−e^a softplus(W_α x + b)); "
        "S_t = α_t (I − β_t k_t k_tᵀ) S_{t-1} + β_t k_t v_tᵀ; o_t = S_tᵀ q_t / √m; "
        "y = W_O [RMSNorm(o) ⊙ swish(W_G x)]; x ← x + y(RMSNorm x); x ← x + SwiGLU(RMSNorm x)"
    )
    deviations: tuple[str, ...] = (
        "4 heads by default instead of heads of dimension 256",
        "feed-forward part 8/3 as wide to the nearest number, not rounded up to a multiple of 256 as in fla",
        "convolutions start as torch.nn.Conv1d, not normal with deviation 0.02 as in fla's models",
        "last maps of residual branches divided by √(2·layers), as GPT-2, which fla's models do not by default",
        "ε = 10⁻⁵ in the norms, where fla's models have 10⁻⁶",
        "a readout with a bias",
    )
    options: tuple[Option, ...] = (HEADS,)
    recurrent: bool = True
    linear_time: bool = True
    norm: Norm = "rms"
    feed_forward: FeedForwardShape = field(default_factory=lambda: FeedForwardShape("swiglu", 8 / 3))

    def check(self, width: int, options: Options) -> None:
        """Heads divide three quarters of the width."""
        heads = options["heads"]
        if width % 4 or (3 * width // 4) % heads:
            raise SeparatrixError(
                f"width {width} with heads={heads} does not fit {self.short}, whose keys are 3/4 as wide; "
                f"make the width a multiple of {4 * heads}"
            )

    def mixer(self, width: int, options: Options, members: int, place: Place) -> Mixer:
        """The gated delta rule."""
        return GatedDeltaMixer(width, members, options["heads"], place.layers)

    def state_numbers(self, width: int, options: Options, length: int) -> int:
        """heads·m·2m and the convolutions' window."""
        del length
        keys = 3 * width // 4
        return keys * (2 * keys // options["heads"]) + (TAPS - 1) * 4 * keys


ARCHITECTURE = GatedDeltaNet()
