"""What a task is: the one class that every problem of the papers fills in.

A task turns a length N into a set of inputs and, for each input, the answers at the positions where a model is
asked. Inputs are whole numbers throughout (tokens, residues, coordinates on a grid), so that answers are exact;
an input is a row of ``positions(N)`` cells, each one number or ``features(N)`` numbers.

Each task says its answers twice: :meth:`Task.solve`, slow and obvious, for one input, and :meth:`Task.label`,
vectorised over a batch, on numpy or torch. The tests hold one against the other.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache
from typing import Any, ClassVar, Literal, TypeAlias

import numpy

from separatrix.errors import SeparatrixError, UnknownNameError
from separatrix.tasks.arrays import Array, to_numpy
from separatrix.tasks.draws import Draws
from separatrix.tasks.space import Space
from separatrix.tasks.vocabulary import Vocabulary

Split: TypeAlias = Literal["train", "eval"]
"""Which of the papers' two distributions a batch is drawn from."""
Row: TypeAlias = Sequence[Any]
"""One input without padding: a sequence of numbers, or of sequences of numbers where cells have features."""
Answer: TypeAlias = int | tuple[int, ...]
Answers: TypeAlias = Sequence[Answer | None]
"""One entry for each position of a row; None where no answer is asked."""


@dataclass(frozen=True)
class Examples:
    """A labelled batch.

    ``inputs``: int64 (count, positions) or (count, positions, features). ``targets``: int64 (count, positions)
    or (count, positions, outputs); zero where nothing is read. ``read``: bool (count, positions), the positions
    at which a model must answer.
    """

    inputs: Array
    targets: Array
    read: Array

    def __post_init__(self) -> None:
        leading = tuple(self.inputs.shape[:2])
        if tuple(self.targets.shape[:2]) != leading or tuple(self.read.shape) != leading:
            raise SeparatrixError(
                f"inputs {tuple(self.inputs.shape)}, targets {tuple(self.targets.shape)} and read "
                f"{tuple(self.read.shape)} disagree; all three need the same (count, positions)"
            )

    def __len__(self) -> int:
        return self.inputs.shape[0]


@dataclass(frozen=True)
class CommunicationSplit:
    """The communication problem a task carries and who holds which positions of the input."""

    problem: str
    alice: tuple[int, ...]
    bob: tuple[int, ...]
    one_way: bool
    note: str


