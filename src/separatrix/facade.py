"""Rooms are entered by their façades: what a room offers is listed in its ``__init__.pyi`` and loaded when it is used.

The stub is the list, for type checkers and for :func:`attach` alike, as scientific Python's SPEC 1 proposes. Loading on
use keeps ``import separatrix.models`` free of torch. Unlike SPEC 1's library, a name may also be that of a submodule
(``models.architectures`` is the catalog, ``models/architectures`` the folder of its entries): the façade's name wins,
and the submodule is reached by its whole path (``from separatrix.models.architectures.lstm import …``).
"""

import ast
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import ModuleType


class _Facade(ModuleType):
    """A package whose submodules do not hide the names that it offers."""

    __all__: list[str]

    def __setattr__(self, name: str, value: object) -> None:
        # Importing a submodule sets it as an attribute of its package.
        if not (isinstance(value, ModuleType) and name in self.__all__):
            super().__setattr__(name, value)


def attach(package: str, file: str) -> tuple[Callable[[str], object], Callable[[], list[str]], list[str]]:
    """Return ``__getattr__``, ``__dir__`` and ``__all__`` of a package from the stub next to its ``__init__.py``."""
    stub = Path(file).with_suffix(".pyi").read_text(encoding="utf-8")
    modules = {
        alias.name: node.module
        for node in ast.parse(stub).body
        if isinstance(node, ast.ImportFrom) and node.module is not None
        for alias in node.names
    }

    def load(name: str) -> object:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        # Not kept: a test that replaces a name in its module is seen here.
        return getattr(import_module(modules[name]), name)

    names = sorted(modules)
    sys.modules[package].__class__ = _Facade
    return load, lambda: names, names
