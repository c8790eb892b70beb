"""E7: without a strict causal mask a query attends to itself, and the width as written is not O(log N)."""

from fractions import Fraction

from separatrix.arithmetic import paper_width
from separatrix.constructions import constructions
from separatrix.table.errata.erratum import Erratum, Finding, certified, refuted

LENGTH = 16


def show() -> tuple[Finding, ...]:
    """The width by the paper's formula, the network without a mask, and the repaired one."""
    margin = Fraction(1, 2)
    needed = paper_width(LENGTH, margin / 100)
    repaired = constructions()["nearest-neighbour"].build(LENGTH).network.width
    return (
        Finding(
            "original",
            f"near-orthogonality γ/100 at γ = {margin}, N = {LENGTH} takes {needed:,} dimensions by Lemma 2",
            needed > 100 * repaired,
        ),
        refuted("mqar", LENGTH, "unmasked"),
        Finding("repair", f"the repaired network has width {repaired}, whatever the margin", repaired < needed),
        certified("nearest-neighbour", LENGTH),
    )


ERRATUM = Erratum(
    number=7,
    source="BHBK24 Theorem 7",
    title="No causal mask, and a width of O(log N / γ²)",
    claim="Two layers of width O(log N) compute the nearest neighbour for γ = N^−c.",
    fault="The width is O(log N / γ²), and without a strict mask a point is nearest to itself.",
    repair="A strict causal mask, and addresses that stay out of the first layer's scores.",
    show=show,
    command=f"separatrix certify mqar --length {LENGTH} --variant unmasked",
)
