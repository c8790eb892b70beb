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

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from separatrix.models.architecture import Architecture, FeedForwardShape, Norm, Option, Options, Place
from separatrix.models.architectures._options import LINEAR_HEADS, check_divides
from separatrix.models.starts import Initialiser

if TYPE_CHECKING:
    from separatrix.models.mixer import Mixer


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
    main_equation: int = 1
    deviations: tuple[str, ...] = (
        "feed-forward part 8/3 as wide to the nearest number, not rounded up to a multiple of 256 as in fla",
        "feed-forward part starts as torch.nn.Linear, not normal with deviation 0.02 as in fla",
        "ε = 10⁻⁵ in the norms, where fla's models have 10⁻⁶",
        "a readout with a bias",
    )
    options: tuple[Option, ...] = (LINEAR_HEADS,)
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

    def mixer(self, width: int, options: Options, members: int, place: Place) -> "Mixer":
        """Gated linear attention."""
        from separatrix.models.mixers.gated_linear_attention import GatedLinearAttentionMixer

        del place
        return GatedLinearAttentionMixer(width, members, options["heads"])

    def state_numbers(self, width: int, options: Options, length: int) -> int:
        """width²/(2·heads)."""
        del length
        return (width // 2) * (width // options["heads"])


ARCHITECTURE = GatedLinearAttention()
