"""What a reduction is: two maps that hide a communication problem inside a task, and a way to read the answer back.

Alice turns her input into the cells of her positions, Bob turns his into the cells of his; the task's answers at the
decoder's positions, together with what the decoder holds, give the answer of the problem. Each map is a function of one
party's input alone, so that nothing of the other's can leak into it. A model that solves the task then solves the
problem with the bits of its protocol (BHBK24 Theorems 2 and 4), and the problem's lower bound becomes the model's.

:meth:`Reduction.verify` checks the one statement that matters, *the answers agree and every input keeps the task's
promise*, for all pairs of inputs of a size; :meth:`Reduction.check` does it for given pairs. Inputs of a problem are
numbered as in ``classics.py``: vectors of bits, first bit most significant, or a place counted from 0.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy

from separatrix.communication import classics
from separatrix.communication.problem import CommunicationProblem, Integers
from separatrix.errors import SeparatrixError, UnknownNameError
from separatrix.tasks import Task

Source: TypeAlias = Literal["INDEX", "DISJ", "EQ"]
PROBLEMS: dict[Source, Callable[[int], CommunicationProblem]] = {
    "INDEX": classics.index,
    "DISJ": classics.disjointness,
    "EQ": classics.equality,
}
CELLS = 1 << 21
"""Numbers in one chunk of joined inputs: 16 MiB."""
MOST_PAIRS = 1 << 26
"""More pairs than this are not walked through."""


@dataclass(frozen=True)
class Disagreement:
    """A pair of inputs on which a reduction fails, with the task's input that they make."""

    alice: tuple[int, ...]
    bob: tuple[int, ...]
    inputs: str
    expected: int
    found: int | None
    reason: str

    def in_words(self) -> str:
        """Return the pair, its input and what is wrong there.

        >>> Disagreement((0, 1), (1, 1), "0 1 1 1", 0, 1, "EQ says 0, the task says 1").in_words()
        'Alice has 0 1, Bob has 1 1, the input is 0 1 1 1: EQ says 0, the task says 1'
        """
        held, theirs = (" ".join(map(str, each)) for each in (self.alice, self.bob))
        return f"Alice has {held}, Bob has {theirs}, the input is {self.inputs}: {self.reason}"


@dataclass(frozen=True)
class Verification:
    """What a check of a reduction found: how many pairs, how many failed, and the first that did."""

    reduction: str
    size: int
    bits: int
    length: int
    pairs: int
    failures: int
    first: Disagreement | None

    @property
    def holds(self) -> bool:
        """Whether no pair failed."""
        return self.failures == 0


