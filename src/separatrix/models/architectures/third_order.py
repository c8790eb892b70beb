"""Third-order attention, SHT23: queries attend to pairs of positions.

    f(X) = softmax((X W_Q) ((X W_K1) ⋆ (X W_K2))ᵀ) ((X W_V1) ⋆ (X W_V2)),

row (j, k) of A ⋆ B the entrywise product of row j of A and row k of B; all N² pairs take part. One such unit solves
triple matching (Match3), which needs a large ordinary Transformer. Deviations: scores are divided by √m as in ordinary
attention, there are heads and a last map W_O, and the unit stands in the Transformer's block; ``mask=causal`` hides
pairs with a position behind the query. Maps start like the Transformer's.

The pairs are streamed (``pair_attention``): memory O(N·m) for each sequence, time O(N³·m), for each position that is
read O(N²·m).
"""

from dataclasses import dataclass, replace

from torch import Tensor

from separatrix.models.architecture import Architecture, Option, Options, Place
from separatrix.models.architectures._attention import (
    HEADS,
    MASK,
    POSITIONS,
    check_heads,
    every_position,
    residual_projection,
)
from separatrix.models.ensemble import Constant, EnsembleLinear, Generators, Normal, linear
from separatrix.models.mixer import Mixer, at_positions
from separatrix.models.pair_attention import Visibility, pair_attention


class ThirdOrderAttention(Mixer):
    """Attention to pairs for all members."""

    compiles = False

    def __init__(self, width: int, members: int, options: Options, *, layers: int) -> None:
        super().__init__(members)
        self.width, self.heads, self.dimension = width, options["heads"], width // options["heads"]
        self.causal = options["mask"] == "causal"
        # Query, two keys, two values.
        self.project = EnsembleLinear(members, width, 5 * width, weight_start=Normal(0.02), bias_start=Constant(0.0))
        self.output = residual_projection(members, width, layers)

    def initialise(self, generators: Generators) -> None:
        """Both maps draw their own weights."""

    def forward(self, x: Tensor, *, read: Tensor | None = None, lengths: Tensor | None = None) -> Tensor:
        """x (members, batch, length, width) to the same at the positions read."""
        width, weight, bias = self.width, self.project.weight, self.project.bias
        assert bias is not None
        query = linear(at_positions(x, read), weight[..., :width], bias[..., :width])
        others = linear(x, weight[..., width:], bias[..., width:])
        first_key, second_key, first_value, second_value = self._groups(others, 4).unbind(dim=0)
        place = self._repeated(every_position(x) if read is None else read) if self.causal else None
        inside = None if lengths is None else self._repeated(lengths.unsqueeze(-1))[:, 0]
        query = self._groups(query, 1)[0] / self.dimension**0.5
        seen = Visibility(place, inside)
        averaged = pair_attention(query, first_key, second_key, first_value, second_value, seen)
        averaged = averaged.view(*x.shape[:2], self.heads, -1, self.dimension)
        return self.output(averaged.transpose(2, 3).flatten(3))

    def _groups(self, x: Tensor, parts: int) -> Tensor:
        """(members, batch, length, parts·width) to (parts, members·batch·heads, length, m)."""
        split = x.unflatten(-1, (parts, self.heads, self.dimension))
        return split.permute(3, 0, 1, 4, 2, 5).flatten(1, 3)

    def _repeated(self, positions: Tensor) -> Tensor:
        """(members, batch, reads) to (members·batch·heads, reads)."""
        return positions.flatten(0, 1).repeat_interleave(self.heads, dim=0)


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

    def mixer(self, width: int, options: Options, members: int, place: Place) -> Mixer:
        """Attention to pairs."""
        return ThirdOrderAttention(width, members, options, layers=place.layers)

    def state_numbers(self, width: int, options: Options, length: int) -> int:
        """Both keys and both values of all positions.

        There is no attention shape: Theorem 4 is about scores of single positions, not of pairs across the cut.
        """
        del options
        return 4 * width * length


ARCHITECTURE = ThirdOrderTransformer()
