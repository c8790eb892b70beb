"""Separatrix: what sequence models can and cannot represent, as software you can run.

The package is a set of rooms that import each other in one direction only (see ``docs/architecture.md``):
:mod:`separatrix.arithmetic` holds the numbers, :mod:`separatrix.tasks` the problems,
:mod:`separatrix.site` the page that shows everything, :mod:`separatrix.cli` the command line.
Importing this package loads none of them. :func:`capacity` measures a model that is at hand and loads torch when it is
first asked for.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from separatrix._version import __version__
from separatrix.errors import SeparatrixError, UnknownNameError

if TYPE_CHECKING:
    from separatrix.models import capacity

__all__ = ["SeparatrixError", "UnknownNameError", "__version__", "capacity"]


def __getattr__(name: str) -> object:
    """Load :func:`separatrix.models.measured.capacity` when it is first asked for."""
    if name != "capacity":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return import_module("separatrix.models.measured").capacity
