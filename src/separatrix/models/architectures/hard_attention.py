"""A Transformer with hard attention: a query averages the values of its largest scores alone.

The papers' upper bounds are often stated for it first (averaging hard attention, Merrill et al. 2022; ties share the
weight, as in ``separatrix.networks``). Everything else is the Transformer of ``transformer.py``.

Training: the maximum has no useful derivative, so the backward pass takes that of the softmax of the same scores
(straight-through, Bengio et al. 2013; Jang et al. 2017 without their noise). The alternative, a softmax whose
temperature falls during training, trains another function than the one that is evaluated and needs a schedule; here
the forward pass is hard at every step. The gradient is therefore not the derivative of the output, which finite
differences would show to be zero almost everywhere.

Memory grows with N² for the scores where all positions are read, since fused kernels have no hard form.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from separatrix.models.architecture import Architecture, AttentionShape, Option, Options, Place
from separatrix.models.architectures._options import HEADS, MASK, POSITIONS, check_heads

if TYPE_CHECKING:
    from separatrix.models.mixer import Mixer


@dataclass(frozen=True, kw_only=True)
class HardAttentionTransformer(Architecture):
    """GPT-2's layer with a maximum instead of the softmax."""

    name: str = "hard-attention"
    short: str = "HardTF"
    title: str = "Transformer with averaging hard attention"
    reference: str = "Merrill et al. 2022; Bengio et al. 2013 (straight-through); BHBK24, SHT23 (hard attention)"
    equations: str = (
        "M_i = argmax_{j ≤ i} q_i·k_j; y_i = W_O [Σ_{j ∈ M_i} v_j / |M_i|]; "
        "gradients as if a_ij = softmax_j(q_i·k_j / √m)"
    )
    deviations: tuple[str, ...] = ("gradients are those of the softmax (straight-through)",)
    options: tuple[Option, ...] = (HEADS, MASK, POSITIONS)

    def check(self, width: int, options: Options) -> None:
        """Heads divide the width."""
        check_heads(self.short, width, options)

    def mixer(self, width: int, options: Options, members: int, place: Place) -> "Mixer":
        """Hard attention."""
        from separatrix.models.mixers.attention import SelfAttention

        return SelfAttention(width, members, options, layers=place.layers, scoring="hard")

    def state_numbers(self, width: int, options: Options, length: int) -> int:
        """Return keys and values of all positions."""
        del options
        return 2 * width * length

    def attention(self, width: int, options: Options) -> AttentionShape:
        """H heads of dimension width/H."""
        return AttentionShape(options["heads"], width // options["heads"])


ARCHITECTURE = HardAttentionTransformer()
