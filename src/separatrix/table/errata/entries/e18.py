"""E18: the graph tasks do not exclude self-loops."""

from separatrix.bounds import bounds
from separatrix.table.errata.erratum import Erratum, Finding
from separatrix.tasks import draws_from, tasks, to_numpy


def show() -> tuple[Finding, ...]:
    """One vertex with a loop, then sampled graphs."""
    task = tasks()["directed-3-cycle"]
    looped = [[1, 0, 0], [0, 0, 0], [0, 0, 0]]
    answered = list(task.solve(looped, 3))
    sampled = to_numpy(task.sample(draws_from(0), 64, 12).inputs)
    loops = int(sampled[:, range(12), range(12)].sum())
    reduction = next(each for each in bounds()["directed-3-cycle-graph-transformer"].evidence(5) if each.details)
    return (
        Finding(
            "original",
            f"one vertex with a loop and no other edge is answered {answered}; i → i → i → i is what the text allows",
            answered[0] == 1,
        ),
        Finding("repair", f"64 sampled graphs have {loops} loops", loops == 0),
        Finding("repair", reduction.text, reduction.holds),
    )


ERRATUM = Erratum(
    number=18,
    source="SHT23 slides, directed 3-cycle",
    title="Self-loops are not excluded",
    claim="Vertex i is on a 3-cycle if edges (i,j), (j,k), (k,i) exist.",
    fault="With a loop (i, i) the triple i, i, i is one.",
    repair="Graphs have no loops; the reductions hold either way.",
    show=show,
    command="separatrix sample directed-3-cycle --length 8",
)
