"""DISJ inside triple matching (SHT23, lower bound for self-attention layers), as published and repaired (E15).

N = 2n + 1 numbers modulo M behind the dummy element: z_i is Alice's, z_{n+i} is Bob's, z_N is the query, known to both.

As published: a_i gives 1 or i + 1, b_i gives 1 or M - (i + 1), and z_N = 0, "a triple match with the Nth query iff the
sets meet". But j = k = N always matches: 0 + 0 + 0 ≡ 0. So the answer is 1 on every pair and wrong on the 3^n disjoint
ones, and 0 is not one of the numbers 1 … M (it is written M here). Two repairs, both verified:

* *exclude the query*: j, k ≠ N, which is the task ``match3-last``. 0 + z_j + z_k ≡ 0 then needs z_j + z_k ≡ 0. Two of
  Alice's numbers or ones add up to 2 … 2n + 2 < M; two of Bob's to 2M - (i + j + 2), not a multiple of M while 2n + 2 <
  M; one and M - (i + 1) to M - i; so only i + 1 and M - (i + 1) do. M ≥ 2n + 3.
* *shift*: z_N = 1 and b_i gives 1 or M - (i + 2). With the query a pair must add up to -1: two numbers of 1 … n + 1
  give at most 2n + 2 < M - 1; two of Bob's give 2M - (i + j + 4) with i + j + 4 ≤ 2n + 4, and that is 2M - 1 or M - 1
  only if i + j + 3 ≡ 0 modulo M; one and M - (i + 2) give M - 1 - i; so only i + 1 and M - (i + 2) do. M ≥ 2n + 4.

The reduction is the shifted one, which solves triple matching as it is defined.
"""

from collections.abc import Callable

import numpy

from separatrix.communication.problem import Integers
from separatrix.communication.reductions.reduction import Reduction, only_answer
from separatrix.tasks import Task, tasks


def _length(size: int) -> int:
    return 2 * size + 1


def _task(name: str, modulus: Callable[[int], int] | None) -> Callable[[int], Task]:
    if modulus is None:
        return lambda size: tasks()[name]
    return lambda size: tasks()[name].with_parameters(modulus=modulus(size))


def _alice(bits: Integers, size: int) -> Integers:
    dummy = numpy.zeros((len(bits), 1), dtype=numpy.int64)
    return numpy.concatenate([dummy, 1 + bits * numpy.arange(1, size + 1)], axis=1)


def _bob_of(task: Callable[[int], Task], shift: int, query: int) -> Callable[[Integers, int], Integers]:
    """Bob's numbers 1 or M - (i + shift), then the query; the residue 0 is written M."""

    def bob(bits: Integers, size: int) -> Integers:
        # The numbers of the vocabulary are 1 … M, after the dummy.
        modulus = task(size).vocabulary(_length(size)).size - 1
        own = numpy.where(bits == 1, modulus - (numpy.arange(1, size + 1) + shift), 1)
        return numpy.concatenate([own, numpy.full((len(bits), 1), query or modulus)], axis=1)

    return bob


def shifted(modulus: Callable[[int], int] | None = None) -> Reduction:
    """Return the repair with z_N = 1, at any modulus; the task's own by default."""
    task = _task("match3", modulus)
    return Reduction(
        name="disjointness-to-match3",
        source="SHT23, lower bound for self-attention layers (repaired, E15)",
        statement="numbers 1 or i + 1 are Alice's bits, 1 or M - (i + 2) are Bob's, the query is 1: it matches iff "
        "they meet",
        problem="DISJ",
        task=task,
        length=_length,
        alice=_alice,
        bob=_bob_of(task, shift=2, query=1),
        decode=only_answer,
        deviations=(
            "the query is 1 and Bob's numbers are shifted by one, because (N, N, N) matches as published (E15)",
        ),
    )


def query_excluded(modulus: Callable[[int], int] | None = None) -> Reduction:
    """Return the repair that keeps the published numbers and excludes the query index (``match3-last``)."""
    task = _task("match3-last", modulus)
    return Reduction(
        name="disjointness-to-match3-last",
        source="SHT23, lower bound for self-attention layers and Variant 1 (repaired, E11, E15)",
        statement="the published numbers; the query 0 must match with two other numbers",
        problem="DISJ",
        task=task,
        length=_length,
        alice=_alice,
        bob=_bob_of(task, shift=1, query=0),
        decode=only_answer,
        deviations=("the query may not match with itself (E15)",),
    )


def as_published(modulus: Callable[[int], int] | None = None) -> Reduction:
    """Return the slides' encoding, which answers 1 on every pair."""
    task = _task("match3", modulus)
    return Reduction(
        name="disjointness-to-match3-as-published",
        source="SHT23, lower bound for self-attention layers",
        statement="the published numbers and the query 0, on triple matching as defined",
        problem="DISJ",
        task=task,
        length=_length,
        alice=_alice,
        bob=_bob_of(task, shift=1, query=0),
        decode=only_answer,
        fails=True,
    )


REDUCTION = shifted().with_variants(query_excluded(), as_published())
