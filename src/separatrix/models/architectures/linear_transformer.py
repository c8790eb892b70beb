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

from torch import Tensor

from separatrix.models.architecture import Architecture, Option, Options, Place
from separatrix.models.architectures._heads import FEW_READS, HEADS, check_divides, weighted_values
from separatrix.models.ensemble import EnsembleLinear, Generators, Initialiser, linear
from separatrix.models.kernels.attention import EPSILON, feature_attention, feature_map
from separatrix.models.mixer import Mixer, RecurrentMixer, State, at_positions
from separatrix.models.scans.attention import decayed_weights
from separatrix.models.scans.heads import split_heads


class LinearAttention(RecurrentMixer):
    """Linear attention with a normaliser for all members."""

    def __init__(self, width: int, members: int, heads: int) -> None:
        super().__init__(members)
        self.width, self.heads, self.dimension = width, heads, width // heads
        self.project = EnsembleLinear(members, width, 3 * width)
        self.output = EnsembleLinear(members, width, width)

    def initialise(self, generators: Generators) -> None:
        """Both maps draw their own weights."""

    def forward(self, x: Tensor, *, read: Tensor | None = None, lengths: Tensor | None = None) -> Tensor:
        """x (members, batch, length, width) to the same at the positions read; padding lies in the future."""
        if read is not None and read.shape[2] <= FEW_READS:
            return self.output(self._at(x, read))
        return self.output(at_positions(feature_attention(self.project(x), self.heads), read))

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
    deviations: tuple[str, ...] = ("pre-norm block with GELU, as GPT-2", "no positions unless asked for")
    options: tuple[Option, ...] = (
        HEADS,
        Option("positions", "none", "what tells positions apart", choices=("none", "learned", "sinusoidal")),
    )
    recurrent: bool = True
    linear_time: bool = True
    feed_forward_start: Initialiser | None = None
    scale_residual_projections: bool = False

    def check(self, width: int, options: Options) -> None:
        """Heads divide the width."""
        check_divides(self.short, "width", width, options["heads"])

    def mixer(self, width: int, options: Options, members: int, place: Place) -> Mixer:
        """Linear attention."""
        del place
        return LinearAttention(width, members, options["heads"])

    def state_numbers(self, width: int, options: Options, length: int) -> int:
        """heads·(m² + m)."""
        del length
        return width * (width // options["heads"] + 1)


ARCHITECTURE = LinearTransformer()
