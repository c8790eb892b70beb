"""Matching and cycles in graphs (SHT23)."""

import numpy

from separatrix.arithmetic import arithmetic_named
from separatrix.bounds import bounds
from separatrix.constructions import Options, constructions
from separatrix.networks import evaluate
from separatrix.table.errata.finding import Finding, certified
from separatrix.tasks import draws_from, tasks, to_numpy


def e10() -> tuple[Finding, ...]:
    """Run near misses at M = 65,536 in float32: no number has a partner."""
    length, modulus = 16, 1 << 16
    row = numpy.array([[0, *[7919 * place % modulus + 1 for place in range(1, length + 1)]]])
    row[:, 2::2] = (1 - row[:, 1:-1:2]) % modulus
    wrong: dict[str, int] = {}
    for name in ("match2", "match2-code"):
        built = constructions()[name].build(length, Options(parameters={"modulus": modulus}))
        expected = [0 if answer is None else int(str(answer)) for answer in built.task.solve(row[0].tolist(), length)]
        answers = evaluate(built.network, row, arithmetic_named("float32")).answers[0].tolist()
        wrong[name] = sum(given != right for given, right in zip(answers[1:], expected[1:], strict=True))
    return (
        Finding(
            "original",
            f"M = {modulus:,}, {length} numbers that all miss by one, float32: cosines answer {wrong['match2']} of "
            f"{length} wrongly",
            wrong["match2"] > 0,
        ),
        Finding("repair", f"sign codes answer {wrong['match2-code']} wrongly", wrong["match2-code"] == 0),
    )


def e11() -> tuple[Finding, ...]:
    """Compare the answers with and without the query among the three."""
    count, length = 500, 20
    task = tasks()["match3-last"]
    shares: list[float] = []
    for each in (task.with_parameters(exclude_query=False), task):
        batch = each.sample(draws_from(0), count, length)
        shares.append(float(batch.targets[batch.read].mean()))
    return (
        Finding("original", f"the answer is 1 on {shares[0]:.0%} of {count} random inputs", shares[0] == 1),
        Finding("repair", f"without the query it is 1 on {shares[1]:.0%} of them", 0 < shares[1] < 1),
        certified("match3-last", 16),
    )


def e12() -> tuple[Finding, ...]:
    """Return the unit that was filled in."""
    return (certified("directed-3-cycle", 16),)


def e15() -> tuple[Finding, ...]:
    """Return the evidence of the bound on triple matching."""
    evidence = bounds()["match3-transformer-1layer"].evidence(5)
    return tuple(
        Finding("repair" if "reduction" in each.details else "original", each.text, each.holds)
        for each in evidence
        if "reduction" in each.details or "failures" in each.details
    )


TRIANGLE = [[0, 1, 1, 0, 0], [1, 0, 1, 0, 0], [1, 1, 0, 0, 0], [0, 0, 0, 0, 0], [0, 0, 0, 0, 0]]


def e16() -> tuple[Finding, ...]:
    """Return a triangle and two vertices without edges."""
    task = tasks()["undirected-5-cycle"]
    literal = list(task.with_parameters(distinct=False).solve(TRIANGLE, 5))
    repaired = list(task.solve(TRIANGLE, 5))
    return (
        Finding("original", f"a triangle a–b–c is answered {literal}: a–b–c–a–b–a has five edges", any(literal)),
        Finding("repair", f"with five distinct vertices it is answered {repaired}", not any(repaired)),
    )


def e18() -> tuple[Finding, ...]:
    """Run one vertex with a loop, then sampled graphs."""
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
