"""E19: a feed-forward cannot know which feature to compute."""

from separatrix.constructions import constructions
from separatrix.networks import Network
from separatrix.table.errata.erratum import Erratum, Finding, certified

LENGTH, SPARSITY = 64, 3


def show() -> tuple[Finding, ...]:
    """The paper's width beside the built one."""
    built = constructions()["dnf"].build(LENGTH)
    assert isinstance(built.network, Network)
    slots = built.network.slots
    paper = 1 + (SPARSITY + 1) * slots.size("address")
    table = slots.size("table")
    return (
        Finding(
            "original",
            f"at N = {LENGTH}, k = {SPARSITY} the paper counts width 1 + (k + 1)r = {paper}",
            paper < built.network.width,
        ),
        Finding(
            "repair",
            f"the network has width {built.network.width}; {table} = 2^k of it are each position's feature",
            table == 2**SPARSITY and built.network.width > paper,
        ),
        certified("dnf", LENGTH),
    )


ERRATUM = Erratum(
    number=19,
    source="BHBK24 Theorem 13, Appendix F.3",
    title="A feed-forward cannot know which feature to compute",
    claim="The feed-forward computes g_{I_i} at every position i.",
    fault="A feed-forward is the same map at every position.",
    repair="Position i's embedding carries the 2^k values of its feature.",
    show=show,
    command=f"separatrix certify dnf --length {LENGTH}",
)
