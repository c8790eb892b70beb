"""The plain recurrent network of Elman 1990, as ``torch.nn.RNN`` with tanh has it.

BHBK24 Theorem 2 and the slides of SHT23 speak of any recurrent network; this is the simplest trainable one. Parameters,
their start and the stack: ``_recurrent``. A few members on a GPU run by torch's own layer, else all at once by the scan
of ``scans.gated``.
"""

import torch
from torch import Tensor

from separatrix.models.architectures._recurrent import TorchLayer, TorchLayerMixer
from separatrix.models.ensemble import linear
from separatrix.models.mixer import State
from separatrix.models.scans.gated import rnn_scan


class RNNMixer(TorchLayerMixer):
    """One layer for each member."""

    layer, gates = "rnn_tanh", 1

    def scan(self, x: Tensor) -> Tensor:
        """The input's share of all steps at once, then the scan."""
        entering = linear(x, self.input_weight.transpose(1, 2), self.input_bias + self.state_bias)
        return rnn_scan(entering, self.state_weight.transpose(1, 2))

    def step(self, x: Tensor, state: State) -> tuple[Tensor, State]:
        """The formula."""
        (hidden,) = state
        entering = linear(x, self.input_weight.transpose(1, 2), self.input_bias)
        hidden = torch.tanh(entering + linear(hidden, self.state_weight.transpose(1, 2), self.state_bias))
        return hidden, (hidden,)


ARCHITECTURE = TorchLayer(
    name="rnn",
    short="RNN",
    title="Plain recurrent network",
    reference="Elman 1990; BHBK24 Theorem 2; SHT23 (recurrent networks)",
    equations="h_t = tanh(W x_t + U h_{t-1} + b)",
    mixer_class=RNNMixer,
)
