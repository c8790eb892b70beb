"""RetNet (Sun et al. 2023): linear attention with a decay and a rotation of its own for each head.

    S_t = γ_h R_θ S_{t-1} + k_t v_tᵀ,  o_t = S_tᵀ q_t / √m,  γ_h = 1 - 2^{-5-h}
    y_t = W_O [ GroupNorm(o_t) ⊙ swish(W_G x_t) ]

R_θ turns pairs of key coordinates by the angles θ_i = 10000^{-i/(m/2 - 1)} (the rotation of xPos; its decay is γ).
Values and the gate are twice as wide as the model, keys as wide; the feed-forward part is 2·width wide instead of
4·width, so that a layer has as many weights as a Transformer's (paper §3.1). Weights start as in the authors'
``torchscale``: Xavier uniform with gain 2^{-2.5}, and gain 1 for W_O.

The parallel form turns queries and keys by their positions, then uses the chunked attention with decay of
``models.scans.attention``; both are fused into kernels on a GPU. The step form turns the state instead, so it needs no
clock. State: 2·width²/heads numbers.

Deviations: the paper's three rescalings of scores for half precision are left out: the group norm removes them, up to
its ε. Pairs are coordinates (i, i + m/2), not (2i, 2i + 1): the same up to the order of the key's coordinates.
``torchscale`` has a root-mean-square norm without gain where the paper and this file have a group norm. Heads are 4 by
default (BHBK24 tunes 4 and 8), not one for each 256 of the width. The block has the paper's layer norms and GELU, where
later versions of ``torchscale`` have root-mean-square norms and a gated feed-forward part. The readout is a
torch.nn.Linear with a bias, where ``torchscale`` has none and starts it normal, or has the transposed embedding.
"""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from separatrix.errors import SeparatrixError
from separatrix.models.architecture import Architecture, FeedForwardShape, Option, Options, Place
from separatrix.models.architectures._options import LINEAR_HEADS, check_divides
from separatrix.models.starts import Initialiser, Normal

if TYPE_CHECKING:
    from separatrix.models.mixer import Mixer


@dataclass(frozen=True, kw_only=True)
class RetNet(Architecture):
    """RetNet's layer."""

    name: str = "retnet"
    short: str = "RetNet"
    title: str = "RetNet (multi-scale retention)"
    reference: str = "Sun et al. 2023, arXiv:2307.08621; BHBK24 §6"
    equations: str = (
        "S_t = γ_h R_θ S_{t-1} + k_t v_tᵀ; o_t = S_tᵀ q_t / √m; γ_h = 1 − 2^{−5−h}; "
        "y = W_O [GroupNorm(o) ⊙ swish(W_G x)]; x ← x + y(LN x); x ← x + W_2 GELU(W_1 LN x)"
    )
    deviations: tuple[str, ...] = (
        "no rescaling of scores, which the group norm removes",
        "pairs (i, i + m/2) are turned, the same up to the order of coordinates",
        "4 heads instead of one for each 256 of the width",
        "the paper's layer norms and GELU, where later torchscale has RMS norms and a gated feed-forward part",
        "readout with a bias, as torch.nn.Linear; torchscale: none, normal or the transposed embedding",
    )
    options: tuple[Option, ...] = (LINEAR_HEADS,)
    recurrent: bool = True
    linear_time: bool = True
    feed_forward: FeedForwardShape = field(default_factory=lambda: FeedForwardShape("gelu", 2.0))
    embedding_start: Initialiser = field(default_factory=lambda: Normal(1.0))
    feed_forward_start: Initialiser | None = None
    scale_residual_projections: bool = False

    def check(self, width: int, options: Options) -> None:
        """Heads divide the width into even parts, since pairs are turned."""
        check_divides(self.short, "width", width, options["heads"])
        if (size := width // options["heads"]) % 2:
            raise SeparatrixError(f"{self.short} turns pairs of numbers, but a head has {size}; make that even")

    def mixer(self, width: int, options: Options, members: int, place: Place) -> "Mixer":
        """Retention."""
        from separatrix.models.mixers.retnet import Retention

        del place
        return Retention(width, members, options["heads"])

    def state_numbers(self, width: int, options: Options, length: int) -> int:
        """2·width²/heads."""
        del length
        return 2 * width * width // options["heads"]


ARCHITECTURE = RetNet()
