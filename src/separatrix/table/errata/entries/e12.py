"""E12: the higher-order graph unit is missing from the slides."""

from separatrix.table.errata.erratum import Erratum, Finding, certified


def show() -> tuple[Finding, ...]:
    """The unit that was filled in."""
    return (certified("directed-3-cycle", 16),)


ERRATUM = Erratum(
    number=12,
    source="SHT23 slides, graph self-attention",
    title="The slides do not define the higher-order graph unit",
    claim="A higher-order graph self-attention unit solves directed 3-cycle.",
    fault="The slides give only the second-order unit, and its κ is typed ℝ → ℝ but used with two arguments.",
    repair="Vertex i scores the pair (j, k) by κ(X_ij, X_jk, X_ki), with a dummy pair of its own score and value 0.",
    show=show,
    command="separatrix certify directed-3-cycle --length 16",
)
