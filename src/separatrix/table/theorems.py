"""The papers' claims that have code: what runs each, and the file that it is in."""

import importlib.util
import inspect
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from separatrix.arithmetic import CODE_ON_DEMAND, SIGN_CODES
from separatrix.bounds import FOOLING_SET, bounds
from separatrix.catalog import ExecutedClaim
from separatrix.communication import FACT_CLAIMS, ONE_LAYER_PROTOCOL, STATE_PROTOCOL
from separatrix.constructions import constructions
from separatrix.table.errata.erratum import errata

EXECUTED: tuple[ExecutedClaim, ...] = (
    FOOLING_SET, SIGN_CODES, CODE_ON_DEMAND, STATE_PROTOCOL, ONE_LAYER_PROTOCOL, *FACT_CLAIMS,
)  # fmt: skip
"""What the papers claim and no catalog holds."""


@dataclass(frozen=True)
class IndexedClaim:
    """A claim, the kind and the name of its entry, the entry's file below ``src``, and a command that runs it."""

    claim: str
    as_: str
    name: str
    file: str
    command: str

    @property
    def place(self) -> tuple[tuple[str, int], ...]:
        """The order of claims: numbers sort as numbers, so that Theorem 4 comes before Theorem 12."""
        parts = re.findall(r"\d+|\D+", self.claim)
        return tuple(("", int(part)) if part.isdigit() else (part, 0) for part in parts)


def theorem_index() -> list[IndexedClaim]:
    """Return every construction, bound, erratum and other executed claim, sorted by its claim."""
    built = [
        IndexedClaim(
            each.theorem, "construction", each.name, _file(each),
            f"separatrix certify {each.name} --length {max(16, each.minimum_length)}",
        )
        for each in constructions().values()
    ]  # fmt: skip
    bounded = [
        IndexedClaim(
            each.claim, each.kind, each.name, _file(each),
            f"separatrix bound {each.task_names[0]} --model {each.models[0]} --length 64",
        )
        for each in bounds().values()
    ]  # fmt: skip
    executed = [
        IndexedClaim(each.claim, each.kind, each.name, _below_src(Path(each.file)), each.command) for each in EXECUTED
    ]
    wrong = [
        IndexedClaim(each.source, "erratum", each.name, _file(each, each.show), each.command)
        for each in errata().values()
    ]
    return sorted([*built, *bounded, *executed, *wrong], key=lambda each: each.place)


def _file(entry: Any, part: Any = None) -> str:
    """Return the module of a catalog's entry: that of a function of it, or the one that has its name, or that of its
    class."""
    home = Path(inspect.getfile(part or entry.__class__))
    own = entry.name.replace("-", "_").lower()
    near = [home.with_name(f"{own}.py"), *home.parent.glob(f"*/{own}.py"), home]
    return _below_src(next(each for each in near if each.is_file()))


def _below_src(path: Path) -> str:
    package = importlib.util.find_spec("separatrix")
    assert package is not None and package.origin is not None
    top = Path(package.origin).parent.parent
    return path.relative_to(top).as_posix() if path.is_relative_to(top) else str(path)
