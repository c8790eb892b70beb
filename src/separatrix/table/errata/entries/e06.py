"""E6: σ does not return labels exactly."""

from separatrix.table.errata.erratum import Erratum, Finding, certified, refuted

LENGTH = 16


def show() -> tuple[Finding, ...]:
    """The paper's σ and the exact step."""
    return refuted("mqar", LENGTH, "clamped-labels"), certified("mqar", LENGTH, "exact-labels")


ERRATUM = Erratum(
    number=6,
    source="BHBK24 Theorem 7",
    title="σ does not return labels exactly",
    claim="Applying σ, which clamps to [−1, 1], to the average of labels returns the label.",
    fault="An average strictly between the labels stays between them.",
    repair="ReLU(2a − ½) − ReLU(2a − 3/2), or a step in whole numbers.",
    show=show,
    command=f"separatrix certify mqar --length {LENGTH} --variant clamped-labels",
)
