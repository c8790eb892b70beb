"""Third-order attention, SHT23: queries attend to pairs of positions.

    f(X) = softmax((X W_Q) ((X W_K1) ⋆ (X W_K2))ᵀ) ((X W_V1) ⋆ (X W_V2)),

row (j, k) of A ⋆ B the entrywise product of row j of A and row k of B; all N² pairs take part. One such unit solves
triple matching (Match3), which needs a large ordinary Transformer. Deviations: scores are divided by √m as in ordinary
attention, there are heads and a last map W_O, and the unit is in the Transformer's block; ``mask=causal`` hides
pairs with a position behind the query. Maps start like the Transformer's.

The pairs are streamed (``pair_attention``): memory O(N·m) for each sequence, time O(N³·m), for each position that is
read O(N²·m).
"""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from separatrix.models.architecture import Architecture, Option, Options, Place
from separatrix.models.architectures._options import HEADS, MASK, POSITIONS, check_heads

if TYPE_CHECKING:
    from separatrix.models.mixer import Mixer


@dataclass(frozen=True, kw_only=True)
class ThirdOrderTransformer(Architecture):
    """The Transformer's block around third-order attention."""

    name: str = "third-order"
    short: str = "ThirdTF"
    title: str = "Third-order Transformer (attention to pairs)"
    reference: str = "SHT23 (third-order self-attention unit)"
    equations: str = (
        "a_ijk = softmax_{(j,k)}(Σ_c q_ic k_jc l_kc / √m); y_i = W_O [Σ_jk a_ijk v_j∘w_k] for each head; "
        "x ← x + y(LN x); x ← x + W_2 GELU(W_1 LN x)"
    )
    deviations: tuple[str, ...] = ("scores divided by √m", "heads, a last map W_O and the Transformer's block")
    options: tuple[Option, ...] = (
        HEADS,
        replace(MASK, default="none"),
        replace(POSITIONS, choices=("learned", "sinusoidal", "none")),
    )

    def check(self, width: int, options: Options) -> None:
        """Heads divide the width."""
        check_heads(self.short, width, options)

    def mixer(self, width: int, options: Options, members: int, place: Place) -> "Mixer":
        """Attention to pairs."""
        from separatrix.models.mixers.third_order import ThirdOrderAttention

        return ThirdOrderAttention(width, members, options, layers=place.layers)

    def state_numbers(self, width: int, options: Options, length: int) -> int:
        """Return both keys and both values of all positions.

        There is no attention shape: Theorem 4 is about scores of single positions, not of pairs across the cut.
        """
        del options
        return 4 * width * length


ARCHITECTURE = ThirdOrderTransformer()
