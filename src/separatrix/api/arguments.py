"""The one check of what a person hands to the functions of ``import separatrix as sx``.

Their annotations are the rule. A class that an annotation names and that is not loaded (a task, options) is met by
every object that is not a plain value, so that checking loads nothing.
"""

import builtins
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, wraps
from inspect import signature
from numbers import Integral, Real
from os import PathLike
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, ParamSpec, TypeVar, Union, Unpack, get_args, get_origin, get_type_hints

from separatrix.errors import SeparatrixError

P = ParamSpec("P")
R = TypeVar("R")

PLAIN = (NoneType, str, bytes, Real, list, tuple, dict, set, frozenset)
IN_WORDS = {
    int: "a whole number",
    float: "a number",
    str: "a text",
    bool: "True or False",
    Path: "a path",
    Mapping: "a mapping",
    Callable: "a function",
    NoneType: "None",
}


class _NotLoaded:
    """A class that an annotation names and that only the type checker imports."""


class _Names(dict[str, Any]):
    def __missing__(self, name: str) -> type[_NotLoaded]:
        return type(name, (_NotLoaded,), {})


def checked(function: Callable[P, R]) -> Callable[P, R]:
    """Refuse arguments that are not of the annotated types, by one line, before the function runs.

    >>> from separatrix import certify
    >>> certify("index-lookup", "1024")
    Traceback (most recent call last):
    separatrix.errors.SeparatrixError: length='1024' is not a whole number; help(separatrix.certify) shows an example
    """
    expected = signature(function)

    @cache
    def hints() -> dict[str, Any]:
        known = {**vars(builtins), **function.__globals__}
        # An alias that is a text names classes that are not loaded.
        return get_type_hints(function, localns=_Names({k: v for k, v in known.items() if not isinstance(v, str)}))

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        # Python's error about arguments that are missing or unknown is clear.
        given = expected.bind(*args, **kwargs)
        for name, value in given.arguments.items():
            hint = hints().get(name)
            if hint is not None and not _unchecked(hint) and not _fits(value, hint):
                raise SeparatrixError(
                    f"{name}={value!r} is not {_in_words(hint)}; help(separatrix.{function.__name__}) shows an example"
                )
            if isinstance(value, Integral) and not isinstance(value, bool):
                given.arguments[name] = int(value)  # NumPy's integers
        return function(*given.args, **given.kwargs)

    return call


def _unchecked(hint: Any) -> bool:
    return hint is Any or get_origin(hint) is Unpack or (isinstance(hint, type) and issubclass(hint, _NotLoaded))


def _fits(value: object, hint: Any) -> bool:
    kind = get_origin(hint) or hint
    if kind in (Union, UnionType):
        return any(_fits(value, each) for each in get_args(hint))
    if kind is Any:
        return True
    if kind in (int, float):
        return isinstance(value, Integral if kind is int else Real) and not isinstance(value, bool)
    if kind is Path:
        return isinstance(value, PathLike)
    if kind in (Sequence, Iterable):
        # Of an iterator the items would be used up; a text is not a list.
        listed = isinstance(value, Iterable) and not isinstance(value, str | bytes)
        return listed and (not isinstance(value, Sequence) or all(_fits(item, get_args(hint)[0]) for item in value))
    if issubclass(kind, _NotLoaded):
        return not isinstance(value, PLAIN)
    return isinstance(value, kind)


def _in_words(hint: Any) -> str:
    kind = get_origin(hint) or hint
    if kind in (Union, UnionType):
        return " or ".join(_in_words(each) for each in get_args(hint))
    if kind in (Sequence, Iterable):
        return f"a list (each item {_in_words(get_args(hint)[0])})"
    return IN_WORDS.get(kind) or f"of type {kind.__name__}"
