"""What a lower bound is: a model gives a protocol, a task hides a problem, and the problem needs bits.

Every bound of the two papers has the same three parts.

1. A *simulation* (BHBK24 Theorems 2 and 4, and their relatives for feed-forward networks and graph Transformers): a
   model of a given size yields a protocol of so many bits (:mod:`separatrix.bounds.simulations`).
2. A *reduction*: inputs of the task hide instances of a communication problem with ``hidden_bits(task, N)`` bits.
3. A *fact*: that problem needs at least so many bits.

So a model of that size can only be right on every input of length N if the protocol has at least as many bits as the
problem needs. Everything else here is exact integer arithmetic on that one inequality: the smallest width, the longest
length that a given model could still handle, and the contradiction with a network that is certified to do more.

Bits are counted for protocols after which *one* party knows the answer. A protocol after which the messages alone tell
the answer needs one more (the answer bit), and so do the textbook statements for it; the two conventions give the same
inequality.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Literal, TypeAlias, cast

from separatrix.bounds.evidence import Evidence
from separatrix.bounds.simulations import Model, ModelSize, Setting, Simulation
from separatrix.errors import SeparatrixError, UnknownNameError
from separatrix.tasks import Array, Task, tasks

Growth: TypeAlias = Literal["constant", "logarithmic", "linear", "quadratic", "open"]
"""How a size grows with N, up to factors that are powers of log N and of the precision."""

LARGEST_POWER = 200
"""Lengths are searched up to 2^200; a model that could handle more is called unlimited."""


class ContradictionError(SeparatrixError):
    """A certified model is smaller than a bound allows: one of the two is wrong."""


@dataclass(frozen=True, kw_only=True)
class Bound(ABC):
    """One row of the table of bounds; ``models`` and ``task_names`` say where it applies."""

    name: str
    claim: str
    statement: str
    task_names: tuple[str, ...]
    models: tuple[Model, ...]
    assumptions: tuple[str, ...] = ()
    deviations: tuple[str, ...] = ()
    extension: bool = False
    """Not a statement of the papers: the same arguments for another task or model."""
    why: str = ""
    """Why the task is hard for these models, in a sentence for the page of the task."""
    kind: Literal["bound", "barrier", "conjecture"] = "bound"
    growth: Growth = "linear"
    growths: Mapping[str, Growth] = field(default_factory=dict[str, Growth])

    @property
    def in_the_papers(self) -> bool:
        """Whether the papers state it."""
        return not self.extension

    def applies(self, task: str, model: str) -> bool:
        """Return whether this entry speaks about a task and a class of models."""
        return task in self.task_names and model in self.models

    def growth_for(self, task: str) -> Growth:
        """Return how the bounded size grows with N for one of the tasks; cells of graph tasks have N numbers each."""
        return self.growths.get(task, self.growth)

    @abstractmethod
    def evidence(self, limit: int) -> tuple[Evidence, ...]:
        """Run what supports the bound, exhaustively for instances of up to ``limit`` bits."""


@dataclass(frozen=True, kw_only=True)
class ProtocolBound(Bound):
    """A bound with numbers: the simulation's bits must reach ``hidden_bits``.

    ``hidden_bits``: bits that every protocol for the problem hidden in inputs of length N needs. ``setting``: what the
    simulation has to know about the task. ``in_words``: the same two as formulas for people. ``checks``: the evidence.
    ``factor`` multiplies the hidden bits; 1 is the bound, more is an inflated one that tests must see rejected.
    ``paper``: the smallest width by the paper's own formula, from task, length, precision and heads, where it gives
    one for these parameters of the task. ``outside``: why the bound says nothing about a task with these parameters at
    a length, empty where it speaks; ``words`` replaces ``in_words`` where parameters change the formula.
    ``stands_for``: the class of functions that a task with these parameters represents, where the bound is about all of
    them. ``instances``: inputs of a length on which the argument rests, where it names no reduction and the task makes
    a promise: they keep it and need the bits by themselves, which the tests check. ``prefix``: whether Alice holds the
    first positions of a task with these parameters, or the argument needs no
    parts at all; then the bound has a version for running sums.
    """

    simulation: Simulation
    problem: str
    hidden_bits: Callable[[Task, int], int]
    setting: Callable[[Task, int], Setting]
    in_words: str
    checks: Callable[[int], tuple[Evidence, ...]]
    reduction: str | None = None
    paper: Callable[[Task, int, int, int], int | None] | None = None
    paper_in_words: str = ""
    factor: Fraction = Fraction(1)
    outside: Callable[[Task, int], str] | None = None
    words: Callable[[Task, int], str] | None = None
    stands_for: Callable[[Task], str] | None = None
    instances: Callable[[Task, int], Array] | None = None
    prefix: Callable[[Task], bool] = lambda task: False

    @property
    def quantity(self) -> str:
        """What is bounded from below: "state bits", "width × heads", …."""
        return self.simulation.quantity

    def required_bits(self, length: int, task: Task | None = None) -> int:
        """Return bits that every protocol for the hidden problem exchanges at this length; 0 where the bound says
        nothing."""
        chosen = self.task_of(task)
        if self.why_inapplicable(length, chosen):
            return 0
        # Only int is a whole number at every length; a formula may come from a user's file.
        given: object = self.hidden_bits(chosen, length)
        if type(given) is not int or given < 0:
            raise _wrong_part(f"hidden_bits of {self.name}", given, f" at length {length}", "an int from 0 on")
        return -(-given * self.factor.numerator // self.factor.denominator)

    def why_inapplicable(self, length: int, task: Task | None = None) -> str:
        """Return why the bound says nothing about the task as its parameters have it; empty where it does."""
        return "" if self.outside is None else self.outside(self.task_of(task), length)

    def of_a_class(self, task: Task) -> str:
        """Return the class of functions all of which a model must compute; empty where the task's own function is
        bounded."""
        return "" if self.stands_for is None else self.stands_for(task)

    def needs_in_words(self, length: int, task: Task | None = None) -> str:
        """Return the formula of the required bits, for the parameters of the task."""
        return self.in_words if self.words is None else self.words(self.task_of(task), length)

    def available_bits(self, length: int, size: ModelSize, task: Task | None = None) -> int:
        """Return bits of the protocol that a model of this size gives at this length."""
        return self.simulation.bits(size, self.setting_at(length, task))

    def setting_at(self, length: int, task: Task | None = None) -> Setting:
        """Return what the simulation has to know about the task at this length."""
        given = cast("object", self.setting(self.task_of(task), length))
        if not isinstance(given, Setting):
            raise _wrong_part(f"setting of {self.name}", given, f" at length {length}", "a Setting")
        return given

    def possible(self, length: int, size: ModelSize, task: Task | None = None) -> bool:
        """Return whether the bound is satisfied by a model of this size at this length."""
        return self.required_bits(length, task) <= self.available_bits(length, size, task)

    def smallest_width(
        self, length: int, precision: int, heads: int = 1, layers: int = 1, task: Task | None = None
    ) -> int:
        """Return the smallest width that the bound leaves open; every smaller model fails on some input of length N."""
        needed = self.required_bits(length, task)

        def enough(width: int) -> bool:
            return self.available_bits(length, ModelSize(width, precision, heads, layers), task) >= needed

        return smallest_number(enough)

    def longest_length(self, size: ModelSize, task: Task | None = None) -> int | None:
        """Return the largest N that a model of this size could still handle; every larger N is impossible for any
        weights.

        0 when no length is possible; None when there is no such N, because lengths of 2^200 stay possible: the bound
        never bites, or it says nothing of long inputs of a task with these parameters.
        """
        chosen = self.task_of(task)
        step, least = chosen.length_step, chosen.minimum_length
        first = -(-least // step)
        if self.possible(step << LARGEST_POWER, size, chosen):
            return None
        found = _largest(
            first,
            1 << LARGEST_POWER,
            lambda number: self.required_bits(number * step, chosen),
            lambda number: self.available_bits(number * step, size, chosen),
        )
        return 0 if found is None else found * step

    def check_consistent(self, length: int, size: ModelSize, what: str, task: Task | None = None) -> None:
        """Raise :class:`ContradictionError` when a model that is certified to be right is smaller than allowed."""
        needed, given = self.required_bits(length, task), self.available_bits(length, size, task)
        if needed > given:
            raise ContradictionError(
                f"{what} contradicts {self.name} ({self.claim}): at length {length} its protocol has {given} bits, "
                f"the bound requires {needed}; one of the two is wrong"
            )

    def inflated(self, factor: Fraction | int) -> "ProtocolBound":
        """Return the same bound with its constant multiplied, as tests use it."""
        return replace(self, factor=self.factor * factor, name=f"{self.name}×{factor}")

    def formula(self, length: int, precision: int, heads: int = 1, layers: int = 1, task: Task | None = None) -> str:
        """Return the inequality with the numbers of this length in it."""
        chosen = self.task_of(task)
        size = ModelSize(1, precision, heads, layers)
        given = self.simulation.formula(size, self.setting_at(length, chosen))
        return f"{given} ≥ {self.required_bits(length, chosen)} = {self.needs_in_words(length, chosen)} at N = {length}"

    def paper_width(self, length: int, precision: int, heads: int = 1, task: Task | None = None) -> int | None:
        """Return the smallest width by the paper's own formula, where it gives constants."""
        if self.paper is None or self.why_inapplicable(length, task):
            return None
        return self.paper(self.task_of(task), length, precision, heads)

    def task_of(self, task: Task | None = None) -> Task:
        """Return the task to speak about: the first of this bound's unless one is given."""
        if task is None:
            return tasks()[self.task_names[0]]
        if task.name not in self.task_names:
            raise UnknownNameError(f"task of {self.name}", task.name, self.task_names)
        return task

    def evidence(self, limit: int) -> tuple[Evidence, ...]:
        """Return the simulation's own support, then the reduction and the fact, run for instances of up to ``limit``
        bits."""
        given = self.checks(limit)
        listed = cast("tuple[object, ...]", given if type(cast("object", given)) is tuple else (given,))
        evidence = tuple(each for each in listed if isinstance(each, Evidence))
        if len(evidence) != len(listed) or listed != given:
            raise _wrong_part(f"checks of {self.name}", given, "", "a tuple of Evidence")
        return (*self.simulation.evidence(), *evidence)


