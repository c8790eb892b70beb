"""Separatrix: what sequence models can and cannot represent, as software you can run.

>>> import separatrix as sx
>>> sx.certify("index-lookup", 64).certified
True

The package is a set of rooms that import each other in one direction only (see ``docs/architecture.md``). The functions
below are those of :mod:`separatrix.api`, each of which loads what it needs when it is first asked for; importing this
package loads none of it.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from separatrix._version import __version__
from separatrix.errors import SeparatrixError, UnknownNameError

if TYPE_CHECKING:
    from separatrix.api import bound, capacity, certify, check, compare, dataset, design, profile, sample, train

__all__ = [
    "SeparatrixError",
    "UnknownNameError",
    "__version__",
    "bound",
    "capacity",
    "certify",
    "check",
    "compare",
    "dataset",
    "design",
    "profile",
    "sample",
    "train",
]


def __getattr__(name: str) -> object:
    """Load a function when it is first asked for."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module("separatrix.api"), name)


def __dir__() -> list[str]:
    """The functions too, which are loaded late."""
    return sorted({*globals(), *__all__})
