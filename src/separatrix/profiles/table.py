"""The whole truth table of a user's function at one length, built a chunk at a time.

Inputs of length N over A symbols are numbered 0 … A^N − 1, first position most significant, so that all inputs with a
common prefix are adjacent. Values are numbered too: 0 and 1 (False and True) keep their numbers, others are numbered
as they appear, the same at every length. The table takes one byte for each input up to 256 values, else four.

A labelling is *causal* when the label of each position depends only on the symbols up to it; then only the labels of
prefixes are kept, A + A² + … + A^N of them. Otherwise each input gets the number of its whole label sequence.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy
from numpy.typing import NDArray

from separatrix.communication import Integers
from separatrix.errors import SeparatrixError
from separatrix.profiles.function import Kind, NotDeterministicError, UserFunction, check_deterministic
from separatrix.progress import tracked

Ids = NDArray[numpy.uint8] | NDArray[numpy.uint32]
CHUNK = 1 << 15
CHECKED_AGAIN = 64
DIRECT = 1 << 16
"""Whole numbers in a range up to this are numbered by a table instead of a sort."""


@dataclass
class Numbering:
    """The numbers of values, growing as values appear; shared by the tables of all lengths."""

    values: list[Any] = field(default_factory=lambda: [0, 1])
    number_of: dict[Any, int] = field(default_factory=lambda: {0: 0, 1: 1})

    def numbers(self, raw: NDArray[Any]) -> Integers | NDArray[numpy.uint8]:
        """Return the number of each value; same shape."""
        if raw.dtype.kind == "b":
            return raw.view(numpy.uint8)
        if raw.dtype.kind == "i" and raw.size:
            low, high = int(raw.min()), int(raw.max())
            if low >= 0 and high <= 1:
                return raw
            if high - low < DIRECT:
                present = numpy.zeros(high - low + 1, dtype=bool)
                present[raw - low] = True
                found = numpy.flatnonzero(present)
                table = numpy.zeros(high - low + 1, dtype=numpy.int64)
                table[found] = [self._number(value) for value in (found + low).tolist()]
                return table[raw - low]
        if raw.dtype.kind == "O":
            return numpy.array([self._number(value) for value in raw.ravel().tolist()], dtype=numpy.int64).reshape(
                raw.shape
            )
        unique, inverse = numpy.unique(raw, return_inverse=True)
        table = numpy.array([self._number(value) for value in unique.tolist()], dtype=numpy.int64)
        return table[inverse].reshape(raw.shape)

    def _number(self, value: Any) -> int:
        if value not in self.number_of:
            self.number_of[value] = len(self.values)
            self.values.append(value)
        return self.number_of[value]


@dataclass(frozen=True, eq=False)
class Table:
    """All values of a function at one length.

    ``last``: (A^N,), the decision, or the label of the last position. ``labels``: for a causal labelling, one array for
    each position i, (A^(i+1),). ``whole``: for any other labelling, (A^N,), the number of each label sequence.
    """

    length: int
    symbols: int
    kind: Kind
    last: Ids
    labels: tuple[Ids, ...] = ()
    whole: NDArray[numpy.uint32] | None = None

    @property
    def causal(self) -> bool:
        """Whether a model that reads from left to right can give every label at its position."""
        return self.kind == "decision" or bool(self.labels) or self.length == 0

    @property
    def classes(self) -> int:
        """One more than the largest value number that occurs at the last position, at least 2."""
        return max(2, int(self.last.max()) + 1)


def tabulate(function: UserFunction, length: int, numbering: Numbering, seed: int = 0) -> Table:
    """Evaluate every input of one length, and some of them again in another order."""
    symbols = function.alphabet.size
    if function.kind == "decision":
        return _fill(function, length, numbering, _Decisions(symbols, length), seed)
    try:
        return _fill(function, length, numbering, _PrefixLabels(symbols, length), seed)
    except _NotCausalError:
        return _fill(function, length, numbering, _WholeLabels(symbols, length), seed)


def _fill(function: UserFunction, length: int, numbering: Numbering, builder: "_Builder", seed: int) -> Table:
    start = 0
    chunks = InputChunks(function.alphabet.size, length)
    for inputs in tracked(chunks, f"evaluating all {chunks.symbols}^{length} inputs", chunks.count):
        builder.add(start, numbering.numbers(function.values(inputs)))
        start += len(inputs)
    _call_again(function, length, numbering, builder, seed)
    return builder.table()


@dataclass(frozen=True)
class InputChunks:
    """The inputs of one length in order, in chunks (count, length) of A^k inputs with a common prefix; fresh arrays."""

    symbols: int
    length: int

    @property
    def tail(self) -> int:
        """How many last positions vary within a chunk."""
        tail = 0
        while tail < self.length and self.symbols ** (tail + 1) <= CHUNK:
            tail += 1
        return max(1, tail) if self.length else 0

    @property
    def count(self) -> int:
        """How many chunks there are."""
        return self.symbols ** (self.length - self.tail)

    def rows(self, numbers: Integers) -> Integers:
        """Return inputs by number: (count,) gives (count, length)."""
        whole = numpy.empty((len(numbers), self.length), dtype=numpy.int64)
        left = numbers
        for place in range(self.length - 1, -1, -1):
            left, whole[:, place] = numpy.divmod(left, self.symbols)
        return whole

    def __iter__(self) -> Iterator[Integers]:
        tail = self.tail
        ends = (
            InputChunks(self.symbols, tail).rows(numpy.arange(int(self.symbols**tail), dtype=numpy.int64))
            if tail
            else None
        )
        head = InputChunks(self.symbols, self.length - tail)
        for number in range(self.count):
            chunk = numpy.empty((self.symbols**tail, self.length), dtype=numpy.int64)
            chunk[:, : self.length - tail] = head.rows(numpy.array([number], dtype=numpy.int64))
            if ends is not None:
                chunk[:, self.length - tail :] = ends
            yield chunk


def _call_again(function: UserFunction, length: int, numbering: Numbering, builder: "_Builder", seed: int) -> None:
    """Some inputs once more after all others: a function with memory would answer otherwise."""
    chunks = InputChunks(function.alphabet.size, length)
    count = min(CHECKED_AGAIN, function.alphabet.size**length)
    generator = numpy.random.default_rng([seed, length])
    chosen = numpy.sort(generator.choice(function.alphabet.size**length, size=count, replace=False))
    inputs = chunks.rows(chosen)
    values = function.values(inputs)
    check_deterministic(function, inputs, values)
    if not builder.agrees(chosen, numbering.numbers(values)):
        raise NotDeterministicError(
            f"{function.name} is not deterministic: inputs of length {length} were given other answers at the second "
            "call; a function of the input alone is needed, without random numbers or state"
        )


class _NotCausalError(Exception):
    """Two inputs with a common prefix were labelled differently inside it."""


class _Builder(ABC):
    """Collects the values of chunks of inputs; subclasses say what is kept."""

    def __init__(self, symbols: int, length: int) -> None:
        self.symbols, self.length = symbols, length
        self.last: Ids = numpy.zeros(symbols**length, dtype=numpy.uint8)

    @abstractmethod
    def add(self, start: int, numbers: NDArray[Any]) -> None:
        """Value numbers of the inputs from ``start`` on: (count,) or (count, length)."""

    @abstractmethod
    def agrees(self, chosen: Integers, numbers: NDArray[Any]) -> bool:
        """Return whether these inputs were given these values before."""

    @abstractmethod
    def table(self) -> Table:
        """Return what was collected."""

    def keep_last(self, start: int, numbers: NDArray[Any]) -> None:
        self.last = widened(self.last, numbers)
        self.last[start : start + len(numbers)] = numbers


class _Decisions(_Builder):
    """One value for each input."""

    def add(self, start: int, numbers: NDArray[Any]) -> None:
        self.keep_last(start, numbers)

    def agrees(self, chosen: Integers, numbers: NDArray[Any]) -> bool:
        return bool((self.last[chosen] == numbers).all())

    def table(self) -> Table:
        return Table(self.length, self.symbols, "decision", self.last)


class _PrefixLabels(_Builder):
    """The label of every prefix; raises as soon as a label depends on what comes later."""

    def __init__(self, symbols: int, length: int) -> None:
        super().__init__(symbols, length)
        self.labels: list[Ids] = [numpy.zeros(symbols ** (place + 1), dtype=numpy.uint8) for place in range(length)]

    def group(self, place: int) -> int:
        """Return how many inputs with the same symbols up to ``place`` are adjacent."""
        return self.symbols ** (self.length - place - 1)

    def add(self, start: int, numbers: NDArray[Any]) -> None:
        for place in range(self.length):
            group, column = self.group(place), numbers[:, place]
            firsts = column[::group]
            known = self.labels[place] = widened(self.labels[place], column)
            begin = start // group
            if start % group and known[begin] != firsts[0]:
                raise _NotCausalError
            if (column.reshape(len(firsts), -1) != firsts[:, None]).any():
                raise _NotCausalError
            known[begin : begin + len(firsts)] = firsts

    def agrees(self, chosen: Integers, numbers: NDArray[Any]) -> bool:
        known = [labels[chosen // self.group(place)] for place, labels in enumerate(self.labels)]
        return all(bool((mine == numbers[:, place]).all()) for place, mine in enumerate(known))

    def table(self) -> Table:
        last = self.labels[-1] if self.labels else self.last
        return Table(self.length, self.symbols, "labelling", last, tuple(self.labels))


class _WholeLabels(_Builder):
    """The number of each input's whole label sequence; memory also grows with the number of different ones."""

    def __init__(self, symbols: int, length: int) -> None:
        super().__init__(symbols, length)
        self.whole = numpy.zeros(symbols**length, dtype=numpy.uint32)
        self.sequences: dict[bytes, int] = {}

    def add(self, start: int, numbers: NDArray[Any]) -> None:
        self.keep_last(start, numbers[:, -1])
        self.whole[start : start + len(numbers)] = self.sequence_numbers(numbers)

    def sequence_numbers(self, numbers: NDArray[Any]) -> Integers:
        rows = numpy.ascontiguousarray(numbers.astype(numpy.int64))
        whole = rows.view(numpy.dtype((numpy.void, 8 * rows.shape[1]))).ravel()
        unique, inverse = numpy.unique(whole, return_inverse=True)
        found = [self.sequences.setdefault(bytes(each), len(self.sequences)) for each in unique]
        return numpy.array(found, dtype=numpy.int64)[inverse]

    def agrees(self, chosen: Integers, numbers: NDArray[Any]) -> bool:
        return bool((self.whole[chosen] == self.sequence_numbers(numbers)).all())

    def table(self) -> Table:
        return Table(self.length, self.symbols, "labelling", self.last, (), self.whole)


def widened(held: Ids, numbers: NDArray[Any]) -> Ids:
    """Return the same array with room for these numbers: one byte each, or four."""
    if held.dtype == numpy.uint32 or not numbers.size or int(numbers.max()) < 256:
        return held
    if int(numbers.max()) >= 1 << 32:
        raise SeparatrixError("a function with more than 2^32 different values cannot be profiled; return coarser ones")
    return held.astype(numpy.uint32)
