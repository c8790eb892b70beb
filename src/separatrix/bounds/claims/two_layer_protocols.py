"""BHBK24 Lemma 5 and Corollary 13.1: for two layers no protocol like Theorem 4's exists below g(N) = Ω(N/log² N).

Lemma 5: for every balanced partition of the positions a two-layer Transformer with m, p = O(log N) and two heads
computes whether the two parts differ (Theorem 6 with renumbered positions; the network is certified in
``constructions``), and that needs N/2 bits. So a protocol of m·p·H·g(N) bits for every two-layer Transformer and
partition has g(N) ≥ (N/2)/(mpH) = Ω(N/log² N): communication cannot prove more than polylogarithmic bounds for two
layers. This is not a lower bound on a model.
"""

from itertools import combinations

import numpy

from separatrix.bounds.bound import Barrier
from separatrix.bounds.evidence import Evidence
from separatrix.communication import FoolingSet, Integers, from_task, verify_fooling_set
from separatrix.tasks import tasks

LONGEST = 6


def _checks(limit: int) -> tuple[Evidence, ...]:
    lengths = [length for length in range(2, LONGEST + 1, 2) if length // 2 <= limit]
    partitions = 0
    holds = True
    for length in lengths:
        for alice in combinations(range(1, length + 1), length // 2):
            task = tasks()["equality"].with_parameters(alice=",".join(map(str, alice)))
            problem = from_task(task, length)
            every = _numbers(problem.rows)
            holds = holds and bool(verify_fooling_set(problem, FoolingSet(1, every, every)))
            partitions += 1
    return (
        Evidence(
            "verified",
            "BHBK24 Lemma 5: equality over every balanced partition has a fooling set of 2^(N/2) pairs, for all "
            f"{partitions} "
            f"partitions to N = {lengths[-1]}; for every N it is EQ with positions renumbered",
            holds,
            {"verified_to": lengths[-1], "partitions": partitions},
        ),
        Evidence(
            "cited",
            "the two-layer network is the construction equality-partition, certified for all inputs of its length by "
            "`separatrix certify equality-partition --length 16`",
        ),
    )


def _numbers(count: int) -> Integers:
    return numpy.arange(count, dtype=numpy.int64)


BOUND = Barrier(
    name="two-layer-protocols",
    claim="BHBK24 Corollary 13.1 (Lemma 5)",
    statement="a protocol of O(mpH·g(N)) bits for every two-layer Transformer and partition has g(N) = Ω(N/log² N)",
    task_names=("equality", "inequality"),
    models=("transformer-2layer",),
    assumptions=("the protocol must work for every two-layer Transformer and every partition",),
    hidden_bits=lambda length: length // 2,
    checks=_checks,
)
