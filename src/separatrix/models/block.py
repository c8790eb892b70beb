"""One layer of a model: the mixer of an architecture in the block that it wants, with its norms and feed-forward part.

GPT-2's arrangement for pre-norm architectures, x + mixer(norm(x)) and then x + ff(norm(x)); the mixer alone for bare
ones. Where positions are read, the mixer and everything behind it run there alone.
"""

from typing import Any

from torch import Tensor, nn
from torch.nn import functional

from separatrix.models.architecture import Architecture, ModelSpec, Norm, Place
from separatrix.models.ensemble import Affine, EnsembleLayerNorm, EnsembleLinear, EnsembleNorm, EnsembleRMSNorm
from separatrix.models.mixer import AttentionMixer, Questions, RecurrentMixer, State, with_positions
from separatrix.models.starts import Constant, Normal


def make_norm(kind: Norm, members: int, width: int, epsilon: float) -> EnsembleNorm:
    """Layer or root-mean-square normalisation."""
    make = EnsembleLayerNorm if kind == "layer" else EnsembleRMSNorm
    return make(members, width, epsilon=epsilon)


class FeedForward(nn.Module):
    """The position-wise map of a block."""

    def __init__(self, entry: Architecture, width: int, members: int, branches: int) -> None:
        super().__init__()
        shape, start = entry.feed_forward, entry.feed_forward_start
        self.gated = gated = shape.activation == "swiglu"
        self.hidden = round(width * shape.expansion)
        bias_start = None if start is None else Constant(0.0)
        self.inner = EnsembleLinear(
            members, width, self.hidden * (2 if gated else 1), bias=not gated, weight_start=start, bias_start=bias_start
        )
        last = start
        if entry.scale_residual_projections and isinstance(start, Normal):
            last = start.for_residual(branches)
        self.outer = EnsembleLinear(
            members, self.hidden, width, bias=not gated, weight_start=last, bias_start=bias_start
        )

    def forward(self, x: Tensor, affine: Affine | None = None) -> Tensor:
        """x (members, …, width) to the same; with the gain and shift of the norm before it."""
        inner = self.inner(x, affine)
        if not self.gated:
            return self.outer(functional.gelu(inner, approximate="tanh"))
        gate, value = inner.split(self.hidden, dim=-1)
        return self.outer(functional.silu(gate) * value)


class Block(nn.Module):
    """One layer: the mixer of an architecture in the block that it wants."""

    def __init__(self, entry: Architecture, spec: ModelSpec, members: int, place: Place) -> None:
        super().__init__()
        width = spec.width
        self.bare = entry.block == "bare"
        self.norm = None if self.bare else make_norm(entry.norm, members, width, entry.norm_epsilon)
        self.mixer = entry.mixer(width, spec.options_of(entry), members, place)
        with_feed_forward = entry.block == "pre-norm with feed-forward"
        self.feed_forward_norm = (
            make_norm(entry.norm, members, width, entry.norm_epsilon) if with_feed_forward else None
        )
        self.feed_forward = FeedForward(entry, width, members, 2 * place.layers) if with_feed_forward else None

    def forward(
        self,
        x: Tensor,
        inputs: Tensor,
        read: Tensor | None,
        lengths: Tensor | None,
        questions: Questions | None = None,
    ) -> Tensor:
        """x (members, batch, length, width); at the positions in ``read`` where it is given."""
        asked: dict[str, Any] = {} if questions is None else {"questions": questions}
        if self.norm is None:
            return self.mixer(x, read=read, lengths=lengths, **asked, **self._prepared(x, inputs)[1])
        x, kept = (x, x) if read is None else with_positions(x, read)
        normed, more = self._prepared(x, inputs)
        more = {**more, **asked}
        return self._feed_forward(kept + self.mixer(normed, read=read, lengths=lengths, **more))

    def weights(self, x: Tensor, inputs: Tensor, lengths: Tensor | None) -> Tensor | None:
        """Return the attention weights of this layer, None where it has none."""
        if not isinstance(self.mixer, AttentionMixer):
            return None
        normed, more = self._prepared(x, inputs)
        return self.mixer.weights(normed, lengths=lengths, **more)

    def _prepared(self, x: Tensor, inputs: Tensor) -> tuple[Tensor, dict[str, Any]]:
        """Return what the mixer gets: the normed activations, and whatever else it wants."""
        more: dict[str, Any] = {"inputs": inputs} if self.mixer.reads_inputs else {}
        if self.norm is None:
            return x, more
        if not self.mixer.absorbs_affine:
            return self.norm(x), more
        return self.norm.normalise(x), {**more, "affine": self.norm.affine()}

    def initial_state(self, batch: int) -> State:
        """Return the mixer's state before the first position."""
        assert isinstance(self.mixer, RecurrentMixer)
        return self.mixer.initial_state(batch)

    def step(self, x: Tensor, state: State) -> tuple[Tensor, State]:
        """Step by one position: x (members, batch, width)."""
        assert isinstance(self.mixer, RecurrentMixer)
        if self.norm is None:
            return self.mixer.step(x, state)
        mixed, state = self.mixer.step(self.norm(x), state)
        return self._feed_forward(x + mixed), state

    def _feed_forward(self, x: Tensor) -> Tensor:
        if self.feed_forward is None or self.feed_forward_norm is None:
            return x
        return x + self.feed_forward(self.feed_forward_norm.normalise(x), self.feed_forward_norm.affine())
