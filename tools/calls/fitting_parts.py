"""Parts of fitting calls: what every verb draws from, how an option is put next to others, and what is tried."""

import typing
from collections.abc import Callable, Iterable, Sequence
from contextlib import redirect_stderr
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Literal, TypeAlias

from hypothesis import strategies
from hypothesis.strategies import DrawFn

from separatrix.errors import SeparatrixError
from separatrix.models.architecture import architectures
from separatrix.models.naming import parse_spec
from separatrix.tasks import draws_from
from separatrix.tasks.catalog import tasks
from separatrix.tasks.parameters import with_text_parameters
from separatrix.tasks.task import Task
from separatrix.training.spec import RunSpec

Given: TypeAlias = dict[str, tuple[str, ...]]
"""The settings of a call by the names of the verb's parameters: the values, or for a switch the one to write."""
PICTURES = ("new.svg", "new.png", "new/deeper.svg")
SIZES = ("1G", "2G", "4G")
LOOKUP = RunSpec(
    task="index-lookup", task_parameters=(("alphabet", 3),), architecture="TF-(1,4)", length=2, learning_rate=0.001,
    steps=1, batch=2, evaluate_every=250, evaluation_examples=8, probe_examples=8,
)  # fmt: skip
"""The run in ``trained.sqlite``, which the folder ``trained`` certifies as far as it is right."""
WORDS = RunSpec(
    task="dyck", architecture="RNN-(1,4)", length=4, learning_rate=0.001, steps=1, batch=2, evaluate_every=250,
    evaluation_examples=8, probe_examples=8,
)  # fmt: skip
"""A recurrent run in the same store."""
STEPS = 6
"""Lengths lie within so many steps above the smallest."""


@dataclass(frozen=True)
class Place:
    """The furnished folder in which calls are made, as far as fitting calls speak of it."""

    folder: Path
    runs: tuple[str, ...]
    """The names of the runs that ``good.sqlite`` records, all of recurrent models."""
    own: tuple[str, ...] = ()
    """Names that the files of ``--with`` bring, which are then asked about."""


Drawing: TypeAlias = Callable[[DrawFn, Place], Given]
"""Draws the settings of one verb."""


def likely(draw: DrawFn, of: int, out_of: int = 4) -> bool:
    """True in ``of`` of ``out_of`` cases."""
    return draw(strategies.integers(1, out_of)) > out_of - of


def chosen(draw: DrawFn, values: Iterable[str]) -> str:
    """One of some values."""
    return draw(strategies.sampled_from(tuple(values)))


def add(draw: DrawFn, given: Given, **offered: Sequence[str]) -> None:
    """Put some of the offered options into the settings, each with one of its values."""
    for name, values in offered.items():
        if likely(draw, 1, 3):
            given[name] = (chosen(draw, values),)


def switch(draw: DrawFn, given: Given, **offered: Sequence[str]) -> None:
    """Put some of the offered switches into the settings, as one of their spellings."""
    for name, spellings in offered.items():
        if likely(draw, 1, 3):
            given[name] = (chosen(draw, spellings),)


def is_accepted(attempt: Callable[..., object], *arguments: object) -> bool:
    """Whether something is done without being refused; what breaks in another way is for the campaign to find."""
    try:
        with redirect_stderr(StringIO()):  # remarks are for those who call
            attempt(*arguments)
    except Exception as error:
        return not isinstance(error, SeparatrixError)
    return True


def length_from(draw: DrawFn, least: int, step: int) -> int:
    """A short length of a task: from the smallest in steps."""
    return (-(-least // step) + draw(strategies.integers(0, STEPS))) * step


def settings_of(draw: DrawFn, task: Task, length: int | None = None) -> tuple[str, ...]:
    """Other values of a task's own parameters, of the types that it declares and as far as it accepts them."""
    hints = typing.get_type_hints(type(task))
    kept: tuple[str, ...] = ()
    for name, value in task.parameters().items():
        if not likely(draw, 1):
            continue
        text = f"{name}={chosen(draw, _values(hints[name], value))}"
        if is_accepted(_sampled, task, (*kept, text), length):
            kept = (*kept, text)
    return kept


def _sampled(task: Task, settings: Sequence[str], length: int | None) -> None:
    changed = with_text_parameters(task, settings)
    if length is not None:
        changed.sample(draws_from(0), 1, length)


def _values(hint: object, value: object) -> tuple[str, ...]:
    if typing.get_origin(hint) is Literal:
        return tuple(map(str, typing.get_args(hint)))
    if isinstance(value, bool):
        return ("true", "false")
    return ("2", "3", "4", "8") if value is None or isinstance(value, int) else (str(value),)


def task_with_length(
    draw: DrawFn, own: Sequence[str], *, least: int = 1, settings: str | None = "settings"
) -> tuple[Given, Task, int]:
    """A task, one of its lengths and, by the name of the option for them, some of its parameters."""
    task = tasks()[chosen(draw, [name for name in own if name in tasks()] or tasks())]
    length = length_from(draw, max(least, task.minimum_length), task.length_step)
    given: Given = {"task": (task.name,), "length": (str(length),)}
    if settings is not None and (changed := settings_of(draw, task, length)):
        given[settings] = changed
    return given, task, length


def small_model(draw: DrawFn) -> str:
    """A small model of any architecture."""
    name, layers = chosen(draw, architectures()), chosen(draw, ("1", "2"))
    return next(text for width in (8, 16, 32, 64) if is_accepted(parse_spec, text := f"{name}-({layers},{width})"))
