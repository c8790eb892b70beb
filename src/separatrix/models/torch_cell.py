"""A ``torch.nn.RNN``, ``GRU`` or ``LSTM`` as a cell of Theorem 2's protocol (BHBK24), with any number of layers.

The protocol of ``communication.protocols.recurrent`` asks a model for one thing: its state as a list of numbers.
:class:`TorchCell` gives that for torch's own recurrent modules: all that the module hands from one step to the next,
hidden states and cell states of every layer. Tokens become input vectors and states become outputs by two functions of
the user's, which may be modules too.

Deviation: a bidirectional module reads its input twice and is not a recurrent model in the sense of BHBK24 §2; it is
refused.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy
import torch
from numpy.typing import NDArray
from torch import Tensor

from separatrix.errors import SeparatrixError


@dataclass(frozen=True)
class TorchCell:
    """One module with its way in and out.

    ``embed``: a token and its position to an input vector (input_size,). ``read``: the top layer's output (size,) to
    outputs (outputs,).
    """

    module: torch.nn.RNNBase
    embed: Callable[[Any, int], Tensor]
    read: Callable[[Tensor], Tensor]

    def __post_init__(self) -> None:
        if self.module.bidirectional:
            raise SeparatrixError(
                "a bidirectional module reads its input twice, so that its state after a prefix is not all it hands "
                "on; give one that reads in one direction"
            )
        if self.module.training and self.module.dropout:
            raise SeparatrixError(
                f"the module drops out a share of {self.module.dropout}, so that its answers are random; call eval()"
            )

    @property
    def width(self) -> int:
        """How many numbers the state has."""
        return sum(size for _, size in self._parts)

    @property
    def _parts(self) -> list[tuple[tuple[int, ...], int]]:
        """Shapes and sizes of the tensors of the state: hidden states, and an LSTM's cell states."""
        layers = self.module.num_layers
        shapes = [(layers, self.module.proj_size or self.module.hidden_size)]
        if self.module.mode == "LSTM":
            shapes.append((layers, self.module.hidden_size))
        return [(shape, shape[0] * shape[1]) for shape in shapes]

    def initial_state(self) -> tuple[Tensor, ...]:
        """Return zeros, as the module starts by itself."""
        like = next(self.module.parameters())
        return tuple(torch.zeros(shape, dtype=like.dtype, device=like.device) for shape, _ in self._parts)

    def step(self, state: tuple[Tensor, ...], token: Any, position: int) -> tuple[Tensor, ...]:
        """Return the state after one more token."""
        like = next(self.module.parameters())
        with torch.no_grad():
            given = self.embed(token, position).to(dtype=like.dtype, device=like.device).reshape(1, -1)
            _, following = self.module(given, state if self.module.mode == "LSTM" else state[0])
        return following if isinstance(following, tuple) else (following,)

    def to_numbers(self, state: tuple[Tensor, ...]) -> NDArray[numpy.float64]:
        """Return the state as numbers (m,), hidden states first."""
        return torch.cat([part.reshape(-1) for part in state]).to(torch.float64).cpu().numpy()

    def from_numbers(self, numbers: NDArray[numpy.float64]) -> tuple[Tensor, ...]:
        """Return the state of these numbers (m,)."""
        like = next(self.module.parameters())
        values = torch.from_numpy(numpy.array(numbers)).to(dtype=like.dtype, device=like.device)
        pieces = torch.split(values, [size for _, size in self._parts])
        return tuple(piece.reshape(shape) for piece, (shape, _) in zip(pieces, self._parts, strict=True))

    def read_out(self, state: tuple[Tensor, ...]) -> NDArray[numpy.float64]:
        """Return the output (outputs,) from the top layer's hidden state."""
        with torch.no_grad():
            return self.read(state[0][-1]).reshape(-1).to(torch.float64).cpu().numpy()
