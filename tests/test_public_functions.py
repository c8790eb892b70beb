"""Every public function of every room has an example; what counts as public is what the reference shows.

Public are the functions of every façade (its ``__all__``) and those of the modules that the pages of ``docs/reference``
name, without a leading underscore. That the examples run is checked in ``tests/test_examples.py``, that every name of a
façade is on a page in ``tests/test_docs_site.py``.
"""

import importlib
import inspect
import pkgutil
import re
from pathlib import Path

import pytest

import separatrix

ROOT = Path(__file__).resolve().parent.parent
ROOMS = (
    "arithmetic", "tasks", "networks", "constructions", "certificates", "communication", "models", "training", "atlas",
)  # fmt: skip


def public_modules():
    for page in (*ROOMS, "shared"):
        text = (ROOT / "docs" / "reference" / f"{page}.md").read_text(encoding="utf-8")
        yield from re.findall(r"^::: (\S+)", text, re.MULTILINE)
    for info in pkgutil.walk_packages(separatrix.__path__, "separatrix."):
        if info.ispkg and info.name.split(".")[1] in ROOMS:
            yield info.name


def public_functions():
    found = {}
    for name in dict.fromkeys(public_modules()):
        module = importlib.import_module(name)
        own = [each for each, value in vars(module).items() if getattr(value, "__module__", None) == name]
        for each in getattr(module, "__all__", own):
            function = inspect.unwrap(getattr(module, each)) if callable(getattr(module, each)) else None
            if inspect.isfunction(function) and not each.startswith("_"):
                found[f"{function.__module__}.{function.__qualname__}"] = function
    return found


FUNCTIONS = public_functions()


def test_the_rooms_have_public_functions():
    assert len(FUNCTIONS) > 100
    assert {"separatrix.tasks.catalog.tasks", "separatrix.certificates.checker.check"} <= set(FUNCTIONS)
    assert {"separatrix.models.naming.parse_spec", "separatrix.training.group.train"} <= set(FUNCTIONS)


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_a_public_function_has_an_example(name):
    assert ">>> " in (FUNCTIONS[name].__doc__ or ""), f"{name} has no example; show one call in its docstring"
