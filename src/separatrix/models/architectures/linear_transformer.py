"""The linear Transformer (Katharopoulos et al. 2020): softmax replaced by a feature map, so that the past is a matrix.

    S_t = S_{t-1} + φ(k_t) v_tᵀ,  z_t = z_{t-1} + φ(k_t),  o_t = S_tᵀ φ(q_t) / (z_t·φ(q_t) + 10⁻⁶),  φ(x) = elu(x) + 1

for each head; the rest of the layer is a Transformer's (pre-norm, feed-forward of four times the width). BHBK24 trains
it as LinTF with 4 or 8 heads. Weights start as in the authors' ``fast_transformers``, that is as torch.nn.Linear.

The parallel form is the chunked attention of ``models.scans.attention``, fused into kernels on a GPU; for few reads,
sums over the past weighted by φ(q)·φ(k_s), without values (``_heads``). State: heads·(m² + m) numbers with
m = width/heads, whatever the length.

Deviations: a pre-norm block with GELU instead of the authors' post-norm block, as in BHBK24's Transformers; positions
are none unless asked for, so that the model is a recurrence and nothing else.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from separatrix.models.architecture import Architecture, Option, Options, Place
from separatrix.models.architectures._options import LINEAR_HEADS, check_divides
from separatrix.models.starts import Initialiser

if TYPE_CHECKING:
    from separatrix.models.mixer import Mixer


@dataclass(frozen=True, kw_only=True)
class LinearTransformer(Architecture):
    """The linear Transformer's layer."""

    name: str = "linear-transformer"
    short: str = "LinTF"
    title: str = "Linear Transformer (elu feature map, normalised)"
    reference: str = "Katharopoulos et al. 2020, arXiv:2006.16236; BHBK24 §6"
    equations: str = (
        "S_t = S_{t-1} + φ(k_t) v_tᵀ; z_t = z_{t-1} + φ(k_t); o_t = S_tᵀ φ(q_t) / (z_t·φ(q_t)); φ(x) = elu(x) + 1; "
        "y = W_O [o]; x ← x + y(LN x); x ← x + W_2 GELU(W_1 LN x)"
    )
    deviations: tuple[str, ...] = ("pre-norm block with GELU, as GPT-2", "no positions unless given")
    options: tuple[Option, ...] = (
        LINEAR_HEADS,
        Option("positions", "none", "what tells positions apart", choices=("none", "learned", "sinusoidal")),
    )
    recurrent: bool = True
    linear_time: bool = True
    feed_forward_start: Initialiser | None = None
    scale_residual_projections: bool = False

    def check(self, width: int, options: Options) -> None:
        """Heads divide the width."""
        check_divides(self.short, "width", width, options["heads"])

    def mixer(self, width: int, options: Options, members: int, place: Place) -> "Mixer":
        """Linear attention."""
        from separatrix.models.mixers.linear_transformer import LinearAttention

        del place
        return LinearAttention(width, members, options["heads"])

    def state_numbers(self, width: int, options: Options, length: int) -> int:
        """heads·(m² + m)."""
        del length
        return width * (width // options["heads"] + 1)


ARCHITECTURE = LinearTransformer()
