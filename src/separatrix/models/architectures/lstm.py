"""The LSTM of Hochreiter and Schmidhuber 1997 with forget gates (Gers et al. 2000), as ``torch.nn.LSTM`` has it.

BHBK24 Appendix H: "We use PyTorch's standard or in-built implementation for experiments with LSTMs", up to three
layers. Parameters, their start and the stack: ``_recurrent``.

In float32 torch's own LSTM runs for each member, on a GPU up to a few members; on a GPU in half precision one Triton
kernel each way takes all members through all positions (``kernels.lstm``); elsewhere the scan of ``scans.gated`` runs
all members at once.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from separatrix.models.architecture import Options, Place
from separatrix.models.architectures._recurrent import TorchLayer

if TYPE_CHECKING:
    from separatrix.models.mixer import Mixer


@dataclass(frozen=True, kw_only=True)
class LSTM(TorchLayer):
    """torch's LSTM layer."""

    name: str = "lstm"
    short: str = "LSTM"
    title: str = "LSTM"
    reference: str = "Hochreiter and Schmidhuber 1997; Gers et al. 2000; BHBK24 Appendix H"
    equations: str = (
        "i, f, o = σ(W x_t + U h_{t-1} + b), g = tanh(W x_t + U h_{t-1} + b); c_t = f∘c_{t-1} + i∘g; h_t = o∘tanh(c_t)"
    )
    main_equation: int = 1
    carried: int = 2

    def mixer(self, width: int, options: Options, members: int, place: Place) -> "Mixer":
        """Return one layer."""
        from separatrix.models.mixers.lstm import LSTMMixer

        del options, place
        return LSTMMixer(width, members)


ARCHITECTURE = LSTM()
