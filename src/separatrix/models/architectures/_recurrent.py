"""What LSTM, GRU and RNN share as architectures: a bare stack, as ``torch.nn.LSTM`` stacks its layers."""

from dataclasses import dataclass, field

from separatrix.models.architecture import Architecture, BlockKind, Options
from separatrix.models.starts import Initialiser, Normal


@dataclass(frozen=True, kw_only=True)
class TorchLayer(Architecture):
    """One of torch's recurrent layers, stacked bare."""

    carried: int = 1
    """How many vectors of the layer's width it passes on: the hidden state, and an LSTM's cell."""
    block: BlockKind = "bare"
    recurrent: bool = True
    linear_time: bool = True
    embedding_start: Initialiser = field(default_factory=lambda: Normal(1.0))

    def state_numbers(self, width: int, options: Options, length: int) -> int:
        """Width for each vector that is handed on."""
        del options, length
        return self.carried * width
