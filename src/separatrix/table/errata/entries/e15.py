"""E15: the slides' encoding of disjointness in triple matching fails on every disjoint pair."""

from separatrix.bounds import bounds
from separatrix.table.errata.erratum import Erratum, Finding


def show() -> tuple[Finding, ...]:
    """The evidence of the bound on triple matching."""
    evidence = bounds()["match3-transformer-1layer"].evidence(5)
    return tuple(
        Finding("original" if "published" in each.text else "repair", each.text, each.holds)
        for each in evidence
        if each.kind == "verified" and ("published" in each.text or "match3" in each.text)
    )


ERRATUM = Erratum(
    number=15,
    source="SHT23 slides, triple matching, lower bound",
    title="The slides' encoding fails on every disjoint pair",
    claim="DISJ on n bits reduces to Match3 with the given encoding.",
    fault="The triple (N, N, N) matches on all 3ⁿ disjoint pairs, and 0 is not in {1, …, M}.",
    repair="Another constant at the query, or the query's index excluded.",
    show=show,
    command="separatrix bound match3 --model transformer-1layer --length 64",
)
