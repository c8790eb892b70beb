"""What an erratum is: a claim, what happens when it is run, the repair, and a function that shows both.

The texts are the table ``errata.toml``, with the numbers of ``docs/errata.md``; this is its one reader. The function of
E13 is ``e13`` in a file of ``findings``. It runs while the atlas is built, so that the page shows what came out and not
what was written down.
"""

import importlib
import pkgutil
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from functools import cache
from importlib.resources import files
from typing import Any, TypeAlias

from separatrix.catalog import Catalog
from separatrix.errors import SeparatrixError, UnknownNameError
from separatrix.table.errata import findings
from separatrix.table.errata.finding import Finding

TABLE = "errata.toml"
ABOUT_SLIDES = "About the wording of the talk's slides; the paper was not checked for it."
Show: TypeAlias = Callable[[], tuple[Finding, ...]]


@dataclass(frozen=True, kw_only=True)
class Erratum:
    """One entry; ``number`` sorts them, ``command`` shows the same on the command line where there is one.

    ``slides`` says that the claim was read on the slides of the talk about SHT23 and not in the paper.
    """

    number: int
    source: str
    title: str
    claim: str
    fault: str
    repair: str
    show: Show
    slides: bool = False
    command: str = ""
    arithmetic: str = "fixed point and integers"

    @property
    def name(self) -> str:
        """E1, E2, …."""
        return f"E{self.number}"

    @property
    def remark(self) -> str:
        """What the entry says nothing about: empty, or that only the slides were read."""
        return ABOUT_SLIDES if self.slides else ""


@cache
def errata() -> Catalog[Erratum]:
    """Return all errata by name."""
    table = tomllib.loads(files(__package__ or "").joinpath(TABLE).read_text(encoding="utf-8"))
    return Catalog("erratum", errata_of(table, _functions()))


def errata_of(table: Mapping[str, Any], functions: Mapping[str, Show]) -> list[Erratum]:
    """Join the texts of a table with the functions of the same names; what lacks its other half is an error.

    >>> errata_of({"E1": {"title": "No function"}}, {})
    Traceback (most recent call last):
    separatrix.errors.SeparatrixError: errata.toml: E1 has no function e1 in findings
    """
    problems = [f"{name} has no function {name.lower()} in findings" for name in table if name not in functions]
    problems += [
        f"the function {name.lower()} of findings has no entry {name}" for name in functions if name not in table
    ]
    known = {each.name: each.type for each in fields(Erratum) if each.name not in ("number", "show")}
    required = ("source", "title", "claim", "fault", "repair")
    for name, entry in table.items() if not problems else ():
        problems += [f"{name}: {UnknownNameError('field', key, known)}" for key in entry if key not in known]
        problems += [f"{name}: {key} is missing" for key in required if key not in entry]
        wrong = [key for key in known if key in entry and type(entry[key]) is not known[key]]
        problems += [f"{name}: {key} is {entry[key]!r}" for key in wrong]
    if problems:
        raise SeparatrixError(f"{TABLE}: {'; '.join(problems)}")
    return [Erratum(number=int(name[1:]), show=functions[name], **entry) for name, entry in table.items()]


def _functions() -> dict[str, Show]:
    """Collect the functions e1, e2, … of all files of findings."""
    found: dict[str, Show] = {}
    for name, function in _public_functions():
        if name in found:
            raise SeparatrixError(f"two files of findings have a function {name.lower()}; keep one")
        found[name] = function
    return found


def _public_functions() -> Iterable[tuple[str, Show]]:
    for info in pkgutil.iter_modules(findings.__path__):
        module = importlib.import_module(f"{findings.__name__}.{info.name}")
        for name, value in vars(module).items():
            if name[:1] == "e" and name[1:].isdigit():
                yield name.upper(), value
