"""Code that is not of this package: where it stands, and what it said when it was used.

A run of anyone's own module or task is known by the name of the code, which does not change when the code does. So a
digest of the source goes into records and checkpoints, and what was trained with other code is not taken for this
one's result. Looked at are the files in which the classes themselves stand, base classes included; not what those
files import.
"""

import hashlib
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from separatrix.errors import SeparatrixError
from separatrix.reading import read_file

LARGEST_SOURCE = 16 << 20
_KNOWN = {"separatrix", "torch", "fla"}


def digest(content: bytes) -> str:
    """Sixteen hexadecimal digits of the hash of a source file.

    >>> digest(b"x = 1"), digest(b"x = 2")
    ('8ff436def1451285', '1431b986377b5430')
    """
    return hashlib.sha256(content).hexdigest()[:16]


def is_outside(kind: type) -> bool:
    """Whether a class stands neither in this package nor in Python itself.

    >>> from separatrix.errors import SeparatrixError
    >>> is_outside(SeparatrixError), is_outside(dict)
    (False, False)
    """
    package = kind.__module__.partition(".")[0]
    return package not in _KNOWN and package not in sys.stdlib_module_names


def outside_sources(kind: type) -> dict[str, str]:
    """Digests of the modules, by their names, in which a class and its bases stand that are not of this package.

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
    separatrix.errors.SeparatrixError: edit.py has changed since this run was recorded; train again with --fresh, \
or under another name
    """
    if not isinstance(recorded, Mapping):
        return
    for name, told in cast(Mapping[str, Any], recorded).items():
        if now.get(name) != told:
            raise SeparatrixError(
                f"{name} has changed since {what} was recorded; train again with --fresh, or under another name"
            )
