"""The mixing layer of ``architectures.graph_transformer``, which has its equations and deviations."""

import torch
from torch import Tensor

from separatrix.errors import SeparatrixError
from separatrix.models.ensemble import EnsembleLinear, linear, unset
from separatrix.models.mixer import AttentionMixer, at_positions
from separatrix.models.mixers.attention import every_position, residual_projection, visible
from separatrix.models.scans.heads import join_heads, split_heads
from separatrix.models.starts import Constant, Generators, Normal


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
        """Return the weights (members, batch, heads, vertices read, N)."""
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
