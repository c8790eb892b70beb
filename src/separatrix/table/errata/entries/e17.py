"""E17: the reduction from INDEX to sparse averaging uses the empty set."""

from separatrix.bounds import bounds
from separatrix.table.errata.erratum import Erratum, Finding


def show() -> tuple[Finding, ...]:
    """The repaired reduction on all small instances."""
    evidence = bounds()["sparse-averaging-rnn"].evidence(5)
    return tuple(Finding("repair", each.text, each.holds) for each in evidence if "reduction" in each.details)


ERRATUM = Erratum(
    number=17,
    source="SHT23 slides, sparse averaging, lower bound for RNNs",
    title="enc(∅) is not a q-subset",
    claim="Alice's cells carry enc(∅), for all i ∈ [N].",
    fault="The empty set is not a set of q indices, and i runs over [n].",
    repair="Any fixed set serves, because only Bob's cell is read.",
    show=show,
    command="separatrix bound sparse-averaging --model rnn --length 64",
)
