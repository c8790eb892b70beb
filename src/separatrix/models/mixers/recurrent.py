"""What LSTM, GRU and RNN share: the parameters of torch's layers, their start, the choice of who runs them, the stack.

Layers are stacked bare, without norm or residual, as ``torch.nn.LSTM`` stacks them. Both biases are kept, as torch
does, because Adam moves the sum of two biases twice as fast as one. All weights start uniform within 1/√width.

Three ways to the same numbers: torch's own layer for few members (``kernels.vendor``), the ``scan`` of the mixer for
all members at once, and the step form, which is the plain formula and the oracle of both.
"""

from abc import abstractmethod
from typing import ClassVar

from torch import Tensor

from separatrix.models.ensemble import unset
from separatrix.models.kernels.vendor import Layer, Weights, vendor_states, vendor_takes
from separatrix.models.mixer import RecurrentMixer, State, at_positions
from separatrix.models.starts import Generators, torch_default


class TorchLayerMixer(RecurrentMixer):
    """One of torch's recurrent layers for each member; parameters in its layout behind the members."""

    compiles = False
    layer: ClassVar[Layer]
    gates: ClassVar[int]
    """How many vectors of the layer's width its weights compute at a step."""
    carried: ClassVar[int] = 1
    """How many vectors it hands on: the hidden state, and an LSTM's cell."""

    def __init__(self, width: int, members: int) -> None:
        super().__init__(members)
        self.width = width
        self.input_weight = unset(members, self.gates * width, width)
        self.state_weight = unset(members, self.gates * width, width)
        self.input_bias = unset(members, self.gates * width)
        self.state_bias = unset(members, self.gates * width)

    @property
    def weights(self) -> Weights:
        """All parameters, in torch's order."""
        return self.input_weight, self.state_weight, self.input_bias, self.state_bias

    def initialise(self, generators: Generators) -> None:
        """Uniform within 1/√width, in torch's order."""
        for parameter in self.weights:
            torch_default(self.width).fill(parameter, generators)

    def forward(self, x: Tensor, *, read: Tensor | None = None, lengths: Tensor | None = None) -> Tensor:
        """Hidden states at the positions read; padding lies in the future."""
        del lengths
        vendor = vendor_takes(x, self.layer)
        return at_positions(vendor_states(self.layer, x, self.weights) if vendor else self.scan(x), read)

    @abstractmethod
    def scan(self, x: Tensor) -> Tensor:
        """Hidden states of all members at once: (members, batch, length, width) both."""

    def initial_state(self, batch: int) -> State:
        """Everything at zero."""
        return (self.input_weight.new_zeros(self.members, batch, self.width),) * self.carried
