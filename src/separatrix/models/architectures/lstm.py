"""The LSTM of Hochreiter and Schmidhuber 1997 with forget gates (Gers et al. 2000), as ``torch.nn.LSTM`` has it.

BHBK24 Appendix H: "We use PyTorch's standard or in-built implementation for experiments with LSTMs", up to three
layers. Layers are stacked bare, without norm or residual; both biases are kept, as torch does, because Adam moves the
sum of two biases twice as fast as one. All weights start uniform within 1/√width.

In float32 torch's own LSTM runs for each member, on a GPU up to a few members (``kernels.vendor``); on a GPU in half
precision one Triton kernel each way takes all members through all positions (``kernels.lstm``); elsewhere the scan of
``recurrences`` runs all members at once. The step form is the plain formula and the oracle of all three.
"""

from dataclasses import dataclass, field

import torch
from torch import Tensor

from separatrix.models.architecture import Architecture, Block, Options, Place
from separatrix.models.ensemble import Generators, Initialiser, Normal, linear, torch_default, unset
from separatrix.models.kernels.lstm import lstm_fits, lstm_states
from separatrix.models.kernels.vendor import vendor_states, vendor_takes
from separatrix.models.mixer import Mixer, RecurrentMixer, State, at_positions


class LSTMMixer(RecurrentMixer):
    """One LSTM layer for each member; parameters in the layout of ``torch.nn.LSTM`` behind the members."""

    compiles = False

    def __init__(self, width: int, members: int) -> None:
        super().__init__(members)
        self.width = width
        self.input_weight = unset(members, 4 * width, width)
        self.state_weight = unset(members, 4 * width, width)
        self.input_bias = unset(members, 4 * width)
        self.state_bias = unset(members, 4 * width)

    def initialise(self, generators: Generators) -> None:
        """Uniform within 1/√width, in torch's order."""
        for parameter in (self.input_weight, self.state_weight, self.input_bias, self.state_bias):
            torch_default(self.width).fill(parameter, generators)

    def forward(self, x: Tensor, *, read: Tensor | None = None, lengths: Tensor | None = None) -> Tensor:
        """Hidden states at the positions read."""
        del lengths
        if not lstm_fits(x, self.width) and vendor_takes(x, "lstm"):
            weights = (self.input_weight, self.state_weight, self.input_bias, self.state_bias)
            return at_positions(vendor_states("lstm", x, weights), read)
        entering = linear(x, self.input_weight.transpose(1, 2), self.input_bias + self.state_bias)
        return at_positions(lstm_states(entering, self.state_weight), read)

    def initial_state(self, batch: int) -> State:
        """Hidden state and cell at zero."""
        zero = self.input_weight.new_zeros(self.members, batch, self.width)
        return zero, zero

    def step(self, x: Tensor, state: State) -> tuple[Tensor, State]:
        """The formula."""
        hidden, cell = state
        gates = linear(x, self.input_weight.transpose(1, 2), self.input_bias)
        gates = gates + linear(hidden, self.state_weight.transpose(1, 2), self.state_bias)
        i, f, g, o = gates.chunk(4, dim=-1)
        cell = torch.sigmoid(f) * cell + torch.sigmoid(i) * torch.tanh(g)
        hidden = torch.sigmoid(o) * torch.tanh(cell)
        return hidden, (hidden, cell)

    def state_numbers(self) -> int:
        """Hidden state and cell."""
        return 2 * self.width


@dataclass(frozen=True, kw_only=True)
class LSTM(Architecture):
    """``torch.nn.LSTM``, layer by layer."""

    name: str = "lstm"
    short: str = "LSTM"
    title: str = "LSTM"
    reference: str = "Hochreiter and Schmidhuber 1997; Gers et al. 2000; BHBK24 Appendix H"
    equations: str = (
        "i, f, o = σ(W x_t + U h_{t-1} + b), g = tanh(W x_t + U h_{t-1} + b); c_t = f∘c_{t-1} + i∘g; h_t = o∘tanh(c_t)"
    )
    block: Block = "bare"
    recurrent: bool = True
    linear_time: bool = True
    embedding_start: Initialiser = field(default_factory=lambda: Normal(1.0))
    readout_start: Initialiser | None = None
    readout_bias_start: Initialiser | None = None

    def mixer(self, width: int, options: Options, members: int, place: Place) -> Mixer:
        """One layer."""
        del options, place
        return LSTMMixer(width, members)

    def state_numbers(self, width: int, options: Options, length: int) -> int:
        """Hidden state and cell."""
        del options, length
        return 2 * width


ARCHITECTURE = LSTM()