@dataclass(frozen=True, kw_only=True)
class Task(ABC):
    """A problem of the papers; subclasses are frozen dataclasses whose extra fields are its parameters."""

    name: str
    title: str
    source: str
    question: str
    minimum_length: int = 1
    maximum_length: int = 1 << 20
    length_step: int = 1
    promise: str = ""
    """Which inputs are asked about, where not every sequence of the layout is; :meth:`admissible` decides it."""
    drawn: str = ""
    """What :meth:`generate` draws, where that is less than what is promised: a bound is about all promised inputs."""
    scoring: Literal["every read position", "every position of a string"] = "every read position"
    asks_last: ClassVar[bool] = False
    """Whether an input is a text and then one cell that asks for something in it, so that :meth:`ask` can ask again."""

    answers_follow: ClassVar[bool] = False
    """Whether an answer is in the input behind the position that asks for it, where a model must not look."""

    small: ClassVar[Mapping[str, Any]] = {}
    """Parameters with which short inputs are few enough to run all of them, where the usual ones leave too many; tests
    and campaigns use them."""

    # -- shape -------------------------------------------------------------------------------------------

    @abstractmethod
    def vocabulary(self, length: int) -> Vocabulary:
        """Return the symbols of inputs of this length."""

    @abstractmethod
    def layout(self, length: int) -> str:
        """Return the order of the tokens, in words."""

    @abstractmethod
    def positions(self, length: int) -> int:
        """Return how many cells an input of length N has."""

    @abstractmethod
    def classes(self, length: int) -> int:
        """Return how many different answers there are at a position (0 where answers are vectors)."""

    def outputs(self, length: int) -> int:
        """Return how many numbers an answer has where answers are vectors; 0 where they are classes."""
        del length
        return 0

    @property
    def answer_scale(self) -> int:
        """What an answer that is a vector of integers is divided by to lie near the unit ball."""
        return 1

    def features(self, length: int) -> int:
        """Return numbers in each cell; 0 when a cell is a single token."""
        del length
        return 0

    def work(self, length: int) -> int:
        """About how many elementary steps and numbers one example costs; overridden where labels cost more."""
        return self.positions(length) * max(1, self.features(length))

    def padding(self, length: int) -> int | None:
        """Return the token that fills shorter training inputs, or None when all inputs have the same length."""
        del length
        return None

    # -- answers -----------------------------------------------------------------------------------------

    @abstractmethod
    def solve(self, row: Row, length: int) -> Answers:
        """Return the answers of one input, computed in the most obvious way."""

    @abstractmethod
    def label(self, inputs: Array, length: int) -> tuple[Array, Array]:
        """Targets and read mask of a batch, vectorised; see :class:`Examples` for the shapes."""

    def offered(self, inputs: Array, length: int) -> Array | None:
        """Return the answers that each input offers (count, offers), where they can be read off it; None where they
        cannot.

        Every right answer is among them, so that a model may guess one without understanding the question.
        """
        del inputs, length
        return None

    def specification(self, length: int) -> dict[str, Any] | None:
        """Return all inputs and their right answers as plain data for the proof checker (docs/kernel.md); None without
        one.

        Tests hold it to :meth:`solve` on every input of small lengths. A subclass that changes anything of the task
        gives its own: see :func:`own_specification`.
        """
        del length
        return None

    # -- inputs ------------------------------------------------------------------------------------------

    @abstractmethod
    def generate(self, draws: Draws, count: int, length: int, split: Split) -> Array:
        """``count`` random inputs, following the papers' data generation; int64, padded."""

    def labelled(self, draws: Draws, count: int, length: int, split: Split) -> Examples:
        """Return random inputs with their answers; overridden where the generator knows the answers already."""
        inputs = self.generate(draws, count, length, split)
        return Examples(inputs, *self.label(inputs, length))

    def ask(self, draws: Draws, inputs: Array, count: int, length: int) -> tuple[Array, Array]:
        """``count`` random questions to the text of each input, drawn as the input's own was, and their answers.

        Cells (inputs, count) or (inputs, count, features) that may be at the asked position, and int64 (inputs,
        count); only where ``asks_last``.
        """
        del draws, inputs, count, length
        raise SeparatrixError(f"{self.name} has no question behind its text; ask it once, with questions=1")

    @abstractmethod
    def space(self, length: int) -> Space:
        """Return all inputs of exactly this length, as a product of blocks."""

    def assemble(self, values: Array, length: int) -> Array:
        """Turn rows of :meth:`space` into inputs; overridden where cells depend on each other."""
        features = self.features(length)
        return values.reshape(len(values), -1, features) if features else values

    def admissible(self, inputs: Array, length: int) -> Array:
        """Return which inputs keep :attr:`promise` and the layout (bool, (count,)); by default all do."""
        del length
        return numpy.ones(inputs.shape[0], dtype=bool)

    @abstractmethod
    def communication(self, length: int) -> CommunicationSplit:
        """Return the communication problem that the papers' bounds find in this task."""

    # -- for people --------------------------------------------------------------------------------------

    @abstractmethod
    def picture(self, row: Row, length: int) -> str:
        """Return one example drawn for a person, several lines of plain text."""

    @property
    def joiner(self) -> str:
        """What is between two symbols in the readable form."""
        return " "

    def write(self, row: Row, length: int) -> str:
        """Return the readable form of one input."""
        return self.joiner.join(self.vocabulary(length).texts(row))

    def read(self, text: str, length: int) -> Row:
        """Return the input with this readable form."""
        words = text.split(self.joiner) if self.joiner else list(text)
        vocabulary = self.vocabulary(length)
        return [vocabulary.read(word) for word in words if word]

    def write_answer(self, answer: Answer, length: int) -> str:
        """Return the readable form of one answer; overridden where answers are symbols."""
        del length
        return " ".join(map(str, answer)) if isinstance(answer, tuple) else str(answer)

    # -- what every task gets ----------------------------------------------------------------------------

    def check_length(self, length: int) -> None:
        """Raise a one-line error unless this task has inputs of length N."""
        if length < self.minimum_length or length > self.maximum_length:
            raise SeparatrixError(
                f"{self.name} has no inputs of length {length}; choose {self.minimum_length} to {self.maximum_length}"
                f"{' in steps of ' + str(self.length_step) if self.length_step > 1 else ''}"
            )
        if length % self.length_step:
            below = max(length - length % self.length_step, self.minimum_length)
            raise SeparatrixError(
                f"{self.name} needs a length divisible by {self.length_step}, not {length}; "
                f"try {below} or {length - length % self.length_step + self.length_step}"
            )

    def sample(self, draws: Draws, count: int, length: int, split: Split = "eval") -> Examples:
        """Return a labelled random batch: training lengths vary where the paper's do, evaluation is at exactly N."""
        if count < 0:
            raise SeparatrixError(f"cannot draw {count} examples; give a count from 0 on")
        if split not in ("train", "eval"):
            raise SeparatrixError(f"split {split!r} is unknown; choose train or eval")
        self.check_length(length)
        return self.labelled(draws, count, length, split)

    def count(self, length: int) -> int:
        """Return how many inputs of exactly this length there are, before the promise is applied."""
        self.check_length(length)
        return self.space(length).count

    def enumerate(self, length: int, chunk: int = 65536) -> Iterator[Examples]:
        """Yield every input of exactly this length that keeps the promise, labelled, in chunks."""
        self.check_length(length)
        if chunk < 1:
            raise SeparatrixError(f"a chunk of {chunk} inputs is too small; give at least 1")
        for values in self.space(length).chunks(chunk):
            inputs = self.assemble(values, length)
            inputs = inputs[self.admissible(inputs, length)]
            targets, read = self.label(inputs, length)
            yield Examples(inputs, targets, read)

    def trim(self, row: Array, length: int) -> Row:
        """Return one row of a batch as plain Python numbers without its padding."""
        plain = to_numpy(row)
        padding = self.padding(length)
        if padding is not None:
            plain = plain[plain != padding]
        return plain.tolist()

    def answers(self, examples: Examples, number: int, length: int) -> list[Answer | None]:
        """Return the vectorised labels of one example in the form of :meth:`solve`, without padding."""
        used = len(self.trim(examples.inputs[number], length))
        targets, read = to_numpy(examples.targets[number]).tolist(), to_numpy(examples.read[number]).tolist()
        vectors = self.classes(length) == 0
        return [
            (tuple(target) if vectors else target) if asked else None
            for target, asked in zip(targets[:used], read[:used], strict=True)
        ]

    def parameters(self) -> dict[str, Any]:
        """Return the values of this task's own parameters."""
        return {name: getattr(self, name) for name in _own_fields(type(self))}

    def with_parameters(self, **changes: Any) -> "Task":
        """Return the same task with other parameters; unknown names and values out of range raise."""
        for name in changes:
            if name not in self.parameters():
                raise UnknownNameError(f"parameter of {self.name}", name, self.parameters() or ["(none)"])
        return replace(self, **changes)

    def describe(self, length: int) -> Mapping[str, Any]:
        """Return everything about the task at this length as plain data for machines."""
        split = self.communication(length)
        return {
            "name": self.name,
            "title": self.title,
            "source": self.source,
            "question": self.question,
            "parameters": self.parameters(),
            "length": length,
            "positions": self.positions(length),
            "features": self.features(length),
            "classes": self.classes(length),
            "vocabulary_size": self.vocabulary(length).size,
            "vocabulary": self.vocabulary(length).in_words(),
            "layout": self.layout(length),
            "scoring": self.scoring,
            "promise": self.promise or "every input",
            "drawn": self.drawn or "every promised input",
            "inputs": str(self.space(length).count) if self.listable(length) else None,
            "communication": {"problem": split.problem, "one_way": split.one_way, "note": split.note},
        }

    def listable(self, length: int) -> bool:
        """Return whether the blocks of :meth:`space` are small enough to be listed at this length."""
        return length <= 64


