"""The graph Transformer of SHT23: attention between vertices that depends on the edge between them.

SHT23, "Graph self-attention unit": softmax(κ(X, (X W_Q)(X W_K)ᵀ)) X W_V on an adjacency matrix X, κ an arbitrary
function applied entry by entry (typed ℝ → ℝ on the slide but used with two arguments, erratum E12). Cells are the rows
of X. The κ that is learned here is affine in the score, one for edges and one for other pairs, in each head:

    κ(X_ij, s_ij) = gain[X_ij]·s_ij + shift[X_ij],

which starts at the ordinary attention (gain 1, shift 0). With ``edges=masked`` pairs without an edge are left out,
except each vertex itself, as in graph attention networks (Veličković et al. 2018). The rest is the Transformer's block.
Vertices have no order, so there is no causal mask; learned positions name the vertices.

The scores are held at once: members · batch · heads · reads · N numbers.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from separatrix.models.architecture import Architecture, Option, Options, Place
from separatrix.models.architectures._options import HEADS, check_heads

if TYPE_CHECKING:
    from separatrix.models.mixer import Mixer


@dataclass(frozen=True, kw_only=True)
class GraphTransformer(Architecture):
    """Attention that sees the edges."""

    name: str = "graph-transformer"
    short: str = "GraphTF"
    title: str = "Graph Transformer"
    reference: str = "SHT23 (graph self-attention unit); Veličković et al. 2018 (edges=masked)"
    equations: str = (
        "a_ij = softmax_j(gain[X_ij]·q_i·k_j/√m + shift[X_ij]) for each head; y_i = W_O [Σ_j a_ij v_j]; "
        "x ← x + y(LN x); x ← x + W_2 GELU(W_1 LN x)"
    )
    deviations: tuple[str, ...] = ("κ, arbitrary on the slide, is affine in the score and learned",)
    options: tuple[Option, ...] = (
        HEADS,
        Option("edges", "weighted", "weighted: κ for edges and non-edges; masked: edges only", ("weighted", "masked")),
        Option("positions", "learned", "what tells vertices apart", choices=("learned", "sinusoidal", "none")),
    )
    reads_graphs: bool = True

    def check(self, width: int, options: Options) -> None:
        """Heads divide the width."""
        check_heads(self.short, width, options)

    def mixer(self, width: int, options: Options, members: int, place: Place) -> "Mixer":
        """Graph attention."""
        from separatrix.models.mixers.graph_transformer import GraphAttention

        masked = options["edges"] == "masked"
        return GraphAttention(width, members, options["heads"], masked=masked, layers=place.layers)

    def state_numbers(self, width: int, options: Options, length: int) -> int:
        """Return keys and values of all vertices.

        There is no attention shape: Theorem 4's protocol does not pass on the edges, which κ also needs.
        """
        del options
        return 2 * width * length


ARCHITECTURE = GraphTransformer()
