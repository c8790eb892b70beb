"""The LSTM of Hochreiter and Schmidhuber 1997 with forget gates (Gers et al. 2000), as ``torch.nn.LSTM`` has it.

BHBK24 Appendix H: "We use PyTorch's standard or in-built implementation for experiments with LSTMs", up to three
layers. Parameters, their start and the stack: ``_recurrent``.

In float32 torch's own LSTM runs for each member, on a GPU up to a few members; on a GPU in half precision one Triton
kernel each way takes all members through all positions (``kernels.lstm``); elsewhere the scan of ``scans.gated`` runs
all members at once.
"""

import torch
from torch import Tensor

from separatrix.models.architectures._recurrent import TorchLayer, TorchLayerMixer
from separatrix.models.ensemble import linear
from separatrix.models.kernels.lstm import lstm_states
from separatrix.models.mixer import State


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


ARCHITECTURE = TorchLayer(
    name="lstm",
    short="LSTM",
    title="LSTM",
    reference="Hochreiter and Schmidhuber 1997; Gers et al. 2000; BHBK24 Appendix H",
    equations=(
        "i, f, o = σ(W x_t + U h_{t-1} + b), g = tanh(W x_t + U h_{t-1} + b); c_t = f∘c_{t-1} + i∘g; h_t = o∘tanh(c_t)"
    ),
    mixer_class=LSTMMixer,
)
