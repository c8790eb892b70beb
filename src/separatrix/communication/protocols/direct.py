"""What a network says itself next to what its protocol came to: the two must be equal bit for bit.

Alice and Bob compute the network by halves; here it is run in one piece, with the products of the same kind, so that a
conversation that is shown anywhere is shown with this check.
"""

from dataclasses import dataclass

from separatrix.arithmetic import Arithmetic, RawArray
from separatrix.communication.protocols.exact_products import reading_of
from separatrix.communication.protocols.one_layer import OneLayerRun
from separatrix.communication.protocols.recurrent import RecurrentRun
from separatrix.networks import Integers, RecurrentNetwork, evaluate


@dataclass(frozen=True)
class Direct:
    """The network's own answer where the protocol ends, and whether the protocol found the same numbers."""

    answer: Integers
    equal: bool


def recurrent_directly(
    run: RecurrentRun, network: RecurrentNetwork, tokens: Integers, arithmetic: Arithmetic
) -> Direct:
    """Theorem 2's run next to the network on the same tokens (positions,)."""
    found = evaluate(network, tokens[None], arithmetic)
    read = found.raw[0]
    return Direct(found.answers[0, -1], _same(run.raw, read[len(read) - len(run.raw) :]))


def one_layer_directly(run: OneLayerRun, cells: Integers) -> Direct:
    """Theorem 4's run next to the network on the same input (positions,) or (positions, features)."""
    plan = run.plan
    found = evaluate(plan.network, cells[None], reading_of(plan.arithmetic, plan.products))
    row = plan.position if plan.network.readout.at == "every" else 0
    answer = found.answers[0, row]
    agreed = run.alice.answer.tolist() == run.bob.answer.tolist() == answer.tolist()
    return Direct(answer, agreed and _same(run.raw, found.raw[0, row]))


def _same(first: RawArray, second: RawArray) -> bool:
    # The bytes as well: a small float that overflowed to NaN equals itself bit for bit and not as a number.
    return first.tolist() == second.tolist() or first.tobytes() == second.tobytes()
