"""The mixing layer of ``architectures.lstm``, which has its equations and deviations."""

import torch
from torch import Tensor

from separatrix.models.ensemble import linear
from separatrix.models.kernels.lstm import lstm_states, lstm_states_and_cell
from separatrix.models.mixer import Questions, State, at_positions
from separatrix.models.mixers.recurrent import TorchLayerMixer

SHUT = 1e4
"""Before a sigmoid it opens a gate wholly, or with a minus shuts it, whatever the recurrent part adds."""


class LSTMMixer(TorchLayerMixer):
    """One LSTM layer for each member."""

    layer, gates, carried = "lstm", 4, 2

    def scan(self, x: Tensor) -> Tensor:
        """By the kernel or the scan."""
        entering = linear(x, self.input_weight.transpose(1, 2), self.input_bias + self.state_bias)
        return lstm_states(entering, self.state_weight)

    def states_before(self, text: Tensor, questions: Questions) -> tuple[Tensor, State]:
        """From the questions' position on the input gate is shut and the forget gate open: the last cell is theirs."""
        entering = linear(text, self.input_weight.transpose(1, 2), self.input_bias + self.state_bias)
        shut = entering.new_full((self.width,), SHUT)
        frozen = torch.cat([-shut, shut, 0 * shut, 0 * shut])
        seen = questions.before(text.shape[2]).unsqueeze(-1)
        hidden, cell = lstm_states_and_cell(torch.where(seen, entering, frozen), self.state_weight)
        before = at_positions(hidden, (questions.at - 1).clamp_min(0)).squeeze(2)
        return hidden, (before * (questions.at > 0).to(before.dtype), cell)

    def step(self, x: Tensor, state: State) -> tuple[Tensor, State]:
        """Return the formula."""
        hidden, cell = state
        gates = linear(x, self.input_weight.transpose(1, 2), self.input_bias)
        gates = gates + linear(hidden, self.state_weight.transpose(1, 2), self.state_bias)
        i, f, g, o = gates.chunk(4, dim=-1)
        cell = torch.sigmoid(f) * cell + torch.sigmoid(i) * torch.tanh(g)
        hidden = torch.sigmoid(o) * torch.tanh(cell)
        return hidden, (hidden, cell)
