"""The mixing layer of ``architectures.gru``, which has its equations and deviations."""

import torch
from torch import Tensor

from separatrix.models.ensemble import linear
from separatrix.models.mixer import State
from separatrix.models.mixers.recurrent import TorchLayerMixer
from separatrix.models.scans.gated import gru_scan


class GRUMixer(TorchLayerMixer):
    """One GRU layer for each member."""

    layer, gates = "gru", 3

    def scan(self, x: Tensor) -> Tensor:
        """Add the recurrent biases of r and z at once; that of the candidate is inside the reset gate."""
        gates = 2 * self.width
        bias = torch.cat([self.input_bias[:, :gates] + self.state_bias[:, :gates], self.input_bias[:, gates:]], dim=1)
        entering = linear(x, self.input_weight.transpose(1, 2), bias)
        return gru_scan(entering, self.state_weight.transpose(1, 2), self.state_bias[:, gates:])

    def step(self, x: Tensor, state: State) -> tuple[Tensor, State]:
        """Return the formula."""
        (hidden,) = state
        entering = linear(x, self.input_weight.transpose(1, 2), self.input_bias).chunk(3, dim=-1)
        recurrent = linear(hidden, self.state_weight.transpose(1, 2), self.state_bias).chunk(3, dim=-1)
        reset = torch.sigmoid(entering[0] + recurrent[0])
        update = torch.sigmoid(entering[1] + recurrent[1])
        candidate = torch.tanh(entering[2] + reset * recurrent[2])
        hidden = (1.0 - update) * candidate + update * hidden
        return hidden, (hidden,)
