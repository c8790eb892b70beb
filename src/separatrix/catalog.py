"""How a room finds its entries: every file of a folder exports one constant, and the catalog collects them.

Adding a task, a theorem, a bound or an architecture is adding one file. Files whose name starts with an
underscore hold code that several entries share and are not entries. Other packages add entries through Python
entry points of the group given to :func:`discover`; one that cannot be loaded is left out with a line on standard
error, since a broken package must not break every command. A file named on the command line adds its own
(``user_files.py``), and one that is wrong is an error. Two entries of one name are an error; a catalog never changes
after it was made.
"""

import importlib
import pkgutil
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from types import MappingProxyType, ModuleType
from typing import Any, Generic, Protocol, TypeVar, cast

from separatrix.errors import SeparatrixError, UnknownNameError
from separatrix.user_files import CONSTANTS, user_modules


class Named(Protocol):
    """Anything a catalog can hold: it has a name."""

    @property
    def name(self) -> str:
        """The name on the command line."""
        ...


@dataclass(frozen=True)
class ExecutedClaim:
    """A claim of a paper that a module executes and that is no entry of a catalog: a protocol, a fact, a code.

    ``file`` is that of the module; ``separatrix list theorems`` lists these claims next to the catalogs' entries.
    """

    claim: str
    kind: str
    name: str
    command: str
    file: str


Entry = TypeVar("Entry", bound=Named)


class Catalog(Mapping[str, Entry], Generic[Entry]):
    """An immutable mapping from names to entries, sorted by name, that explains a missing one."""

    def __init__(self, kind: str, entries: list[Entry]) -> None:
        by_name: dict[str, Entry] = {}
        for entry in sorted(entries, key=lambda each: each.name):
            if entry.name in by_name:
                raise SeparatrixError(f"two {kind}s are named {entry.name!r}; rename one of them")
            by_name[entry.name] = entry
        self.kind = kind
        self._entries = MappingProxyType(by_name)

    def __getitem__(self, name: str) -> Entry:
        try:
            return self._entries[name]
        except KeyError:
            raise UnknownNameError(self.kind, name, self._entries) from None

    def __contains__(self, name: object) -> bool:
        return name in self._entries

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)


def discover(
    kind: str, folder: ModuleType, constant: str, expected: type[Entry], closed: bool = False
) -> Catalog[Entry]:
    """Collect ``constant`` from the modules of ``folder``, entry points ``separatrix.<kind>s`` and users' own files.

    A ``closed`` catalog takes the folder alone: what decides about certificates must be what the pages say is trusted.
    Collected once for the files in use. Raises :class:`SeparatrixError` when a module lacks the constant or it is not
    an ``expected``.

    >>> from separatrix.tasks import Task, problems
    >>> discover("task", problems, "TASK", Task)["dyck"].name
    'dyck'
    """
    return cast("Catalog[Entry]", _collected(kind, folder, constant, expected, user_modules(), closed))


@cache
def _collected(
    kind: str, folder: ModuleType, constant: str, expected: type[Any], own: tuple[ModuleType, ...], closed: bool
) -> Catalog[Any]:
    found: list[Any] = []
    for info in pkgutil.iter_modules(folder.__path__):
        if not info.name.startswith("_"):
            module = importlib.import_module(f"{folder.__name__}.{info.name}")
            found.append(_checked(getattr(module, constant, None), expected, f"{module.__name__}.{constant}"))
    for point in () if closed else entry_points(group=f"separatrix.{kind}s"):
        try:
            value = _checked(point.load(), expected, f"entry point {point.name} of {point.group}")
            if any(value.name == other.name for other in found):
                raise SeparatrixError(f"two {kind}s are named {value.name!r}")
        except Exception as error:
            _leave_out(point, error)
        else:
            found.append(value)
    if constant in CONSTANTS:
        given = [(f"{module.__file__}: {constant}", getattr(module, constant, None)) for module in own]
        found += [_checked(value, expected, where) for where, value in given if value is not None]
    return Catalog(kind, found)


def _leave_out(point: EntryPoint, error: Exception) -> None:
    """One line about an entry of another package that cannot be used."""
    package = point.dist.name if point.dist is not None else point.value.partition(":")[0]
    what = " ".join(f"{type(error).__name__}: {error}".split())
    sys.stderr.write(
        f"separatrix: left out {point.name} of {point.group} from package {package}: {what}; mend or remove it\n"
    )


def _checked(value: object, expected: type[Entry], where: str) -> Entry:
    if value is None:
        raise SeparatrixError(f"{where} is missing; assign a {expected.__name__}, or begin the file's name with _")
    if not isinstance(value, expected):
        raise SeparatrixError(f"{where} is {value!r}; a catalog entry must be a {expected.__name__}")
    return value
