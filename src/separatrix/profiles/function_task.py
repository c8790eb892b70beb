"""A user's function as a task: examples, answers and a vocabulary from a predicate over a sequence of tokens.

A task of this kind is known by its name alone, ``FILE.py:function`` or ``package.module:function``; its code is loaded
when examples are drawn, and only if the person at the keyboard named it (:func:`name_function`): a record or a file
of somebody's can name a function and has none run. Where functions were named is in the environment, so that worker
processes on the same machine know them too.

A decision is asked at the last position, a labelling at every one. Inputs are uniform over the alphabet, of exactly
length N. Decisions are drawn ``balanced``, because uniform inputs show next to nothing of a rare answer: first an
answer and then an input that has it, where all inputs can be listed (:data:`SEEN`); beyond, of :data:`DRAWN` times as
many inputs those are kept in which the answers take turns, as far as they occur.
"""

import json
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache, partial
from pathlib import Path
from types import CellType, CodeType, FunctionType, MethodType
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy
from numpy.typing import NDArray

from separatrix.errors import SeparatrixError
from separatrix.sources import digest
from separatrix.tasks import (
    Answers,
    Array,
    CommunicationSplit,
    Draws,
    Row,
    Space,
    Split,
    Symbols,
    Task,
    Vocabulary,
    cells,
    namespace_of,
    to_numpy,
)

if TYPE_CHECKING:  # python-flint, which the trainer does without
    from separatrix.profiles import Alphabet, UserFunction

VARIABLE = "SEPARATRIX_FUNCTIONS"
DRAWN = 8
SEEN = 1 << 14
"""So many inputs show which answers there are, or all of them where there are no more."""
MOST_ANSWERS = 1 << 12
DEEPEST = 8
"""Functions within functions, of which the digest takes notice."""

_here: dict[str, Callable[[Any], Any]] = {}
"""Functions of this process by the name of their task."""


def name_function(given: "str | Callable[[Any], Any]") -> "FunctionTask":
    """Return the task of a function that a person names, or of a function itself; from here on its code may be run.

    >>> task = name_function(lambda bits: sum(bits) % 2 == 0)
    >>> task.solve([1, 1, 0], 3)
    [None, None, 1]
    """
    if callable(given):
        called = getattr(given, "__name__", "function")
        name = f"{given.__module__}:{called if called.isidentifier() else 'function'}"  # "<lambda>" is not a name
        _here[name] = given
        return FunctionTask(name=name, title=name, given=given)
    function = _loaded(given)
    where, _, called = given.rpartition(":")
    file = where.endswith(".py")
    name = f"{Path(where).name}:{called}" if file else given
    target = f"{Path(where).resolve()}:{called}" if file else given
    named = _named()
    if named.get(name, target) != target:
        raise SeparatrixError(f"{given} and {named[name]} have the same name in records; rename one of the files")
    os.environ[VARIABLE] = json.dumps({**named, name: target})
    _here[name] = function
    return FunctionTask(name=name, title=name)


def _loaded(target: str) -> Callable[[Any], Any]:
    from separatrix.profiles import load_function

    return load_function(target)[1]


def _named() -> dict[str, str]:
    return json.loads(os.environ.get(VARIABLE, "{}"))


def is_function_name(text: str) -> bool:
    """Return whether a text has the form of a function's name.

    >>> is_function_name("mine.py:parity"), is_function_name("dyck"), is_function_name("dyck:depth=3")
    (True, False, False)
    """
    where, colon, called = text.rpartition(":")
    return bool(colon and where) and called.isidentifier()


def _contents(value: Any, depth: int = 0) -> Any:
    """Return what a function's values depend on, as far as it can be seen: code, names, defaults, what it closes over.

    Globals that it reads are seen by their names alone. What has no text of its own shows its address, so that a
    record of it is refused in another process rather than believed.

    >>> def above(least):
    ...     return lambda bits: sum(bits) > least
    >>> _contents(above(1)) == _contents(above(1)), _contents(above(1)) == _contents(above(2))
    (True, False)
    >>> _contents(lambda bits: min(bits)) == _contents(lambda bits: max(bits))
    False
    """
    if depth > DEEPEST:
        return repr(value)
    if isinstance(value, CodeType):
        constants = tuple(_contents(each, depth + 1) for each in value.co_consts)
        return value.co_code, value.co_names, value.co_freevars, constants
    if isinstance(value, partial):
        return tuple(_contents(each, depth + 1) for each in (value.func, *value.args, *value.keywords.items()))
    if isinstance(value, MethodType):
        return _contents(value.__func__, depth + 1), _contents(value.__self__, depth + 1)
    if isinstance(value, FunctionType):
        cells_of = [_cell(each) for each in value.__closure__ or ()]
        bound = (*(value.__defaults__ or ()), *(value.__kwdefaults__ or {}).items(), *cells_of)
        return _contents(value.__code__, depth + 1), tuple(_contents(each, depth + 1) for each in bound)
    if isinstance(value, frozenset | set):
        return sorted(map(repr, cast("set[Any]", value)))
    if isinstance(value, numpy.ndarray):
        array = cast("NDArray[Any]", value)
        return array.shape, array.dtype.str, array.tobytes()
    return repr(value)


