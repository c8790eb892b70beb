"""The one place where the name of a task becomes a task.

    dyck                  a task of the catalog, with its default parameters
    dyck:depth=3,types=2  with others
    mqar:zoology          a preset: a task with the settings of somebody's benchmark
    mine.py:parity        a function of your own, as a task; mine.py:f,alphabet=4 with parameters

:func:`task_argument` is for what a person writes, and may load their function. :func:`known_task` is for names that
are in records and files, and never loads code.
"""

from collections.abc import Callable, Iterable
from typing import Any

from separatrix.errors import SeparatrixError, UnknownNameError
from separatrix.profiles.function_task import FunctionTask, is_function_name, name_function
from separatrix.tasks import PRESETS, Task, tasks, with_text_parameters


def known_task(name: str) -> Task:
    """Return the task of a name that a record holds; a function's is known by its name, and its code is not loaded.

    >>> known_task("dyck").name, known_task("gone.py:parity").name
    ('dyck', 'gone.py:parity')
    """
    if name in PRESETS:
        return PRESETS[name]
    if name not in tasks() and is_function_name(name) and name.partition(":")[0] not in tasks():
        return FunctionTask(name=name, title=name)
    return tasks()[name]


def is_known(name: str) -> bool:
    """Return whether :func:`known_task` has an answer.

    >>> is_known("dyck"), is_known("theirs")
    (True, False)
    """
    try:
        known_task(name)
    except UnknownNameError:
        return False
    return True


def task_argument(given: "str | Task | Callable[[Any], Any]", settings: Iterable[str] = ()) -> Task:
    """Return the task that a person named, with parameters such as ``["depth=3"]``.

    >>> task_argument("dyck:types=3", ["depth=4"]).parameters()
    {'types': 3, 'depth': 4}
    """
    if isinstance(given, Task):
        return with_text_parameters(given, settings)
    if callable(given):
        return with_text_parameters(name_function(given), settings)
    base, inside = _parts(given)
    chosen = [*inside, *settings]
    head, colon, _ = base.partition(":")
    if base in tasks() or base in PRESETS or not colon:
        return with_text_parameters(known_task(base), chosen)
    if head in tasks():
        known = [each for each in PRESETS if each.startswith(f"{head}:")]
        raise UnknownNameError(f"preset of {head}", base, known or ["(none)"])
    return with_text_parameters(name_function(base), chosen)


def _parts(given: str) -> tuple[str, list[str]]:
    """Return a name without its parameters, and these.

    >>> _parts("dyck:depth=3,types=2"), _parts("mqar:zoology,filler=random"), _parts("mine.py:f")
    (('dyck', ['depth=3', 'types=2']), ('mqar:zoology', ['filler=random']), ('mine.py:f', []))
    """
    head, colon, tail = given.rpartition(":")
    if not colon or "=" not in tail:
        return given, []
    first, *rest = tail.split(",")
    return (head, [first, *rest]) if "=" in first else (f"{head}:{first}", rest)


def changed_parameters(task: Task) -> dict[str, Any]:
    """Return the parameters that are not the defaults of the task's name.

    >>> changed_parameters(task_argument("dyck:depth=3"))
    {'depth': 3}
    """
    usual = known_task(task.name).parameters()
    return {name: value for name, value in task.parameters().items() if value != usual[name]}


def refuse_function(name: str) -> None:
    """Say which command takes a function, where only a task of the catalog has an answer."""
    if is_function_name(name) and name not in PRESETS:
        raise SeparatrixError(
            f"{name!r} names a function, not a task; from which N on a model cannot compute it is said by  separatrix "
            f"profile {name} --length 12 --model MODEL"
        )
