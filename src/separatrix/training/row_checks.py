"""What is in a row of a store or a line of an exported file, checked against what can be true of a run.

A database or a text has no types of its own: a file that was damaged, or made by something else, may hold anything in
any place. A description must give its own name, which is its hash.
"""

from collections.abc import Mapping
from typing import Any, get_args

from separatrix.errors import SeparatrixError
from separatrix.profiles import is_known
from separatrix.reading import parse_json
from separatrix.training.events import Ending, Point, Result
from separatrix.training.spec import RunSpec, spec_from

LARGEST_NUMBER = 1 << 62


class TaskNotHereError(SeparatrixError):
    """A run of a task that nothing here defines: it can be neither checked nor trained, and is not damaged either."""

    def __init__(self, where: object, run: Any, task: str) -> None:
        super().__init__(
            f"{where}: run {str(run)[:40]} is of the task {task[:40]!r}, which is not here; bring it with  "
            "separatrix --with FILE.py  or install its package"
        )
        self.task = task


def task_not_here(spec: Any) -> str | None:
    """Return the task of a description that nothing here defines; None for others, and for what is not a description.

    >>> task_not_here('{"task": "theirs"}'), task_not_here('{"task": "dyck"}'), task_not_here("{")
    ('theirs', None, None)
    """
    try:
        plain = parse_json(spec)
    except (ValueError, TypeError):
        return None
    task = plain.get("task") if isinstance(plain, Mapping) else None
    return task if isinstance(task, str) and not is_known(task) else None


def checked_run(
    where: object, name: Any, spec: Any, ending: Any, step: Any, accuracy: Any, loss: Any, seconds: Any, parameters: Any
) -> tuple[RunSpec, Result]:
    """Return a run's description and result; ``where`` names the file in messages."""
    try:
        plain = spec if isinstance(spec, Mapping) else parse_json(spec)
        task = plain.get("task") if isinstance(plain, Mapping) else None
        described = None if isinstance(task, str) and not is_known(task) else recorded_spec(plain)
    except (ValueError, TypeError) as error:
        raise damaged(where, name, f"its description is none ({str(error)[:300]})") from error
    if described is None:
        raise TaskNotHereError(where, name, str(task))
    if described.name != name:
        raise damaged(where, name, "its description was changed or is of another version")
    if ending not in get_args(Ending):
        raise damaged(where, name, f"it ended by {ending!r}")
    if not (is_count(step) and is_count(parameters)):
        raise damaged(where, name, "its steps and parameters are not counts")
    if not is_share(accuracy) or not (loss is None or is_number(loss)) or not is_number(seconds):
        raise damaged(where, name, "its accuracy, loss or time is not such a number")
    lost = float("nan") if loss is None else float(loss)
    return described, Result(name, ending, step, float(accuracy), lost, float(seconds), parameters)


def recorded_spec(plain: Any) -> RunSpec:
    """Return a description from a store; one that says nothing of its start was made before the second."""
    return spec_from({"start": 1, **plain} if isinstance(plain, Mapping) else plain)


def checked_point(where: object, run: Any, step: Any, loss: Any, training: Any, accuracy: Any) -> Point:
    """Return one point of a curve."""
    if not (is_count(step) and is_share(training) and is_share(accuracy) and (loss is None or is_number(loss))):
        raise damaged(where, run, "a point of its curve holds no such numbers")
    return Point(run, step, float("nan") if loss is None else float(loss), float(training), float(accuracy))


def checked_environment(where: object, run: Any, value: Any) -> dict[str, Any]:
    """Return where a run was made: an object of JSON, as plain data or as a text; how many trained with it is a
    count."""
    try:
        found = value if isinstance(value, dict) else parse_json(value)
    except (ValueError, TypeError):
        found = None
    if not isinstance(found, dict):
        raise damaged(where, run, "what it says about its environment is not an object")
    members = found.get("members", 1)
    if not (is_count(members) and members):
        raise damaged(where, run, f"it trained as one of {str(members)[:40]!r} runs")
    return found


def checked_text(where: object, run: Any, value: Any) -> str:
    """Return a short text, such as a time or the name of a file."""
    if not isinstance(value, str) or len(value) > 1000:
        raise damaged(where, run, f"{str(value)[:40]!r} is not a time or a file")
    return value


def damaged(where: object, run: Any, reason: str) -> SeparatrixError:
    """Return the error that names a file and one of its runs."""
    shown = str(run)[:40]
    return SeparatrixError(f"{where}: the record of run {shown} is damaged: {reason}; put a copy of the file back")


def is_count(value: Any) -> bool:
    """Return a whole number from 0."""
    return type(value) is int and 0 <= value < LARGEST_NUMBER


def is_number(value: Any) -> bool:
    """Return a number that is finite."""
    return type(value) in (int, float) and -1e300 < value < 1e300


def is_share(value: Any) -> bool:
    """Return a number from 0 to 1."""
    return type(value) in (int, float) and 0 <= value <= 1
