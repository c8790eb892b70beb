"""Sweeps: axes over the fields of a run, planned as cells that train as one ensemble each.

A sweep is a base run and lists of values for some of its fields. A *cell* is a choice of the fields that change a
model's shapes or its task (architecture, length, …); within a cell all learning rates, seeds, weight decays, warm-ups
and clippings train together as one group, and the cell's result is the best of them, as in BHBK24 Appendix H.
"""

from collections.abc import Container, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import product
from math import prod
from typing import Any

from separatrix.errors import SeparatrixError, UnknownNameError
from separatrix.models import parse_spec
from separatrix.profiles import changed_parameters, known_task, task_argument
from separatrix.training.grouping import Group, halving_rungs
from separatrix.training.recipes import recipe_fields
from separatrix.training.record import Record, best_of
from separatrix.training.spec import FIELDS, MEMBER_FIELDS, REQUIRED_FIELDS, RunSpec

LARGEST_SWEEP = 100_000
RECIPE = "recipe"
"""Of a sweep, next to the fields of a run: what they are where the sweep does not say."""


@dataclass(frozen=True)
class Cell:
    """One square of a figure: the values of the axes that are not shared within an ensemble, and the cell's runs."""

    coordinates: tuple[tuple[str, Any], ...]
    runs: tuple[RunSpec, ...]

    def at(self, axis: str) -> Any:
        """Return the cell's value on an axis as it was written there; of a field that is not an axis, what its runs
        share."""
        return dict(self.coordinates).get(axis, getattr(self.runs[0], axis))

    def best(self, found: Mapping[str, Record]) -> Record | None:
        """Return the best of the cell's recorded runs."""
        return best_of(found[run.name] for run in self.runs if run.name in found)

    def group(self, *, halving: bool = True, first_goal_ends: bool = True) -> Group:
        """Return the cell's runs as one group; see :class:`Sweep` for how they compete."""
        first = self.runs[0]
        rungs = halving_rungs(first.steps, len(self.runs), first.evaluate_every) if halving else ()
        return Group(self.runs, rungs, first_goal_ends)


@dataclass(frozen=True)
class Sweep:
    """A base run and axes over its fields; ``halving`` prunes, ``first_goal_ends`` ends a cell at its first success."""

    name: str
    title: str
    base: Mapping[str, Any]
    axes: Mapping[str, Sequence[Any]]
    halving: bool = True
    first_goal_ends: bool = True

    def __post_init__(self) -> None:
        problems = dict.fromkeys(self.problems())  # models of one file may all lack it
        if problems:
            raise SeparatrixError("; ".join(problems))

    def problems(self) -> Iterable[str]:
        """Return every mistake in the base and the axes."""
        for name in [*self.base, *self.axes]:
            if name not in (*FIELDS, RECIPE):
                yield str(UnknownNameError("field of a run", name, (*FIELDS, RECIPE)))
        for name, values in self.axes.items():
            if name in self.base:
                yield f"{name} is both in the base and among the axes; keep one"
            if not values:
                yield f"axis {name} has no values; give at least one"
            seen: dict[str, str] = {}
            for value in values:
                meaning, text = _meaning(name, value), value_text(value)
                if meaning in seen:
                    other = "" if seen[meaning] == text else f", also as {seen[meaning]}"
                    yield f"axis {name} names {text} twice{other}; keep one"
                seen.setdefault(meaning, text)
        runs = prod(len(values) for values in self.axes.values())
        if runs > LARGEST_SWEEP:
            yield f"the axes have {runs:,} runs; a sweep has at most {LARGEST_SWEEP:,}: split it"
            return
        for name, values in [*((name, [value]) for name, value in self.base.items()), *self.axes.items()]:
            for value in values:
                yield from _value_problems(name, value)

    def cells(self) -> list[Cell]:
        """Return all cells; a run that cannot be raises with everything that is wrong with it."""
        shared = {name: values for name, values in self.axes.items() if name in MEMBER_FIELDS}
        own = {name: values for name, values in self.axes.items() if name not in MEMBER_FIELDS}
        cells: list[Cell] = []
        problems: list[str] = []
        for place in product(*own.values()):
            coordinates = dict(zip(own, place, strict=True))
            runs: list[RunSpec] = []
            for settings in product(*shared.values()):
                values = {**self.base, **coordinates, **dict(zip(shared, settings, strict=True))}
                try:
                    runs.append(_run(values))
                except SeparatrixError as error:
                    problems.append(str(error))
            cells.append(Cell(tuple(coordinates.items()), tuple(runs)))
        if problems:
            raise SeparatrixError("; ".join(dict.fromkeys(problems)))
        return cells

    def groups(self, cells: Sequence[Cell], full_grid: bool = False) -> list[Group]:
        """Return one group for each cell."""
        halving, first_goal_ends = self.halving and not full_grid, self.first_goal_ends and not full_grid
        return [cell.group(halving=halving, first_goal_ends=first_goal_ends) for cell in cells]

    def restricted(self, only: Iterable[str]) -> "Sweep":
        """Return this sweep with axes cut down to the values in texts ``axis=value``; an axis may be named several
        times."""
        wanted: dict[str, list[Any]] = {}
        for text in only:
            axis, equals, value = (part.strip() for part in text.partition("="))
            if not equals:
                raise SeparatrixError(f"--only {text} is not AXIS=VALUE; write such as  --only length=20")
            if axis not in self.axes:
                raise UnknownNameError("axis of this sweep", axis, self.axes)
            matching = [each for each in self.axes[axis] if _means(each, value, axis)]
            if not matching:
                raise UnknownNameError(f"value of axis {axis}", value, [value_text(each) for each in self.axes[axis]])
            wanted.setdefault(axis, []).extend(matching)
        kept = {
            name: [each for each in values if name not in wanted or each in wanted[name]]
            for name, values in self.axes.items()
        }
        return replace(self, axes=kept)

    def as_dict(self) -> dict[str, Any]:
        """Return plain data, in the form of a sweep file."""
        return {
            "name": self.name,
            "title": self.title,
            "base": dict(self.base),
            "axes": {name: list(values) for name, values in self.axes.items()},
            "halving": self.halving,
            "first_goal_ends": self.first_goal_ends,
        }


