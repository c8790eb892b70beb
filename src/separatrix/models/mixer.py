"""What a sequence-mixing layer is: the one contract that every architecture fills in.

A mixer takes activations of all positions and returns activations of the positions that are read. Everything has a
leading axis of members (see ``ensemble``). Mixers that carry a state of constant size also have a step form, which
equals the parallel form; the tests hold one against the other.
"""

from abc import abstractmethod
from typing import TypeAlias

import torch
from torch import Tensor

from separatrix.models.ensemble import EnsembleModule

State: TypeAlias = tuple[Tensor, ...]
"""What a recurrent mixer carries from one position to the next; every tensor is (members, batch, …)."""


class Mixer(EnsembleModule):
    """Mixes positions: (members, batch, length, width) to (members, batch, reads or length, width)."""

    causal: bool
    """Whether an output depends on no later position; then padding behind the end cannot leak and ``lengths`` may be
    ignored."""

    reads_inputs: bool = False
    """Whether ``forward`` also wants the model's raw inputs as ``inputs=`` (graph attention reads the edges there)."""

    @abstractmethod
    def forward(self, x: Tensor, *, read: Tensor | None = None, lengths: Tensor | None = None) -> Tensor:
        """The mixed activations at the positions that are read.

        x (members, batch, length, width). read (members, batch, reads) int64, None for every position. lengths
        (members, batch) int64: positions from there on are padding and influence no other position; None when there
        is no padding. Returns (members, batch, reads or length, width). What is not read is not computed where the
        mathematics allows. No host synchronisation, so that a step can be captured in a CUDA graph.
        """


class RecurrentMixer(Mixer):
    """A mixer with a state of constant size."""

    causal = True

    @abstractmethod
    def initial_state(self, batch: int) -> State:
        """The state before the first position, in the type and on the device of the parameters."""

    @abstractmethod
    def step(self, x: Tensor, state: State) -> tuple[Tensor, State]:
        """One position: x (members, batch, width) gives its output, of the same shape, and the next state."""

    @abstractmethod
    def state_numbers(self) -> int:
        """How many numbers the state has for each sequence and member; must be what ``initial_state`` holds."""


def at_positions(x: Tensor, read: Tensor | None) -> Tensor:
    """The rows of x (members, batch, length, width) at ``read`` (members, batch, reads); all of them for None."""
    if read is None:
        return x
    members, batch, length, width = x.shape
    first = torch.arange(members * batch, device=read.device).view(members, batch, 1) * length
    rows = x.reshape(members * batch * length, width).index_select(0, (read + first).reshape(-1))
    return rows.view(members, batch, read.shape[-1], width)


def step_by_step(mixer: RecurrentMixer, x: Tensor) -> Tensor:
    """The outputs of all positions by the step form: (members, batch, length, width) both; slow, for tests."""
    state, outputs = mixer.initial_state(x.shape[1]), []
    for position in range(x.shape[2]):
        output, state = mixer.step(x[:, :, position], state)
        outputs.append(output)
    return torch.stack(outputs, dim=2)
