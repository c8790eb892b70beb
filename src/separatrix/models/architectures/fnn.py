"""A feed-forward network on the concatenated input, SHT23: "every FNN requires width Ω(N)" for sparse averaging.

A layer of width w reads the whole input at once, vec(x) of N·w numbers, squeezes it into w ReLU units and writes all
positions from them: y_i = V_i ReLU(U vec(x) + a) + b_i. So w is the width of the slides' bound: nothing passes that the
w units do not hold. Layers are stacked bare; weights start as in ``torch.nn.Linear``.

The slides allow any depth and activation; ReLU is what BHBK24 uses. An input shorter than the model's length, and
padding, count as zeros.
"""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from separatrix.models.architecture import Architecture, BlockKind, Option, Options, Place
from separatrix.models.starts import Initialiser, Normal

if TYPE_CHECKING:
    from separatrix.models.mixer import Mixer


@dataclass(frozen=True, kw_only=True)
class FNN(Architecture):
    """A feed-forward network on the concatenated input."""

    name: str = "fnn"
    short: str = "FNN"
    title: str = "Feed-forward network on the concatenated input"
    reference: str = "SHT23 (FNNs need width Ω(N))"
    equations: str = "y_i = V_i ReLU(U vec(x) + a) + b_i"
    deviations: tuple[str, ...] = ("the slides leave depth and activation open; ReLU here",)
    options: tuple[Option, ...] = (
        Option("expansion", 1, "hidden units of a layer, as a multiple of the width", minimum=1, maximum=1024),
    )
    block: BlockKind = "bare"
    linear_time: bool = True
    embedding_start: Initialiser = field(default_factory=lambda: Normal(1.0))

    def mixer(self, width: int, options: Options, members: int, place: Place) -> "Mixer":
        """Return one layer for inputs of up to the model's length."""
        from separatrix.models.mixers.fnn import ConcatenatedFeedForward

        return ConcatenatedFeedForward(width, members, options["expansion"] * width, place.length)

    def state_numbers(self, width: int, options: Options, length: int) -> int:
        """Return what has been read of its input, or the share of all units, whichever is less."""
        return min(width * length, options["expansion"] * width)


ARCHITECTURE = FNN()
