"""Where a user's function comes from: a Python file, or a module that can be imported.

The folder of a file is importable while the file is loaded, and so is the current folder while a module is: installed
commands do not look there by themselves. What loading prints goes to standard error, and what it raises ends in one
line.
"""

import importlib
from collections.abc import Callable
from inspect import iscoroutinefunction
from pathlib import Path
from types import ModuleType
from typing import Any

from separatrix.errors import SeparatrixError
from separatrix.sources import importable, quiet, raised, run_file

REMEDY = "give the path of a Python file before the colon"


def load_function(target: str) -> tuple[str, Callable[[Any], Any]]:
    """Return the function of ``FILE.py:function`` or ``package.module:function``, and its short name.

    >>> load_function("separatrix.profiles.examples:parity")[0]
    'examples:parity'
    """
    where, colon, name = target.rpartition(":")
    if not colon or not name.isidentifier():
        raise SeparatrixError(f"{target!r} does not name a function; write it as path/to/file.py:function")
    parts = where.split(".")
    as_module = parts[-1] != "py" and all(part.isidentifier() for part in parts) and not Path(where).exists()
    path = Path(where)
    module = _imported(where) if as_module else run_file(path, f"_separatrix_profile_{path.stem}", REMEDY)
    found = getattr(module, name, None)
    if not callable(found):
        known = [key for key, value in vars(module).items() if callable(value) and not key.startswith("_")]
        raise SeparatrixError(f"{where} has no function {name!r}; it has {', '.join(known[:8]) if known else 'none'}")
    if iscoroutinefunction(found):
        raise SeparatrixError(f"{target} is an async function; write it with def alone")
    return f"{where.rpartition('.')[2] if as_module else Path(where).name}:{name}", found


def _imported(where: str) -> ModuleType:
    try:
        with importable(Path.cwd(), last=True), quiet():
            return importlib.import_module(where)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise SeparatrixError(
            f"{where} could not be imported: {raised(error)}; give path/to/file.py:function or a module's name"
        ) from error
