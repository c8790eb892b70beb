"""Sweep files: TOML, validated with pydantic, all mistakes listed at once.

Models of your own, FILE.py:Class, and functions as tasks, FILE.py:function, are looked for where the command is run,
then next to the sweep file.

title = "Index lookup, two models"
[base]
task = "index-lookup"
steps = 2000
[axes]
architecture = ["TF-(1,64)", "LSTM-(1,64)"]
length = [20, 50]
learning_rate = [1e-3, 5e-4]
"""

import re
import tomllib
from pathlib import Path
from typing import Any

from separatrix.errors import SeparatrixError, UnknownNameError
from separatrix.reading import read_file
from separatrix.training.sweep import Sweep, missing_fields

LARGEST_FILE = 1 << 20
OWN_FILE = re.compile(r"[^,:\s][^,:]*\.py(?=:)")
"""FILE.py in FILE.py:Class, of which a model may name several."""


def read_sweep(path: Path) -> Sweep:
    """Return the sweep of a file; raises with everything that is wrong with it."""
    from pydantic import BaseModel, ConfigDict, Field, ValidationError

    class SweepFile(BaseModel):
        model_config = ConfigDict(extra="forbid", strict=True)
        title: str = ""
        base: dict[str, Any] = Field(default_factory=dict)
        axes: dict[str, list[Any]] = Field(min_length=1)
        halving: bool = True
        first_goal_ends: bool = True

    data = read_file(path, LARGEST_FILE, "give an experiment's name or a TOML file")
    try:
        content = tomllib.loads(data.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        reason = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)[:200]
        raise SeparatrixError(f"{path} is not TOML: {reason}; see docs/training.md for an example") from error
    problems: list[str] = []
    try:
        found = SweepFile.model_validate(content)
    except ValidationError as error:
        for each in error.errors():
            place = ".".join(map(str, each["loc"]))
            unknown = UnknownNameError("entry of a sweep file", place, SweepFile.model_fields)
            problem = f"{place}: {each['msg'].lower()}"
            if each["type"] == "list_type" and each["loc"][0] == "axes":
                given = repr(each["input"])
                problem = f"{place} = {given} is not a list of values; write [{given}], or put it into base"
            problems.append(str(unknown) if each["type"] == "extra_forbidden" else problem)
        # Go on with what is usable, so that the mistakes inside base and axes are reported as well.
        tables = {key: content[key] for key in ("base", "axes") if isinstance(content.get(key), dict)}
        axes = tables.get("axes", {})
        usable = {name: each if isinstance(each, list) else [each] for name, each in axes.items()}
        found = SweepFile.model_construct(base=tables.get("base", {}), axes=usable)
    base = {name: _near_file(name, value, path.parent) for name, value in found.base.items()}
    axes = {name: [_near_file(name, value, path.parent) for value in values] for name, values in found.axes.items()}
    try:
        sweep = Sweep(path.stem, found.title or path.stem, base, axes, found.halving, found.first_goal_ends)
    except SeparatrixError as error:
        problems += [str(error), *missing_fields([*found.base, *found.axes])]
        raise SeparatrixError(f"{path}: {'; '.join(problems)}") from error
    try:
        sweep.cells()
    except SeparatrixError as error:
        problems.append(str(error))
    else:
        if not problems:
            return sweep
    raise SeparatrixError(f"{path}: {'; '.join(problems)}")


def _near_file(name: str, value: Any, folder: Path) -> Any:
    """Return a model or function whose FILE.py is not found from here, but next to the sweep file, with that one's
    path."""
    if name not in ("architecture", "task") or not isinstance(value, str):
        return value

    def placed(found: re.Match[str]) -> str:
        near = folder / found[0]
        return str(near) if near.is_file() and not Path(found[0]).is_file() else found[0]

    return OWN_FILE.sub(placed, value)
