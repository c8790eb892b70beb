"""Inputs against a network whose proof the kernel refuses, by the kind of its inputs and of its answers."""

from collections.abc import Iterator

from separatrix.certificates.refutations import Search
from separatrix.certificates.refutations._flags import flagged_strings
from separatrix.certificates.refutations._graphs import graphs
from separatrix.certificates.refutations._pairs import pairs
from separatrix.certificates.refutations._power_sums import rows
from separatrix.certificates.refutations._sets import named_sets
from separatrix.certificates.refutations._strings import wrong_string
from separatrix.certificates.refutations._windows import windows
from separatrix.certificates.verdict import Claim, OtherClaimError, Tokens
from separatrix.networks import AnyNetwork, RecurrentNetwork
from separatrix.tasks import own_specification


def inputs(network: AnyNetwork, claim: Claim, refusal: str) -> Iterator[Tokens]:
    """Strings for an automaton, graphs, numbers that nearly match, sets; nothing for other tasks."""
    del refusal
    stated = own_specification(claim.task, claim.length)
    kind = None if stated is None else stated["answer"]["kind"]
    try:
        if isinstance(network, RecurrentNetwork):
            yield from wrong_string(network, claim)
        elif network.reads_graphs:
            yield from graphs(network, claim)
        elif network.readout.decoding == "power-sums":
            yield from rows(network, claim)
        elif kind == "sums":
            yield from pairs(network, claim)
        elif kind == "nearby-sums":
            yield from windows(claim)
        elif kind == "named-sums":
            yield from named_sets(network, claim)
        else:
            yield from flagged_strings(network, claim)
    except OtherClaimError:
        # A task of the user's own.
        return


SEARCH = Search("kernel", inputs)
