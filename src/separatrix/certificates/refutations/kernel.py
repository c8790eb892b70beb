"""Inputs against a network whose proof the kernel refuses, by the kind of its inputs and of its answers."""

from collections.abc import Iterator

from separatrix.certificates.refutations import Search
from separatrix.certificates.refutations._graphs import graphs
from separatrix.certificates.refutations._power_sums import rows
from separatrix.certificates.refutations._strings import wrong_string
from separatrix.certificates.verdict import Claim, Tokens
from separatrix.networks import AnyNetwork, RecurrentNetwork


def inputs(network: AnyNetwork, claim: Claim, refusal: str) -> Iterator[Tokens]:
    """A string for a recurrent network, graphs, or numbers for power sums; nothing else for others."""
    del refusal
    if isinstance(network, RecurrentNetwork):
        yield from wrong_string(network, claim)
    elif network.reads_graphs:
        yield from graphs(network, claim)
    elif network.readout.decoding == "power-sums":
        yield from rows(network, claim)


SEARCH = Search("kernel", inputs)
