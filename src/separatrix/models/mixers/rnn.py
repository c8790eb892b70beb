"""The mixing layer of ``architectures.rnn``, which has its equations and deviations."""

import torch
from torch import Tensor

from separatrix.models.ensemble import linear
from separatrix.models.mixer import State
from separatrix.models.mixers.recurrent import TorchLayerMixer
from separatrix.models.scans.gated import rnn_scan


class RNNMixer(TorchLayerMixer):
    """One layer for each member."""

    layer, gates = "rnn_tanh", 1

    def scan(self, x: Tensor) -> Tensor:
        """Return the input's share of all steps at once, then the scan."""
        entering = linear(x, self.input_weight.transpose(1, 2), self.input_bias + self.state_bias)
        return rnn_scan(entering, self.state_weight.transpose(1, 2))

    def step(self, x: Tensor, state: State) -> tuple[Tensor, State]:
        """Return the formula."""
        (hidden,) = state
        entering = linear(x, self.input_weight.transpose(1, 2), self.input_bias)
        hidden = torch.tanh(entering + linear(hidden, self.state_weight.transpose(1, 2), self.state_bias))
        return hidden, (hidden,)