def _cell(cell: CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # nothing was assigned yet
        return None


@lru_cache(maxsize=64)
def _parsed(text: str) -> "Alphabet":
    from separatrix.profiles import parse_alphabet

    return parse_alphabet(text)


@lru_cache(maxsize=256)
def _probed(name: str, function: Callable[[Any], Any], alphabet: str, length: int) -> "UserFunction":
    from separatrix.profiles import probe

    return probe(name, function, _parsed(alphabet), length)


@lru_cache(maxsize=256)
def _answers(name: str, function: Callable[[Any], Any], alphabet: str, length: int) -> tuple[Any, ...]:
    """Return all answers that are seen, in an order that does not depend on where they were seen first."""
    user = _probed(name, function, alphabet, length)
    symbols = user.alphabet.at(length).size
    every = Space(cells(range(symbols), length))
    if symbols**length <= SEEN:
        inputs = every.chunk(0, every.count)
    else:
        inputs = numpy.random.default_rng([length, symbols]).integers(0, symbols, (SEEN, length))
        inputs[0], inputs[1] = 0, symbols - 1
    found = {_plain(each) for each in user.values(inputs).ravel().tolist()}
    if found <= {False, True}:
        return (0, 1)
    return tuple(sorted(found, key=lambda each: (isinstance(each, str), each)))


def _plain(value: Any) -> Any:
    """True and 1 are the same answer."""
    return int(value) if isinstance(value, bool) else value


@dataclass(frozen=True, kw_only=True)
class FunctionTask(Task):
    """A function's values over an ``alphabet`` (as for ``separatrix profile``), ``outcomes`` of them: 0, 1, … where a
    number is given, else those that are seen."""

    source: str = "a function of your own"
    question: str = "What is the function's value?"
    alphabet: str = "2"
    outcomes: int | None = None
    draw: Literal["balanced", "uniform"] = "balanced"
    given: Callable[[Any], Any] | None = field(default=None, compare=False, repr=False)
    """The function, where it was given itself: another one of the same name changes nothing about this task."""

    def __post_init__(self) -> None:
        _parsed(self.alphabet)
        if self.outcomes is not None and not 2 <= self.outcomes <= MOST_ANSWERS:
            raise SeparatrixError(f"outcomes={self.outcomes} is out of range; choose 2 to {MOST_ANSWERS} or None")

    @property
    def function(self) -> Callable[[Any], Any]:
        """The function itself, if a person has named it."""
        if self.given is not None:
            return self.given
        if self.name not in _here:
            target = _named().get(self.name)
            if target is None:
                raise SeparatrixError(
                    f"the function {self.name} is not loaded, since nobody named it here; give FILE.py:function as the "
                    "task of this command"
                )
            _here[self.name] = _loaded(target)
        return _here[self.name]

    def parameters(self) -> dict[str, Any]:
        """Return those that a person may change, without the function."""
        found = super().parameters()
        del found["given"]
        return found

    @property
    def sources(self) -> dict[str, str]:
        """A digest of the function's file, or of its own code, for records."""
        target = _named().get(self.name)
        if target is not None and target.rpartition(":")[0].endswith(".py"):
            return {self.name.rpartition(":")[0]: digest(Path(target.rpartition(":")[0]).read_bytes())}
        return {self.name: digest(repr(_contents(self.function)).encode())}

    def user(self, length: int) -> "UserFunction":
        """Return the function with the way in which it is called."""
        return _probed(self.name, self.function, self.alphabet, length)

    def values(self, length: int) -> tuple[Any, ...]:
        """Return the answers, each at the place of its class."""
        if self.outcomes is not None:
            return tuple(range(self.outcomes))
        return _answers(self.name, self.function, self.alphabet, length)

    @property
    def symbols(self) -> "Alphabet":
        """The alphabet as the function sees it."""
        return _parsed(self.alphabet)

    # -- shape -------------------------------------------------------------------------------------------

    def vocabulary(self, length: int) -> Vocabulary:
        """Return the alphabet's own symbols."""
        mine = self.symbols.at(length)
        return Vocabulary((Symbols("symbols", mine.size, texts=mine.texts),))

    def layout(self, length: int) -> str:
        """In words."""
        read = "the last symbol" if self.user(length).kind == "decision" else "every symbol"
        return f"{length} symbols; read at {read}"

    def positions(self, length: int) -> int:
        """As many as symbols."""
        return length

    def classes(self, length: int) -> int:
        """As many as different answers."""
        return max(2, len(self.values(length)))

    @property
    def joiner(self) -> str:
        """Nothing between single characters and digits."""
        numbers = not self.symbols.texts and not self.symbols.grows
        return "" if self.symbols.characters or (numbers and self.symbols.size <= 10) else " "

    # -- answers -----------------------------------------------------------------------------------------

    def solve(self, row: Row, length: int) -> Answers:
        """Return the function, called once."""
        del length
        found = self.classes_of(numpy.array([row], dtype=numpy.int64))[0]
        decided = found.ndim == 0
        return [*[None] * (len(row) - 1), int(found)] if decided else [int(each) for each in found]

    def label(self, inputs: Array, length: int) -> tuple[Array, Array]:
        """Return the function on every row; the arrays are where the inputs are."""
        del length
        xp, rows = namespace_of(inputs), to_numpy(inputs)
        found = self.classes_of(rows)
        targets, read = numpy.zeros(rows.shape, numpy.int64), numpy.zeros(rows.shape, bool)
        if found.ndim == 1:
            targets[:, -1], read[:, -1] = found, True
        else:
            targets[:], read[:] = found, True
        if xp is numpy:
            return targets, read
        return xp.asarray(targets, device=inputs.device), xp.asarray(read, device=inputs.device)

    def classes_of(self, rows: NDArray[Any]) -> NDArray[Any]:
        """Return the class of the answer of each row (count,), or at each position (count, N)."""
        length = rows.shape[1]
        values = self.user(length).values(rows.astype(numpy.int64))
        known = {value: number for number, value in enumerate(self.values(length))}
        found = numpy.empty(values.shape, dtype=numpy.int64)
        for place, value in enumerate(map(_plain, values.ravel().tolist())):
            if value not in known:
                row = rows[place // (values.size // len(rows))].tolist()
                raise SeparatrixError(
                    f"{self.name} gives {value!r} for {self.symbols.at(length).written(row)[:80]}, and the answers are "
                    f"{', '.join(map(repr, list(known)[:8]))}{', …' if len(known) > 8 else ''}; let it return 0 to "
                    "n − 1 and give their number, --set outcomes=n"
                )
            found.flat[place] = known[value]
        return found

    def write_answer(self, answer: Any, length: int) -> str:
        """Return the function's own value."""
        values = self.values(length)
        return str(values[answer]) if answer < len(values) else str(answer)

    # -- inputs ------------------------------------------------------------------------------------------

    def generate(self, draws: Draws, count: int, length: int, split: Split) -> Array:
        """Uniform inputs of exactly this length; of a decision those in which the answers take turns."""
        del split
        symbols, user = self.symbols.at(length).size, self.user(length)
        if self.draw == "uniform" or user.kind == "labelling" or count == 0:
            return draws.digits(symbols, count, length)
        if symbols**length <= SEEN:
            return self._listed(draws, count, length)
        inputs = draws.digits(symbols, DRAWN * count, length)
        answers = self.classes_of(to_numpy(inputs))
        order = numpy.argsort(answers, kind="stable")
        first = numpy.searchsorted(answers[order], answers[order])
        turn = numpy.empty_like(order)
        turn[order] = numpy.arange(len(order)) - first
        kept = numpy.sort(numpy.lexsort((numpy.arange(len(turn)), turn))[:count])
        xp = namespace_of(inputs)
        return inputs[kept] if xp is numpy else inputs[xp.asarray(kept, device=inputs.device)]

    def _listed(self, draws: Draws, count: int, length: int) -> Array:
        """Return where all inputs can be listed: an answer uniformly, then an input that has it."""
        inputs, starts = _by_answer(self, self.function, length)
        uniform = draws.uniform(count, 2)
        drawn = to_numpy(uniform)
        answer = (drawn[:, 0] * (len(starts) - 1)).astype(numpy.int64)
        first, after = starts[answer], starts[answer + 1]
        found = inputs[first + (drawn[:, 1] * (after - first)).astype(numpy.int64)]
        xp = namespace_of(uniform)
        return found if xp is numpy else xp.asarray(found, device=uniform.device)

    def work(self, length: int) -> int:
        """Return the cost of an example: a call takes about a hundred elementary steps."""
        return DRAWN * (length + 100)

    def space(self, length: int) -> Space:
        """Return all strings."""
        return Space(cells(range(self.symbols.at(length).size), length))

    def communication(self, length: int) -> CommunicationSplit:
        """Return the halves; ``separatrix profile`` examines other partitions."""
        half = length // 2
        return CommunicationSplit(
            problem="the function itself", alice=tuple(range(half)), bob=tuple(range(half, length)), one_way=False,
            note="what a model needs for it is counted by  separatrix profile",
        )  # fmt: skip

    def picture(self, row: Row, length: int) -> str:
        """Return the input, and below it the answers."""
        words, found = self.vocabulary(length).texts(row), self.solve(row, length)
        answers = ["" if each is None else self.write_answer(each, length) for each in found]
        if answers[:-1] == [""] * (len(answers) - 1):
            return f"{self.joiner.join(words)} -> {answers[-1]}"
        wide = max(map(len, [*words, *answers]))
        return "\n".join(" ".join(each.rjust(wide) for each in line) for line in (words, answers))


@lru_cache(maxsize=16)
def _by_answer(task: FunctionTask, function: Callable[[Any], Any], length: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return all inputs in the order of their answers, and where each answer that occurs begins; the last entry is the
    end."""
    del function  # another function is another table
    every = task.space(length)
    inputs = every.chunk(0, every.count)
    answers = task.classes_of(inputs)
    order = numpy.argsort(answers, kind="stable")
    _, starts = numpy.unique(answers[order], return_index=True)
    return inputs[order], numpy.append(starts, len(inputs))
