"""What a sequence-mixing layer is: the one contract that every architecture fills in.

A mixer takes activations of all positions and returns activations of the positions that are read. Everything has a
leading axis of members (see ``ensemble``). Mixers that carry a state of constant size also have a step form, which
equals the parallel form; the tests hold one against the other.
"""

from abc import abstractmethod
from typing import Any, NamedTuple, TypeAlias

import torch
from torch import Tensor
from torch.autograd import Function

from separatrix.models.ensemble import EnsembleModule

State: TypeAlias = tuple[Tensor, ...]
"""What a recurrent mixer carries from one position to the next; every tensor is (members, batch, …)."""


class Questions(NamedTuple):
    """Many questions to one text: the last ``number`` positions of x are questions, the others a text.

    Each question sees the positions of the text before ``at`` (members, batch, 1) and itself, as if it were the cell at
    that position; no position sees another's question. What the text has from ``at`` on is never used.
    """

    at: Tensor
    number: int

    def split(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """x (members, batch, length, width) as text and questions."""
        return x[:, :, : -self.number], x[:, :, -self.number :]

    def before(self, length: int) -> Tensor:
        """Return which of so many positions of the text the questions see: bool (members, batch, length)."""
        return torch.arange(length, device=self.at.device) < self.at

    def together(self, rows: Tensor) -> Tensor:
        """(members, batch, number, …) as (members, batch·number, …): one step for all questions."""
        return rows.flatten(1, 2)

    def apart(self, rows: Tensor) -> Tensor:
        """Undo :meth:`together`."""
        return rows.unflatten(1, (-1, self.number))

    def repeated(self, state: State) -> State:
        """Return a state (members, batch, …) once for each question, as (members, batch·number, …)."""
        return tuple(each.unsqueeze(2).expand(-1, -1, self.number, *each.shape[2:]).flatten(1, 2) for each in state)


class Mixer(EnsembleModule):
    """Mixes positions: (members, batch, length, width) to (members, batch, reads or length, width)."""

    causal: bool
    """Whether an output depends on no later position; then padding behind the end cannot leak and ``lengths`` may be
    ignored."""

    reads_inputs: bool = False
    """Whether ``forward`` also wants the model's raw inputs as ``inputs=`` (graph attention reads the edges there)."""

    absorbs_affine: bool = False
    """Whether ``forward`` takes the gain and shift of the norm before it as ``affine=`` and x without them; a speed-up
    for mixers that begin with linear maps (``ensemble.absorbed``)."""

    branches: bool = False
    """Whether ``forward`` takes many questions to one text as ``questions=``; it then returns all positions, or where
    ``read`` is given those of the questions alone. Models whose mixers do not are asked with copies of the text."""

    compiles: bool = True
    """Whether ``torch.compile`` should trace it: not where a loop over time or tiles would be unrolled."""

    @abstractmethod
    def forward(self, x: Tensor, *, read: Tensor | None = None, lengths: Tensor | None = None) -> Tensor:
        """Return the mixed activations at the positions that are read.

        x (members, batch, length, width). read (members, batch, reads) int64, None for every position. lengths
        (members, batch) int64: positions from there on are padding and influence no other position; None when there
        is no padding. Returns (members, batch, reads or length, width). What is not read is not computed where the
        mathematics allows. No host synchronisation, so that a step can be captured in a CUDA graph.
        """

    def remark(self) -> str:
        """Return what a person should know about how this mixer runs, a line for each thing; nothing by default."""
        return ""


class AttentionMixer(Mixer):
    """A mixer that averages over positions with weights that can be looked at."""

    @abstractmethod
    def weights(self, x: Tensor, *, read: Tensor | None = None, lengths: Tensor | None = None) -> Tensor:
        """Return the weights that ``forward`` averages with: (members, batch, heads, reads or length, length)."""


class RecurrentMixer(Mixer):
    """A mixer with a state of constant size, of as many numbers as ``Architecture.state_numbers`` says."""

    causal = True

    @abstractmethod
    def initial_state(self, batch: int) -> State:
        """Return the state before the first position, in the type and on the device of the parameters."""

    @abstractmethod
    def step(self, x: Tensor, state: State) -> tuple[Tensor, State]:
        """Step by one position: x (members, batch, width) gives its output, of the same shape, and the next state."""


def at_positions(x: Tensor, read: Tensor | None) -> Tensor:
    """Return the rows of x (members, batch, length, width) at ``read`` (members, batch, reads); all of them for None.

    >>> at_positions(torch.tensor([5.0, 6.0, 7.0]).view(1, 1, 3, 1), torch.tensor([[[2, 0]]])).flatten()
    tensor([7., 5.])
    """
    return x if read is None else with_positions(x, read)[1]


def with_positions(x: Tensor, read: Tensor) -> tuple[Tensor, Tensor]:
    """x itself, and its rows at ``read`` (members, batch, reads).

    For an x that is used again: a caller that continues with the returned x saves a pass over all positions backwards,
    because the gradient of the rows is added into that of x instead of being spread out and then added.

    >>> x = torch.tensor([5.0, 6.0, 7.0]).view(1, 1, 3, 1)
    >>> same, rows = with_positions(x, torch.tensor([[[2, 0]]]))
    >>> same.flatten(), rows.flatten()
    (tensor([5., 6., 7.]), tensor([7., 5.]))
    """
    members, batch, length, _ = x.shape
    first = torch.arange(members * batch, device=read.device).view(members, batch, 1) * length
    same, rows = WithRows.apply(x, (read + first).flatten())
    return same, rows.view(members, batch, read.shape[-1], -1)


class WithRows(Function):
    """x as it is and some rows of it; the gradient of the rows is added into the gradient of x."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, numbers: Tensor) -> tuple[Tensor, Tensor]:
        """x (…, width), numbers of rows (count,): x and (count, width)."""
        ctx.save_for_backward(numbers)
        ctx.shape = x.shape
        ctx.set_materialize_grads(False)
        return x.view_as(x), x.reshape(-1, x.shape[-1]).index_select(0, numbers)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor | None) -> tuple[Tensor | None, None]:
        """Return the sum of both."""
        of_x, of_rows = gradients
        if of_rows is None:
            return of_x, None
        (numbers,) = ctx.saved_tensors
        if of_x is None:
            spread = of_rows.new_zeros(ctx.shape.numel() // ctx.shape[-1], ctx.shape[-1])
            return spread.index_add_(0, numbers, of_rows).view(ctx.shape), None
        return of_x.reshape(-1, ctx.shape[-1]).index_add(0, numbers, of_rows).view(ctx.shape), None
