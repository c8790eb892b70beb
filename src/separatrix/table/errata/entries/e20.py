"""E20: the two-layer network cited for Dyck generates it and does not recognise it."""

from separatrix.table.errata.erratum import Erratum, Finding, certified, refuted

LENGTH = 16


def show() -> tuple[Finding, ...]:
    """The generator read as a recogniser, and two layers that do recognise."""
    return refuted("dyck-transformer", LENGTH, "paper"), certified("dyck-transformer", LENGTH)


ERRATUM = Erratum(
    number=20,
    source="BHBK24 §4.1, citing Yao et al. 2021",
    title="The cited two-layer network generates and does not recognise",
    claim="Two layers model Dyck-(n,k).",
    fault="The cited network predicts the next bracket; read as a recogniser it misses errors before the last one.",
    repair="Two layers do suffice for k ≤ 2, three for every k; whether two suffice for k ≥ 3 is open here.",
    show=show,
    command=f"separatrix certify dyck-transformer --length {LENGTH} --variant paper",
)
