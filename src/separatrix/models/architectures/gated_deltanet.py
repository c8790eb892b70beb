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

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from separatrix.errors import SeparatrixError
from separatrix.models.architecture import Architecture, FeedForwardShape, Norm, Option, Options, Place
from separatrix.models.architectures._options import LINEAR_HEADS, TAPS

if TYPE_CHECKING:
    from separatrix.models.mixer import Mixer


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
    main_equation: int = 4
    deviations: tuple[str, ...] = (
        "4 heads by default instead of heads of dimension 256",
        "feed-forward part 8/3 as wide to the nearest number, not rounded up to a multiple of 256 as in fla",
        "convolutions start as torch.nn.Conv1d, not normal with deviation 0.02 as in fla's models",
        "last maps of residual branches divided by √(2·layers), as GPT-2, which fla's models do not by default",
        "ε = 10⁻⁵ in the norms, where fla's models have 10⁻⁶",
        "a readout with a bias",
    )
    options: tuple[Option, ...] = (LINEAR_HEADS,)
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

    def mixer(self, width: int, options: Options, members: int, place: Place) -> "Mixer":
        """Return the gated delta rule."""
        from separatrix.models.mixers.gated_deltanet import GatedDeltaMixer

        return GatedDeltaMixer(width, members, options["heads"], place.layers)

    def state_numbers(self, width: int, options: Options, length: int) -> int:
        """heads·m·2m and the convolutions' window."""
        del length
        keys = 3 * width // 4
        return keys * (2 * keys // options["heads"]) + (TAPS - 1) * 4 * keys


ARCHITECTURE = GatedDeltaNet()
