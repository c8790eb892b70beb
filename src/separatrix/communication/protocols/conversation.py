"""The protocol of a network, run on one input: BHBK24 Theorem 2 for a recurrence, Theorem 4 for one attention layer.

What is shown of a conversation anywhere comes from here: its messages, the bits that the theorem claims, and the answer
next to that of the network run in one piece.
"""

from dataclasses import dataclass
from typing import Any

import numpy

from separatrix.arithmetic import Arithmetic, Products
from separatrix.communication.partition import Partition, parse_partition
from separatrix.communication.protocols.cost import Comparison, Condition, caveats, compare, condition
from separatrix.communication.protocols.direct import Direct, one_layer_directly, recurrent_directly
from separatrix.communication.protocols.one_layer import ONE_LAYER_PROTOCOL, run_one_layer
from separatrix.communication.protocols.plan import Plan
from separatrix.communication.protocols.recurrent import STATE_PROTOCOL, run_recurrent
from separatrix.communication.protocols.transcript import Transcript
from separatrix.networks import AnyNetwork, Integers, RecurrentNetwork
from separatrix.tasks import Task, to_numpy


@dataclass(frozen=True)
class ClaimedBits:
    """What the theorem claims for the width m at precision p, and whether the counted bits are within it."""

    formula: str
    m: int
    p: int
    bits: int
    holds: bool


@dataclass(frozen=True)
class OneLayerFacts:
    """Of Theorem 4's protocol: the public plan, its sizes next to the claim, and what is sufficient for it (E13)."""

    plan: Plan
    sizes: Comparison
    sufficient: Condition

    @property
    def caveats(self) -> list[str]:
        """What a reader of the claim should know."""
        return caveats(self.sizes, self.sufficient)


@dataclass(frozen=True)
class Conversation:
    """A protocol run on one input; ``one_layer`` is None for Theorem 2."""

    partition: Partition
    transcript: Transcript
    formula_bits: int
    claim: ClaimedBits
    answer: Integers
    direct: Direct
    one_layer: OneLayerFacts | None = None

    @property
    def theorem(self) -> str:
        """The theorem whose protocol it is."""
        return (STATE_PROTOCOL if self.one_layer is None else ONE_LAYER_PROTOCOL).claim

    @property
    def equal(self) -> bool:
        """Whether the protocol found the network's numbers, bit for bit."""
        return self.direct.equal


def hold_conversation(
    network: AnyNetwork,
    cells: Integers,
    arithmetic: Arithmetic,
    partition: str | None = None,
    *,
    version: str = "repaired",
    products: Products = "rounded",
    position: int | None = None,
) -> Conversation:
    """Run the network's protocol; without a ``partition`` by name, halves for a recurrence, else odd against even.

    >>> from separatrix.constructions import constructions
    >>> built = constructions()["index-lookup"].build(16)
    >>> found = hold_conversation(built.network, numpy.array([*range(16), 64 + 3]), built.arithmetic)
    >>> found.transcript.total_bits, found.claim.bits, int(found.answer), found.equal
    (514, 1060, 3, True)
    """
    recurrent = isinstance(network, RecurrentNetwork)
    split = parse_partition(partition or ("halves" if recurrent else "odd-even"), network.positions)
    p = arithmetic.precision_bits
    if isinstance(network, RecurrentNetwork):
        one_way = run_recurrent(network, cells, arithmetic, split)
        assert one_way.answers is not None
        bits, direct = one_way.formula_bits, recurrent_directly(one_way, network, cells, arithmetic)
        claim = ClaimedBits("m·p", network.width, p, bits, one_way.transcript.total_bits <= bits)
        return Conversation(split, one_way.transcript, bits, claim, one_way.answers[-1], direct)
    run = run_one_layer(network, cells, arithmetic, split, version=version, products=products, position=position)
    sizes = compare(run.plan, run.transcript.total_bits)
    claim = ClaimedBits("3m(p + log N)H", sizes.width, p, sizes.claimed(), sizes.holds())
    facts = OneLayerFacts(run.plan, sizes, condition(run.plan))
    direct = one_layer_directly(run, cells)
    return Conversation(split, run.transcript, run.plan.formula_bits, claim, run.answer, direct, facts)


def read_position(network: AnyNetwork, task: Task, cells: Integers, length: int) -> int | None:
    """Return the last position that asks for an answer where each has one of its own; None: the network's last."""
    if network.readout.at != "every":
        return None
    _, read = task.label(cells[None], length)
    places: Any = numpy.flatnonzero(to_numpy(read)[0])
    return int(places[-1]) if len(places) else None
