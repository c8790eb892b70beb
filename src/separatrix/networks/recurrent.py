"""The papers' recurrent network as plain data: a token embedding, a ReLU cell, an initial state, a readout.

BHBK24 §2 lets the transition g of h_t = g(x_t, h_{t-1}) be any function. Here it is a chain of ReLU maps with explicit
weights: the first reads the state and the token's embedding, each further one reads the map before it, and the last one
gives the new state. With one map this is the plain ReLU network h_t = ReLU(W h_{t-1} + U x_t + b).

Nothing depends on the position, so one set of weights serves every length; ``positions`` only says for which length a
file speaks. A step needs the one before it: evaluation is a loop over positions and vectorised over the batch.
"""

from dataclasses import dataclass, field
from typing import TypeAlias

import numpy

from separatrix.arithmetic import Arithmetic, RawArray
from separatrix.errors import SeparatrixError
from separatrix.networks.exact import ExactMatrix, Integers
from separatrix.networks.network import Network, Readout


@dataclass(frozen=True)
class ReluMap:
    """x ↦ ReLU(W x + b); the bias is a column (rows, 1)."""

    weights: ExactMatrix
    bias: ExactMatrix


@dataclass(frozen=True)
class RecurrentNetwork:
    """A recurrent network with explicit weights for inputs of ``positions`` tokens below ``vocabulary``.

    ``embedding`` is (vocabulary, e), ``initial`` a column (m, 1), ``cell`` the chain of maps from [state, embedding] to
    the next state; the readout sees the state.
    """

    vocabulary: int
    positions: int
    embedding: ExactMatrix
    initial: ExactMatrix
    cell: tuple[ReluMap, ...]
    readout: Readout
    about: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        found: list[str] = []

        def expect(what: str, matrix: ExactMatrix, rows: int, columns: int) -> None:
            if matrix.shape != (rows, columns):
                found.append(f"{what} is {matrix.shape}, expected ({rows}, {columns})")

        expect("embedding", self.embedding, self.vocabulary, self.embedding.shape[1])
        expect("initial state", self.initial, self.width, 1)
        entering = self.width + self.embedding.shape[1]
        for number, each in enumerate(self.cell):
            rows = self.width if number == len(self.cell) - 1 else each.weights.shape[0]
            expect(f"cell map {number}", each.weights, rows, entering)
            expect(f"cell bias {number}", each.bias, rows, 1)
            entering = rows
        if not self.cell:
            found.append("the cell has no map")
        expect("readout", self.readout.matrix, self.readout.matrix.shape[0], self.width)
        expect("readout bias", self.readout.bias, self.readout.matrix.shape[0], 1)
        if self.positions < 1:
            found.append(f"positions is {self.positions}")
        if found:
            raise SeparatrixError("the recurrent network does not fit together: " + "; ".join(found))

    @property
    def depth(self) -> int:
        """One recurrent layer."""
        return 1

    @property
    def heads(self) -> int:
        """There is no attention."""
        return 0

    @property
    def width(self) -> int:
        """The number m of numbers in the state, BHBK24's hidden size."""
        return self.initial.shape[0]

    def state_bits(self, precision_bits: int) -> int:
        """Return what is carried from one position to the next: BHBK24's mp."""
        return self.width * precision_bits

    def size_bits(self, precision_bits: int) -> int:
        """Return bits that describe the network: every weight that is not zero, at full precision."""
        maps = [matrix for each in self.cell for matrix in (each.weights, each.bias)]
        matrices = [self.embedding, self.initial, *maps, self.readout.matrix, self.readout.bias]
        return precision_bits * sum(matrix.parameters for matrix in matrices)


AnyNetwork: TypeAlias = Network | RecurrentNetwork
"""A Transformer or a recurrent network."""


class RecurrentCell:
    """The weights of a recurrent network, encoded once for one arithmetic."""

    def __init__(self, network: RecurrentNetwork, arithmetic: Arithmetic) -> None:
        self.arithmetic = arithmetic
        self.initial = network.initial.encoded(arithmetic)[:, 0]
        self._embedding = network.embedding.encoded(arithmetic)
        self._maps = [
            (each.weights.encoded(arithmetic).T, each.bias.encoded(arithmetic)[:, 0]) for each in network.cell
        ]
        self._readout = network.readout.matrix.encoded(arithmetic).T, network.readout.bias.encoded(arithmetic)[:, 0]

    def step(self, states: RawArray, tokens: Integers) -> RawArray:
        """Return the next states (batch, m) from states (batch, m) and tokens (batch,)."""
        current = numpy.concatenate([states, self._embedding[tokens]], axis=-1)
        for weights, bias in self._maps:
            product = self.arithmetic.matmul(current, weights)
            current = self.arithmetic.relu(self.arithmetic.add(product, bias))
        return current

    def read(self, states: RawArray) -> RawArray:
        """Return readouts (…, outputs) of states (…, m)."""
        matrix, bias = self._readout
        return self.arithmetic.add(self.arithmetic.matmul(states, matrix), bias)


def run_recurrent(network: RecurrentNetwork, tokens: Integers, arithmetic: Arithmetic) -> RawArray:
    """Raw readouts (batch, positions read, outputs) of a batch of inputs (batch, positions)."""
    cell = RecurrentCell(network, arithmetic)
    states = numpy.broadcast_to(cell.initial, (len(tokens), network.width))
    readouts: list[RawArray] = []
    for position in range(network.positions):
        states = cell.step(states, tokens[:, position])
        if network.readout.at == "every" or position == network.positions - 1:
            readouts.append(cell.read(states))
    return numpy.stack(readouts, axis=1)
