"""BHBK24 Theorem 2 executed: a recurrent model of m numbers of p bits is a one-way protocol of mp bits.

Alice runs the model on her prefix, sends its state as a bitstring, and Bob decodes it and runs on. The theorem lets
the transition be any function and asks for one thing: that the state is an mp-bit memory. :class:`RecurrentModel` says
just that, and two adapters give it: :class:`NetworkModel` for the recurrent networks of ``networks`` in fixed point or
floats, and :class:`QuantisedModel` for any cell over real numbers (a numpy function, a module of a tensor library)
whose state is rounded to an arithmetic after every step. A float32 module loses nothing in ``float32``.

Deviation: the paper counts one answer; a network that is read at every position is answered at all of Bob's.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

import numpy
from numpy.typing import NDArray

from separatrix.arithmetic import Arithmetic, FixedPoint, Floating, RawArray
from separatrix.catalog import ExecutedClaim
from separatrix.communication.partition import Partition
from separatrix.communication.protocols.bits import BitReader, BitWriter, SendableArithmetic
from separatrix.communication.protocols.transcript import (
    Outgoing,
    Speech,
    Transcript,
    Wire,
    converse,
    faithful,
)
from separatrix.errors import SeparatrixError
from separatrix.networks import Integers, RecurrentCell, RecurrentNetwork, check_tokens, decode
from separatrix.wording import counted

Reals = NDArray[numpy.float64]
State = TypeVar("State")

STATE_PROTOCOL = ExecutedClaim(
    "BHBK24 Theorem 2", "protocol", "state-protocol", "separatrix protocol dyck-dfa --length 16", __file__
)


class RecurrentModel(Protocol):
    """A model whose state is ``width`` numbers of an arithmetic: (m,) raw numbers, and nothing else."""

    @property
    def arithmetic(self) -> SendableArithmetic:
        """What one number of the state is; p is its ``precision_bits``."""
        ...

    @property
    def width(self) -> int:
        """The numbers m of the state."""
        ...

    def initial_state(self) -> RawArray:
        """h_0, (m,)."""
        ...

    def step(self, state: RawArray, token: Any, position: int) -> RawArray:
        """h_t from h_{t-1} and the cell at ``position``, which may matter (the paper's g_(t))."""
        ...

    def read_out(self, state: RawArray) -> RawArray:
        """Return the output (outputs,) from a state."""
        ...


class RealCell(Protocol[State]):
    """A recurrent cell over real numbers with a state of any form, and that state as a list of numbers."""

    @property
    def width(self) -> int:
        """How many numbers the state has."""
        ...

    def initial_state(self) -> State:
        """Return the state before the first cell."""
        ...

    def step(self, state: State, token: Any, position: int) -> State:
        """Return the state after one more cell."""
        ...

    def to_numbers(self, state: State) -> Reals:
        """Return the state as numbers (m,)."""
        ...

    def from_numbers(self, numbers: Reals) -> State:
        """Return the state of these numbers (m,)."""
        ...

    def read_out(self, state: State) -> Reals:
        """Return the output (outputs,) from a state."""
        ...


class NetworkModel:
    """A recurrent network with explicit weights, in one arithmetic."""

    def __init__(self, network: RecurrentNetwork, arithmetic: Arithmetic) -> None:
        self.network = network
        self.arithmetic: SendableArithmetic = _sendable(arithmetic)
        self._cell = RecurrentCell(network, self.arithmetic)

    @property
    def width(self) -> int:
        """See :class:`RecurrentModel`."""
        return self.network.width

    def initial_state(self) -> RawArray:
        """See :class:`RecurrentModel`."""
        return self._cell.initial

    def step(self, state: RawArray, token: Any, position: int) -> RawArray:
        """See :class:`RecurrentModel`; nothing depends on the position."""
        del position
        return self._cell.step(state[None], numpy.array([token], dtype=numpy.int64))[0]

    def read_out(self, state: RawArray) -> RawArray:
        """See :class:`RecurrentModel`."""
        return self._cell.read(state[None])[0]


class QuantisedModel(Generic[State]):
    """A real-valued cell whose state is rounded to an arithmetic at the start and after every step.

    Only rounded states exist: between two steps the cell is rebuilt from the numbers, as the theorem's mp bits demand.
    """

    def __init__(self, cell: RealCell[State], arithmetic: Arithmetic) -> None:
        self.cell = cell
        self.arithmetic: SendableArithmetic = _sendable(arithmetic)

    @property
    def width(self) -> int:
        """See :class:`RecurrentModel`."""
        return self.cell.width

    def initial_state(self) -> RawArray:
        """See :class:`RecurrentModel`."""
        return self._rounded(self.cell.initial_state())

    def step(self, state: RawArray, token: Any, position: int) -> RawArray:
        """See :class:`RecurrentModel`."""
        return self._rounded(self.cell.step(self._state(state), token, position))

    def read_out(self, state: RawArray) -> RawArray:
        """See :class:`RecurrentModel`; real numbers, not rounded."""
        return self.cell.read_out(self._state(state))

    def _state(self, raw: RawArray) -> State:
        return self.cell.from_numbers(self.arithmetic.to_float64(raw))

    def _rounded(self, state: State) -> RawArray:
        numbers = numpy.asarray(self.cell.to_numbers(state), dtype=numpy.float64)
        if numbers.shape != (self.width,):
            raise SeparatrixError(f"a state gives numbers of shape {numbers.shape}; the cell says it has {self.width}")
        return self.arithmetic.encode(numbers)


def _sendable(arithmetic: Arithmetic) -> SendableArithmetic:
    if isinstance(arithmetic, FixedPoint | Floating):
        return arithmetic
    raise SeparatrixError(f"a number in {arithmetic} has no fixed number of bits; give a fixed point or a float format")


@dataclass(frozen=True)
class RecurrentParty:
    """Alice (the prefix, ``start`` = 0) or Bob (the suffix): the public model and this party's own tokens.

    ``every`` asks Bob for the output after each of his tokens instead of the last one.
    """

    model: RecurrentModel
    tokens: Sequence[Any]
    start: int
    is_alice: bool
    every: bool = False

    def speech(self) -> Speech[RawArray | None]:
        """Alice's one message, or Bob's listening to it."""
        model = self.model
        if self.is_alice:
            state = model.initial_state()
            for offset, token in enumerate(self.tokens):
                state = model.step(state, token, self.start + offset)
            writer = BitWriter()
            writer.write_numbers(state, model.arithmetic)
            p = model.arithmetic.precision_bits
            what = f"the state after {counted(len(self.tokens), 'token')}: {counted(model.width, 'number')} of {p} bits"
            yield Outgoing("state", what, writer.bits)
            return None
        reader = BitReader((yield None) or "")
        state = reader.read_numbers(model.width, model.arithmetic)
        reader.finish()
        outputs: list[RawArray] = []
        for offset, token in enumerate(self.tokens):
            state = model.step(state, token, self.start + offset)
            if self.every or offset == len(self.tokens) - 1:
                outputs.append(model.read_out(state))
        return numpy.stack(outputs)


@dataclass(frozen=True)
class RecurrentRun:
    """A run of Theorem 2's protocol: Bob's raw outputs (positions read, outputs), and decoded answers of a network.

    ``formula_bits`` is the theorem's mp.
    """

    transcript: Transcript
    raw: RawArray
    answers: Integers | None
    formula_bits: int


def run_recurrent_model(
    model: RecurrentModel, tokens: Sequence[Any], after: int, *, every: bool = False, wire: Wire = faithful
) -> RecurrentRun:
    """Run the protocol on one input of any model, Alice holding the first ``after`` tokens (0 ≤ after < N)."""
    if not 0 <= after < len(tokens):
        raise SeparatrixError(
            f"cut:{after} leaves Bob nothing to read of {len(tokens)} tokens; Theorem 2 needs a cut from 0 to "
            f"{len(tokens) - 1}"
        )
    alice = RecurrentParty(model, list(tokens[:after]), 0, True)
    bob = RecurrentParty(model, list(tokens[after:]), after, False, every)
    talk = converse(alice, bob, wire)
    assert talk.bob is not None
    return RecurrentRun(talk.transcript, talk.bob, None, model.width * model.arithmetic.precision_bits)


def run_recurrent(
    network: RecurrentNetwork, tokens: Integers, arithmetic: Arithmetic, partition: Partition, *, wire: Wire = faithful
) -> RecurrentRun:
    """Run the protocol on one input (positions,) of a recurrent network."""
    if not partition.is_cut:
        raise SeparatrixError(
            f"the partition {partition.name} is not a prefix and a suffix, which Theorem 2 needs; give cut:K"
        )
    if partition.positions != network.positions:
        raise SeparatrixError(
            f"a partition of {partition.positions} positions does not fit a network that reads {network.positions}"
        )
    check_tokens(network, tokens[None])
    model = NetworkModel(network, arithmetic)
    every = network.readout.at == "every"
    run = run_recurrent_model(model, tokens.tolist(), len(partition.alice), every=every, wire=wire)
    return RecurrentRun(run.transcript, run.raw, decode(network, run.raw, model.arithmetic), run.formula_bits)


def run_directly(model: RecurrentModel, tokens: Sequence[Any]) -> RawArray:
    """Return the outputs (positions, outputs) of a model on a whole input, without a protocol: what a run must agree
    with."""
    state = model.initial_state()
    outputs: list[RawArray] = []
    for position, token in enumerate(tokens):
        state = model.step(state, token, position)
        outputs.append(model.read_out(state))
    return numpy.stack(outputs)
