"""The catalog of tasks: every file of ``separatrix/tasks/problems`` exports one ``TASK``."""

from separatrix.catalog import Catalog, discover
from separatrix.tasks import problems
from separatrix.tasks.task import Task


def tasks() -> Catalog[Task]:
    """Return all tasks by name, with their default parameters.

    >>> tasks()["dyck"].title
    'Bounded Dyck languages'
    """
    # Task is abstract, but it is what an entry is checked against, never what is made.
    return discover("task", problems, "TASK", Task)  # type: ignore[type-abstract]
