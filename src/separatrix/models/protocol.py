"""Theorem 2's protocol on a trained recurrent model, with the message of one input as a real bitstring.

``state_precision`` measures accuracy over many inputs; here two parties who exchange nothing but bits
(``communication.protocols``) do the same on one: Alice runs the model on her prefix and writes every number of its
state as a p-bit word, Bob reads the words and runs on.

Deviation from ``communication.protocols.recurrent``, which runs models whose output is a function of the state: outputs
of a stack of layers also depend on the present cell, which Bob holds, so that nothing more than the state is sent.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from separatrix.communication import BitReader, BitWriter, Code, Outgoing, Speech, Transcript, Wire, converse, faithful
from separatrix.errors import SeparatrixError
from separatrix.models.sequence_model import SequenceModel
from separatrix.models.state_precision import Quantiser, from_numbers, to_numbers
from separatrix.wording import counted


@dataclass(frozen=True)
class StateRun:
    """What was said, and Bob's logits (positions after the cut, classes) for one member."""

    transcript: Transcript
    logits: Tensor


@dataclass(frozen=True)
class _Party:
    """Alice (the cells before the cut) or Bob (those behind it), one member, one input."""

    model: SequenceModel
    quantiser: Quantiser
    cells: Tensor
    is_alice: bool

    def speech(self) -> Speech[Tensor | None]:
        """Alice's one message, or Bob's listening to it."""
        state, code = self.model.initial_state(1), Code(0, (1 << self.quantiser.bits) - 1, self.quantiser.bits)
        if self.is_alice:
            for position in range(self.cells.shape[2]):
                _, state = self.model.step(self.cells[:, :, position], state)
            writer = BitWriter()
            codes = self.quantiser.codes(to_numbers(state))[0, 0].tolist()
            writer.write_all(codes, code)
            held = counted(self.cells.shape[2], "cell")
            what = f"the state after {held}: {counted(len(codes), 'number')} of {self.quantiser.bits} bits"
            yield Outgoing("state", what, writer.bits)
            return None
        reader = BitReader((yield None) or "")
        codes = reader.read_all(self.quantiser.least.shape[-1], code)
        reader.finish()
        numbers = self.quantiser.values(torch.tensor([[codes]], device=self.cells.device))
        state = from_numbers(numbers, state)
        outputs: list[Tensor] = []
        for position in range(self.cells.shape[2]):
            logits, state = self.model.step(self.cells[:, :, position], state)
            outputs.append(logits[0, 0])
        return torch.stack(outputs)


@torch.no_grad()
def run_state_protocol(
    model: SequenceModel, quantiser: Quantiser, cells: Tensor, cut: int, *, wire: Wire = faithful
) -> StateRun:
    """Run the protocol on one input of a model with one member; cells (positions,) or (positions, features).

    >>> from separatrix.models.naming import parse_spec
    >>> from separatrix.models.sequence_model import build_model
    >>> model = build_model(parse_spec("RNN-(1,4)"), vocabulary=2, classes=3, length=5, seeds=[0])
    >>> quantiser = Quantiser(-torch.ones(1, 4), torch.ones(1, 4), bits=8)
    >>> run = run_state_protocol(model, quantiser, torch.tensor([0, 1, 1, 0, 1]), cut=3)
    >>> run.transcript.total_bits, run.logits.shape
    (32, torch.Size([2, 3]))
    """
    if model.members != 1:
        raise SeparatrixError(f"the protocol runs on one model, not on an ensemble of {model.members}; pick a member")
    if not 0 < cut < cells.shape[0]:
        raise SeparatrixError(
            f"a cut after {cut} of {cells.shape[0]} positions leaves one side nothing; choose 1 to {cells.shape[0] - 1}"
        )
    whole = cells[None, None]
    alice = _Party(model, quantiser, whole[:, :, :cut], True)
    bob = _Party(model, quantiser, whole[:, :, cut:], False)
    talk = converse(alice, bob, wire)
    assert talk.bob is not None
    return StateRun(talk.transcript, talk.bob)
