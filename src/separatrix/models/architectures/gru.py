"""The gated recurrent unit of Cho et al. 2014, as ``torch.nn.GRU`` has it (reset gate behind the recurrent product).

Named on the slides of SHT23 among the recurrent networks. Parameters, their start and the stack: ``_recurrent``. A few
members on a GPU run by torch's own layer, else all at once by the scan of ``scans.gated``.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from separatrix.models.architecture import Options, Place
from separatrix.models.architectures._recurrent import TorchLayer

if TYPE_CHECKING:
    from separatrix.models.mixer import Mixer


@dataclass(frozen=True, kw_only=True)
class GRU(TorchLayer):
    """torch's GRU layer."""

    name: str = "gru"
    short: str = "GRU"
    title: str = "Gated recurrent unit"
    reference: str = "Cho et al. 2014; SHT23 (recurrent networks)"
    equations: str = (
        "r, z = σ(W x_t + U h_{t-1} + b); n = tanh(W_n x_t + b_n + r∘(U_n h_{t-1} + c_n)); h_t = (1-z)∘n + z∘h_{t-1}"
    )
    main_equation: int = 2

    def mixer(self, width: int, options: Options, members: int, place: Place) -> "Mixer":
        """Return one layer."""
        from separatrix.models.mixers.gru import GRUMixer

        del options, place
        return GRUMixer(width, members)


ARCHITECTURE = GRU()