@dataclass(frozen=True, kw_only=True)
class Barrier(Bound):
    """A limit of the method: how long any protocol for a class of models must be at least.

    ``hidden_bits``: bits that the function of some small model of the class needs at length N.
    """

    hidden_bits: Callable[[int], int]
    checks: Callable[[int], tuple[Evidence, ...]]
    kind: Literal["bound", "barrier", "conjecture"] = "barrier"
    growth: Growth = "open"

    def evidence(self, limit: int) -> tuple[Evidence, ...]:
        """Run what supports it for instances of up to ``limit`` bits."""
        return self.checks(limit)


@dataclass(frozen=True, kw_only=True)
class OpenQuestion(Bound):
    """A conjecture: stated, without a number, because nobody has proved one."""

    known: tuple[Evidence, ...]
    kind: Literal["bound", "barrier", "conjecture"] = "conjecture"
    growth: Growth = "open"

    def evidence(self, limit: int) -> tuple[Evidence, ...]:
        """Return what is known about it; nothing runs."""
        del limit
        return self.known


def _wrong_part(what: str, given: object, where: str, wanted: str) -> SeparatrixError:
    """Return what is said about a function of a bound that gives something else than it should."""
    return SeparatrixError(f"{what} gives {repr(given)[:80]}{where}; give {wanted}")


def smallest_number(enough: Callable[[int], bool]) -> int:
    """Return the smallest whole number from 1 on with a property that larger numbers keep.

    >>> smallest_number(lambda number: number**2 >= 1000)
    32
    """
    high = 1
    while not enough(high):
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _largest(low: int, high: int, needed: Callable[[int], int], given: Callable[[int], int]) -> int | None:
    """Return the largest number in low … high with needed ≤ given, where both never decrease.

    An interval holds none if its smallest need exceeds its largest supply; otherwise its halves are searched, the upper
    one first. Nothing is assumed about how often the two cross.
    """
    if low > high or needed(low) > given(high):
        return None
    if low == high:
        return low
    middle = (low + high) // 2
    upper = _largest(middle + 1, high, needed, given)
    return upper if upper is not None else _largest(low, middle, needed, given)