def value_text(value: Any) -> str:
    """Return a value on an axis as a person writes it.

    >>> value_text(0.0005), value_text("TF-(1,64)"), value_text({"sparsity": 3})
    ('0.0005', 'TF-(1,64)', 'sparsity=3')
    """
    if isinstance(value, Mapping):
        return ", ".join(f"{name}={value_text(each)}" for name, each in value.items())
    return f"{value:g}" if isinstance(value, float) else str(value)


def _meaning(axis: str, value: Any) -> str:
    """Return a text that is the same for values that make the same runs: 1 and 1.0, TF-(1,8) and transformer-(1, 8).

    >>> _meaning("learning_rate", 1) == _meaning("learning_rate", 1.0)
    True
    >>> _meaning("architecture", "tf-(1, 8)")
    "'TF-(1,8)'"
    """
    if axis == "architecture":
        with suppress(SeparatrixError):  # reported with the other mistakes
            return repr(str(parse_spec(str(value))))
    if isinstance(value, float) and value.is_integer():
        return repr(int(value))
    return repr(value)


def _means(value: Any, text: str, axis: str) -> bool:
    """Return whether a text from the command line means this value: 5e-4 means 0.0005, tf-(1, 64) means TF-(1,64)."""
    if text in (str(value), value_text(value)):
        return True
    if isinstance(value, int | float) and not isinstance(value, bool):
        try:
            return float(text) == value
        except ValueError:
            return False
    if axis == "architecture":
        try:
            return parse_spec(text) == parse_spec(str(value))
        except SeparatrixError:
            return False
    return False


_ALONE: Mapping[str, Any] = {"task": "index-lookup", "architecture": "", "length": 8, "learning_rate": 1e-3, "steps": 1}


def _value_problems(name: str, value: Any) -> Iterable[str]:
    """Return what is wrong with a value whatever the others are; lengths, snapshots and parameters depend on others."""
    if name not in (*FIELDS, RECIPE) or name in ("length", "snapshots", "task_parameters"):
        return
    try:
        if name == RECIPE:
            recipe_fields(str(value), known_task(_ALONE["task"]), 1)
        elif name == "architecture":
            parse_spec(str(value))
        elif name == "task":
            task_argument(str(value))
        else:
            RunSpec(**{**_ALONE, name: value})
    except SeparatrixError as error:
        yield str(error)


def missing_fields(names: Container[str]) -> Iterable[str]:
    """Say that fields are missing without which there is no run, if any are.

    >>> list(missing_fields(["task", "architecture", "length", "steps"]))
    ['the sweep gives no learning_rate; add it to the base or as an axis']
    """
    missing = [name for name in REQUIRED_FIELDS if name not in names]
    if missing:
        yield f"the sweep gives no {', '.join(missing)}; add it to the base or as an axis"


def _run(values: Mapping[str, Any]) -> RunSpec:
    for problem in missing_fields(values):
        raise SeparatrixError(problem)
    given = dict(values)
    recipe, task, steps = given.pop(RECIPE, None), task_argument(str(given["task"])), given["steps"]
    # A task with parameters in its name, or from a file, is recorded as what it is.
    given["task"] = task.name
    if own := changed_parameters(task):
        given["task_parameters"] = {**own, **dict(given.get("task_parameters", ()))}
    if recipe is not None and isinstance(steps, int):
        given = {**recipe_fields(str(recipe), task, steps), **given}
    # The canonical short name, so that one model is one name in all records.
    return RunSpec(**{**given, "architecture": str(parse_spec(str(given["architecture"])))})
