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

import torch
from torch import Tensor

from separatrix.errors import SeparatrixError
from separatrix.models.architecture import Architecture, Option, Options, Place
from separatrix.models.architectures._attention import (
    HEADS,
    check_heads,
    every_position,
    residual_projection,
    visible,
)
from separatrix.models.ensemble import Constant, EnsembleLinear, Generators, Normal, linear, unset
from separatrix.models.mixer import AttentionMixer, Mixer, at_positions
from separatrix.models.scans.heads import join_heads, split_heads


class GraphAttention(AttentionMixer):
    """Multi-head attention with κ for all members."""

    causal = False
    reads_inputs = True

    def __init__(self, width: int, members: int, heads: int, *, masked: bool, layers: int) -> None:
        super().__init__(members)
        self.width, self.heads, self.dimension, self.masked = width, heads, width // heads, masked
        self.project = EnsembleLinear(members, width, 3 * width, weight_start=Normal(0.02), bias_start=Constant(0.0))
        self.output = residual_projection(members, width, layers)
        self.gain = unset(members, 2, heads)
        self.shift = unset(members, 2, heads)

    def initialise(self, generators: Generators) -> None:
        """κ starts at the score itself."""
        Constant(1.0).fill(self.gain, generators)
        Constant(0.0).fill(self.shift, generators)

    def forward(
        self, x: Tensor, *, read: Tensor | None = None, lengths: Tensor | None = None, inputs: Tensor | None = None
    ) -> Tensor:
        """x (members, batch, N, width), inputs (members, batch, N, N) zeros and ones; outputs at the vertices read."""
        width = self.width
        assert self.project.bias is not None
        weights = self.weights(x, read=read, lengths=lengths, inputs=inputs)
        value = linear(x, self.project.weight[..., 2 * width :], self.project.bias[..., 2 * width :])
        return self.output(join_heads(weights @ split_heads(value, self.heads)))

    def weights(
        self, x: Tensor, *, read: Tensor | None = None, lengths: Tensor | None = None, inputs: Tensor | None = None
    ) -> Tensor:
        """The weights (members, batch, heads, vertices read, N)."""
        vertices, width = x.shape[2], self.width
        if inputs is None or inputs.shape != (*x.shape[:3], vertices):
            given = None if inputs is None else tuple(inputs.shape)
            raise SeparatrixError(
                f"graph attention on {vertices} vertices reads adjacency matrices (members, batch, {vertices}, "
                f"{vertices}), not {given}"
            )
        assert self.project.bias is not None
        weight, bias = self.project.weight, self.project.bias
        query = linear(at_positions(x, read), weight[..., :width], bias[..., :width])
        key = linear(x, weight[..., width : 2 * width], bias[..., width : 2 * width])
        query, key = (split_heads(each, self.heads) for each in (query, key))
        scores = query @ key.transpose(-1, -2) / self.dimension**0.5
        edge = (at_positions(inputs, read) > 0).unsqueeze(2)
        gain, shift = self.gain[:, :, None, :, None, None], self.shift[:, :, None, :, None, None]
        scores = torch.where(edge, gain[:, 1] * scores + shift[:, 1], gain[:, 0] * scores + shift[:, 0])
        shown = visible(None, lengths, vertices)
        seen = None if shown is None else shown.unflatten(0, x.shape[:2])
        if self.masked:
            # Every vertex sees itself, padding included, so that no row is without a visible key.
            own = every_position(x) if read is None else read
            itself = (own.unsqueeze(-1) == torch.arange(vertices, device=x.device)).unsqueeze(2)
            seen = (edge if seen is None else edge & seen) | itself
        return torch.softmax(scores if seen is None else scores.masked_fill(~seen, float("-inf")), dim=-1)


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

    def mixer(self, width: int, options: Options, members: int, place: Place) -> Mixer:
        """Graph attention."""
        masked = options["edges"] == "masked"
        return GraphAttention(width, members, options["heads"], masked=masked, layers=place.layers)

    def state_numbers(self, width: int, options: Options, length: int) -> int:
        """Keys and values of all vertices.

        There is no attention shape: Theorem 4's protocol does not pass on the edges, which κ also needs.
        """
        del options
        return 2 * width * length


ARCHITECTURE = GraphTransformer()
