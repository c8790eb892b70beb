"""E11: Variant 1 of triple matching is vacuous as stated."""

from separatrix.table.errata.erratum import Erratum, Finding, certified
from separatrix.tasks import draws_from, tasks

COUNT, LENGTH = 500, 20


def show() -> tuple[Finding, ...]:
    """Answers with and without the query among the three."""
    task = tasks()["match3-last"]
    shares: list[float] = []
    for each in (task.with_parameters(exclude_query=False), task):
        batch = each.sample(draws_from(0), COUNT, LENGTH)
        shares.append(float(batch.targets[batch.read].mean()))
    return (
        Finding("original", f"the answer is 1 on {shares[0]:.0%} of {COUNT} random inputs", shares[0] == 1),
        Finding("repair", f"without the query it is 1 on {shares[1]:.0%} of them", 0 < shares[1] < 1),
        certified("match3-last", 16),
    )


ERRATUM = Erratum(
    number=11,
    source="SHT23 slides, easier variants, Variant 1",
    title="The triple (N, N, N) always matches",
    claim="With x_N = 0, decide whether some x_N + x_j + x_k ≡ 0.",
    fault="j = k = N always is such a triple, so the answer is always 1.",
    repair="j and k differ from N.",
    show=show,
    command="separatrix sample match3-last --length 20 --set exclude_query=false",
)
