"""Dyck-(n,2) by one layer of uniform attention in floating point, below BHBK24 Theorem 5/10. Not in the papers.

*Rounding is memory.* Theorem 4 lets Alice add up the odd positions and Bob the even ones, which needs sums that are
exact before they are rounded. A float sum is rounded after every addition, so it is a small recurrent machine, and that
machine can do what no exact sum of its size can (E26). One head with 1 + 2n values is enough at N = 2, 4, 8, … to 2^24
in float32; Theorem 5/10 asks for a width that grows with N.

**Guards.** With t significant bits (24 in float32) and T = 2^t, all whole numbers from -T to T are floats, and T + 1 is
not: it lies halfway to T + 2 and is rounded to the even one, T. So T + 1 = T and T - 1 is exact: a coordinate at T
forgets +1 and keeps -1, and one at -T forgets -1 and keeps +1. A walk with steps ±1 and 0 that starts at a distance
from such a wall ends at

    start + S - over   (wall above),    start + S + under   (wall below),

where S is the sum of the steps and ``over``, ``under`` count the steps that the wall swallowed.

**The coordinates.** Brackets open at odd and close at even positions on the outer level, and the other way round on the
inner one, as long as the depth stays between 0 and 2. Steps are +1 for an opening and -1 for a closing bracket:

* ``high``: all brackets, from T - 2, wall above: it swallows a step where the depth would become 3;
* for each level and type the brackets of that level and type alone, from -T, wall below: it swallows a step where a
  bracket of this type closes on its level and none is open there.

The answer is 1 if all of them end where they started.

**Proof.** Suppose they do. Let D be the sum of all steps and S_j those of the levels and types, so that D = Σ S_j. Then
D = over ≥ 0 from ``high``, and S_j = -under_j ≤ 0 from the others; so D = 0, every S_j = 0, and nothing was swallowed
anywhere. So the string is one on which no step is ever swallowed and all walks end where they started. Those are the
strings of the language: as long as nothing was swallowed the walks are a function of the stack, the next step is
swallowed exactly if the language rejects the bracket, and all walks are at their start exactly if the stack is empty.
The last sentence is about finitely many stacks and is computed (:meth:`DyckFloat.proof`); so is the one about T, over
all numbers from -T to T.

**How long.** The softmax adds up N exponentials, 1 each, in the same arithmetic. That sum is N up to T and stays at T
beyond, so the weights are 1/N while N ≤ T. For N = 2^j they are powers of two and scale everything exactly. A walk
moves by at most N, so walls on the other side are out of reach.

**What it needs.** Sums over positions in the order of the positions, each addition rounded to nearest with ties to
even: IEEE 754. Embeddings depend on the token and the position, and what follows the sum is a map of one position, as
Theorem 4 allows. With exact sums the same values fail (:meth:`DyckFloat.wrong_with_exact_sums`), and a program that
adds in another order, as libraries do, is another machine.

**The network** of the catalog has the arithmetic ``float32:in-order``. Its feed-forward adds up |N·x_j - start_j| over
all coordinates, and the readout compares that with 0. The kernel's rule for running sums proves it for every input of a
length (``separatrix_kernel/running.py``); the proof above is that rule's, with P = -(over + Σ under).
"""

from dataclasses import dataclass
from itertools import product
from typing import Any, TypeAlias

import ml_dtypes
import numpy
from numpy.typing import NDArray

from separatrix.arithmetic import Floating
from separatrix.constructions.construction import Construction, Growth, Options
from separatrix.errors import SeparatrixError, UnknownNameError
from separatrix.networks import (
    Attention,
    EmbeddingPart,
    ExactMatrix,
    FeedForward,
    Head,
    Network,
    Readout,
    Slots,
    TableRows,
    identity,
    zeros,
)
from separatrix.tasks import Task, tasks

Floats: TypeAlias = NDArray[Any]
Integers: TypeAlias = NDArray[numpy.int64]

SIGNIFICANT = {"float32": 24, "float16": 11, "bfloat16": 8}
"""Significant bits of the formats in which the sum may run."""
CHUNK = 1 << 22
MOST_TYPES = 1 << 10


