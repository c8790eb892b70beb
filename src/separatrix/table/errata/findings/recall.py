"""Associative recall and the nearest neighbour (BHBK24 Theorem 7)."""

from fractions import Fraction

from separatrix.arithmetic import paper_width
from separatrix.constructions import constructions
from separatrix.table.errata.finding import Finding, certified, refuted
from separatrix.tasks import tasks


def e5() -> tuple[Finding, ...]:
    """Return both scales of the query."""
    length = 64
    return refuted("mqar", length, "query-scale"), certified("mqar", length)


def e6() -> tuple[Finding, ...]:
    """Return the paper's σ and the exact step."""
    length = 16
    return refuted("mqar", length, "clamped-labels"), certified("mqar", length, "exact-labels")


def e7() -> tuple[Finding, ...]:
    """Return the width by the paper's formula, the network without a mask, and the repaired one."""
    length = 16
    margin = Fraction(1, 2)
    needed = paper_width(length, margin / 100)
    repaired = constructions()["nearest-neighbour"].build(length).network.width
    return (
        Finding(
            "original",
            f"near-orthogonality γ/100 at γ = {margin}, N = {length} takes {needed:,} dimensions by Lemma 2",
            needed > 100 * repaired,
        ),
        refuted("mqar", length, "unmasked"),
        Finding("repair", f"the repaired network has width {repaired}, whatever the margin", repaired < needed),
        certified("nearest-neighbour", length),
    )


def e21() -> tuple[Finding, ...]:
    """Return the constant Kc that the rounded coordinates require, at two lengths."""
    construction, task = constructions()["nearest-neighbour"], tasks()["nearest-neighbour"]
    exponents = {length: construction.default_exponent(task, length) for length in (16, 256)}
    chosen = ", ".join(f"Kc = {exponent} at N = {length}" for length, exponent in exponents.items())
    return (
        Finding("repair", f"margin {task.parameters()['margin']}: {chosen}", min(exponents.values()) >= 2),
        certified("nearest-neighbour", 64),
    )
