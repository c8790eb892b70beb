"""Parameters that arrive as text (``alphabet=8``) or from a file, checked against the types that a task declares."""

import types
import typing
from collections.abc import Iterable, Mapping
from typing import Any, Literal

from separatrix.errors import SeparatrixError, UnknownNameError
from separatrix.tasks.task import Task


def with_text_parameters(task: Task, assignments: Iterable[str]) -> Task:
    """The task with parameters changed as in ``["alphabet=8", "depth=3"]``."""
    changes: dict[str, Any] = {}
    hints: dict[str, Any] = {}
    for assignment in assignments:
        name, equals, text = assignment.partition("=")
        if not equals:
            raise SeparatrixError(f"{assignment!r} is not a parameter setting; write NAME=VALUE, such as alphabet=8")
        if name not in task.parameters():
            raise UnknownNameError(f"parameter of {task.name}", name, task.parameters() or ["(none)"])
        hints = hints or typing.get_type_hints(type(task))
        changes[name] = _parse(f"{task.name}.{name}", hints[name], text)
    return task.with_parameters(**changes)


def with_plain_parameters(task: Task, values: Mapping[str, Any]) -> Task:
    """The task with parameters from plain data, such as the JSON of a certificate; other types are refused.

    >>> from separatrix.tasks import tasks
    >>> with_plain_parameters(tasks()["dyck"], {"types": 3}).parameters()
    {'types': 3, 'depth': 2}
    """
    # Most runs of a store change nothing, and reading the hints takes longer than all else here.
    hints = typing.get_type_hints(type(task)) if values else {}
    for name, value in values.items():
        if name in task.parameters() and not _fits(hints[name], value):
            raise SeparatrixError(f"{task.name}.{name} has no value {value!r}; its type is {_in_words(hints[name])}")
    return task.with_parameters(**values)


def _fits(hint: Any, value: Any) -> bool:
    """Whether a value is of a declared type; true and false are not numbers."""
    origin = typing.get_origin(hint)
    if origin in (typing.Union, types.UnionType):
        return any(_fits(option, value) for option in typing.get_args(hint))
    if origin is Literal:
        return isinstance(value, str) and value in typing.get_args(hint)
    return isinstance(value, hint) and (hint is bool or not isinstance(value, bool))


def _in_words(hint: Any) -> str:
    """A declared type as an error names it."""
    return hint.__name__ if isinstance(hint, type) else str(hint).replace("typing.", "")


def _parse(where: str, hint: Any, text: str) -> Any:
    """One value of the declared type, or a one-line error that says what is allowed."""
    origin = typing.get_origin(hint)
    if origin in (typing.Union, types.UnionType):
        options = [option for option in typing.get_args(hint) if option is not type(None)]
        if len(options) < len(typing.get_args(hint)) and text.lower() == "none":
            return None
        return _parse(where, options[0], text)
    if origin is Literal:
        allowed = [str(option) for option in typing.get_args(hint)]
        if text not in allowed:
            raise UnknownNameError(f"value of {where}", text, allowed)
        return text
    if hint is bool:
        if text.lower() not in ("true", "false"):
            raise SeparatrixError(f"{where}={text} is not true or false; give one of them")
        return text.lower() == "true"
    if hint is int:
        try:
            return int(text)
        except ValueError:
            raise SeparatrixError(f"{where}={text} is not a whole number; give one such as 2") from None
    return text
