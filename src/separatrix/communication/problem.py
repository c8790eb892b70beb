"""A communication problem: a function of Alice's part and Bob's part of an input (BHBK24 Appendix B.1).

Both parts are numbered from 0, and the function is given on numbers, vectorised: two integer arrays that broadcast
against each other give an array of values 0, 1, …. A problem that comes from a task or from a function of sequences
also knows how numbers and sequences belong together (:class:`SequenceSplit`); the named classics of ``classics.py``
work on numbers alone. Nothing is ever held for all pairs at once; ``matrix.py`` builds matrices in chunks.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy
from numpy.typing import NDArray

from separatrix.communication.partition import Partition, of_positions
from separatrix.errors import SeparatrixError
from separatrix.tasks import Space, Task, cells

Integers: TypeAlias = NDArray[numpy.int64]
PairFunction: TypeAlias = Callable[[Integers, Integers], Integers]
"""Numbers of Alice's and Bob's parts, shapes that broadcast, to values of the broadcast shape."""
SequenceFunction: TypeAlias = Callable[[Integers], Integers]
"""Inputs, int64 (count, positions), to values (count,)."""
LARGEST_SIDE = 1 << 62
CELLS = 1 << 22
"""Numbers in one chunk of inputs: 32 MiB."""


@dataclass(frozen=True)
class SequenceSplit:
    """How the numbers of Alice's and Bob's parts and whole inputs belong together.

    Each part is a product of blocks, first block most significant; a block's table has one row for each choice and one
    column for each position that it fills.
    """

    partition: Partition
    alice: Space
    bob: Space
    alice_columns: tuple[int, ...]
    bob_columns: tuple[int, ...]

    def join(self, rows: Integers, columns: Integers) -> Integers:
        """Whole inputs from numbers: shapes that broadcast to S give (*S, positions)."""
        shape = numpy.broadcast_shapes(rows.shape, columns.shape)
        whole = numpy.empty((*shape, self.partition.positions), dtype=numpy.int64)
        whole[..., self.alice_columns] = self.alice.inputs(rows)
        whole[..., self.bob_columns] = self.bob.inputs(columns)
        return whole

    def numbers(self, inputs: Integers) -> tuple[Integers, Integers]:
        """Alice's and Bob's numbers of whole inputs: (count, positions) gives (count,) twice."""
        return (
            _encode(self.alice, inputs[:, self.alice_columns]),
            _encode(self.bob, inputs[:, self.bob_columns]),
        )


@dataclass(frozen=True)
class CommunicationProblem:
    """A function of two numbers with values 0 … ``classes`` − 1.

    ``rows`` and ``columns`` count Alice's and Bob's parts. ``function`` is vectorised: see :data:`PairFunction`.
    """

    name: str
    rows: int
    columns: int
    classes: int
    function: PairFunction
    split: SequenceSplit | None = None
    width: int = 1
    """Numbers that evaluating one pair holds; chunks are as much smaller."""

    def __post_init__(self) -> None:
        if not (1 <= self.rows < LARGEST_SIDE and 1 <= self.columns < LARGEST_SIDE):
            raise SeparatrixError(
                f"{self.name} has {self.rows} × {self.columns} pairs; each side needs 1 to 2^62, choose a shorter input"
            )

    def evaluate(self, rows: Integers, columns: Integers) -> Integers:
        """Return the values at pairs of numbers; the shapes broadcast."""
        shape = numpy.broadcast_shapes(rows.shape, columns.shape)
        values = numpy.asarray(self.function(rows, columns))
        if values.shape != shape:
            raise SeparatrixError(f"{self.name} returned shape {values.shape} for pairs of shape {shape}")
        return values

    @property
    def chunk(self) -> int:
        """How many pairs to evaluate at once."""
        return max(1, CELLS // self.width)


def from_function(
    function: SequenceFunction, partition: Partition, alphabet: int, classes: int = 2, name: str = "function"
) -> CommunicationProblem:
    """Return the problem of a vectorised function of sequences over ``alphabet`` symbols."""
    each = range(alphabet)
    split = SequenceSplit(
        partition,
        Space(cells(each, len(partition.alice))),
        Space(cells(each, len(partition.bob))),
        partition.alice,
        partition.bob,
    )
    return _over_sequences(function, split, classes, name)


def from_task(task: Task, length: int, partition: Partition | None = None) -> CommunicationProblem:
    """Return the problem of a task's answer at its last read position; its own partition unless another is given.

    Raises where cells of Alice and Bob depend on each other, where a promise excludes inputs, or where answers are
    vectors: those tasks reach the classics through reductions instead.
    """
    task.check_length(length)
    positions = task.positions(length)
    if partition is None:
        partition = of_positions(positions, task.communication(length).alice)
    if partition.positions != positions:
        raise SeparatrixError(
            f"the partition has {partition.positions} positions, {task.name} has {positions} at length {length}"
        )
    if task.classes(length) == 0 or task.features(length):
        raise SeparatrixError(f"{task.name} has cells or answers that are vectors; use a reduction from a classic")
    alice_blocks: list[Integers] = []
    bob_blocks: list[Integers] = []
    alice_columns: list[int] = []
    bob_columns: list[int] = []
    held, column = set(partition.alice), 0
    for block in task.space(length).blocks:
        places = range(column, column + block.shape[1])
        column += block.shape[1]
        owners = {place in held for place in places}
        if len(owners) > 1:
            raise SeparatrixError(f"positions {list(places)} of {task.name} belong together; give them to one party")
        blocks, columns = (alice_blocks, alice_columns) if owners == {True} else (bob_blocks, bob_columns)
        blocks.append(block)
        columns.extend(places)
    if column != positions:
        raise SeparatrixError(f"cells of {task.name} depend on each other; use a reduction from a classic")
    split = SequenceSplit(
        partition, Space(tuple(alice_blocks)), Space(tuple(bob_blocks)), tuple(alice_columns), tuple(bob_columns)
    )

    def answer(inputs: Integers) -> Integers:
        whole = task.assemble(inputs, length)
        if whole.shape != inputs.shape or (whole != inputs).any() or not task.admissible(whole, length).all():
            raise SeparatrixError(f"{task.name} excludes inputs of length {length}; use a reduction from a classic")
        targets, read = task.label(whole, length)
        last = positions - 1 - numpy.argmax(read[:, ::-1], axis=1)
        return targets[numpy.arange(len(targets)), last]

    return _over_sequences(answer, split, task.classes(length), f"{task.name}, {partition.name}")


def _over_sequences(function: SequenceFunction, split: SequenceSplit, classes: int, name: str) -> CommunicationProblem:
    positions = split.partition.positions

    def on_numbers(rows: Integers, columns: Integers) -> Integers:
        whole = split.join(rows, columns)
        return numpy.asarray(function(whole.reshape(-1, positions))).reshape(whole.shape[:-1])

    return CommunicationProblem(
        name, split.alice.count, split.bob.count, classes, on_numbers, split, width=max(1, positions)
    )


def _encode(space: Space, values: Integers) -> Integers:
    """Return the numbers of parts: (count, cells) gives (count,)."""
    numbers = numpy.zeros(len(values), dtype=numpy.int64)
    column = 0
    for block in space.blocks:
        mine = values[:, column : column + block.shape[1]]
        column += block.shape[1]
        found = (mine[:, None, :] == block[None, :, :]).all(axis=2)
        if not found.any(axis=1).all():
            raise SeparatrixError(f"{mine[~found.any(axis=1)][0].tolist()} is not a choice of this part of the input")
        numbers = numbers * len(block) + numpy.argmax(found, axis=1)
    return numbers
