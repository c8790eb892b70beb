"""What LSTM, GRU and RNN share: the parameters of torch's layers, their start, the choice of who runs them, the stack.

Layers are stacked bare, without norm or residual, as ``torch.nn.LSTM`` stacks them. Both biases are kept, as torch
does, because Adam moves the sum of two biases twice as fast as one. All weights start uniform within 1/√width.

Three ways to the same numbers: torch's own layer for few members (``kernels.torch_layers``), the ``scan`` of the mixer
for all members at once, and the step form, which is the plain formula and the oracle of both.
"""

from abc import abstractmethod
from typing import ClassVar

import torch
from torch import Tensor

from separatrix.models.ensemble import unset
from separatrix.models.kernels.torch_layers import Layer, Weights, torch_layer_fits, torch_layer_states
from separatrix.models.mixer import Questions, RecurrentMixer, State, at_positions
from separatrix.models.starts import Generators, torch_default


class TorchLayerMixer(RecurrentMixer):
    """One of torch's recurrent layers for each member; parameters in its layout behind the members."""

    compiles = False
    branches = True
    layer: ClassVar[Layer]
    gates: ClassVar[int]
    """How many vectors of the layer's width its weights compute at a step."""
    carried: ClassVar[int] = 1
    """How many vectors it passes on: the hidden state, and an LSTM's cell."""

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

    def forward(
        self,
        x: Tensor,
        *,
        read: Tensor | None = None,
        lengths: Tensor | None = None,
        questions: Questions | None = None,
    ) -> Tensor:
        """Return hidden states at the positions read; padding lies in the future."""
        del lengths
        if questions is not None:
            text, rows = questions.split(x)
            hidden, state = self.states_before(text, questions)
            asked = questions.apart(self.step(questions.together(rows), questions.repeated(state))[0])
            asked = asked.to(hidden.dtype)
            return asked if read is not None else torch.cat([hidden, asked], dim=2)
        fits = torch_layer_fits(x, self.layer)
        return at_positions(torch_layer_states(self.layer, x, self.weights) if fits else self.scan(x), read)

    def states_before(self, text: Tensor, questions: Questions) -> tuple[Tensor, State]:
        """Return hidden states of a text, right before the questions' position, and the state with which it begins."""
        hidden = self(text)
        before = at_positions(hidden, (questions.at - 1).clamp_min(0)).squeeze(2)
        return hidden, (before * (questions.at > 0).to(before.dtype),)

    @abstractmethod
    def scan(self, x: Tensor) -> Tensor:
        """Return hidden states of all members at once: (members, batch, length, width) both."""

    def initial_state(self, batch: int) -> State:
        """Return everything at zero."""
        return (self.input_weight.new_zeros(self.members, batch, self.width),) * self.carried
