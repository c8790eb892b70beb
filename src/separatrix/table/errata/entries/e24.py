"""E24: two lower bounds of the slides come without their reductions."""

from separatrix.bounds import bounds
from separatrix.communication import Verification, reductions
from separatrix.table.errata.erratum import Erratum, Finding

BITS = 4


def show() -> tuple[Finding, ...]:
    """Both reductions on every pair of inputs, and what follows at one size."""
    checked = {
        name: reductions()[name].verified_to(BITS)
        for name in ("disjointness-to-sparse-averaging", "disjointness-to-directed-3-cycle")
    }
    attention = bounds()["sparse-averaging-transformer-1layer"]
    graphs = bounds()["directed-3-cycle-graph-transformer"]
    return (
        _agree("qSA, m nearly Ω(q)", checked["disjointness-to-sparse-averaging"]),
        _agree("directed 3-cycle, LHm nearly Ω(N)", checked["disjointness-to-directed-3-cycle"]),
        Finding(
            "repair",
            f"{attention.name}: {attention.statement}; {graphs.name}: {graphs.statement}",
            all(each.holds for bound in (attention, graphs) for each in bound.evidence(BITS)),
        ),
    )


def _agree(what: str, found: tuple[Verification, ...]) -> Finding:
    pairs = sum(each.pairs for each in found)
    text = f"{what}: DISJ hides in it, answers agree on all {pairs:,} pairs up to {found[-1].bits} bits"
    return Finding("repair", text, bool(found) and all(each.holds for each in found))


ERRATUM = Erratum(
    number=24,
    source="SHT23 slides, (almost) matching lower bound for qSA; graph Transformers",
    title="Two bounds of the slides come without a reduction",
    claim="Attention needs m of nearly q for qSA; graph Transformers need LHm = Ω̃(N) for directed 3-cycle.",
    fault="The slides give neither reduction, so there is nothing on them to run against the statements.",
    repair="Reductions from DISJ on q bits (N = 2q + 1) and on n² bits (N = 3n), checked on every pair.",
    show=show,
    command="separatrix bound directed-3-cycle --model graph-transformer --length 64",
    arithmetic="integers",
)
