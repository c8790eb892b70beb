"""E14: the fooling argument needs uniqueness in both directions, and holds for deterministic models only."""

from separatrix.bounds import bounds
from separatrix.table.errata.erratum import Erratum, Finding


def show() -> tuple[Finding, ...]:
    """The evidence of the bound on Dyck."""
    evidence = bounds()["dyck-transformer-1layer"].evidence(5)
    return tuple(Finding("repair", each.text, each.holds) for each in evidence if each.kind == "verified")


ERRATUM = Erratum(
    number=14,
    source="BHBK24 Lemma 1",
    title="Uniqueness in both directions, deterministic models only",
    claim="Each odd half has one even half, so the strings are a fooling set.",
    fault="Two pairs that share their even half would cross; and randomised protocols need only O(log N) bits.",
    repair="Both directions hold and are checked; the bound is stated for deterministic models.",
    show=show,
    command="separatrix bound dyck --model transformer-1layer --length 400",
)
