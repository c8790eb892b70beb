"""E5: the second layer's query is too weak."""

from separatrix.table.errata.erratum import Erratum, Finding, certified, refuted

LENGTH = 64


def show() -> tuple[Finding, ...]:
    """Both scales of the query."""
    return refuted("mqar", LENGTH, "query-scale"), certified("mqar", LENGTH)


ERRATUM = Erratum(
    number=5,
    source="BHBK24 Theorem 7",
    title="The second layer's query is too weak",
    claim="The query (1/k)·T_s has an inner product of at least 1 − γ/100 with its key.",
    fault="It has 1/√k.",
    repair="(1/√k)·T_s.",
    show=show,
    command=f"separatrix certify mqar --length {LENGTH} --variant query-scale",
)
