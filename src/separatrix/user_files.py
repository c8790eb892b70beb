"""Entries of the catalogs from a user's file, for one command: ``separatrix --with FILE.py VERB …``.

Each file is run once, under its own name, and what it exports as ``TASK``, ``CONSTRUCTION``, ``BOUND`` or ``REDUCTION``
is in the catalogs as if a package had brought it by an entry point. Only the person at the command line names
files: a certificate, a record or a request to the explorer cannot. Which files there are is in the environment, so
that workers on the same machine know them too; methods of the checker are never taken from there.
"""

import os
import sys
import traceback
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

from separatrix.errors import SeparatrixError
from separatrix.sources import raised, run_file

VARIABLE = "SEPARATRIX_WITH"
CONSTANTS = ("TASK", "CONSTRUCTION", "BOUND", "REDUCTION")
"""What a file may add."""

_loaded: dict[str, ModuleType | None] = {}
"""What was run, as Python keeps its modules; None while a file is being run."""


def user_modules() -> tuple[ModuleType, ...]:
    """The modules of the files in use; a file that asks for a catalog while it is run is not in it yet.

    >>> user_modules()
    ()
    """
    listed = os.environ.get(VARIABLE)
    modules = [_user_module(path) for path in listed.split(os.pathsep)] if listed else []
    return tuple(module for module in modules if module is not None)


@contextmanager
def using_files(files: Sequence[Path]) -> Generator[None]:
    """Put what the files export into the catalogs, and take it out again afterwards.

    What a file raises when it is used ends in one line that says where.
    """
    paths = [str(path.resolve()) for path in files]
    before = os.environ.get(VARIABLE)
    for path in paths:
        if os.pathsep in path:
            raise SeparatrixError(f"--with {path} has {os.pathsep!r} in its name; rename it")
    os.environ[VARIABLE] = os.pathsep.join(dict.fromkeys(paths))
    try:
        for module in user_modules():
            if not any(hasattr(module, constant) for constant in CONSTANTS):
                raise SeparatrixError(f"--with {module.__file__} exports none of {', '.join(CONSTANTS)}; assign one")
        yield
    except SeparatrixError:
        raise
    except Exception as error:
        lines = [(each.filename, each.lineno) for each in traceback.extract_tb(error.__traceback__)]
        for file, number in reversed(lines):
            if file in paths:
                raise SeparatrixError(f"{file}, line {number}: {raised(error)}; mend it") from error
        raise
    finally:
        for path in paths:
            if _loaded.pop(path, None) is not None:
                sys.modules.pop(Path(path).stem, None)
        del os.environ[VARIABLE]
        if before is not None:
            os.environ[VARIABLE] = before


def _user_module(path: str) -> ModuleType | None:
    if path not in _loaded:
        name = Path(path).stem
        # Tasks of files are known by their module, which must not be taken for one of Python's or of a package's.
        if not name.isidentifier() or name in sys.stdlib_module_names or name in sys.modules:
            raise SeparatrixError(
                f"--with {path}: Python has another module {name!r}, or it is not a name; rename the file"
            )
        _loaded[path] = None
        try:
            _loaded[path] = run_file(Path(path), name, "give a Python file to --with")
        finally:
            if _loaded[path] is None:
                del _loaded[path]
    return _loaded[path]