@dataclass(frozen=True, kw_only=True)
class Reduction:
    """One reduction.

    ``size`` is the number that everything is given by: the task's input has ``length(size)`` and the problem
    ``bits(size)`` bits. ``alice``: bits (count, bits) to cells (count, Alice's positions[, features]). ``bob``: bits,
    or places (count,) for INDEX, to cells of his positions. ``decode``: the task's answers at the decoder's positions,
    the decoder's own input and the size, to the problem's answer (count,); for DISJ 1 means that the sets meet.
    ``split``: Alice's positions where they differ from ``task.communication``. ``fails`` marks a published version that
    does not hold; ``variants`` are other versions of the same reduction.
    """

    name: str
    source: str
    statement: str
    problem: Source
    task: Callable[[int], Task]
    length: Callable[[int], int]
    alice: Callable[[Integers, int], Integers]
    bob: Callable[[Integers, int], Integers]
    decode: Callable[[Integers, Integers, int], Integers]
    bits: Callable[[int], int] = lambda size: size
    decoder: Literal["alice", "bob"] = "bob"
    split: Callable[[int], tuple[int, ...]] | None = None
    smallest: int = 1
    deviations: tuple[str, ...] = ()
    fails: bool = False
    variants: "tuple[Reduction, ...]" = ()

    def variant(self, name: str) -> "Reduction":
        """Another version of this reduction; an unknown name raises."""
        by_name = {each.name: each for each in (self, *self.variants)}
        if name not in by_name:
            raise UnknownNameError(f"variant of {self.name}", name, by_name)
        return by_name[name]

    def with_variants(self, *others: "Reduction") -> "Reduction":
        """Return the same reduction with other versions of it attached."""
        return replace(self, variants=others)

    def positions(self, size: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Alice's and Bob's positions, counted from 0."""
        task, length = self.task(size), self.length(size)
        held = task.communication(length).alice if self.split is None else self.split(size)
        mine = set(held)
        return held, tuple(place for place in range(task.positions(length)) if place not in mine)

    def source_problem(self, size: int) -> CommunicationProblem:
        """Return the problem that is hidden, with as many bits as this size has."""
        return PROBLEMS[self.problem](self.bits(size))

    def encode(self, size: int, rows: Integers, columns: Integers) -> Integers:
        """Return the task's inputs (count, positions[, features]) of numbered pairs; rows and columns (count,)."""
        return self._join(size, self.alice(self._alice_values(size, rows), size), self._bob_cells(size, columns))

    def check(self, size: int, rows: Integers, columns: Integers) -> Verification:
        """Return whether the answers agree on these pairs, each given by Alice's and Bob's number (count,)."""
        self._check_size(size)
        return self._result(size, ((rows, columns),))

    def verify(self, size: int) -> Verification:
        """Return whether the answers agree on every pair of inputs of this size.

        Work and time grow with the number of pairs, 2^(2·bits) for DISJ and EQ; memory stays at one chunk.
        """
        self._check_size(size)
        problem = self.source_problem(size)
        pairs = problem.rows * problem.columns
        if pairs > MOST_PAIRS:
            raise SeparatrixError(
                f"{self.name} at size {size} has {pairs} pairs, more than 2^26; choose a smaller size or check a sample"
            )
        return self._result(size, self._all_pairs(size, problem))

    def verified_to(self, limit: int) -> tuple[Verification, ...]:
        """Return all sizes whose instances have at most ``limit`` bits, each verified for every pair."""
        found: list[Verification] = []
        size = self.smallest
        while self.bits(size) <= limit:
            if self.bits(2 * size + 1) <= self.bits(size):
                raise SeparatrixError(
                    f"{self.name} hides {self.bits(size)} bits at size {size} and no more at {2 * size + 1}; its bits "
                    "must grow with the size"
                )
            found.append(self.verify(size))
            size += 1
        return tuple(found)

    def corrupted(self, **changes: object) -> "Reduction":
        """Return the reduction with some of its parts replaced, as tests plant faults."""
        return replace(self, name=f"{self.name} (corrupted)", **changes)  # type: ignore[arg-type]

    # -- one chunk ---------------------------------------------------------------------------------------

    def _all_pairs(self, size: int, problem: CommunicationProblem) -> Iterator[tuple[Integers, Integers]]:
        task, length = self.task(size), self.length(size)
        cells = task.positions(length) * max(1, task.features(length))
        step = max(1, CELLS // cells)
        for start in range(0, problem.rows * problem.columns, step):
            numbers = numpy.arange(start, min(start + step, problem.rows * problem.columns), dtype=numpy.int64)
            yield numbers // problem.columns, numbers % problem.columns

    def _result(
        self, size: int, chunks: "Iterator[tuple[Integers, Integers]] | tuple[tuple[Integers, Integers], ...]"
    ) -> Verification:
        pairs = failures = 0
        first: Disagreement | None = None
        for rows, columns in chunks:
            wrong, kept, found, inputs = self._chunk(size, rows, columns)
            pairs += len(rows)
            failures += int(wrong.sum())
            if first is None and wrong.any():
                place = int(numpy.argmax(wrong))
                first = self._disagreement(size, rows[place], columns[place], inputs[place], kept[place], found[place])
        return Verification(self.name, size, self.bits(size), self.length(size), pairs, failures, first)

    def _chunk(self, size: int, rows: Integers, columns: Integers) -> "tuple[Integers, Integers, Integers, Integers]":
        task, length = self.task(size), self.length(size)
        held, theirs = self.positions(size)
        own_places = held if self.decoder == "alice" else theirs
        inputs = self.encode(size, rows, columns)
        kept = numpy.asarray(task.admissible(inputs, length))
        # Where the promise is broken the task's answer may not be defined; such pairs fail without being asked.
        found = numpy.full(len(rows), -1, dtype=numpy.int64)
        if kept.any():
            targets, read = (numpy.asarray(each) for each in task.label(inputs[kept], length))
            # A model answers where the task asks; what is elsewhere in the table is not an answer.
            answers = numpy.where(read.reshape(*read.shape, *[1] * (targets.ndim - read.ndim)), targets, 0)
            own = self._alice_values(size, rows) if self.decoder == "alice" else self._bob_values(size, columns)
            found[kept] = self.decode(answers[:, list(own_places)], own[kept], size)
        expected = self.source_problem(size).evaluate(rows, columns)
        return (found != expected), kept, found, inputs

    def _join(self, size: int, first: Integers, second: Integers) -> Integers:
        task, length = self.task(size), self.length(size)
        held, theirs = self.positions(size)
        features = task.features(length)
        tail = (features,) if features else ()
        for who, cells, places in (("Alice", first, held), ("Bob", second, theirs)):
            if cells.shape[1:] != (len(places), *tail):
                raise SeparatrixError(
                    f"{self.name}: {who}'s cells have shape {cells.shape}, the task has {len(places)} positions"
                    f"{f' of {features} numbers' if features else ''} for that party"
                )
        inputs = numpy.zeros((len(first), task.positions(length), *tail), dtype=numpy.int64)
        inputs[:, list(held)] = first
        inputs[:, list(theirs)] = second
        return inputs

    def _alice_values(self, size: int, rows: Integers) -> Integers:
        return bits_of_numbers(rows, self.bits(size))

    def _bob_values(self, size: int, columns: Integers) -> Integers:
        return columns if self.problem == "INDEX" else bits_of_numbers(columns, self.bits(size))

    def _bob_cells(self, size: int, columns: Integers) -> Integers:
        return self.bob(self._bob_values(size, columns), size)

    def _disagreement(
        self, size: int, row: Integers, column: Integers, inputs: Integers, kept: Integers, found: Integers
    ) -> Disagreement:
        task, length = self.task(size), self.length(size)
        expected = int(self.source_problem(size).evaluate(numpy.array([row]), numpy.array([column]))[0])
        reason = (
            f"{self.problem} says {expected}, the task says {int(found)}"
            if kept
            else "the input breaks the task's promise"
        )
        bob = self._bob_values(size, numpy.array([column]))[0]
        return Disagreement(
            tuple(self._alice_values(size, numpy.array([row]))[0].tolist()),
            tuple(numpy.atleast_1d(bob).tolist()),
            task.write(inputs.tolist(), length),
            expected,
            int(found) if kept else None,
            reason,
        )

    def _check_size(self, size: int) -> None:
        if size < self.smallest:
            raise SeparatrixError(f"{self.name} starts at size {self.smallest}, not {size}")
        self.task(size).check_length(self.length(size))


def bits_of_numbers(numbers: Integers, bits: int) -> Integers:
    """Bit vectors (count, bits), first bit most significant, of numbers (count,).

    >>> bits_of_numbers(numpy.array([5, 2]), 3).tolist()
    [[1, 0, 1], [0, 1, 0]]
    """
    return (numbers[:, None] >> numpy.arange(bits - 1, -1, -1)) & 1


def only_answer(answers: Integers, own: Integers, size: int) -> Integers:
    """Decode by reading the last of the decoder's positions.

    >>> only_answer(numpy.array([[0, 1], [1, 0]]), numpy.zeros((2, 1)), 1).tolist()
    [1, 0]
    """
    del own, size
    return answers[:, -1]


def complement(answers: Integers, own: Integers, size: int) -> Integers:
    """Decode by the opposite of the last answer.

    >>> complement(numpy.array([[0, 1], [1, 0]]), numpy.zeros((2, 1)), 1).tolist()
    [0, 1]
    """
    return 1 - only_answer(answers, own, size)


def as_given(bits: Integers, size: int) -> Integers:
    """Return a party's bits as the tokens of its positions.

    >>> as_given(numpy.array([[1, 0]]), 2).tolist()
    [[1, 0]]
    """
    del size
    return bits


def same_rows(row: Integers, count: int) -> Integers:
    """Return the same cells for every input: (cells, …) gives (count, cells, …).

    >>> same_rows(numpy.arange(3), 2).tolist()
    [[0, 1, 2], [0, 1, 2]]
    """
    return numpy.broadcast_to(row, (count, *row.shape))
