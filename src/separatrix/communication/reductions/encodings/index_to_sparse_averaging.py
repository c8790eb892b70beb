"""INDEX inside sparse averaging (SHT23, lower bound for RNNs), for every sparsity q.

Alice's cells 1 … n hold her bits as values and, as their own sets, any fixed set (the slides write the empty set, which
is not a set of q indices: E17; only Bob's output is read). Bob's cell is the last one and has value 0. For q = 1, as on
the slides, his set is {b} and N = n + 1. For q > 1 it is {b} and the q - 1 last cells, which all have value 0 (Bob's
own is one of them): N = n + q - 1. The sum is Alice's bit.

*Not filled*, to show that this is needed (E23): with the slides' n + 1 cells and q = 3 the set holds one more of
Alice's cells, here the one after b, whose bit enters the sum.
"""

from dataclasses import replace

import numpy

from separatrix.communication.problem import Integers
from separatrix.communication.reductions.reduction import Reduction, only_answer
from separatrix.tasks import Task, tasks


def blank_cells(sparsity: int) -> int:
    """Return cells that hold no bit: Bob's, and for q > 1 the others that fill his set."""
    return max(1, sparsity - 1)


def of_sparsity(sparsity: int) -> Reduction:
    """Return the reduction for sets of q indices."""
    blank = blank_cells(sparsity)

    def task(size: int) -> Task:
        del size
        return tasks()["sparse-averaging"].with_parameters(sparsity=sparsity, dimension=1, resolution=1)

    def alice(bits: Integers, size: int) -> Integers:
        cells = numpy.zeros((len(bits), size + blank - 1, sparsity + 2), dtype=numpy.int64)
        cells[:, :, 0] = numpy.arange(1, size + blank)
        cells[:, :, 1 : 1 + sparsity] = numpy.arange(1, sparsity + 1)
        cells[:, :size, -1] = bits
        return cells

    def bob(places: Integers, size: int) -> Integers:
        cells = numpy.zeros((len(places), 1, sparsity + 2), dtype=numpy.int64)
        cells[:, 0, 0] = size + blank
        cells[:, 0, 1] = places + 1
        cells[:, 0, 2 : 1 + sparsity] = size + numpy.arange(1, sparsity)
        return cells

    def decode(answers: Integers, own: Integers, size: int) -> Integers:
        return only_answer(answers[:, :, 0], own, size)

    return Reduction(
        name="index-to-sparse-averaging" if sparsity == 1 else f"index-to-sparse-averaging-{sparsity}",
        source=f"SHT23, lower bound for RNNs (repaired, E17{', E23' if sparsity > 1 else ''})",
        statement="values of cells 1 … n are Alice's bits, the last cell's set names Bob's place and cells of value 0",
        problem="INDEX",
        task=task,
        length=lambda size: size + blank,
        alice=alice,
        bob=bob,
        decode=decode,
        deviations=("Alice's sets are {1 … q} instead of the empty set (E17)",),
    )


def not_filled() -> Reduction:
    """Return the slides' n + 1 cells with sets of three: wrong on exactly the pairs whose third cell holds a 1."""

    def bob(places: Integers, size: int) -> Integers:
        cells = numpy.zeros((len(places), 1, 5), dtype=numpy.int64)
        cells[:, 0, 0] = size + 1
        named = numpy.stack([places, (places + 1) % size, numpy.full_like(places, size)], axis=1)
        cells[:, 0, 1:4] = numpy.sort(named, axis=1) + 1
        return cells

    filled = of_sparsity(3)

    def alice(bits: Integers, size: int) -> Integers:
        return filled.alice(bits, size)[:, :size]

    def length(size: int) -> int:
        return size + 1

    return replace(
        filled,
        name="index-to-sparse-averaging-3-not-filled",
        source="SHT23, lower bound for RNNs, its cells with q = 3",
        statement="as for q = 1, the set filled with Bob's own cell and another one of Alice's",
        length=length,
        alice=alice,
        bob=bob,
        smallest=2,
        fails=True,
    )


REDUCTION = of_sparsity(1).with_variants(of_sparsity(2), of_sparsity(3), not_filled())
