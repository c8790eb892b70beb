"""The experiments of the papers by name: the one reader and the one validator of the table ``experiments.toml``."""

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import fields
from functools import cache
from importlib.resources import files
from typing import Any

from separatrix.catalog import Catalog
from separatrix.errors import SeparatrixError, UnknownNameError
from separatrix.training.experiments.experiment import SCALES, Experiment

TABLE = "experiments.toml"
TEXTS = ("title", "source", "task")
"""What every experiment has."""
LIST_FIELDS = ("snapshots",)
"""Fields that are a list in one run; every other list is an axis of the sweep."""


@cache
def experiments() -> Catalog[Experiment]:
    """Return all experiments by name.

    >>> experiments()["figure3"].source
    'BHBK24 Figure 3'
    """
    table = tomllib.loads(files(__package__ or "").joinpath(TABLE).read_text(encoding="utf-8"))
    return Catalog("experiment", experiments_of(table))


def experiments_of(table: Mapping[str, Any]) -> list[Experiment]:
    """Read the experiments of a table; an experiment or a scale that cannot be trained raises with what is wrong.

    >>> experiments_of({"demo": {"source": "a test", "task": "dyck"}})
    Traceback (most recent call last):
    separatrix.errors.SeparatrixError: experiments.toml: demo: title is missing
    """
    defaults = table.get("defaults", {})
    found = [_experiment(name, entry, defaults) for name, entry in table.items() if name != "defaults"]
    if problems := [f"{each.name}: {problem}" for each in found for problem in _sweep_problems(each)]:
        raise SeparatrixError(f"{TABLE}: {'; '.join(problems)}")
    return found


def _experiment(name: str, entry: Mapping[str, Any], defaults: Mapping[str, Any]) -> Experiment:
    known = ["common", *(each.name for each in fields(Experiment) if each.name != "name")]
    problems = [str(UnknownNameError("field", key, known)) for key in entry if key not in known]
    problems += [str(UnknownNameError("scale", key, SCALES)) for key in entry.get("scales", {}) if key not in SCALES]
    problems += [f"{key} is missing" for key in TEXTS if not isinstance(entry.get(key), str)]
    if problems:
        raise SeparatrixError(f"{TABLE}: {name}: {'; '.join(problems)}")
    given = {key: value for key, value in entry.items() if key not in ("common", "scales")}
    common, own = entry.get("common", {}), entry.get("scales", {})
    # Defaults come last, so that the axes keep the order in which the experiment names them.
    scales = {scale: {**common, **own.get(scale, {})} for scale in SCALES}
    for scale, chosen in scales.items():
        scales[scale] = {
            **chosen,
            **{key: value for key, value in defaults.get(scale, {}).items() if key not in chosen},
        }
    return Experiment(name=name, scales={scale: _axes(chosen) for scale, chosen in scales.items()}, **given)


def _axes(chosen: Mapping[str, Any]) -> dict[str, Any]:
    """Mark the axes of a sweep, which are tuples."""
    return {
        key: tuple(value) if isinstance(value, list) and key not in LIST_FIELDS else value
        for key, value in chosen.items()
    }


def _sweep_problems(experiment: Experiment) -> Iterator[str]:
    for scale in experiment.scales:
        try:
            experiment.sweep(scale)
        except SeparatrixError as error:
            yield f"{scale}: {error}"
