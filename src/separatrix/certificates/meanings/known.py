"""Which tasks the checker knows by name: those of this package, exactly as it defines them.

A description is of one definition. A subclass that answers otherwise, a task of the user's with the name of one of
these, and an object whose methods were exchanged keep the name and mean something else.
"""

from dataclasses import fields

from separatrix.certificates.verdict import OtherClaimError
from separatrix.sources import is_outside
from separatrix.tasks import Task, tasks


def known_name(task: Task) -> str:
    """The name of a task of this package; raises for all others, which enumeration covers at small lengths."""
    kind, plain = type(task), {field.name for field in fields(task)}
    # No two tasks of the catalog have one name, so a name of this package's stands for its own definition there.
    packaged = task.name in tasks() and kind is type(tasks()[task.name]) and not is_outside(kind)
    if not packaged or not vars(task).keys() <= plain:
        raise OtherClaimError(f"the checker has no description of this {task.name}; use enumeration at a small length")
    return task.name
