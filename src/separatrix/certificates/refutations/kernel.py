"""Inputs against a network whose proof the kernel refuses, by the kind of its inputs and of its answers."""

from collections.abc import Iterator

from separatrix.certificates.refutations import Search
from separatrix.certificates.refutations._flags import flagged_strings
from separatrix.certificates.refutations._graphs import graphs
from separatrix.certificates.refutations._power_sums import rows
from separatrix.certificates.refutations._sets import named_sets
from separatrix.certificates.refutations._strings import wrong_string
from separatrix.certificates.verdict import Claim, OtherClaimError, Tokens
from separatrix.networks import AnyNetwork, RecurrentNetwork


def inputs(network: AnyNetwork, claim: Claim, refusal: str) -> Iterator[Tokens]:
    """Strings for an automaton, graphs, numbers for power sums, or sets; nothing else for others."""
    del refusal
    try:
        if isinstance(network, RecurrentNetwork):
            yield from wrong_string(network, claim)
        elif network.reads_graphs:
            yield from graphs(network, claim)
        elif network.readout.decoding == "power-sums":
            yield from rows(network, claim)
        elif network.dual_parts:
            yield from named_sets(network, claim)
        else:
            yield from flagged_strings(network, claim)
    except OtherClaimError:
        # The user's own task.
        return


SEARCH = Search("kernel", inputs)
