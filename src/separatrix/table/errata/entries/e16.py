"""E16: the undirected 5-cycle of the slides is not a cycle."""

from separatrix.table.errata.erratum import Erratum, Finding
from separatrix.tasks import tasks

TRIANGLE = [[0, 1, 1, 0, 0], [1, 0, 1, 0, 0], [1, 1, 0, 0, 0], [0, 0, 0, 0, 0], [0, 0, 0, 0, 0]]


def show() -> tuple[Finding, ...]:
    """A triangle and two vertices without edges."""
    task = tasks()["undirected-5-cycle"]
    literal = list(task.with_parameters(distinct=False).solve(TRIANGLE, 5))
    repaired = list(task.solve(TRIANGLE, 5))
    return (
        Finding("original", f"a triangle a–b–c is answered {literal}: a–b–c–a–b–a has five edges", any(literal)),
        Finding("repair", f"with five distinct vertices it is answered {repaired}", not any(repaired)),
    )


ERRATUM = Erratum(
    number=16,
    source="SHT23 slides, undirected 5-cycle",
    title="A triangle satisfies the definition",
    claim="Edges {i,j₁}, {j₁,j₂}, {j₂,j₃}, {j₃,j₄}, {j₄,i} are a 5-cycle.",
    fault="The vertices need not be distinct: a triangle and every neighbour of one satisfy it.",
    repair="Five distinct vertices.",
    show=show,
    command="separatrix sample undirected-5-cycle --length 8 --set distinct=false",
)
