"""Where a user's function comes from: a Python file, or a module that can be imported.

The folder of a file is importable while the file is loaded, and so is the current folder while a module is: installed
commands do not look there by themselves. What loading prints goes to standard error, and what it raises ends in one
line.
"""

import importlib
import importlib.util
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

from separatrix.communication.profile.guard import quiet, raised
from separatrix.errors import SeparatrixError
from separatrix.reading import read_file

LARGEST_FILE = 16 << 20


def load_function(target: str) -> tuple[str, Callable[[Any], Any]]:
    """The function of ``FILE.py:function`` or ``package.module:function``, and its short name.

    >>> load_function("separatrix.communication.profile.examples:parity")[0]
    'examples:parity'
    """
    where, colon, name = target.rpartition(":")
    if not colon or not name.isidentifier():
        raise SeparatrixError(f"{target!r} does not name a function; write it as path/to/file.py:function")
    parts = where.split(".")
    as_module = parts[-1] != "py" and all(part.isidentifier() for part in parts) and not Path(where).exists()
    module = _imported(where) if as_module else _executed(where)
    found = getattr(module, name, None)
    if not callable(found):
        known = [key for key, value in vars(module).items() if callable(value) and not key.startswith("_")]
        raise SeparatrixError(f"{where} has no function {name!r}; it has {', '.join(known[:8]) if known else 'none'}")
    return f"{where.rpartition('.')[2] if as_module else Path(where).name}:{name}", found


def _imported(where: str) -> ModuleType:
    try:
        with _importable(Path.cwd(), last=True), quiet():
            return importlib.import_module(where)
    except (Exception, SystemExit) as error:
        raise SeparatrixError(
            f"{where} could not be imported: {raised(error)}; give path/to/file.py:function or a module's name"
        ) from error


def _executed(where: str) -> ModuleType:
    """The module of a file; its folder is importable while it is loaded."""
    path = Path(where)
    if not path.is_file():
        raise SeparatrixError(f"{where} is not a file; give the path of a Python file before the colon")
    read_file(path, LARGEST_FILE, "give the path of a Python file before the colon")
    specification = importlib.util.spec_from_file_location(f"_separatrix_profile_{path.stem}", path)
    if specification is None or specification.loader is None or path.suffix != ".py":
        raise SeparatrixError(f"{where} is not a Python file; its name must end in .py")
    module = importlib.util.module_from_spec(specification)
    try:
        with _importable(path.resolve().parent), quiet():
            specification.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        raise SeparatrixError(f"{where} could not be loaded: {raised(error)}") from error
    return module


@contextmanager
def _importable(folder: Path, last: bool = False) -> Generator[None]:
    sys.path.insert(len(sys.path) if last else 0, str(folder))
    try:
        yield
    finally:
        if str(folder) in sys.path:
            sys.path.remove(str(folder))
