"""Separatrix: what sequence models can and cannot represent, as software you can run.

The package is a set of rooms that import each other in one direction only (see ``docs/architecture.md``):
:mod:`separatrix.arithmetic` holds the numbers, :mod:`separatrix.tasks` the problems,
:mod:`separatrix.atlas` the page that shows everything, :mod:`separatrix.cli` the command line.
Importing this package loads none of them.
"""

from separatrix._version import __version__
from separatrix.errors import SeparatrixError, UnknownNameError

__all__ = ["SeparatrixError", "UnknownNameError", "__version__"]