@dataclass(frozen=True)
class Step:
    """One sentence of the proof that was computed: what it says, on how many cases, and whether it holds."""

    text: str
    cases: int
    holds: bool


@dataclass(frozen=True)
class DyckFloat:
    """The layer: ``types`` kinds of brackets, and the format of the running sum."""

    types: int = 2
    format: str = "float32"

    def __post_init__(self) -> None:
        if self.format not in SIGNIFICANT:
            raise UnknownNameError("format of a running sum", self.format, SIGNIFICANT)
        if not 1 <= self.types <= MOST_TYPES:
            raise SeparatrixError(f"types={self.types} is out of range; choose 1 to {MOST_TYPES} types of brackets")

    @property
    def wall(self) -> int:
        """T = 2^t, the first whole number that forgets +1; also the longest length."""
        return 1 << SIGNIFICANT[self.format]

    @property
    def width(self) -> int:
        """m: the values of the one head."""
        return 1 + 2 * self.types

    @property
    def task(self) -> Task:
        """Dyck-(n,2)."""
        return tasks()["dyck"].with_parameters(types=self.types, depth=2)

    @property
    def start(self) -> Integers:
        """Where the walks begin: (m,)."""
        return numpy.array([self.wall - 2, *[-self.wall] * (self.width - 1)], dtype=numpy.int64)

    def steps(self) -> Integers:
        """Return the step of every coordinate, by the parity of the position (odd first) and the token: (2, 2n, m)."""
        table = numpy.zeros((2, 2 * self.types, self.width), dtype=numpy.int64)
        for parity, token in product(range(2), range(2 * self.types)):
            opens = token < self.types
            sign = 1 if opens else -1
            # Odd positions open the outer level and close the inner one.
            outer = opens == (parity == 0)
            table[parity, token, 0] = sign
            table[parity, token, 1 + (0 if outer else self.types) + token % self.types] = sign
        return table

    def check_length(self, length: int) -> None:
        """Raise a one-line error unless the layer has this length: a power of two from 2 to T."""
        if length < 2 or length & (length - 1) or length > self.wall:
            raise SeparatrixError(
                f"dyck-float in {self.format} has no network of length {length}; choose a power of two from 2 to "
                f"{self.wall}"
            )

    def values(self, tokens: Integers, position: int) -> Floats:
        """Return the values (count, m) of tokens (count,) at a position counted from 0; the first one brings the start.

        The first value is rounded like a sum with the start: a closing bracket there is swallowed by the walls.
        """
        steps = self.steps()[position % 2, tokens]
        return _rounded(self.start + steps if position == 0 else steps, self.format)

    def weight(self, length: int) -> Floats:
        """Return the softmax weight of each of N positions: 1 over the running sum of N exponentials, 1 each."""
        one = _rounded(numpy.array(1), self.format)
        return one / _rounded(numpy.array(min(length, self.wall)), self.format)

    def attended(self, tokens: Integers) -> Floats:
        """Return the head's output (count, m) for inputs (count, N): Σ (1/N)·v_i, added up in the order of the
        positions."""
        tokens = numpy.asarray(tokens, dtype=numpy.int64)
        length = tokens.shape[1]
        self.check_length(length)
        weight = self.weight(length)
        total = _rounded(numpy.zeros((len(tokens), self.width)), self.format)
        for position in range(length):
            total = total + weight * self.values(tokens[:, position], position)
        return total

    def answers(self, tokens: Integers) -> Integers:
        """1 where every coordinate of the head's output is at its start."""
        tokens = numpy.asarray(tokens, dtype=numpy.int64)
        at_start = _rounded(self.start, self.format) * self.weight(tokens.shape[1])
        return (self.attended(tokens) == at_start).all(axis=1).astype(numpy.int64)

    def wrong(self, length: int) -> int:
        """Return how many of all inputs of a length are answered wrongly; 4^N for two types of brackets."""
        self.check_length(length)
        return sum(
            int((self.answers(part.inputs) != part.targets[:, -1]).sum())
            for part in self.task.enumerate(length, max(1, CHUNK // (length * self.width)))
        )

    def wrong_with_exact_sums(self, length: int) -> int:
        """Return the same with sums that are exact before they are rounded, as Theorem 4 has it."""
        wrong = 0
        for part in self.task.enumerate(length, max(1, CHUNK // (length * self.width))):
            table = self.steps()[numpy.arange(length) % 2]
            sums = table[numpy.arange(length)[None, :], numpy.asarray(part.inputs)].sum(axis=1)
            wrong += int(((sums == 0).all(axis=1).astype(numpy.int64) != part.targets[:, -1]).sum())
        return wrong

    def proof(self) -> tuple[Step, ...]:
        """Return the two sentences of the proof that are computed; together they cover every length of the layer."""
        return self._walls_hold(), self._walks_follow_the_stack()

    def _walls_hold(self) -> Step:
        """fl(k ± 1) is k ± 1 for all whole k from -T to T, except beyond the walls, where it is k."""
        wall, cases, holds = self.wall, 0, True
        for first in range(-wall, wall + 1, CHUNK):
            numbers = numpy.arange(first, min(first + CHUNK, wall + 1), dtype=numpy.int64)
            floats = _rounded(numbers, self.format)
            for step in (-1, 1):
                found = (floats + _rounded(numpy.array(step), self.format)).astype(numpy.int64)
                holds = holds and bool((found == numpy.clip(numbers + step, -wall, wall)).all())
                cases += len(numbers)
        return Step(f"whole numbers from -{wall} to {wall} take a step of ±1 exactly, and T forgets it", cases, holds)

    def _walks_follow_the_stack(self) -> Step:
        """From every stack with every bracket: a step is swallowed exactly if the language rejects it."""
        table = self.steps()
        cases, holds = 0, True
        seen: dict[tuple[int, ...], tuple[int, ...]] = {}
        todo: list[tuple[tuple[int, ...], tuple[int, ...]]] = [((), (0,) * self.width)]
        while todo:
            stack, walks = todo.pop()
            if stack in seen:
                # The walks are a function of the stack.
                holds = holds and seen[stack] == walks
                continue
            seen[stack] = walks
            holds = holds and (not any(walks)) == (not stack)
            for token in range(2 * self.types):
                moved = numpy.array(walks) + table[len(stack) % 2, token]
                swallowed = bool(moved[0] > 2 or (moved[1:] < 0).any())
                after = _pushed(stack, token, self.types)
                holds = holds and swallowed == (after is None)
                cases += 1
                if after is not None and not swallowed:
                    todo.append((after, tuple(moved.tolist())))
        return Step(f"of the {len(seen)} stacks each decides where the walks are and which steps fall", cases, holds)


def _pushed(stack: tuple[int, ...], token: int, types: int) -> tuple[int, ...] | None:
    """Return the stack after a bracket, by the definition of Dyck-(n,2); None where nothing can repair the string."""
    if token < types:
        return (*stack, token) if len(stack) < 2 else None
    return stack[:-1] if stack and stack[-1] == token - types else None


def _rounded(values: NDArray[Any], format: str) -> Floats:
    """Whole numbers and powers of two in a format, to nearest with ties to even."""
    scalar: Any = ml_dtypes.bfloat16 if format == "bfloat16" else getattr(numpy, format)
    return numpy.asarray(values, dtype=numpy.float64).astype(scalar)


@dataclass(frozen=True, kw_only=True)
class DyckFloatConstruction(Construction):
    """Width 1 + 2n, the same for every N; the precision is that of float32."""

    name: str = "dyck-float"
    title: str = "Bounded Dyck in one layer of floating point: rounding is memory"
    theorem: str = "E26, below BHBK24 Theorem 5/10"
    statement: str = (
        "one layer of uniform attention with one head and 1 + 2n values decides Dyck-(n,2) in float32, sums taken in "
        "the order of the positions"
    )
    task_name: str = "dyck"
    growth: Growth = "constant"
    how: tuple[str, ...] = (
        "Rounding is memory: a sum that is rounded after every addition depends on what was added before, so Alice "
        "and Bob cannot each add up a part of it. A float32 at 2²⁴ forgets +1 and keeps −1, so a sum that starts "
        "there remembers for ever that a counter went too far, and one layer with five such sums, taken in the order "
        "of the positions, decides Dyck-(2,2) at N = 2, 4, 8, … (erratum E26); at N = 8,192 a proof covers all "
        "4^8192 strings. The bound is for arithmetics that add exactly and round once.",
    )
    arithmetic_kind: str = "float32"
    arithmetic_in_words: str = "float32, sums in the order of the positions"
    deviations: tuple[str, ...] = (
        "not in the papers: Theorem 4 needs sums that are exact before they are rounded, and float32 rounds each one",
        "sums over positions are taken in their order; a program that adds in another order is not covered",
    )

    def statement_in(self, arithmetic: str) -> str | None:
        if arithmetic not in SIGNIFICANT:
            return None
        return (
            f"one head of uniform attention with 1 + 2n values decides Dyck-(n,2) in {arithmetic}, sums in the order "
            f"of the positions, at N = 2, 4, 8, … to {1 << SIGNIFICANT[arithmetic]:,}"
        )

    def check_length(self, task: Task, length: int) -> None:
        super().check_length(task, length)
        DyckFloat().check_length(length)

    def own_arithmetic(self, task: Task, length: int, options: Options) -> Floating:
        """float32, whatever the length; options about a fixed point would change nothing."""
        usual = Options()
        for name in ("exponent", "rounding"):
            if getattr(options, name) != getattr(usual, name):
                raise SeparatrixError(
                    f"{name}={getattr(options, name)} changes nothing: {self.name} computes in float32; leave it out"
                )
        return Floating("float32", in_order=True)

    def network(self, task: Task, length: int, options: Options) -> Network:
        del options
        types, depth = int(task.parameters()["types"]), int(task.parameters()["depth"])
        if depth != 2:
            raise SeparatrixError(f"{self.name} has no network of depth {depth}; choose depth=2")
        layer = DyckFloat(types)
        width, start, steps = layer.width, layer.start, layer.steps()
        first = numpy.array([layer.values(numpy.array([token]), 0)[0] for token in range(2 * types)], dtype=numpy.int64)
        rows = 1 + numpy.arange(length) % 2
        rows[0] = 0
        # One part for each token: its first value, and its steps at odd and at even positions.
        parts = tuple(
            EmbeddingPart(
                "walks", TableRows(ExactMatrix(numpy.stack([first[token], *steps[:, token]]))), "position",
                (token, token + 1), (0, length), rows,
            )
            for token in range(2 * types)
        )  # fmt: skip
        head = Head(zeros(1, width), zeros(1, width), identity(width), identity(width))
        both = numpy.concatenate([length * numpy.eye(width, dtype=numpy.int64)] * 2)
        both[width:] *= -1
        away = numpy.zeros((width, 2 * width), dtype=numpy.int64)
        away[0] = 1
        distance = FeedForward(
            ExactMatrix(both), ExactMatrix(numpy.concatenate([-start, start])[:, None]), ExactMatrix(away),
            zeros(width, 1), residual=False,
        )  # fmt: skip
        ask = numpy.zeros((1, width), dtype=numpy.int64)
        ask[0, 0] = -1
        one = ExactMatrix(numpy.ones((1, 1), dtype=numpy.int64))
        return Network(
            Slots((("walks", width),)), 2 * types, length, parts,
            (Attention((head,), residual=False), distance),
            Readout(ExactMatrix(ask), one, "bits"),
            about=f"{self.theorem}, Dyck-({types},2), length {length}",
        )  # fmt: skip

    def claimed_width(self, task: Task, length: int, code_width: int) -> int:
        """1 + 2n."""
        del length, code_width
        return 1 + 2 * int(task.parameters()["types"])


CONSTRUCTION = DyckFloatConstruction()
