"""The plain recurrent network of Elman 1990, as ``torch.nn.RNN`` with tanh has it.

BHBK24 Theorem 2 and the slides of SHT23 speak of any recurrent network; this is the simplest trainable one. Layers are
stacked bare; all weights start uniform within 1/√width. A few members on a GPU run by torch's own layer, else all
at once by the scan of ``recurrences``; the step form is the plain formula.
"""

from dataclasses import dataclass, field

import torch
from torch import Tensor

from separatrix.models.architecture import Architecture, Block, Options, Place
from separatrix.models.ensemble import Generators, Initialiser, Normal, linear, torch_default, unset
from separatrix.models.kernels.vendor import vendor_states, vendor_takes
from separatrix.models.mixer import Mixer, RecurrentMixer, State, at_positions
from separatrix.models.recurrences import rnn_scan


class RNNMixer(RecurrentMixer):
    """One layer for each member; parameters in the layout of ``torch.nn.RNN`` behind the members."""

    compiles = False

    def __init__(self, width: int, members: int) -> None:
        super().__init__(members)
        self.width = width
        self.input_weight = unset(members, width, width)
        self.state_weight = unset(members, width, width)
        self.input_bias = unset(members, width)
        self.state_bias = unset(members, width)

    def initialise(self, generators: Generators) -> None:
        """Uniform within 1/√width, in torch's order."""
        for parameter in (self.input_weight, self.state_weight, self.input_bias, self.state_bias):
            torch_default(self.width).fill(parameter, generators)

    def forward(self, x: Tensor, *, read: Tensor | None = None, lengths: Tensor | None = None) -> Tensor:
        """Hidden states at the positions read."""
        del lengths
        if vendor_takes(x, "rnn_tanh"):
            weights = (self.input_weight, self.state_weight, self.input_bias, self.state_bias)
            return at_positions(vendor_states("rnn_tanh", x, weights), read)
        entering = linear(x, self.input_weight.transpose(1, 2), self.input_bias + self.state_bias)
        return at_positions(rnn_scan(entering, self.state_weight.transpose(1, 2)), read)

    def initial_state(self, batch: int) -> State:
        """Hidden state at zero."""
        return (self.input_weight.new_zeros(self.members, batch, self.width),)

    def step(self, x: Tensor, state: State) -> tuple[Tensor, State]:
        """The formula."""
        (hidden,) = state
        entering = linear(x, self.input_weight.transpose(1, 2), self.input_bias)
        hidden = torch.tanh(entering + linear(hidden, self.state_weight.transpose(1, 2), self.state_bias))
        return hidden, (hidden,)

    def state_numbers(self) -> int:
        """The hidden state."""
        return self.width


@dataclass(frozen=True, kw_only=True)
class RNN(Architecture):
    """``torch.nn.RNN``, layer by layer."""

    name: str = "rnn"
    short: str = "RNN"
    title: str = "Plain recurrent network"
    reference: str = "Elman 1990; BHBK24 Theorem 2; SHT23 (recurrent networks)"
    equations: str = "h_t = tanh(W x_t + U h_{t-1} + b)"
    block: Block = "bare"
    recurrent: bool = True
    linear_time: bool = True
    embedding_start: Initialiser = field(default_factory=lambda: Normal(1.0))
    readout_start: Initialiser | None = None
    readout_bias_start: Initialiser | None = None

    def mixer(self, width: int, options: Options, members: int, place: Place) -> Mixer:
        """One layer."""
        del options, place
        return RNNMixer(width, members)

    def state_numbers(self, width: int, options: Options, length: int) -> int:
        """The hidden state."""
        del options, length
        return width


ARCHITECTURE = RNN()
