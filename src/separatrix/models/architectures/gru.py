"""The gated recurrent unit of Cho et al. 2014, as ``torch.nn.GRU`` has it (reset gate behind the recurrent product).

Named on the slides of SHT23 among the recurrent networks. Layers are stacked bare; all weights start uniform within
1/√width. A few members on a GPU run by torch's own layer, else all at once by the scan
of ``recurrences``; the step form is the plain formula.
"""

from dataclasses import dataclass, field

import torch
from torch import Tensor

from separatrix.models.architecture import Architecture, Block, Options, Place
from separatrix.models.ensemble import Generators, Initialiser, Normal, linear, torch_default, unset
from separatrix.models.kernels.vendor import vendor_states, vendor_takes
from separatrix.models.mixer import Mixer, RecurrentMixer, State, at_positions
from separatrix.models.recurrences import gru_scan


class GRUMixer(RecurrentMixer):
    """One GRU layer for each member; parameters in the layout of ``torch.nn.GRU`` behind the members."""

    compiles = False

    def __init__(self, width: int, members: int) -> None:
        super().__init__(members)
        self.width = width
        self.input_weight = unset(members, 3 * width, width)
        self.state_weight = unset(members, 3 * width, width)
        self.input_bias = unset(members, 3 * width)
        self.state_bias = unset(members, 3 * width)

    def initialise(self, generators: Generators) -> None:
        """Uniform within 1/√width, in torch's order."""
        for parameter in (self.input_weight, self.state_weight, self.input_bias, self.state_bias):
            torch_default(self.width).fill(parameter, generators)

    def forward(self, x: Tensor, *, read: Tensor | None = None, lengths: Tensor | None = None) -> Tensor:
        """Hidden states at the positions read."""
        del lengths
        if vendor_takes(x, "gru"):
            weights = (self.input_weight, self.state_weight, self.input_bias, self.state_bias)
            return at_positions(vendor_states("gru", x, weights), read)
        # The recurrent biases of r and z are added at once; that of the candidate stands inside the reset gate.
        gates = 2 * self.width
        bias = torch.cat([self.input_bias[:, :gates] + self.state_bias[:, :gates], self.input_bias[:, gates:]], dim=1)
        entering = linear(x, self.input_weight.transpose(1, 2), bias)
        return at_positions(gru_scan(entering, self.state_weight.transpose(1, 2), self.state_bias[:, gates:]), read)

    def initial_state(self, batch: int) -> State:
        """Hidden state at zero."""
        return (self.input_weight.new_zeros(self.members, batch, self.width),)

    def step(self, x: Tensor, state: State) -> tuple[Tensor, State]:
        """The formula."""
        (hidden,) = state
        entering = linear(x, self.input_weight.transpose(1, 2), self.input_bias).chunk(3, dim=-1)
        recurrent = linear(hidden, self.state_weight.transpose(1, 2), self.state_bias).chunk(3, dim=-1)
        reset = torch.sigmoid(entering[0] + recurrent[0])
        update = torch.sigmoid(entering[1] + recurrent[1])
        candidate = torch.tanh(entering[2] + reset * recurrent[2])
        hidden = (1.0 - update) * candidate + update * hidden
        return hidden, (hidden,)

    def state_numbers(self) -> int:
        """The hidden state."""
        return self.width


@dataclass(frozen=True, kw_only=True)
class GRU(Architecture):
    """``torch.nn.GRU``, layer by layer."""

    name: str = "gru"
    short: str = "GRU"
    title: str = "Gated recurrent unit"
    reference: str = "Cho et al. 2014; SHT23 (recurrent networks)"
    equations: str = (
        "r, z = σ(W x_t + U h_{t-1} + b); n = tanh(W_n x_t + b_n + r∘(U_n h_{t-1} + c_n)); h_t = (1-z)∘n + z∘h_{t-1}"
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
        return GRUMixer(width, members)

    def state_numbers(self, width: int, options: Options, length: int) -> int:
        """The hidden state."""
        del options, length
        return width


ARCHITECTURE = GRU()
