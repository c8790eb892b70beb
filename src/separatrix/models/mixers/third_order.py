"""The mixing layer of ``architectures.third_order``, which has its equations and deviations."""

from torch import Tensor

from separatrix.models.architecture import Options
from separatrix.models.ensemble import EnsembleLinear, linear
from separatrix.models.mixer import Mixer, at_positions
from separatrix.models.mixers.attention import every_position, residual_projection
from separatrix.models.pair_attention import Visibility, pair_attention
from separatrix.models.starts import Constant, Generators, Normal


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
