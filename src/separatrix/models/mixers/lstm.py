"""The mixing layer of ``architectures.lstm``, which has its equations and deviations."""

import torch
from torch import Tensor

from separatrix.models.ensemble import linear
from separatrix.models.kernels.lstm import lstm_states
from separatrix.models.mixer import State
from separatrix.models.mixers.recurrent import TorchLayerMixer


class LSTMMixer(TorchLayerMixer):
    """One LSTM layer for each member."""

    layer, gates, carried = "lstm", 4, 2

    def scan(self, x: Tensor) -> Tensor:
        """By the kernel or the scan."""
        entering = linear(x, self.input_weight.transpose(1, 2), self.input_bias + self.state_bias)
        return lstm_states(entering, self.state_weight)

    def step(self, x: Tensor, state: State) -> tuple[Tensor, State]:
        """The formula."""
        hidden, cell = state
        gates = linear(x, self.input_weight.transpose(1, 2), self.input_bias)
        gates = gates + linear(hidden, self.state_weight.transpose(1, 2), self.state_bias)
        i, f, g, o = gates.chunk(4, dim=-1)
        cell = torch.sigmoid(f) * cell + torch.sigmoid(i) * torch.tanh(g)
        hidden = torch.sigmoid(o) * torch.tanh(cell)
        return hidden, (hidden, cell)
