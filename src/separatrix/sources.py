"""Code that is not of this package: how it is run, where it is, and what it said when it was used.

A run of a user's module or task is known by the name of the code, which does not change when the code does. So a
digest of the source goes into records and checkpoints, and what was trained with other code is not taken for this
one's result. Looked at are the files that define the classes, base classes included; not what those
files import.
"""

import hashlib
import sys
import traceback
import warnings
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from types import ModuleType
from typing import Any, cast

from separatrix.errors import SeparatrixError
from separatrix.extras import missing_package
from separatrix.reading import read_file

LARGEST_SOURCE = 16 << 20
_KNOWN = {"separatrix", "torch", "fla"}


def digest(content: bytes) -> str:
    """Sixteen hexadecimal digits of the hash of a source file.

    >>> digest(b"x = 1"), digest(b"x = 2")
    ('8ff436def1451285', '1431b986377b5430')
    """
    return hashlib.sha256(content).hexdigest()[:16]


def is_outside(kind: type | Callable[..., object]) -> bool:
    """Whether a class or function is neither in this package nor in Python itself.

    >>> from separatrix.errors import SeparatrixError
    >>> is_outside(SeparatrixError), is_outside(dict)
    (False, False)
    """
    return _is_outside_module(kind.__module__)


def _is_outside_module(name: str) -> bool:
    package = name.partition(".")[0]
    return package not in _KNOWN and package not in sys.stdlib_module_names


def line_outside(error: BaseException) -> str:
    """Where an error arose in code that is not of this package, as ``file:line``; empty where it did not.

    >>> try:
    ...     int("x")
    ... except ValueError as error:
    ...     line_outside(error)  # of this example, which is in this package
    ''
    """
    found = ""
    for frame, line in traceback.walk_tb(error.__traceback__):
        if _is_outside_module(frame.f_globals.get("__name__", "")):
            found = f"{frame.f_code.co_filename}:{line}"
    return found


def outside_sources(kind: type) -> dict[str, str]:
    """Digests of the modules, by their names, that define a class and its bases and are not of this package.

    >>> from separatrix.tasks import tasks
    >>> outside_sources(type(tasks()["dyck"]))
    {}
    """
    found: dict[str, str] = {}
    for each in filter(is_outside, kind.__mro__):
        file = getattr(sys.modules.get(each.__module__), "__file__", None)
        if file is not None and file.endswith(".py") and Path(file).is_file():
            found[each.__module__] = digest(read_file(Path(file), LARGEST_SOURCE, "name another module"))
    return found


def check_unchanged(recorded: object, now: Mapping[str, str], what: str) -> None:
    """Raise a one-line error where code has changed since ``what`` (a run, a checkpoint) was recorded with it.

    What says nothing about code, such as records of built-in models and of versions before, is accepted.

    >>> check_unchanged({"edit.py": "f0"}, {"edit.py": "7c"}, "this run")
    Traceback (most recent call last):
    separatrix.errors.SeparatrixError: edit.py has changed since this run was recorded; train again with --fresh (in \
Python fresh=True), or under another name
    """
    if not isinstance(recorded, Mapping):
        return
    for name, before in cast(Mapping[str, Any], recorded).items():
        if now.get(name) != before:
            raise SeparatrixError(
                f"{name} has changed since {what} was recorded; train again with --fresh (in Python "
                "fresh=True), or under another name"
            )


def run_file(path: Path, name: str, remedy: str) -> ModuleType:
    """The module of a Python file, run anew; its folder is importable meanwhile, and ``name`` is known to Python.

    What it prints goes to standard error, and what it raises ends in one line.

    >>> run_file(Path("gone.py"), "gone", "give another")
    Traceback (most recent call last):
    separatrix.errors.SeparatrixError: gone.py is not a file; give another
    """
    if not path.is_file():
        raise SeparatrixError(f"{path} is not a file; {remedy}")
    content = read_file(path, LARGEST_SOURCE, remedy)
    if path.suffix != ".py":
        raise SeparatrixError(f"{path} is not a Python file; its name must end in .py")
    module = ModuleType(name)
    module.__file__ = str(path)
    # Dataclasses look their module up by name.
    sys.modules[name] = module
    try:
        with importable(path.resolve().parent), quiet():
            # Not by a loader: its cache takes an edit of the same size in the same second for no edit.
            exec(compile(content, str(path), "exec"), module.__dict__)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        del sys.modules[name]
        raise SeparatrixError(f"{path} could not be loaded: {raised(error)}") from error
    return module


@contextmanager
def importable(folder: Path, last: bool = False) -> Generator[None]:
    """Let Python look for modules in a folder, before all others or after them.

    >>> with importable(Path("mine")):
    ...     sys.path[0]
    'mine'
    """
    sys.path.insert(len(sys.path) if last else 0, str(folder))
    try:
        yield
    finally:
        if str(folder) in sys.path:
            sys.path.remove(str(folder))


@contextmanager
def quiet() -> Generator[None]:
    """Send what is printed to standard error and drop warnings.

    >>> with quiet():
    ...     print("not to be seen among results")
    """
    with redirect_stdout(sys.stderr), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def raised(error: BaseException) -> str:
    """What was raised, in one line.

    >>> raised(ValueError("no\\nway"))
    'ValueError: no way'
    """
    try:
        text = " ".join(str(error).split())
    except Exception:  # a user's exception may fail to say what it is
        text = ""
    if isinstance(error, FloatingPointError):
        text += " (numpy.errstate in the function allows it)"
    if isinstance(error, ModuleNotFoundError) and (remedy := missing_package(error)):
        text += f" ({remedy})"
    return f"{type(error).__name__}: {text[:200]}" if text else type(error).__name__


def ended_by_user_code(error: SystemExit) -> SeparatrixError:
    """What to tell of user code that ends the program, with its line where that is known.

    >>> str(ended_by_user_code(SystemExit(3)))
    'code of your own ended the program with exit code 3; let it raise an error instead'
    """
    where = line_outside(error)
    at = f" at {where}" if where else ""
    return SeparatrixError(
        f"code of your own ended the program with exit code {error.code}{at}; let it raise an error instead"
    )