@cache  # bounds ask for parameters thousands of times in one search for a length
def _own_fields(kind: type[Task]) -> tuple[str, ...]:
    common = {field.name for field in fields(Task)}
    return tuple(field.name for field in fields(kind) if field.name not in common)


def own_specification(task: Task, length: int) -> dict[str, Any] | None:
    """Return the specification of a task, or None where it has none or one that speaks about another class.

    A subclass that overrides a method may ask something else than the class that wrote the specification.
    """
    for kind in type(task).__mro__:
        if "specification" in vars(kind):
            return task.specification(length)
        code = {name for name, value in vars(kind).items() if callable(value) or hasattr(value, "__get__")}
        if "__post_init__" in code or any(not name.startswith("__") for name in code):
            return None
    return None


LARGEST_ALPHABET = 1 << 31
"""Tokens, and products of a token with a row number, stay far below 2^63 up to here."""


def check_alphabet(name: str, size: int, least: int) -> None:
    """Raise a one-line error unless an alphabet size is in range; for parameters in ``__post_init__``.

    >>> check_alphabet("alphabet", 1, 2)
    Traceback (most recent call last):
    separatrix.errors.SeparatrixError: alphabet=1 is out of range; choose 2 to 2^31
    """
    require(least <= size <= LARGEST_ALPHABET, f"{name}={size} is out of range; choose {least} to 2^31")


def require(condition: bool, message: str) -> None:
    """Raise a one-line error unless the condition holds; for parameters in ``__post_init__``.

    >>> require(1 > 2, "1 is not larger than 2; swap them")
    Traceback (most recent call last):
    separatrix.errors.SeparatrixError: 1 is not larger than 2; swap them
    """
    if not condition:
        raise SeparatrixError(message)
