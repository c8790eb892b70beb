"""The plain recurrent network of Elman 1990, as ``torch.nn.RNN`` with tanh has it.

BHBK24 Theorem 2 and the slides of SHT23 speak of any recurrent network; this is the simplest trainable one. Parameters,
their start and the stack: ``_recurrent``. A few members on a GPU run by torch's own layer, else all at once by the scan
of ``scans.gated``.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from separatrix.models.architecture import Options, Place
from separatrix.models.architectures._recurrent import TorchLayer

if TYPE_CHECKING:
    from separatrix.models.mixer import Mixer


@dataclass(frozen=True, kw_only=True)
class RNN(TorchLayer):
    """torch's RNN layer."""

    name: str = "rnn"
    short: str = "RNN"
    title: str = "Plain recurrent network"
    reference: str = "Elman 1990; BHBK24 Theorem 2; SHT23 (recurrent networks)"
    equations: str = "h_t = tanh(W x_t + U h_{t-1} + b)"

    def mixer(self, width: int, options: Options, members: int, place: Place) -> "Mixer":
        """Return one layer."""
        from separatrix.models.mixers.rnn import RNNMixer

        del options, place
        return RNNMixer(width, members)


ARCHITECTURE = RNN()
