"""The softmax Transformer, GPT-2 style: pre-norm, learned absolute positions, GELU feed-forward four times as wide.

BHBK24 §6 and Appendix H train it ("the Huggingface Transformers library with the GPT-2 backbone", heads 4 and 8,
absolute encodings); Radford et al. 2019 define it. Weights are those of the Hugging Face GPT-2, whose outputs the
tests reproduce: normal with deviation 0.02, zero biases, last maps of residual branches divided by √(2·layers).

Other positions: sinusoidal (Vaswani et al. 2017), rotary (Su et al. 2021, in pairs of halves), none.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from separatrix.models.architecture import Architecture, AttentionShape, Option, Options, Place
from separatrix.models.architectures._options import HEADS, MASK, POSITIONS, check_heads

if TYPE_CHECKING:
    from separatrix.models.mixer import Mixer


@dataclass(frozen=True, kw_only=True)
class Transformer(Architecture):
    """GPT-2's layer."""

    name: str = "transformer"
    short: str = "TF"
    title: str = "Transformer (softmax attention, GPT-2 style)"
    reference: str = "Vaswani et al. 2017; Radford et al. 2019 (GPT-2); BHBK24 §6, Appendix H"
    equations: str = (
        "q_i, k_i, v_i = W_Q x_i, W_K x_i, W_V x_i for each head; a_ij = softmax_{j ≤ i}(q_i·k_j / √m); "
        "y_i = W_O [Σ_j a_ij v_j]; x ← x + y(LN x); x ← x + W_2 GELU(W_1 LN x)"
    )
    main_equation: int = 1
    deviations: tuple[str, ...] = ("no dropout", "a separate readout with a bias, not the transposed embedding")
    options: tuple[Option, ...] = (HEADS, MASK, POSITIONS)

    def check(self, width: int, options: Options) -> None:
        """Heads divide the width."""
        check_heads(self.short, width, options)

    def mixer(self, width: int, options: Options, members: int, place: Place) -> "Mixer":
        """Softmax attention."""
        from separatrix.models.mixers.attention import SelfAttention

        return SelfAttention(width, members, options, layers=place.layers)

    def state_numbers(self, width: int, options: Options, length: int) -> int:
        """Return keys and values of all positions."""
        del options
        return 2 * width * length

    def attention(self, width: int, options: Options) -> AttentionShape:
        """H heads of dimension width/H."""
        return AttentionShape(options["heads"], width // options["heads"])


ARCHITECTURE = Transformer()
